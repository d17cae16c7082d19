"""How far a matrix lies outside the dual ball of a penalty.

The part outside the ball of the spectral norm takes all singular vectors. A block that nearly
contains the vectors outside is enough, if a proof shows that the rest lies inside.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from viewspan._utils.linalg import eigh
from viewspan._utils.typing import Array
from viewspan.objective.rounding import EPS, frobenius_norm, near_one, unit_error
from viewspan.objective.thresholding import orthonormal

RESERVE = 0.02
"""Share of the surplus that is clipped beyond what was asked for, because a block is not exact."""


class Excess(Protocol):
    """Part of a matrix outside the dual ball, for several enlargements of the ball."""

    @property
    def worst(self) -> float:
        """The matrix's dual norm divided by λ."""

    def beyond(self, enlargement: float) -> Array:
        """Return the matrix minus its projection onto the ball of radius ``enlargement·λ``."""

    def uncertainty(self, enlargement: float) -> float:
        """Return how far rounding may have left the projection outside the ball (Frobenius)."""


def relative(norm: Array, lam: Array) -> Array:
    """Return norm / λ with 0/0 = 0: where λ = 0 only the zero matrix is feasible."""
    return np.divide(norm, lam, out=np.where(norm > 0, np.inf, 0.0), where=lam > 0)


@dataclass(frozen=True)
class SpectralExcess:
    """A matrix with its singular values, largest first, and its right singular vectors."""

    matrix: Array
    values: Array
    right: Array
    lam: Array

    @classmethod
    def of(cls, matrix: Array, lam: Array) -> "SpectralExcess":
        """Decompose through the Gram matrix, which is exact enough for the largest values."""
        scaled, unit = near_one(matrix)
        squares, right = eigh(scaled.T @ scaled)
        return cls(matrix, unit * np.sqrt(np.maximum(squares[::-1], 0.0)), right[:, ::-1], lam)

    @property
    def worst(self) -> float:
        return float(relative(self.values[0], self.lam))

    def beyond(self, enlargement: float) -> Array:
        radius = enlargement * self.lam
        if radius == 0.0:
            return self.matrix
        out = self.values > radius  # usually few, so only these are multiplied
        right = self.right[:, out]
        return ((self.matrix @ right) * (1.0 - radius / self.values[out])) @ right.T

    def uncertainty(self, enlargement: float) -> float:
        """Return a bound of the error: eigh knows squares up to n·ε of the largest."""
        radius, largest = float(enlargement * self.lam), float(self.values[0])
        if radius == 0.0 or largest == 0.0:
            return 0.0
        share, error = radius / largest, unit_error(self.right)
        return largest * float(
            np.sqrt(len(self.values)) * error / (share + np.sqrt(share**2 + error))
        )

    def directions(self, enlargement: float) -> Array:
        """Return left and right singular vectors of the part outside the ball, side by side."""
        out = self.values > enlargement * self.lam
        right = self.right[:, out]
        return np.hstack([self.matrix @ right / self.values[out], right])


class BlockExcess:
    """The same from a block of vectors that nearly spans the singular vectors outside the ball.

    Clip the matrix a little more than asked for and prove that the rest lies inside. If the proof
    fails, decompose the matrix.

    Parameters
    ----------
    matrix : array (n, m)
    lam : float
    block : array (min(n, m), b)
        Orthonormal leading singular vectors of a matrix that differs little.
    """

    def __init__(self, matrix: Array, lam: Array, block: Array) -> None:
        self.matrix, self.lam = matrix, lam
        self._wide = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
        self._full: SpectralExcess | None = None
        improved = orthonormal(self._wide @ (self._wide.T @ block))
        if improved is None or not lam > 0.0:
            self._decompose()
            return
        inside = improved.T @ self._wide
        squares, rotation = eigh(inside @ inside.T)
        self._values = np.sqrt(np.maximum(squares, 0.0))
        self._vectors, self._rows = improved @ rotation, rotation.T @ inside

    @property
    def worst(self) -> float:
        if self._full is not None:
            return self._full.worst
        return float(relative(self._values[-1], self.lam))

    def beyond(self, enlargement: float) -> Array:
        if self._full is None:
            surplus = max(self.worst - 1.0, 0.0)
            clipped = self._clip(float((enlargement - RESERVE * surplus) * self.lam))
            if norm_is_at_most(self._wide - clipped, float(enlargement * self.lam)):
                return clipped if self._wide is self.matrix else clipped.T
        return self._decompose().beyond(enlargement)

    def uncertainty(self, enlargement: float) -> float:
        if self._full is not None:
            return self._full.uncertainty(enlargement)
        return EPS * frobenius_norm(self.matrix)

    def directions(self, enlargement: float) -> Array:
        """Return left and right singular vectors of the part outside the ball, side by side."""
        return self._decompose().directions(enlargement)

    def _clip(self, radius: float) -> Array:
        """Return the part outside the ball among the vectors of the block."""
        out = self._values > radius
        share = 1.0 - radius / self._values[out]
        return (self._vectors[:, out] * share) @ self._rows[out]

    def _decompose(self) -> SpectralExcess:
        if self._full is None:
            self._full = SpectralExcess.of(self.matrix, self.lam)
        return self._full


def norm_is_at_most(matrix: Array, bound: float) -> bool:
    """Return whether ‖M‖₂ ≤ bound is proven.

    It is if b²I − MMᵀ has a Cholesky factor even if b² is reduced by the possible rounding errors
    (Rump 2006).
    """
    if matrix.shape[0] > matrix.shape[1]:
        return norm_is_at_most(matrix.T, bound)
    scaled, unit = near_one(matrix)
    limit = (bound / unit) ** 2
    if not frobenius_norm(scaled) ** 2 <= len(scaled) * limit:
        return False
    gram = scaled @ scaled.T
    np.negative(gram, out=gram)
    gram[np.diag_indices_from(gram)] += limit * (1.0 - proof_margin(scaled))
    try:
        np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        return False
    return True


def proof_margin(matrix: Array) -> float:
    """Return a bound of the rounding errors in such a proof, as a share of b².

    For n × n products over m columns it is n(n + m + 8)·ε, because ‖M‖_F² ≤ n·b².
    """
    return float(min(matrix.shape) * (sum(matrix.shape) + 8) * EPS)
