"""Views in, certified coefficients out: the way through reduction and solver."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from viewspan._utils.linalg import NumericalError, Spectrum
from viewspan._utils.threads import threads_for
from viewspan._utils.typing import AnyArray, Array, Block
from viewspan._utils.warnings import warn
from viewspan.inputs.preparation import prepare
from viewspan.inputs.views import as_numbers, check_views
from viewspan.objective.couplings import Coupling, L12Coupling, NuclearCoupling, RankOne, Uncoupled
from viewspan.objective.datafits import L1, L12, Datafit, Frobenius
from viewspan.objective.penalties import Nuclear, Penalty, ZeroDiagonalL1
from viewspan.objective.problem import Problem
from viewspan.objective.reduction import Reduction, Sides, reduce_views
from viewspan.solvers import admm, closed_form, ladmap, ladmpsap, rank_one
from viewspan.solvers.result import Callback, Check, Result, Solution
from viewspan.solvers.working_set import Screened, solve_screened

SolverName = Literal["admm", "ladmpsap", "ladmap"]
RELEASED = {"ladmpsap": ladmpsap.ladmpsap, "ladmap": ladmap.ladmap}
"""The algorithms of the authors' program, which see the full problem in its own scale."""

DATAFITS: dict[str, Datafit] = {
    "frobenius": Frobenius(2.0),
    "half_frobenius": Frobenius(1.0),
    "l12": L12(),
    "l1": L1(),
}
PENALTIES: dict[str, Penalty] = {"nuclear": Nuclear(), "l1": ZeroDiagonalL1()}
COUPLINGS: dict[str, Coupling] = {
    "nuclear": NuclearCoupling(),
    "l12": L12Coupling(),
    "rank_one": RankOne(),
    "none": Uncoupled(),
}
MISSING = {"forbid": False, "allow": True}


@dataclass(frozen=True)
class Axes:
    """One choice on each axis of the family."""

    datafit: Datafit
    penalty: Penalty
    coupling: Coupling

    @classmethod
    def named(
        cls,
        datafit: str,
        penalty: str,
        coupling: str,
        *,
        solver: str = "admm",
        missing: bool = False,
    ) -> "Axes":
        """By their names, for a solver and data with or without absent samples; an error names the axis that stands in
        the way.
        """
        axes = cls(
            pick("datafit", datafit, DATAFITS),
            pick("penalty", penalty, PENALTIES),
            pick("coupling", coupling, COUPLINGS),
        )
        if isinstance(axes.coupling, RankOne):
            if axes.datafit.curvature is None:
                raise ValueError(
                    f"coupling='rank_one' needs a quadratic fit, and datafit={datafit!r} is none."
                )
            if missing:
                raise ValueError(
                    "coupling='rank_one' needs all samples in every view; take coupling='nuclear'."
                )
        if solver in RELEASED:
            if isinstance(axes.coupling, RankOne):
                raise ValueError(
                    f"solver={solver!r} is for convex couplings; with coupling='rank_one' take 'admm'."
                )
            if not axes.datafit.rotates_features:
                raise ValueError(
                    f"solver={solver!r} has no step for datafit={datafit!r}; take solver='admm'."
                )
            if missing:
                raise ValueError(
                    f"solver={solver!r} needs all samples in every view; take solver='admm'."
                )
        return axes

    @property
    def sides(self) -> Sides:
        """How much of the reduction the axes allow."""
        if not (self.penalty.orthogonally_invariant and self.coupling.orthogonally_invariant):
            return "none"
        return "both" if self.datafit.rotates_samples else "left"

    def reduce(
        self, views: Sequence[Block], solver: SolverName, observed: AnyArray | None = None
    ) -> Reduction:
        """The views in the coordinates that the axes allow; the paper's algorithm is for the full problem."""
        sides = "none" if solver in RELEASED else self.sides
        if observed is not None and sides == "both":  # samples differ in what is known of them
            sides = "left"
        reduction = reduce_views(
            views,
            sides,
            squares_suffice=self.datafit.curvature is not None,
            rotate_features=self.datafit.rotates_features,
        )
        return replace(reduction, observed=observed)


def pick(axis: str, name: str, known: dict[str, Any]) -> Any:
    """The object of that name on an axis, or an error that lists the names."""
    if name not in known:
        raise ValueError(
            f"{axis} must be one of {', '.join(map(repr, known))}. Got {name!r} instead."
        )
    return known[name]


def solve(
    views: Any,
    lam: npt.ArrayLike,
    tau: float = 0.0,
    *,
    tol: float = 1e-4,
    solver: SolverName = "admm",
    max_iter: int | None = None,
    datafit: str = "frobenius",
    penalty: str = "nuclear",
    coupling: str = "nuclear",
    missing: str = "forbid",
    callback: Callback | None = None,
) -> Result:
    r"""Minimise one objective of the family, to a certified gap.

    .. math:: \min_{Z_1,\dots,Z_c}\ \sum_i f(X_i - X_i Z_i) + \lambda_i\, p(Z_i) + \tau\, c(Z_1,\dots,Z_c)

    The defaults are cLRSC, once τ > 0: f = ‖·‖_F², p = ‖·‖_* and c = ‖A‖_* with rows vec(Z_i)ᵀ. Nothing is scaled
    here: bring the views to the scale you want first (the estimators make every sample of every view unit length).

    Parameters
    ----------
    views : list, tuple or dict of arrays (n_samples, n_features_i), or one array
    lam : float, array (n_views,) or, with ``penalty="l1"``, array (n_views, n_samples)
    tau : float
    tol : float
        The relative gap to reach. For the authors' algorithms, which stop on their own rule, the paper's ε₂.
    solver : {"admm", "ladmpsap", "ladmap"}
        Ours; or the paper's algorithm on the full N × N problem; or what its authors take where nothing is coupled.
    max_iter : int, optional
        By default 2000 for ADMM, and the authors' 200 for theirs.
    datafit : {"frobenius", "half_frobenius", "l12", "l1"}
        ‖E‖_F², half of it, Σ_j ‖e_j‖₂ over samples, or the sum of the absolute values of all entries.
    penalty : {"nuclear", "l1"}
        ``"l1"`` also forces diag(Z_i) = 0.
    coupling : {"nuclear", "l12", "rank_one", "none"}
        ``"rank_one"`` is the constraint rank(A) = 1, the paper's strict objective: Z_i = α_i Z. It is not convex; the
        answer is stationary (``status``), has ``scales`` α, and its bound is that of views without coupling.
    missing : {"forbid", "allow"}
        Whether a row of NaN stands for a sample that the view does not have. Its residual is left out of the fit then,
        and its coefficients follow from the penalty and the coupling.
    callback : callable, optional
        Called with every :class:`Check` of the iteration.

    Returns
    -------
    Result
        With ``cores``, ``basis``, ``coefficients``, ``objective``, ``dual_bound``, ``gap``, ``status``, ``n_iter``,
        ``history``.
    """
    check_stopping(solver, tol, max_iter)
    absent_allowed = pick("missing", missing, MISSING)
    axes = Axes.named(datafit, penalty, coupling, solver=solver, missing=absent_allowed)
    if isinstance(axes.coupling, RankOne) and tau != 0:
        raise ValueError(
            "tau weighs a coupling, and coupling='rank_one' is a constraint; leave tau=0."
        )
    read = check_views(views, caller="solve", missing=absent_allowed).read()
    _, as_given = prepare(read, False, False, normalize=False)
    reduction = axes.reduce(as_given.arrays, solver, as_given.observed)
    return solve_reduced(
        reduction,
        check_lam(lam, reduction, axes),
        check_tau(tau),
        axes,
        tol=tol,
        solver=solver,
        max_iter=max_iter,
        callback=callback,
    )


def check_stopping(solver: str, tol: float, max_iter: int | None) -> None:
    pick("solver", solver, {"admm": admm, **RELEASED})
    if not tol > 0:
        raise ValueError(f"tol must be positive. Got {tol!r} instead.")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter must be at least 1. Got {max_iter!r} instead.")


def check_lam(lam: npt.ArrayLike, reduction: Reduction, axes: Axes) -> Array:
    """λ as (c,), or as (c, N) for a penalty that is a sum over samples."""
    n_views, n_samples = len(reduction.spectra), reduction.n_samples
    if isinstance(lam, str):
        raise ValueError(
            f"lam must be a number or an array of them. Got {lam!r} instead; only the estimators choose it."
        )
    weights = as_numbers(lam, "lam")
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(f"lam must be finite and at least 0. Got {lam!r} instead.")
    if weights.ndim == 0:
        return np.full(n_views, float(weights))
    shapes: dict[tuple[int, ...], str] = {(n_views,): "one per view"}
    if isinstance(axes.penalty, ZeroDiagonalL1):
        shapes[(n_views, n_samples)] = "one per view and sample"
    if weights.shape not in shapes:
        allowed = ", or ".join(f"{meaning} {shape}" for shape, meaning in shapes.items())
        raise ValueError(
            f"lam must be one number, or {allowed}. Got an array of shape {weights.shape} instead."
        )
    return weights


def check_tau(tau: float) -> float:
    if not isinstance(tau, Real) or not (np.isfinite(float(tau)) and float(tau) >= 0):
        raise ValueError(f"tau must be finite and at least 0. Got {tau!r} instead.")
    return float(tau)


def solve_reduced(
    reduction: Reduction,
    lam: Array,
    tau: float,
    axes: Axes,
    *,
    tol: float = 1e-4,
    solver: SolverName = "admm",
    max_iter: int | None = None,
    callback: Callback | None = None,
    report: bool = True,
) -> Result:
    """Solve in the reduction's coordinates; warn if the certified gap did not reach ``tol``, unless told not to and
    nothing worse than too few iterations is to blame.
    """
    size = (
        1.0 if solver in RELEASED else common_size(reduction)
    )  # the released constants are not free of scale
    unit = size**axes.datafit.degree
    problem = form_problem(reduction, size, lam / unit, tau / unit, axes)
    log = None if callback is None else lambda check: callback(in_units(check, unit))
    with threads_for(*problem.shape[:2]):
        screened = run(problem, solver, tol=tol, max_iter=max_iter, callback=log)
    solution = screened.solution
    if solution.status == "non_finite" and not solution.stack.any():
        raise NumericalError(
            f"The solver met an iterate that is not finite, or that no decomposition was found of, in iteration "
            f"{solution.n_iter}, before it had found anything. Rescale views or weights (lam, tau) of extreme size."
        )
    if solution.status == "non_finite" or (report and solution.status == "max_iter"):
        warn(unfinished(solution, tol), ConvergenceWarning)
    return Result(
        cores=solution.stack,
        directions=screened.directions,
        left=compose(reduction.left, screened.directions),
        right=compose(reduction.right, screened.directions),
        objective=unit * solution.objective,
        dual_bound=unit * solution.dual_bound,
        status=solution.status,
        n_iter=solution.n_iter,
        history=[in_units(check, unit) for check in solution.history],
        lam=lam,
        tau=tau,
        scales=solution.scales,
        observed=reduction.observed,
    )


def common_size(reduction: Reduction) -> float:
    """A power of two near the largest singular value: dividing by it costs no digit and frees the solver of scale."""
    largest = max(float(view.values.max(initial=0.0)) for view in reduction.spectra)
    return float(2.0 ** np.round(np.log2(largest))) if largest > 0 else 1.0


def form_problem(reduction: Reduction, size: float, lam: Array, tau: float, axes: Axes) -> Problem:
    """The problem for views divided by ``size``."""
    spectra = [Spectrum(view.values / size, view.right) for view in reduction.spectra]
    factors = [factor / size for factor in reduction.factors]
    same = reduction.targets is reduction.factors
    return Problem(
        factors=factors,
        targets=factors if same else [target / size for target in reduction.targets],
        lam=lam,
        tau=tau,
        datafit=axes.datafit,
        penalty=axes.penalty,
        coupling=axes.coupling if tau > 0 or isinstance(axes.coupling, RankOne) else Uncoupled(),
        known_spectra=spectra,
        observed=reduction.observed,
    )


def in_units(check: Check, unit: float) -> Check:
    """A check of the scaled problem in the objective's own units."""
    return check._replace(objective=unit * check.objective, dual_bound=unit * check.dual_bound)


def run(
    problem: Problem,
    solver: SolverName,
    *,
    tol: float,
    max_iter: int | None,
    callback: Callback | None,
) -> Screened:
    """Choose the road: an algorithm of the authors' if asked for, a closed form where there is one, else ADMM on a
    working set.
    """
    if solver in RELEASED:
        limit = ladmpsap.MAX_ITER if max_iter is None else max_iter
        return Screened(None, RELEASED[solver](problem, tol=tol, max_iter=limit, callback=callback))
    if closed_form.applies(problem):
        solution = closed_form.solve_closed_form(problem, tol=tol)
        if callback is not None:
            callback(solution.history[-1])
        return Screened(None, solution)
    limit = admm.MAX_ITER if max_iter is None else max_iter
    if rank_one.applies(problem):
        return Screened(
            None, rank_one.solve_rank_one(problem, tol=tol, max_iter=limit, callback=callback)
        )
    return solve_screened(problem, tol=tol, max_iter=limit, callback=callback)


def unfinished(solution: Solution, tol: float) -> str:
    reason = (
        "reached max_iter"
        if solution.status == "max_iter"
        else "met a non-finite iterate, or one without a decomposition, and went back to the last good one"
    )
    if solution.scales is not None:
        return (
            f"The solver {reason} after {solution.n_iter} iterations: the point is not stationary to tol={tol:g}, its "
            "relative slope in the scales and gap in the shared matrix are "
            f"{solution.history[-1].primal_residual:.2g} and {solution.history[-1].dual_residual:.2g}. "
            "Increase max_iter or tol."
        )
    return (
        f"The solver {reason} after {solution.n_iter} iterations: the objective is proven to be within "
        f"{solution.gap:.2g} (relative) of the optimum, tol={tol:g} was asked for. Increase max_iter or tol."
    )


def compose(basis: Array | None, directions: Array | None) -> Array | None:
    """Basis of the working set in the samples' coordinates; None is the identity."""
    if basis is None or directions is None:
        return directions if basis is None else basis
    return basis @ directions
