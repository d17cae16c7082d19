"""LADMAP, the algorithm with which the paper's authors solve LRR, for comparison [1]_.

LADMAP is a linearised alternating direction method with adaptive penalty. As in the authors'
released program, Z and E start at zero and are updated one after the other with a fixed step, for
at most 200 iterations. On data of large norm this stops far from the optimum, which has a closed
form. Directions of noise have not entered the coefficients by then, so the result can cluster
better than the optimum.

References
----------
.. [1] Z. Lin, R. Liu, Z. Su, "Linearized alternating direction method with adaptive penalty for
   low-rank representation", NIPS 2011.
"""

from typing import NamedTuple

import numpy as np

from viewspan._utils.linalg import singular_values
from viewspan._utils.threads import map_views
from viewspan._utils.typing import Array
from viewspan.objective.couplings import Uncoupled
from viewspan.objective.problem import Problem
from viewspan.solvers.ladmpsap import (
    FIRST_MU,
    LARGEST_MU,
    MAX_ITER,
    MU_GROWTH,
    RESIDUAL_TOLERANCE_FACTOR,
    StoppingQuantities,
    certify,
    prox_as_published,
)
from viewspan.solvers.result import DEFAULT_TOL, Callback, Solution, Status

STEP_FACTOR = 1.2
"""Step ρ = 1.2·‖X‖₂²."""


class ViewSolution(NamedTuple):
    """Last iterate of one view.

    Attributes
    ----------
    coefficients, multiplier : array
    misfit : float
        Norm of the constraint violation XZ − X + E, relative to the view.
    change : float
        Change since the iterate before, relative to the view.
    n_iter : int
    finite : bool
        False if the following iterate was not finite.
    """

    coefficients: Array
    multiplier: Array
    misfit: float
    change: float
    n_iter: int
    finite: bool


def ladmap(
    problem: Problem,
    *,
    tol: float = DEFAULT_TOL,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Solution:
    """Run LADMAP on every view.

    The parameters are those of :func:`~viewspan.solvers.ladmpsap.ladmpsap`.
    """
    if not isinstance(problem.coupling, Uncoupled):
        raise ValueError(
            "solver='ladmap' solves every view on its own, and this problem couples them: take "
            "coupling='none', tau=0 or solver='ladmpsap'."
        )
    views = map_views(
        lambda view: solve_view(problem, view, tol, max_iter), range(problem.shape[0])
    )
    progress = StoppingQuantities(
        max(view.misfit for view in views), 0.0, max(view.change for view in views)
    )
    reached = progress.misfit < RESIDUAL_TOLERANCE_FACTOR * tol and progress.change < tol
    status: Status = "residuals" if reached else "max_iter"
    if not all(view.finite for view in views):
        status = "non_finite"
    coefficients = np.stack([view.coefficients for view in views])
    solution = certify(
        problem,
        coefficients,
        [view.multiplier for view in views],
        np.zeros_like(coefficients),
        progress,
        status,
        max(view.n_iter for view in views),
    )
    if callback is not None:
        callback(solution.history[-1])
    return solution


def solve_view(problem: Problem, view: int, tol: float, max_iter: int) -> ViewSolution:
    """Run the released iteration on one view.

    The authors' program halves the quadratic fit, so λ is divided by the fit's curvature.
    """
    factor, target = problem.factors[view], problem.targets[view]
    curvature = problem.datafit.curvature or 1.0
    size = float(np.linalg.norm(target)) or 1.0
    step = (STEP_FACTOR * float(singular_values(factor)[0]) ** 2) or 1.0
    coefficients = np.zeros(problem.shape[1:])
    residual, multiplier = np.zeros_like(target), np.zeros_like(target)
    mu, misfit, change, n_iter = FIRST_MU, np.inf, np.inf, 0
    while n_iter < max_iter and not (misfit < RESIDUAL_TOLERANCE_FACTOR * tol and change < tol):
        n_iter += 1
        slope = factor.T @ (mu * (factor @ coefficients - target + residual) + multiplier)
        moved = prox_as_published(
            problem, coefficients - slope / step, problem.lam[view] / curvature / step
        )
        fitted = factor @ moved
        left = problem.datafit.prox(target - fitted - multiplier / mu, 1.0 / (mu * curvature))
        if not (np.isfinite(moved).all() and np.isfinite(left).all()):
            return ViewSolution(coefficients, multiplier, misfit, change, n_iter, finite=False)
        violation = fitted - target + left
        multiplier = multiplier + mu * violation
        by_coefficients = float(np.sqrt(step) * np.linalg.norm(moved - coefficients))
        by_residual = left - residual
        coefficients, residual = moved, left
        # the decomposition is needed only if the coefficients hardly moved
        if (
            mu * by_coefficients / size < tol
            and mu * float(singular_values(by_residual)[0]) / size < tol
        ):
            mu = min(LARGEST_MU, MU_GROWTH * mu)
        misfit = float(np.linalg.norm(violation)) / size
        change = (
            mu * max(by_coefficients, float(np.sqrt(step) * np.linalg.norm(by_residual))) / size
        )
    return ViewSolution(coefficients, multiplier, misfit, change, n_iter, finite=True)
