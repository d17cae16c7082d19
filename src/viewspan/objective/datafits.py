"""First axis of the objective: how the residual E_i = X_i − X_i Z_i is measured."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array


class Datafit(ABC):
    """Base class of datafits f(E).

    A datafit works on the residual of one view, a matrix with one column per sample. Subclass it
    to use your own: implement the four methods and set the class attributes that describe it. The
    defaults assume no property. They are always correct, but then only the rows of Z_i can be
    reduced, features are not rotated, and views are not rescaled.

    Attributes
    ----------
    curvature : float or None
        w if f(E) = (w/2)‖E‖_F². The solver then absorbs the fit into its linear system. None for
        all other fits, whose residual is split off with ``prox``.
    degree : {1, 2}
        Degree of the conjugate: f*(sY) = s^degree f*(Y) for s ≥ 0 inside its domain. Where f* is
        zero on its domain, take 1.
    homogeneous : bool
        Whether also f(sE) = s^degree f(E), so that the solver may rescale the views.
    rotates_samples : bool
        Whether f(EQ) = f(E) for every orthogonal Q. Then both sides of Z_i can be reduced.
    rotates_features : bool
        Whether f(QE) = f(E) for every orthogonal Q. Then the features can be rotated.
    allows_self_representation : bool
        Whether a sample may be represented by itself alone at the optimum. The graph then
        compares the columns of Z_i + Z_iᵀ instead of those of Z_i.
    purpose : str
        What it is for, in a few words, for help texts and reports.
    solvers : tuple of str
        The solvers that have a step for this fit.
    """

    curvature: float | None = None
    degree: ClassVar[int] = 1
    homogeneous: ClassVar[bool] = False
    rotates_samples: ClassVar[bool] = False
    rotates_features: ClassVar[bool] = False
    allows_self_representation: ClassVar[bool] = False
    purpose: ClassVar[str] = ""
    solvers: ClassVar[tuple[str, ...]] = ("admm",)

    @abstractmethod
    def value(self, residual: Array) -> float:
        """Return f(E)."""

    @abstractmethod
    def prox(self, residual: Array, step: float) -> Array:
        """Return the minimiser of f(P) + ‖P − E‖_F² / (2·step) over P."""

    @abstractmethod
    def conjugate(self, dual: Array) -> Array:
        """Return f*(Y) for every sample, as if Y were in the domain of f*."""

    @abstractmethod
    def polar(self, dual: Array) -> float:
        """Return the smallest t ≥ 0 with Y/t in the domain of f*; 0 if f* is finite everywhere.

        It must not grow if one sample of Y is multiplied by a factor from 0 to 1.
        """


def squared_lengths(matrix: Array) -> Array:
    """Return ‖column‖₂² for every column."""
    lengths: Array = np.einsum("ij,ij->j", matrix, matrix)
    return lengths


def shrink_columns(matrix: Array, radius: Array | float) -> Array:
    """Shorten every column by ``radius``, to zero at most: the prox of radius·‖·‖_{1,2}."""
    length = np.sqrt(squared_lengths(matrix))
    return matrix * ratio(np.maximum(length - radius, 0.0), length)


@dataclass(frozen=True)
class Frobenius(Datafit):
    """(w/2)‖E‖_F², for Gaussian noise. The paper has w = 2, SSC has w = 1."""

    curvature: float = 2.0
    degree: ClassVar[int] = 2
    homogeneous: ClassVar[bool] = True
    rotates_samples: ClassVar[bool] = True
    rotates_features: ClassVar[bool] = True
    purpose: ClassVar[str] = "noise in all values"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, residual: Array) -> float:
        return 0.5 * self.curvature * float(np.vdot(residual, residual))

    def prox(self, residual: Array, step: float) -> Array:
        return residual / (1.0 + step * self.curvature)

    def conjugate(self, dual: Array) -> Array:
        return squared_lengths(dual) / (2.0 * self.curvature)

    def polar(self, dual: Array) -> float:
        return 0.0


@dataclass(frozen=True)
class L12(Datafit):
    """‖E‖_{1,2} = Σ_j ‖e_j‖₂, for samples that may be corrupted as a whole (Liu et al.; MLAP)."""

    homogeneous: ClassVar[bool] = True
    rotates_features: ClassVar[bool] = True
    allows_self_representation: ClassVar[bool] = True
    purpose: ClassVar[str] = "outlying samples"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, residual: Array) -> float:
        return float(np.sqrt(squared_lengths(residual)).sum())

    def prox(self, residual: Array, step: float) -> Array:
        return shrink_columns(residual, step)

    def conjugate(self, dual: Array) -> Array:
        return np.zeros(dual.shape[1])

    def polar(self, dual: Array) -> float:
        return float(np.sqrt(squared_lengths(dual).max(initial=0.0)))


@dataclass(frozen=True)
class L1(Datafit):
    """‖E‖₁, for single entries that may be corrupted. It depends on the features as they are."""

    homogeneous: ClassVar[bool] = True
    purpose: ClassVar[str] = "outlying values"

    def value(self, residual: Array) -> float:
        return float(np.abs(residual).sum())

    def prox(self, residual: Array, step: float) -> Array:
        return residual - np.clip(residual, -step, step)

    def conjugate(self, dual: Array) -> Array:
        return np.zeros(dual.shape[1])

    def polar(self, dual: Array) -> float:
        return float(np.abs(dual).max(initial=0.0))


@dataclass(frozen=True)
class Ball(Datafit):
    """0 if ‖e_j‖₂ ≤ radius_j for every sample, else infinite: the fit behind SSC's automatic λ."""

    radius: Array = field(repr=False)
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


DATAFITS: dict[str, Datafit] = {
    "frobenius": Frobenius(2.0),
    "half_frobenius": Frobenius(1.0),
    "l12": L12(),
    "l1": L1(),
}
"""Datafits by name; the first one is the default."""
