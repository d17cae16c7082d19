"""What a solver gives back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from viewspan._utils.typing import AnyArray, Array

Status = Literal["optimal", "stationary", "max_iter", "residuals", "non_finite"]
"""``optimal``: the certified gap reached ``tol``. ``stationary``: the problem is not convex, and no step lowers the
objective by more than ``tol``; there may be a better point elsewhere, and the gap says how much better at most.
``max_iter``: neither. ``residuals``: the algorithm's own stopping rule held, and the gap says how good that is.
``non_finite``: an iterate overflowed, or could not be decomposed, and the last good one is returned.
"""


class Check(NamedTuple):
    """One look at the iteration. ``n_directions`` is the size of the problem whose objective and gap these are."""

    n_iter: int
    objective: float
    dual_bound: float
    gap: float
    primal_residual: float
    dual_residual: float
    n_directions: int


Callback = Callable[[Check], None]


@dataclass(frozen=True)
class Solution:
    """Coefficients in the solver's coordinates, with the evidence."""

    stack: Array
    dual: list[Array] = field(repr=False)
    multiplier: Array = field(repr=False)
    objective: float
    dual_bound: float
    status: Status
    n_iter: int
    history: list[Check] = field(repr=False)
    scales: Array | None = None
    """α_i, where the stack holds one matrix for all views."""

    @property
    def gap(self) -> float:
        return relative_gap(self.objective, self.dual_bound)


@dataclass(frozen=True)
class Result:
    """A solved problem, in the samples' coordinates on demand.

    Z_i = left · cores[i] · rightᵀ, where a basis that is None stands for the identity. Views that share one matrix,
    Z_i = scales[i] · left · cores[0] · rightᵀ, have one core.

    Attributes
    ----------
    cores : array (c, p, m)
        The coefficients in the basis: r × r after the full reduction, r × N where only the left half is possible,
        else N × N.
    left, right : array (N, r) or None
        The bases.
    directions : array or None
        Those of the reduction that the bases are made of, as columns; None for all.
    objective, dual_bound : float
        The objective reached and a proven lower bound of the optimum. The iteration sees the views in other
        coordinates; both are those of the views themselves up to rounding: (n + 16)·ε·Σ f(X_i)(1 + ‖Z_i‖₂)^d, where
        n is the longest side of a view, and d = 2 for quadratic fits, else 1.
    status : str
        Why the solver stopped, see :data:`Status`.
    n_iter : int
    history : list of Check
    lam : array (c,) or (c, N)
    tau : float
    scales : array (c,) or None
        α_i, where views share one matrix.
    observed : array (c, N) of bool or None
        Which samples every view has; None for all.
    gap : float
        (objective − dual bound) / objective, the proven distance to the optimum.
    n_views : int
    basis : array (N, r)
        ``left``, or the identity.
    coefficients : sequence of arrays (N, N)
        Z_i, each built when it is read: column j represents sample j by all samples.
    """

    cores: Array = field(repr=False)
    left: Array | None = field(repr=False)
    right: Array | None = field(repr=False)
    directions: Array | None = field(repr=False)
    objective: float
    dual_bound: float
    status: Status
    n_iter: int
    history: list[Check] = field(repr=False)
    lam: Array = field(repr=False)
    tau: float
    scales: Array | None = None
    observed: AnyArray | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """(objective − dual bound) / objective, the proven distance to the optimum."""
        return relative_gap(self.objective, self.dual_bound)

    @property
    def n_views(self) -> int:
        return len(self.cores if self.scales is None else self.scales)

    @property
    def basis(self) -> Array:
        """V (N × r); the identity where the method allows no reduction."""
        return np.eye(self.cores.shape[1]) if self.left is None else self.left

    @property
    def coefficients(self) -> "Coefficients":
        """Z_i (N × N) for every view: column j represents sample j by all samples."""
        return Coefficients(self)

    def astype(self, dtype: np.dtype[Any]) -> "Result":
        """The same result with cores and bases of another precision; objective and bound stay those that were
        proven.
        """

        def converted(basis: Array | None) -> Array | None:
            return None if basis is None else basis.astype(dtype, copy=False)

        left = converted(self.left)
        right = left if self.right is self.left else converted(self.right)
        return replace(self, cores=self.cores.astype(dtype, copy=False), left=left, right=right)

    def coefficient(self, view: int) -> Array:
        """What one core stands for: a Z_i, or the matrix that all views share."""
        lifted: Array = self.cores[view] if self.left is None else self.left @ self.cores[view]
        return lifted if self.right is None else lifted @ self.right.T


class Coefficients(Sequence[Array]):
    """The Z_i of a result, each built when it is read, because they may not fit in memory."""

    def __init__(self, result: Result) -> None:
        self._result = result

    def __len__(self) -> int:
        return self._result.n_views

    @overload
    def __getitem__(self, view: int) -> Array: ...
    @overload
    def __getitem__(self, view: slice) -> list[Array]: ...
    def __getitem__(self, view: int | slice) -> Array | list[Array]:
        if isinstance(view, slice):
            return [self[each] for each in range(*view.indices(len(self)))]
        position = range(len(self))[view]
        if self._result.scales is None:
            return self._result.coefficient(position)
        shared = self._result.coefficient(0)
        return np.asarray(self._result.scales.astype(shared.dtype)[position] * shared)

    def __repr__(self) -> str:
        left = self._result.left
        n_rows = self._result.cores.shape[1] if left is None else len(left)
        return f"<coefficients of {len(self)} views, {n_rows} × {n_rows} each, built when read>"


def relative_gap(objective: float, dual_bound: float) -> float:
    """(F − D)/F, the proven distance to the optimum; 0 when the objective is zero and so cannot be improved."""
    if objective <= 0.0:
        return 0.0
    if not np.isfinite(objective):
        return np.inf
    return max(objective - dual_bound, 0.0) / objective
