"""Datafits, penalties and couplings as a user would write them.

Those that promise nothing set no class attribute beyond what is needed; the others are invariant
to orthogonal matrices and say so.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from viewspan.objective.couplings import Coupling
from viewspan.objective.datafits import Datafit
from viewspan.objective.penalties import Penalty


def shrink(array, radius):
    """Return the prox of radius·‖·‖_F."""
    norm = np.linalg.norm(array)
    return array * (max(norm - radius, 0.0) / norm if norm > 0 else 0.0)


def column_lengths(matrix):
    return np.linalg.norm(matrix, axis=0)


@dataclass(frozen=True)
class PinballFit(Datafit):
    """Σ max(q·e, (q − 1)·e) over all entries; it promises nothing."""

    quantile: float = 0.3

    def value(self, residual):
        return float(np.maximum(self.quantile * residual, (self.quantile - 1) * residual).sum())

    def prox(self, residual, step):
        return residual - np.clip(residual, (self.quantile - 1) * step, self.quantile * step)

    def conjugate(self, dual):
        return np.zeros(dual.shape[1])

    def polar(self, dual):
        worst = np.maximum(dual / self.quantile, dual / (self.quantile - 1))
        return float(worst.max(initial=0.0))


@dataclass(frozen=True)
class PlainQuadratic(Datafit):
    """‖E‖_F², of which only the curvature is promised."""

    curvature: float = 2.0
    degree: ClassVar[int] = 2

    def value(self, residual):
        return float(np.sum(residual**2))

    def prox(self, residual, step):
        return residual / (1.0 + 2.0 * step)

    def conjugate(self, dual):
        return 0.25 * np.sum(dual**2, axis=0)

    def polar(self, dual):
        return 0.0


@dataclass(frozen=True)
class ResidualNorm(Datafit):
    """‖E‖_F, which is invariant to rotations of samples and of features."""

    homogeneous: ClassVar[bool] = True
    rotates_samples: ClassVar[bool] = True
    rotates_features: ClassVar[bool] = True

    def value(self, residual):
        return float(np.linalg.norm(residual))

    def prox(self, residual, step):
        return shrink(residual, step)

    def conjugate(self, dual):
        return np.zeros(dual.shape[1])

    def polar(self, dual):
        return float(np.linalg.norm(dual))


@dataclass(frozen=True)
class ColumnExcess:
    """How the columns of a matrix leave balls of radius λ_j."""

    matrix: np.ndarray
    lam: np.ndarray

    @property
    def worst(self):
        return float((column_lengths(self.matrix) / self.lam).max())

    def beyond(self, enlargement):
        lengths = column_lengths(self.matrix)
        outside = np.maximum(lengths - enlargement * self.lam, 0.0)
        return self.matrix * np.divide(
            outside, lengths, out=np.zeros_like(lengths), where=lengths > 0
        )

    def uncertainty(self, enlargement):
        return 1e-14 * float(np.linalg.norm(self.matrix))


@dataclass(frozen=True)
class ColumnNorm(Penalty):
    """Σ_j λ_j ‖z_j‖₂ over samples; it promises no invariance."""

    per_sample: ClassVar[bool] = True

    def value(self, matrix, lam):
        return float((lam * column_lengths(matrix)).sum())

    def prox_and_value(self, matrix, lam):
        prox = ColumnExcess(matrix, np.broadcast_to(lam, matrix.shape[1])).beyond(1.0)
        return prox, self.value(prox, lam)

    def polar(self, matrix, lam):
        return column_lengths(matrix) / lam

    def excess(self, matrix, lam):
        return ColumnExcess(matrix, np.broadcast_to(lam, matrix.shape[1]))


@dataclass(frozen=True)
class NormExcess:
    """How a matrix leaves a Frobenius ball of radius λ."""

    matrix: np.ndarray
    lam: float

    @property
    def worst(self):
        return float(np.linalg.norm(self.matrix) / self.lam)

    def beyond(self, enlargement):
        return shrink(self.matrix, enlargement * self.lam)

    def uncertainty(self, enlargement):
        return 1e-14 * float(np.linalg.norm(self.matrix))


@dataclass(frozen=True)
class FrobeniusNorm(Penalty):
    """λ‖Z‖_F, which depends on the singular values alone."""

    orthogonally_invariant: ClassVar[bool] = True

    def value(self, matrix, lam):
        return float(lam * np.linalg.norm(matrix))

    def prox_and_value(self, matrix, lam):
        prox = shrink(matrix, lam)
        return prox, self.value(prox, lam)

    def polar(self, matrix, lam):
        return np.array([np.linalg.norm(matrix) / lam])

    def excess(self, matrix, lam):
        return NormExcess(matrix, float(lam))


@dataclass(frozen=True)
class EntryCoupling(Coupling):
    """Σ |entries| of all views; it promises nothing."""

    def value(self, stack):
        return float(np.abs(stack).sum())

    def prox(self, stack, step):
        return stack - np.clip(stack, -step, step)

    def polar(self, stack):
        return float(np.abs(stack).max(initial=0.0))


@dataclass(frozen=True)
class StackNorm(Coupling):
    """‖(Z_1, …, Z_c)‖_F, which is invariant to orthogonal matrices."""

    orthogonally_invariant: ClassVar[bool] = True

    def value(self, stack):
        return float(np.linalg.norm(stack))

    def prox(self, stack, step):
        return shrink(stack, step)

    def polar(self, stack):
        return float(np.linalg.norm(stack))


@dataclass(frozen=True)
class DifferenceNorm(Coupling):
    """‖Z_1 − Z_2‖_F + share·‖(Z_1, Z_2)‖_F for two views, which pulls them together.

    In the coordinates u = (Z_1 + Z_2)/√2 and v = (Z_1 − Z_2)/√2 it is √2‖v‖ + share·‖(u, v)‖.
    """

    share: float = 0.05

    def value(self, stack):
        return float(np.linalg.norm(stack[0] - stack[1]) + self.share * np.linalg.norm(stack))

    def prox(self, stack, step):
        mean, half = (stack[0] + stack[1]) / 2, (stack[0] - stack[1]) / 2
        half = shrink(half, step)  # √2·half is v, which is shortened by √2·step
        return shrink(np.stack([mean + half, mean - half]), self.share * step)

    def polar(self, stack):
        u = np.linalg.norm(stack[0] + stack[1]) / np.sqrt(2)
        v = np.linalg.norm(stack[0] - stack[1]) / np.sqrt(2)
        low, high = 0.0, float(np.hypot(u, v)) / self.share
        for _ in range(100):
            middle = (low + high) / 2
            inside = np.hypot(u, max(v - np.sqrt(2) * middle, 0.0)) <= self.share * middle
            low, high = (low, middle) if inside else (middle, high)
        return high
