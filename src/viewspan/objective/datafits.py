"""First axis: how the residual E_i = X_i − X_i Z_i is measured.

A datafit works on one view's residual, a matrix whose columns are samples. Besides its value it knows

- ``curvature``: w if the fit is (w/2)‖E‖_F², so that the solver can absorb it into its linear system; ``None``
  otherwise, and then ``prox`` splits the residual off;
- ``conjugate(Y)``: f*(Y) for every sample, and ``polar(Y)``: the factor by which Y leaves the domain of f* (0 where
  f* is finite everywhere), both for the dual bound;
- ``degree``: f*(sY) = s^degree f*(Y) for s ≥ 0 inside the domain;
- ``rotates_samples`` and ``rotates_features``: whether f(EQ) = f(E) and f(QE) = f(E) for orthogonal Q, which decides
  how far the problem can be reduced.
"""

from dataclasses import dataclass, field
from typing import ClassVar, Protocol

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array


class Datafit(Protocol):
    """What the problem and the solvers ask of a datafit."""

    @property
    def curvature(self) -> float | None: ...
    @property
    def degree(self) -> int: ...
    @property
    def rotates_samples(self) -> bool: ...
    @property
    def rotates_features(self) -> bool: ...
    def value(self, residual: Array) -> float: ...
    def prox(self, residual: Array, step: float) -> Array: ...
    def conjugate(self, dual: Array) -> Array: ...
    def polar(self, dual: Array) -> float: ...


def squared_lengths(matrix: Array) -> Array:
    """‖column‖₂² for every column."""
    lengths: Array = np.einsum("ij,ij->j", matrix, matrix)
    return lengths


def shrink_columns(matrix: Array, radius: Array | float) -> Array:
    """Shorten every column by ``radius``; columns shorter than that become zero. This is the prox of
    radius·‖·‖_{1,2}.
    """
    length = np.sqrt(squared_lengths(matrix))
    return matrix * ratio(np.maximum(length - radius, 0.0), length)


@dataclass(frozen=True)
class Frobenius:
    """(w/2)‖E‖_F²: Gaussian noise. The paper has w = 2, SSC has w = 1."""

    curvature: float = 2.0
    degree: ClassVar[int] = 2
    rotates_samples: ClassVar[bool] = True
    rotates_features: ClassVar[bool] = True

    def value(self, residual: Array) -> float:
        return 0.5 * self.curvature * float(np.vdot(residual, residual))

    def prox(self, residual: Array, step: float) -> Array:
        return residual / (1.0 + step * self.curvature)

    def conjugate(self, dual: Array) -> Array:
        return squared_lengths(dual) / (2.0 * self.curvature)

    def polar(self, dual: Array) -> float:
        return 0.0


@dataclass(frozen=True)
class L12:
    """‖E‖_{1,2} = Σ_j ‖e_j‖₂: whole samples may be corrupted (LRR as Liu et al., MLAP)."""

    curvature: ClassVar[None] = None
    degree: ClassVar[int] = 1
    rotates_samples: ClassVar[bool] = False
    rotates_features: ClassVar[bool] = True

    def value(self, residual: Array) -> float:
        return float(np.sqrt(squared_lengths(residual)).sum())

    def prox(self, residual: Array, step: float) -> Array:
        return shrink_columns(residual, step)

    def conjugate(self, dual: Array) -> Array:
        return np.zeros(dual.shape[1])

    def polar(self, dual: Array) -> float:
        return float(np.sqrt(squared_lengths(dual).max(initial=0.0)))


@dataclass(frozen=True)
class L1:
    """‖E‖₁: single entries may be corrupted. Features have to stay what they are, so nothing may rotate them."""

    curvature: ClassVar[None] = None
    degree: ClassVar[int] = 1
    rotates_samples: ClassVar[bool] = False
    rotates_features: ClassVar[bool] = False

    def value(self, residual: Array) -> float:
        return float(np.abs(residual).sum())

    def prox(self, residual: Array, step: float) -> Array:
        return residual - np.clip(residual, -step, step)

    def conjugate(self, dual: Array) -> Array:
        return np.zeros(dual.shape[1])

    def polar(self, dual: Array) -> float:
        return float(np.abs(dual).max(initial=0.0))


@dataclass(frozen=True)
class Ball:
    """0 if ‖e_j‖₂ ≤ radius_j for every sample, else infinite: the constrained fit that sets SSC's data-driven λ."""

    radius: Array = field(repr=False)
    curvature: ClassVar[None] = None
    degree: ClassVar[int] = 1
    rotates_samples: ClassVar[bool] = False
    rotates_features: ClassVar[bool] = True

    def value(self, residual: Array) -> float:
        length = np.sqrt(squared_lengths(residual))
        return 0.0 if np.all(length <= self.radius * (1 + 1e-12)) else np.inf

    def prox(self, residual: Array, step: float) -> Array:
        return residual - shrink_columns(residual, self.radius)

    def conjugate(self, dual: Array) -> Array:
        return self.radius * np.sqrt(squared_lengths(dual))

    def polar(self, dual: Array) -> float:
        return 0.0
