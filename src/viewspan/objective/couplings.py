"""Third axis: what makes the Z_i of different views agree.

A coupling works on the stack (c, rows, columns), which it reads as the paper's A with one row vec(Z_i)ᵀ per view.
``polar`` is its dual norm, which a dual point must keep at or below τ.
"""

from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from viewspan._utils.linalg import eigh, singular_values, triangle
from viewspan._utils.typing import Array
from viewspan.objective.datafits import shrink_columns, squared_lengths
from viewspan.objective.penalties import shrinkage
from viewspan.objective.rounding import near_one

SAME = 1e-10
"""A second singular value below this share of the first is rounding."""


class Coupling(Protocol):
    """What the problem and the solvers ask of a coupling."""

    @property
    def orthogonally_invariant(self) -> bool: ...
    def value(self, stack: Array) -> float: ...
    def prox(self, stack: Array, step: float) -> Array: ...
    def polar(self, stack: Array) -> float: ...


@dataclass(frozen=True)
class Uncoupled:
    """Every view alone (LRR, SSC)."""

    orthogonally_invariant: ClassVar[bool] = True

    def value(self, stack: Array) -> float:
        return 0.0

    def prox(self, stack: Array, step: float) -> Array:
        return stack

    def polar(self, stack: Array) -> float:
        return np.inf if stack.any() else 0.0


@dataclass(frozen=True)
class NuclearCoupling:
    """‖A‖_*: the coefficient patterns agree up to a factor (cLRSC)."""

    orthogonally_invariant: ClassVar[bool] = True

    def value(self, stack: Array) -> float:
        return float(row_singular_values(stack).sum())

    def prox(self, stack: Array, step: float) -> Array:
        """Singular value thresholding of A through its c × c Gram matrix; A itself, c × rows·columns, is never
        decomposed.
        """
        rows = stack.reshape(len(stack), -1)
        return (shrinkage(rows @ rows.T, step) @ rows).reshape(stack.shape)

    def polar(self, stack: Array) -> float:
        rows, unit = near_one(stack.reshape(len(stack), -1))
        squares, _ = eigh(rows @ rows.T)  # the largest one loses nothing in the Gram matrix
        return unit * float(np.sqrt(max(squares[-1], 0.0)))


@dataclass(frozen=True)
class L12Coupling:
    """‖A‖_{1,2}: the sum over entries of the length across views; supports agree, magnitudes are shrunk (MLAP)."""

    orthogonally_invariant: ClassVar[bool] = False

    def value(self, stack: Array) -> float:
        return float(np.sqrt(squared_lengths(stack.reshape(len(stack), -1))).sum())

    def prox(self, stack: Array, step: float) -> Array:
        return shrink_columns(stack.reshape(len(stack), -1), step).reshape(stack.shape)

    def polar(self, stack: Array) -> float:
        rows, unit = near_one(stack.reshape(len(stack), -1))
        return unit * float(np.sqrt(squared_lengths(rows).max(initial=0.0)))


@dataclass(frozen=True)
class RankOne:
    """0 if rank(A) = 1 at most, else infinite: every Z_i is a multiple of one matrix (the paper's strict objective).

    Not convex, and so without a dual norm that could prove anything: ``polar`` allows no multiplier.
    """

    orthogonally_invariant: ClassVar[bool] = True

    def value(self, stack: Array) -> float:
        values = row_singular_values(stack)
        return 0.0 if values[1:].max(initial=0.0) <= SAME * values.max(initial=0.0) else np.inf

    def prox(self, stack: Array, step: float) -> Array:
        """The nearest stack of multiples."""
        rows = stack.reshape(len(stack), -1)
        leading = eigh(rows @ rows.T)[1][:, -1:]
        return (leading @ (leading.T @ rows)).reshape(stack.shape)

    def polar(self, stack: Array) -> float:
        return np.inf if stack.any() else 0.0


def row_singular_values(stack: Array) -> Array:
    """Singular values of A from the triangle of a thin QR, so that small ones keep their digits (a Gram matrix
    would lose half).
    """
    return singular_values(triangle(stack.reshape(len(stack), -1).T))
