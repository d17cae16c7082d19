"""Results of the solvers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, overload

import numpy as np

from viewspan._utils.defaults import DEFAULT_TOL as DEFAULT_TOL
from viewspan._utils.linalg import Spectrum
from viewspan._utils.typing import AnyArray, Array

Status = Literal["optimal", "stationary", "max_iter", "size", "residuals", "non_finite"]
"""Reasons for which a solver stops.

- ``optimal``: the certified gap reached ``tol``.
- ``stationary``: the problem is not convex, and no step lowers the objective by more than ``tol``.
  There may be a better point elsewhere; the gap bounds how much better.
- ``max_iter``: the limit of iterations was reached before.
- ``size``: the problem has too many directions to iterate all of them, unless ``max_iter`` is
  given. The best point known is returned, usually the closed form with a ridge in place of the
  coupling.
- ``residuals``: the algorithm's own stopping rule held, or the solution is exact up to rounding
  errors. The gap may be larger than ``tol``.
- ``non_finite``: an iterate overflowed or could not be decomposed. The last good one is returned.
"""


class Check(NamedTuple):
    """Objective and certified gap at one iteration.

    Attributes
    ----------
    n_iter : int
    objective, dual_bound, gap : float
    primal_residual, dual_residual : float
        For ``coupling="rank_one"`` the relative slope in the scales and the gap in the shared
        matrix.
    n_directions : int
        Size of the problem that objective and gap belong to.
    """

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
    """Coefficients in the solver's coordinates, with dual variables and the certified bound."""

    stack: Array
    dual: list[Array] = field(repr=False)
    multiplier: Array = field(repr=False)
    objective: float
    dual_bound: float
    status: Status
    n_iter: int
    history: list[Check] = field(repr=False)
    scales: Array | None = None
    """Scales α_i, if the stack holds one matrix for all views."""
    spectra: list[Spectrum] | None = field(default=None, repr=False)
    """Singular values and right singular vectors of every matrix in the stack, if known."""

    @property
    def gap(self) -> float:
        return relative_gap(self.objective, self.dual_bound)


@dataclass(frozen=True)
class Result:
    """Solution of a problem, with coefficients in the samples' coordinates on demand.

    Z_i = left · cores[i] · rightᵀ, where a basis that is None stands for the identity. Views that
    share one matrix have one core, and Z_i = scales[i] · left · cores[0] · rightᵀ.

    Attributes
    ----------
    cores : array (c, p, m)
        Coefficients in the basis: r × r after the full reduction, r × N if only the left side can
        be reduced, else N × N.
    left, right : array (N, r) or None
        Bases of the rows and columns of Z_i.
    directions : array or None
        Columns that span the working set in the coordinates of the reduction; None for all
        directions.
    objective, dual_bound : float
        Objective reached, and a proven lower bound of the optimum. The iteration works in other
        coordinates than those of the views. For the views themselves both hold up to rounding of
        (n + 16)·ε·Σ f(X_i)(1 + ‖Z_i‖₂)^d, where n is the longest side of a view, and d = 2 for
        quadratic fits, else 1.
    status : str
        Why the solver stopped, see :data:`Status`.
    n_iter : int
    history : list of Check
    lam : array (c,) or (c, N)
    tau : float
    scales : array (c,) or None
        Scales α_i, if the views share one matrix.
    observed : array (c, N) of bool or None
        Whether each view has each sample; None if no sample is missing.
    spectra : list of Spectrum or None
        Singular values and right singular vectors of every core while the graph is built, if the
        solver knows them; None in fitted models.
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
    spectra: list[Spectrum] | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """Proven distance to the optimum, (objective − dual bound) / objective."""
        return relative_gap(self.objective, self.dual_bound)

    @property
    def n_views(self) -> int:
        return len(self.cores if self.scales is None else self.scales)

    @property
    def basis(self) -> Array:
        """Basis V (N × r); the identity if the method allows no reduction."""
        return np.eye(self.cores.shape[1]) if self.left is None else self.left

    @property
    def coefficients(self) -> "Coefficients":
        """Z_i (N × N) for every view: column j represents sample j by all samples."""
        return Coefficients(self)

    def astype(self, dtype: np.dtype[Any]) -> "Result":
        """Return the result with cores and bases of another precision.

        Objective and bound stay those of the original coefficients.
        """

        def converted(basis: Array | None) -> Array | None:
            return None if basis is None else basis.astype(dtype, copy=False)

        left = converted(self.left)
        right = left if self.right is self.left else converted(self.right)
        return replace(self, cores=self.cores.astype(dtype, copy=False), left=left, right=right)

    def coefficient(self, view: int) -> Array:
        """Return the N × N matrix of one core: a Z_i, or the matrix that all views share."""
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
    """Return (F − D)/F, the proven distance to the optimum; 0 if the objective is zero."""
    if objective <= 0.0:
        return 0.0
    if not np.isfinite(objective):
        return np.inf
    return max(objective - dual_bound, 0.0) / objective
