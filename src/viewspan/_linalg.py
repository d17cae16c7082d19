"""Decompositions that do not give up.

LAPACK's divide-and-conquer drivers are the fast ones, and they do fail: on finite, exactly rank-deficient matrices
such as noise-free coefficients. The slower QR-iteration drivers then give the answer.
"""

from typing import NamedTuple

import numpy as np
import scipy.linalg

from viewspan._typing import Array


class SVD(NamedTuple):
    """M = left · diag(values) · right, values from largest to smallest."""

    left: Array
    values: Array
    right: Array


def svd(matrix: Array) -> SVD:
    """Thin singular value decomposition."""
    try:
        return SVD(*np.linalg.svd(matrix, full_matrices=False))
    except np.linalg.LinAlgError:
        return SVD(*scipy.linalg.svd(matrix, full_matrices=False, lapack_driver="gesvd", check_finite=False))


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
    try:
        return np.asarray(np.linalg.svd(matrix, compute_uv=False), dtype=float)
    except np.linalg.LinAlgError:
        return scipy.linalg.svd(matrix, compute_uv=False, lapack_driver="gesvd", check_finite=False)


def triangle(matrix: Array) -> Array:
    """R of the thin QR factorisation."""
    return np.asarray(np.linalg.qr(matrix, mode="r"))


def eigh(matrix: Array) -> tuple[Array, Array]:
    """Eigenvalues from smallest to largest, and eigenvectors, of a symmetric matrix."""
    try:
        values, vectors = np.linalg.eigh(matrix)
    except np.linalg.LinAlgError:
        values, vectors = scipy.linalg.eigh(matrix, driver="ev", check_finite=False)
    return values, vectors


def ratio(numerator: Array | float, denominator: Array) -> Array:
    """Numerator / denominator, and 0 where the denominator is 0."""
    shape = np.broadcast_shapes(np.shape(numerator), denominator.shape)
    return np.divide(numerator, denominator, out=np.zeros(shape), where=denominator > 0)
