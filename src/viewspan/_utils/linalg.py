"""Matrix decompositions with a fallback algorithm.

LAPACK's divide-and-conquer drivers are fast, but they can fail on finite matrices that are exactly
rank-deficient, such as coefficients of noise-free data. These functions then use the slower drivers
that iterate QR steps. Matrices that are not finite always raise :class:`NumericalError`, because
LAPACK may raise other errors for them, or return NaN or meaningless finite numbers.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from viewspan._utils.typing import AnyArray, Array


class NumericalError(np.linalg.LinAlgError):
    """Error for values that are not finite and for decompositions that fail with every algorithm.

    It is a ``ValueError``, as ``numpy.linalg.LinAlgError`` is.
    """


class SVD(NamedTuple):
    """Thin singular value decomposition M = left · diag(values) · right, largest values first."""

    left: Array
    values: Array
    right: Array


def svd(matrix: Array) -> SVD:
    """Return the thin singular value decomposition of a matrix."""
    check_finite(matrix, matrix)
    try:
        found = SVD(*np.linalg.svd(matrix, full_matrices=False))
    except np.linalg.LinAlgError:
        found = SVD(
            *use_fallback(scipy.linalg.svd, matrix, full_matrices=False, lapack_driver="gesvd")
        )
    check_finite(found.values, matrix)
    return found


class Spectrum(NamedTuple):
    """Singular values, largest first, and right singular vectors in rows.

    They determine a matrix up to a rotation of its rows.
    """

    values: Array
    right: Array

    @property
    def matrix(self) -> Array:
        """The matrix with orthogonal rows that has this spectrum."""
        return self.values[:, None] * self.right


def spectrum(matrix: Array) -> Spectrum:
    """Return the singular values and right singular vectors of a matrix."""
    return Spectrum(*svd(matrix)[1:])


def spectrum_of_gram(gram: Array) -> Spectrum:
    """Return the spectrum of M from MᵀM, without directions that are only rounding.

    Squaring loses singular values below 1e-8 of the largest one. A least-squares fit depends on
    their squares only, and these are below the rounding error of the largest square.
    """
    squares, vectors = eigh(gram)
    kept = squares > len(gram) * np.finfo(float).eps * max(squares[-1], 0.0)
    # a zero matrix keeps one direction, too
    kept[-1], squares[-1] = True, max(squares[-1], 0.0)
    return Spectrum(np.sqrt(squares[kept][::-1]), vectors[:, kept][:, ::-1].T)


def singular_values(matrix: Array) -> Array:
    """Return the singular values of a matrix, largest first."""
    check_finite(matrix, matrix)
    try:
        values = np.linalg.svd(matrix, compute_uv=False)
    except np.linalg.LinAlgError:
        values = use_fallback(scipy.linalg.svd, matrix, compute_uv=False, lapack_driver="gesvd")
    check_finite(values, matrix)
    return np.asarray(values, dtype=float)


def triangle(matrix: Array) -> Array:
    """Return the upper triangular factor R of the thin QR factorisation."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Return all eigenvalues of a symmetric matrix, smallest first, and their eigenvectors."""
    check_finite(matrix, matrix)
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        values, vectors = use_fallback(scipy.linalg.eigh, matrix, driver="ev")
    check_finite(values, matrix)
    return values, vectors


def eigenvalues(matrix: Array) -> Array:
    """Return all eigenvalues of a symmetric matrix, smallest first."""
    check_finite(matrix, matrix)
    try:
        values = np.linalg.eigvalsh(matrix)
    except np.linalg.LinAlgError:
        values = use_fallback(scipy.linalg.eigvalsh, matrix, driver="ev")
    check_finite(values, matrix)
    return np.asarray(values)


def leading_eigh(matrix: Array, count: int) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix, largest first, and their eigenvectors.

    If LAPACK cannot compute these alone, compute all eigenpairs and select the largest.
    """
    size = len(matrix)
    check_finite(matrix, matrix)
    try:
        values, vectors = scipy.linalg.eigh(
            matrix, subset_by_index=(size - count, size - 1), check_finite=False
        )
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix)
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def use_fallback(function: Callable[..., Any], matrix: Array, **options: Any) -> Any:
    """Decompose a matrix with the fallback algorithm; raise NumericalError if that fails, too."""
    try:
        return function(matrix, check_finite=False, **options)
    except np.linalg.LinAlgError as error:
        raise NumericalError(
            f"A matrix of {shape_text(matrix)} could not be decomposed, neither by divide and "
            "conquer nor by QR iteration. Add a little noise to the views, or use another build of "
            "NumPy and SciPy."
        ) from error


def check_finite(values: AnyArray, matrix: Array) -> None:
    """Raise NumericalError if values of a matrix, or of its decomposition, are not finite."""
    if not np.isfinite(values).all():
        raise NumericalError(
            f"Values that are not finite came up in a matrix of {shape_text(matrix)}. Rescale "
            "views or weights (lam, tau) of extreme size. If none is extreme, NumPy's BLAS may be "
            "faulty."
        )


def shape_text(matrix: Array) -> str:
    return " × ".join(map(str, matrix.shape))


def ratio(numerator: Array | float, denominator: Array) -> Array:
    """Return numerator / denominator, and 0 where the denominator is not positive."""
    shape = np.broadcast_shapes(np.shape(numerator), denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
