"""Singular value thresholding that costs what the rank of the result costs.

A step of an iteration thresholds a matrix that differs little from the one before. So the leading
singular vectors of that one nearly span the subspace that is needed now. One step of subspace
iteration and the decomposition of a small matrix replace the decomposition of the whole matrix.
"""

import numpy as np
from scipy.linalg import solve_triangular

from viewspan._utils.linalg import Spectrum, eigh, svd
from viewspan._utils.typing import Array
from viewspan.objective.rounding import EPS, column_lengths

GRAM_THRESHOLD = 1e-6
"""Smallest threshold, as a share of the matrix's norm, for which a Gram matrix suffices."""
MARGIN_SHARE, MIN_MARGIN = 0.15, 8
"""Singular vectors below the threshold that are kept: a share of those above, but at least 8."""
MAX_BLOCK_SHARE = 0.6
"""Largest block of singular vectors, as a share of all, that is faster than all of them."""


class WarmThresholding:
    """Function that thresholds singular values and starts from the vectors of its last call.

    Let Q be leading left singular vectors of the last matrix, and V an orthonormal basis of MᵀQ.
    The singular values of MVVᵀ are thresholded instead of those of M. Its left singular vectors are
    nearer to those of M than Q is, and the next call starts from them.

    The singular vectors come from Gram matrices. This is twice as fast as a decomposition of the
    matrix and accurate above the threshold, unless the threshold is so small that squaring loses
    it. The nuclear norm is not computed from the eigenvalues, which lose digits: for orthonormal
    v_k, Σ‖Mv_k‖ is an upper bound, with equality for the right singular vectors of M.

    Parameters
    ----------
    block : array (min(n, m), b), optional
        Vectors to start from.

    Attributes
    ----------
    block : array (min(n, m), b) or None
        Orthonormal leading singular vectors of the last matrix (n, m), left ones if it has at most
        as many rows as columns; None if nearly all vectors are needed.
    spectrum : Spectrum or None
        Singular values and right singular vectors of the last result.
    """

    def __init__(self, block: Array | None = None) -> None:
        self.block = block
        self.spectrum: Spectrum | None = None

    def __call__(self, matrix: Array, lam: Array) -> tuple[Array, float]:
        """Return U (S − λ)₊ Vᵀ and λ times its nuclear norm."""
        if matrix.shape[0] > matrix.shape[1]:
            proximal, value = self(matrix.T, lam)
            self.spectrum = None
            return proximal.T, value
        if lam < GRAM_THRESHOLD * np.linalg.norm(matrix):
            self.block = None
            left, values, right = svd(matrix)
            shrunk = np.maximum(values - lam, 0.0)
            self.spectrum = Spectrum(shrunk, right)
            return (left * shrunk) @ right, float(lam * shrunk.sum())
        found = None if self.block is None else self._within(self.block, matrix, lam)
        return self._decompose(matrix, lam) if found is None else found

    def _decompose(self, matrix: Array, lam: Array) -> tuple[Array, float]:
        """Threshold the singular values from a full decomposition."""
        squares, vectors = eigh(matrix @ matrix.T)
        n_above = int((squares > lam**2).sum())
        count = n_kept(squares, n_above)
        self.block = vectors[:, -count:] if count <= MAX_BLOCK_SHARE * len(squares) else None
        kept = slice(len(squares) - n_above, None)
        left, values = vectors[:, kept], np.sqrt(squares[kept])
        rows = left.T @ matrix
        self.spectrum = largest_first(values - lam, rows / values[:, None])
        return shrink(left, rows, values, lam)

    def _within(self, block: Array, matrix: Array, lam: Array) -> tuple[Array, float] | None:
        """Threshold the singular values of MVVᵀ.

        Return None if hardly any of them is below the threshold: the block may then lack vectors
        above it.
        """
        basis = orthonormal(matrix.T @ block)
        if basis is None:
            return None
        images = matrix @ basis
        squares, rotation = eigh(images.T @ images)
        n_above = int((squares > lam**2).sum())
        count = n_kept(squares, n_above)
        if len(squares) - n_above < margin(n_above) // 2 or squares[0] <= 0.0:
            return None
        values, rotation = np.sqrt(squares[-count:]), rotation[:, -count:]
        images = images @ rotation
        self.block = images / values
        kept = slice(len(values) - n_above, None)
        right = basis @ rotation[:, kept]
        self.spectrum = largest_first(values[kept] - lam, right.T)
        proximal, value = shrink(right, images[:, kept].T, values[kept], lam)
        return proximal.T, value


def largest_first(values: Array, rows: Array) -> Spectrum:
    """Return the spectrum of values in ascending order."""
    return Spectrum(values[::-1], rows[::-1])


def shrink(vectors: Array, rows: Array, values: Array, lam: Array) -> tuple[Array, float]:
    """Return Σ (1 − λ/s_k) v_k (row k) for orthonormal v_k, and λ times its nuclear norm.

    The lengths of v_k count, so that the norm is an upper bound even if they are not quite 1.
    """
    share = 1.0 - lam / values
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows)) * column_lengths(vectors)
    return (vectors * share) @ rows, float(lam * (share @ lengths))


def n_kept(squares: Array, n_above: int) -> int:
    """Return how many leading singular vectors are kept, from all eigenvalues of a Gram matrix.

    Below the threshold, vectors of singular values that are rounding errors are left out, because
    their directions are arbitrary: they would connect subspaces that are orthogonal.
    """
    resolved = int((squares > len(squares) * EPS * squares[-1]).sum())
    return max(min(n_above + margin(n_above), resolved), n_above)


def margin(n_above: int) -> int:
    """Return how many vectors below the threshold are kept."""
    return max(int(MARGIN_SHARE * n_above), MIN_MARGIN)


def orthonormal(vectors: Array) -> Array | None:
    """Return an orthonormal basis of nearly orthogonal columns; None if they are dependent."""
    lengths = np.sqrt(np.einsum("ij,ij->j", vectors, vectors))
    if not lengths.all():
        return None
    unit = vectors / lengths
    try:
        corner = np.linalg.cholesky(unit.T @ unit)
    except np.linalg.LinAlgError:
        return None
    return np.asarray(solve_triangular(corner, unit.T, lower=True, check_finite=False).T)
