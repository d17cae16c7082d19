"""Second axis of the objective: what makes each Z_i simple.

A penalty works on the coefficients of one view. Its weight λ_i is a number or, for penalties that
are sums over samples, one number per sample.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from viewspan._utils.linalg import eigh, singular_values
from viewspan._utils.typing import Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.excess import Excess, SpectralExcess, relative
from viewspan.objective.thresholding import WarmThresholding
from viewspan.objective.weight_rule import WeightRule


class Penalty(ABC):
    """Base class of penalties p(Z), weighted by λ.

    Subclass it to use a penalty of your own: implement the four methods and set the class
    attributes that describe it. The defaults assume no property. They are always correct, but need
    N × N matrices and a given ``lam``.

    Attributes
    ----------
    orthogonally_invariant : bool
        Whether p depends on the singular values of Z alone. Then N × N matrices can be reduced.
    per_sample : bool
        Whether p is a sum over samples (columns of Z), so that λ may differ between samples.
    purpose : str
        What it is for, in a few words, for help texts and reports.
    solvers : tuple of str
        The solvers that have a step for this penalty.
    """

    orthogonally_invariant: ClassVar[bool] = False
    per_sample: ClassVar[bool] = False
    purpose: ClassVar[str] = ""
    solvers: ClassVar[tuple[str, ...]] = ("admm",)

    @abstractmethod
    def value(self, matrix: Array, lam: Array) -> float:
        """Return λ·p(Z)."""

    @abstractmethod
    def prox_and_value(self, matrix: Array, lam: Array) -> tuple[Array, float]:
        """Return the minimiser P of λ·p(P) + ½‖P − Z‖_F², and λ·p(P)."""

    @abstractmethod
    def polar(self, matrix: Array, lam: Array) -> Array:
        """Return the dual norm divided by λ: one number, or one per sample.

        A dual point is feasible where this is at most 1.
        """

    @abstractmethod
    def excess(self, matrix: Array, lam: Array) -> Excess:
        """Return how a matrix leaves the dual ball of radius λ."""

    def weight_rule(self, datafit: Datafit) -> WeightRule | None:
        """Return a rule for automatic λ with this datafit.

        None takes the built-in rule, if there is one; otherwise ``lam`` must be given.
        """
        return None


@dataclass(frozen=True)
class Nuclear(Penalty):
    """λ‖Z‖_*: low rank (LRR, MLAP, cLRSC)."""

    orthogonally_invariant: ClassVar[bool] = True
    purpose: ClassVar[str] = "low rank"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, matrix: Array, lam: Array) -> float:
        return float(lam * singular_values(matrix).sum())

    def prox_and_value(self, matrix: Array, lam: Array) -> tuple[Array, float]:
        """Return U (S − λ)₊ Vᵀ, singular value thresholding, and λ times its nuclear norm."""
        return WarmThresholding()(matrix, lam)

    def polar(self, matrix: Array, lam: Array) -> Array:
        return relative(singular_values(matrix)[:1], lam)

    def excess(self, matrix: Array, lam: Array) -> SpectralExcess:
        return SpectralExcess.of(matrix, lam)


def is_nuclear_norm(penalty: Penalty) -> bool:
    """Return whether a penalty is the nuclear norm itself; a subclass may have other values."""
    return type(penalty) is Nuclear


def shrinkage(gram: Array, threshold: Array | float) -> Array:
    """Return K such that K·M thresholds the singular values of M, from gram = M·Mᵀ.

    The eigenvalue s² becomes (s − t)₊ / s.
    """
    squares, vectors = eigh(gram)
    singular = np.sqrt(np.maximum(squares, 0.0))
    kept = singular > threshold
    vectors, singular = vectors[:, kept], singular[kept]
    return (vectors * (1.0 - threshold / singular)) @ vectors.T


@dataclass(frozen=True)
class EntryExcess:
    """A matrix with a bound for every entry."""

    matrix: Array
    bound: Array

    @property
    def worst(self) -> float:
        return float(relative(np.abs(self.matrix), self.bound).max(initial=0.0))

    def beyond(self, enlargement: float) -> Array:
        bound = enlargement * self.bound
        return self.matrix - np.clip(self.matrix, -bound, bound)

    def uncertainty(self, enlargement: float) -> float:
        return 0.0


@dataclass(frozen=True)
class ZeroDiagonalL1(Penalty):
    """Σ_j λ_j ‖z_j‖₁ with diag(Z) = 0: sparse, and no sample represents itself (SSC)."""

    per_sample: ClassVar[bool] = True
    purpose: ClassVar[str] = "sparse coefficients"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, matrix: Array, lam: Array) -> float:
        if np.diagonal(matrix).any():
            return np.inf
        return float((lam * np.abs(matrix).sum(axis=0)).sum())

    def prox_and_value(self, matrix: Array, lam: Array) -> tuple[Array, float]:
        """Return the soft-thresholded entries with a zero diagonal."""
        shrunk = matrix - np.clip(matrix, -lam, lam)
        np.fill_diagonal(shrunk, 0.0)
        return shrunk, self.value(shrunk, lam)

    def polar(self, matrix: Array, lam: Array) -> Array:
        """Return one number per sample. The multiplier of the diagonal is free."""
        magnitude = np.abs(matrix)
        np.fill_diagonal(magnitude, 0.0)
        return relative(magnitude.max(axis=0, initial=0.0), np.broadcast_to(lam, matrix.shape[1]))

    def excess(self, matrix: Array, lam: Array) -> EntryExcess:
        bound = np.broadcast_to(lam, matrix.shape).copy()
        np.fill_diagonal(bound, np.inf)
        return EntryExcess(matrix, bound)


PENALTIES: dict[str, Penalty] = {"nuclear": Nuclear(), "l1": ZeroDiagonalL1()}
"""Penalties by name; the first one is the default."""
