"""Decompositions that do not give up, and say so where they must.

LAPACK's divide-and-conquer drivers are the fast ones, and they do fail: on finite, exactly rank-deficient matrices
such as noise-free coefficients. The slower QR-iteration drivers then give the answer. Of matrices that are not finite
LAPACK makes what it likes: an error, NaN, or numbers; here it is always an error.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg

from viewspan._utils.typing import AnyArray, Array


class NumericalError(np.linalg.LinAlgError):
    """Where floating point cannot go on: nothing finite, or no decomposition by any road. It is a ``ValueError``."""


class SVD(NamedTuple):
    """M = left · diag(values) · right, values from largest to smallest."""

    left: Array
    values: Array
    right: Array


def svd(matrix: Array) -> SVD:
    """Thin singular value decomposition."""
    check_finite(matrix, matrix)
    try:
        found = SVD(*np.linalg.svd(matrix, full_matrices=False))
    except np.linalg.LinAlgError:
        found = SVD(
            *by_iteration(scipy.linalg.svd, matrix, full_matrices=False, lapack_driver="gesvd")
        )
    check_finite(found.values, matrix)
    return found


class Spectrum(NamedTuple):
    """Singular values, from largest to smallest, and right singular vectors as rows: M up to a rotation of its rows."""

    values: Array
    right: Array

    @property
    def matrix(self) -> Array:
        """The matrix with orthogonal rows that has this spectrum."""
        return self.values[:, None] * self.right


def spectrum(matrix: Array) -> Spectrum:
    """The spectrum of a matrix."""
    return Spectrum(*svd(matrix)[1:])


def spectrum_of_gram(gram: Array) -> Spectrum:
    """The spectrum of M from MᵀM, without directions that are only rounding.

    Squaring loses singular values below 1e-8 of the largest. Their squares, which are all that a least-squares fit
    sees, are below rounding of the largest square.
    """
    squares, vectors = eigh(gram)
    kept = squares > len(gram) * np.finfo(float).eps * max(squares[-1], 0.0)
    kept[-1], squares[-1] = True, max(squares[-1], 0.0)  # a zero matrix has one direction, too
    return Spectrum(np.sqrt(squares[kept][::-1]), vectors[:, kept][:, ::-1].T)


def singular_values(matrix: Array) -> Array:
    """Singular values, from largest to smallest."""
    check_finite(matrix, matrix)
    try:
        values = np.linalg.svd(matrix, compute_uv=False)
    except np.linalg.LinAlgError:
        values = by_iteration(scipy.linalg.svd, matrix, compute_uv=False, lapack_driver="gesvd")
    check_finite(values, matrix)
    return np.asarray(values, dtype=float)


def triangle(matrix: Array) -> Array:
    """R of the thin QR factorisation."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues from smallest to largest, and eigenvectors, of a symmetric matrix."""
    check_finite(matrix, matrix)
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        values, vectors = by_iteration(scipy.linalg.eigh, matrix, driver="ev")
    check_finite(values, matrix)
    return values, vectors


def leading_eigh(matrix: Array, count: int) -> tuple[Array, Array]:
    """The largest eigenvalues, largest first, with eigenvectors; picked from all if LAPACK cannot find them alone."""
    size = len(matrix)
    check_finite(matrix, matrix)
    try:
        values, vectors = scipy.linalg.eigh(
            matrix, subset_by_index=(size - count, size - 1), check_finite=False
        )
    except np.linalg.LinAlgError:
        values, vectors = eigh(matrix)
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def by_iteration(function: Callable[..., Any], matrix: Array, **options: Any) -> Any:
    """The second road."""
    try:
        return function(matrix, check_finite=False, **options)
    except np.linalg.LinAlgError as error:
        raise NumericalError(
            f"A matrix of {described(matrix)} could not be decomposed, neither by divide and conquer nor by QR "
            "iteration. A little noise in the views, or another build of NumPy's and SciPy's LAPACK, may help."
        ) from error


def check_finite(values: AnyArray, matrix: Array) -> None:
    """Of a matrix, or of what was found of it."""
    if not np.isfinite(values).all():
        raise NumericalError(
            f"Values that are not finite came up in a matrix of {described(matrix)}. Rescale views or weights (lam, "
            "tau) of extreme size; if none is, look for a fault in NumPy's BLAS."
        )


def described(matrix: Array) -> str:
    return " × ".join(map(str, matrix.shape))


def ratio(numerator: Array | float, denominator: Array) -> Array:
    """Numerator / denominator, and 0 where the denominator is 0."""
    shape = np.broadcast_shapes(np.shape(numerator), denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
