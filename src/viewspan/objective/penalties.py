"""Second axis of the objective: what makes each Z_i simple.

A penalty works on the coefficients of one view. Its weight λ_i is a number or, for penalties that
are sums over samples, one number per sample.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from viewspan._utils.linalg import eigh, singular_values, svd
from viewspan._utils.typing import Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.rounding import near_one, unit_error
from viewspan.objective.weight_rule import WeightRule

GRAM_THRESHOLD = 1e-6
"""Smallest threshold, as a share of the matrix's norm, for which a Gram matrix suffices."""


class Excess(Protocol):
    """Part of a matrix outside the dual ball, for several enlargements of the ball."""

    @property
    def worst(self) -> float:
        """The matrix's dual norm divided by λ."""

    def beyond(self, enlargement: float) -> Array:
        """Return the matrix minus its projection onto the ball of radius ``enlargement·λ``."""

    def uncertainty(self, enlargement: float) -> float:
        """Return how far rounding may have left the projection outside the ball (Frobenius)."""


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


@dataclass(frozen=True)
class Nuclear(Penalty):
    """λ‖Z‖_*: low rank (LRR, MLAP, cLRSC)."""

    orthogonally_invariant: ClassVar[bool] = True
    purpose: ClassVar[str] = "low rank"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, matrix: Array, lam: Array) -> float:
        return float(lam * singular_values(matrix).sum())

    def prox_and_value(self, matrix: Array, lam: Array) -> tuple[Array, float]:
        """Return U (S − λ)₊ Vᵀ, singular value thresholding, and λ times its nuclear norm.

        The singular vectors come from the smaller Gram matrix. This is twice as fast as a
        decomposition of the matrix and accurate above the threshold, unless the threshold is so
        small that squaring loses it. The nuclear norm is not computed from the eigenvalues, which
        lose digits: for orthonormal u_k, Σ‖u_kᵀM‖ is an upper bound, with equality for the left
        singular vectors of M.
        """
        if matrix.shape[0] > matrix.shape[1]:
            proximal, value = self.prox_and_value(matrix.T, lam)
            return proximal.T, value
        if lam < GRAM_THRESHOLD * np.linalg.norm(matrix):
            left, values, right = svd(matrix)
            shrunk = np.maximum(values - lam, 0.0)
            return (left * shrunk) @ right, float(lam * shrunk.sum())
        squares, vectors = eigh(matrix @ matrix.T)
        kept = squares > lam**2
        left, share = vectors[:, kept], 1.0 - lam / np.sqrt(squares[kept])
        rows = left.T @ matrix
        lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
        return (left * share) @ rows, float(lam * (share @ lengths))

    def polar(self, matrix: Array, lam: Array) -> Array:
        return relative(singular_values(matrix)[:1], lam)

    def excess(self, matrix: Array, lam: Array) -> SpectralExcess:
        """Decompose through the Gram matrix, which is exact enough for the largest values."""
        scaled, unit = near_one(matrix)
        squares, right = eigh(scaled.T @ scaled)
        return SpectralExcess(
            matrix, unit * np.sqrt(np.maximum(squares[::-1], 0.0)), right[:, ::-1], lam
        )


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
