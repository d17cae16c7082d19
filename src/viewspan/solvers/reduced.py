"""Solve one objective of the family in reduced coordinates, to a certified gap."""

from collections.abc import Callable

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from viewspan._utils.linalg import NumericalError, Spectrum
from viewspan._utils.threads import threads_for
from viewspan._utils.typing import Array
from viewspan._utils.warnings import warn
from viewspan.objective.axes import PUBLISHED_SOLVERS, Axes, SolverName
from viewspan.objective.couplings import Uncoupled
from viewspan.objective.problem import Problem
from viewspan.objective.reduction import Reduction
from viewspan.solvers import active_set, admm, closed_form, ladmap, ladmpsap, rank_one
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Result, Solution
from viewspan.solvers.working_set import Screened, solve_screened

PUBLISHED: dict[str, Callable[..., Solution]] = {
    "ladmpsap": ladmpsap.ladmpsap,
    "ladmap": ladmap.ladmap,
}
"""The algorithms of the authors' program, which see the full problem in its own scale."""


def solve_reduced(
    reduction: Reduction,
    lam: Array,
    tau: float,
    axes: Axes,
    *,
    tol: float = DEFAULT_TOL,
    solver: SolverName = "admm",
    max_iter: int | None = None,
    callback: Callback | None = None,
    warn_at_max_iter: bool = True,
) -> Result:
    """Minimise the objective in the reduction's coordinates.

    Warns if the certified gap of an iteration did not reach ``tol``, unless ``warn_at_max_iter`` is
    False and a limit of iterations or of directions is the reason.
    """
    # the published constants depend on the scale of the data, and so may a fit of the user's own
    rescaled = solver not in PUBLISHED_SOLVERS and axes.datafit.homogeneous
    size = common_size(reduction) if rescaled else 1.0
    unit = size**axes.datafit.degree
    problem = form_problem(reduction, size, lam / unit, tau / unit, axes)
    log = None if callback is None else lambda check: callback(in_units(check, unit))
    with threads_for(*problem.shape[:2]):
        screened = run_algorithm(problem, solver, tol=tol, max_iter=max_iter, callback=log)
    solution = screened.solution
    if solution.status == "non_finite" and not solution.stack.any():
        raise NumericalError(
            f"The solver failed in iteration {solution.n_iter}, before its first solution: an "
            "iterate was not finite or could not be decomposed. Rescale views or weights (lam, "
            "tau) of extreme size."
        )
    at_rounding = solution.status == "residuals" and is_solved_by_active_sets(problem, solver)
    at_limit = solution.status in {"max_iter", "size"} and warn_at_max_iter
    if solution.status == "non_finite" or at_rounding or at_limit:
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
        spectra=solution.spectra,
    )


def common_size(reduction: Reduction) -> float:
    """Return a power of two near the largest singular value.

    Dividing by it costs no digit and makes the solver independent of the scale of the data.
    """
    largest = max(float(view.values.max(initial=0.0)) for view in reduction.spectra)
    return float(2.0 ** np.round(np.log2(largest))) if largest > 0 else 1.0


def form_problem(reduction: Reduction, size: float, lam: Array, tau: float, axes: Axes) -> Problem:
    """Return the problem for views divided by ``size``."""
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
        coupling=axes.coupling if tau > 0 or axes.coupling.shares_coefficients else Uncoupled(),
        known_spectra=spectra,
        observed=reduction.observed,
    )


def in_units(check: Check, unit: float) -> Check:
    """Return a check of the scaled problem in the units of the objective."""
    return check._replace(objective=unit * check.objective, dual_bound=unit * check.dual_bound)


def run_algorithm(
    problem: Problem,
    solver: SolverName,
    *,
    tol: float,
    max_iter: int | None,
    callback: Callback | None,
) -> Screened:
    """Run a published algorithm, or the best one of ours: ADMM, if no other applies."""
    if solver in PUBLISHED:
        limit = ladmpsap.MAX_ITER if max_iter is None else max_iter
        return Screened(
            None, PUBLISHED[solver](problem, tol=tol, max_iter=limit, callback=callback)
        )
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
    if is_solved_by_active_sets(problem, solver):
        return Screened(
            None, active_set.solve_active_set(problem, tol=tol, max_iter=limit, callback=callback)
        )
    return solve_screened(problem, tol=tol, max_iter=max_iter, callback=callback)


def is_solved_by_active_sets(problem: Problem, solver: SolverName) -> bool:
    """Return whether every sample is a problem of its own, and no published algorithm is asked."""
    return solver not in PUBLISHED and active_set.applies(problem)


def unfinished(solution: Solution, tol: float) -> str:
    """Return the warning for a solution whose gap did not reach ``tol``."""
    reason, remedy = "reached max_iter", "Increase max_iter or tol."
    if solution.status == "non_finite":
        reason = (
            "met an iterate that is not finite or could not be decomposed, and went back to the "
            "last good one"
        )
        remedy = "Rescale views or weights (lam, tau) of extreme size, or increase tol."
    if solution.status == "residuals":
        reason, remedy = "stopped at rounding errors", "Increase lam or tol."
    if solution.status == "size":
        return (
            f"The problem has {solution.history[-1].n_directions} directions, too many to iterate "
            f"all: the objective is proven to be within {solution.gap:.2g} (relative) of the "
            f"optimum, but tol={tol:g} was requested. Set max_iter to iterate nevertheless, or "
            "reduce the number of features."
        )
    begin = f"The solver {reason} after {solution.n_iter} iterations:"
    if solution.scales is not None:
        last = solution.history[-1]
        return (
            f"{begin} the point is not stationary to tol={tol:g}, its relative slope in the scales "
            f"and gap in the shared matrix are {last.primal_residual:.2g} and "
            f"{last.dual_residual:.2g}. {remedy}"
        )
    return (
        f"{begin} the objective is proven to be within {solution.gap:.2g} (relative) of the "
        f"optimum, but tol={tol:g} was requested. {remedy}"
    )


def compose(basis: Array | None, directions: Array | None) -> Array | None:
    """Return the basis of the working set in the samples' coordinates; None is the identity."""
    if basis is None or directions is None:
        return directions if basis is None else basis
    return basis @ directions
