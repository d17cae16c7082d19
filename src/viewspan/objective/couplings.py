"""Third axis of the objective: what makes the Z_i of different views agree.

A coupling works on the stack (c, rows, columns) of the Z_i. It reads the stack as the paper's
matrix A, which has one row vec(Z_i)ᵀ per view.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from viewspan._utils.linalg import eigh, singular_values, triangle
from viewspan._utils.typing import Array
from viewspan.objective.datafits import shrink_columns, squared_lengths
from viewspan.objective.penalties import shrinkage
from viewspan.objective.reduction import Reduction, rms_length
from viewspan.objective.rounding import near_one
from viewspan.objective.weight_rule import PenaltyStrength

RELATIVE_RANK_TOLERANCE = 1e-10
"""A second singular value below this share of the first is rounding."""
NUCLEAR_SHARE = 0.5
"""Automatic τ of the nuclear coupling as a share of the norm of the penalty's subgradient."""
ENTRY_SHARE = 0.05
"""Automatic τ of MLAP's coupling as a share of a sample's length."""


class Coupling(ABC):
    """Base class of couplings c(Z_1, …, Z_c).

    Subclass it to use a coupling of your own: implement the three methods and set the class
    attributes that describe it. The defaults assume no property. They are always correct, but need
    N × N matrices and a given ``tau``.

    Attributes
    ----------
    orthogonally_invariant : bool
        Whether c does not change when every Z_i is replaced by U Z_i V with orthogonal U and V,
        and does not grow when every Z_i is replaced by P Z_i P with a projection P. Then N × N
        matrices can be reduced to r × r.
    views_shrink_separately : bool
        Whether the dual norm does not grow if one view is multiplied by a factor from 0 to 1. Then
        the dual point of every view is scaled on its own, which gives a tighter bound.
    shares_coefficients : bool
        Whether all views have one matrix, Z_i = α_i Z. This is not convex and needs a solver of
        its own, so only :class:`RankOne` sets it.
    purpose : str
        What it is for, in a few words, for help texts and reports.
    solvers : tuple of str
        The solvers that have a step for this coupling.
    """

    orthogonally_invariant: ClassVar[bool] = False
    views_shrink_separately: ClassVar[bool] = False
    shares_coefficients: ClassVar[bool] = False
    purpose: ClassVar[str] = ""
    solvers: ClassVar[tuple[str, ...]] = ("admm",)

    @abstractmethod
    def value(self, stack: Array) -> float:
        """Return c(Z_1, …, Z_c)."""

    @abstractmethod
    def prox(self, stack: Array, step: float) -> Array:
        """Return the minimiser of c(P) + Σ‖P_i − Z_i‖_F² / (2·step) over stacks P."""

    @abstractmethod
    def polar(self, stack: Array) -> float:
        """Return the dual norm of c, not divided by τ; a dual point is feasible up to τ."""

    def automatic_tau(
        self, reduction: Reduction, lam: Array, strength: PenaltyStrength | None
    ) -> float | None:
        """Return τ for this data, or None if ``tau`` must be given.

        Parameters
        ----------
        reduction : Reduction
            The prepared views: ``singular_values()``, ``n_samples``, ``factors``.
        lam : array (c,) or (c, N)
        strength : PenaltyStrength or None
            Strength of the penalty at this λ; None if its rule does not know it.
        """
        return None


@dataclass(frozen=True)
class Uncoupled(Coupling):
    """0: every view alone (LRR, SSC)."""

    orthogonally_invariant: ClassVar[bool] = True
    purpose: ClassVar[str] = "separate views"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, stack: Array) -> float:
        return 0.0

    def prox(self, stack: Array, step: float) -> Array:
        return stack

    def polar(self, stack: Array) -> float:
        return np.inf if stack.any() else 0.0

    def automatic_tau(
        self, reduction: Reduction, lam: Array, strength: PenaltyStrength | None
    ) -> float:
        return 0.0


@dataclass(frozen=True)
class NuclearCoupling(Coupling):
    """‖A‖_*: the patterns of coefficients agree up to a factor (cLRSC)."""

    orthogonally_invariant: ClassVar[bool] = True
    views_shrink_separately: ClassVar[bool] = True
    purpose: ClassVar[str] = "similar patterns"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, stack: Array) -> float:
        return float(row_singular_values(stack).sum())

    def prox(self, stack: Array, step: float) -> Array:
        """Threshold the singular values of A through its c × c Gram matrix.

        A itself, c × rows·columns, is never decomposed.
        """
        rows = stack.reshape(len(stack), -1)
        return (shrinkage(rows @ rows.T, step) @ rows).reshape(stack.shape)

    def polar(self, stack: Array) -> float:
        rows, unit = near_one(stack.reshape(len(stack), -1))
        squares, _ = eigh(rows @ rows.T)  # the largest one loses nothing in the Gram matrix
        return unit * float(np.sqrt(max(squares[-1], 0.0)))

    def automatic_tau(
        self, reduction: Reduction, lam: Array, strength: PenaltyStrength | None
    ) -> float | None:
        """Return half of the norm of the penalty's subgradient, or less if the rule limits τ.

        Where views agree, the subgradient of τ‖A‖_* has norm τ, and that of λ‖Z_i‖_* has norm
        λ√r for Z_i of rank r.
        """
        return (
            None
            if strength is None
            else min(NUCLEAR_SHARE * strength.subgradient_norm, strength.max_tau)
        )


@dataclass(frozen=True)
class L12Coupling(Coupling):
    """‖A‖_{1,2}: the sum over entries of their length across views (MLAP).

    The supports of the Z_i agree and their magnitudes are shrunk.
    """

    views_shrink_separately: ClassVar[bool] = True
    purpose: ClassVar[str] = "common entries"
    solvers: ClassVar[tuple[str, ...]] = ("admm", "ladmpsap", "ladmap")

    def value(self, stack: Array) -> float:
        return float(np.sqrt(squared_lengths(stack.reshape(len(stack), -1))).sum())

    def prox(self, stack: Array, step: float) -> Array:
        return shrink_columns(stack.reshape(len(stack), -1), step).reshape(stack.shape)

    def polar(self, stack: Array) -> float:
        rows, unit = near_one(stack.reshape(len(stack), -1))
        return unit * float(np.sqrt(squared_lengths(rows).max(initial=0.0)))

    def automatic_tau(
        self, reduction: Reduction, lam: Array, strength: PenaltyStrength | None
    ) -> float:
        """Return 0.05 × the root mean square length of a sample.

        τ bounds the entries of the multiplier M. For residual directions ‖y_j‖ ≤ 1, the entries
        of X_iᵀY_i are at most the length of a sample. τ is also at most ¼‖X‖₂² / (N · length),
        so that not all coefficients become zero.
        """
        spectra, n_samples = reduction.singular_values(), reduction.n_samples
        length = rms_length(spectra, n_samples)
        largest = max(float(values.max(initial=0.0)) for values in spectra)
        return min(ENTRY_SHARE * length, 0.25 * largest**2 / (n_samples * (length or 1.0)))


@dataclass(frozen=True)
class RankOne(Coupling):
    """0 if rank(A) ≤ 1, else infinite: every Z_i is a multiple of one matrix.

    This is the paper's strict objective. It is not convex and gives no dual bound, so ``polar``
    admits the multiplier 0 only.
    """

    orthogonally_invariant: ClassVar[bool] = True
    shares_coefficients: ClassVar[bool] = True
    purpose: ClassVar[str] = "one pattern in all views"

    def value(self, stack: Array) -> float:
        values = row_singular_values(stack)
        limit = RELATIVE_RANK_TOLERANCE * values.max(initial=0.0)
        return 0.0 if values[1:].max(initial=0.0) <= limit else np.inf

    def prox(self, stack: Array, step: float) -> Array:
        """Return the nearest stack of multiples of one matrix."""
        rows = stack.reshape(len(stack), -1)
        leading = eigh(rows @ rows.T)[1][:, -1:]
        return (leading @ (leading.T @ rows)).reshape(stack.shape)

    def polar(self, stack: Array) -> float:
        return np.inf if stack.any() else 0.0

    def automatic_tau(
        self, reduction: Reduction, lam: Array, strength: PenaltyStrength | None
    ) -> float:
        return 0.0


def row_singular_values(stack: Array) -> Array:
    """Return the singular values of A from the triangle of a thin QR.

    A Gram matrix would lose half of the digits of small ones.
    """
    return singular_values(triangle(stack.reshape(len(stack), -1).T))


COUPLINGS: dict[str, Coupling] = {
    "nuclear": NuclearCoupling(),
    "l12": L12Coupling(),
    "rank_one": RankOne(),
    "none": Uncoupled(),
}
"""Couplings by name; the first one is the default."""
