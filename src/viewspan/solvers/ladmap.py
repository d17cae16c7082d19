"""LRR as the paper's authors solve it, for comparison: LADMAP, linearised ADM with adaptive penalty [1]_.

As in their released program, Z and E are updated one after the other, from zero, with a fixed step, and it stops after
at most 200 iterations. On data of large norm that is far from the optimum, which has a closed form; directions
of noise have then not yet entered, so that the answer can cluster better than the optimum does.

References
----------
.. [1] Z. Lin, R. Liu, Z. Su, "Linearized alternating direction method with adaptive penalty for low-rank
   representation", NIPS 2011.
"""

from typing import NamedTuple

import numpy as np

from viewspan._utils.linalg import singular_values
from viewspan._utils.threads import map_views
from viewspan._utils.typing import Array
from viewspan.objective.couplings import Uncoupled
from viewspan.objective.problem import Problem
from viewspan.solvers.ladmpsap import (
    GROWTH,
    MAX_ITER,
    MU,
    MU_MAX,
    RESIDUAL_PER_CHANGE,
    Progress,
    certified,
    prox_as_published,
)
from viewspan.solvers.result import Callback, Solution, Status

STEP = 1.2
"""ρ = 1.2·‖X‖₂²."""


class Single(NamedTuple):
    """One view's coefficients, multiplier, misfit, change and iterations, and whether it went on being finite."""

    coefficients: Array
    multiplier: Array
    misfit: float
    change: float
    n_iter: int
    finite: bool


def ladmap(
    problem: Problem,
    *,
    tol: float = 1e-4,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Solution:
    """Run it on every view; parameters as for :func:`~viewspan.solvers.ladmpsap.ladmpsap`."""
    if not isinstance(problem.coupling, Uncoupled):
        raise ValueError(
            "solver='ladmap' solves views one by one, and this problem couples them: take coupling='none', "
            "tau=0 or solver='ladmpsap'."
        )
    views = map_views(
        lambda view: solve_view(problem, view, tol, max_iter), range(problem.shape[0])
    )
    progress = Progress(max(view.misfit for view in views), 0.0, max(view.change for view in views))
    reached = progress.misfit < RESIDUAL_PER_CHANGE * tol and progress.change < tol
    status: Status = "residuals" if reached else "max_iter"
    if not all(view.finite for view in views):
        status = "non_finite"
    coefficients = np.stack([view.coefficients for view in views])
    solution = certified(
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


def solve_view(problem: Problem, view: int, tol: float, max_iter: int) -> Single:
    """The released iteration; the fit is halved there, so the weights are divided by the fit's curvature."""
    factor, target = problem.factors[view], problem.targets[view]
    scale, size = problem.datafit.curvature or 1.0, float(np.linalg.norm(target)) or 1.0
    step = (STEP * float(singular_values(factor)[0]) ** 2) or 1.0
    coefficients, residual, multiplier = (
        np.zeros(problem.shape[1:]),
        np.zeros_like(target),
        np.zeros_like(target),
    )
    mu, misfit, change, n_iter = MU, np.inf, np.inf, 0
    while n_iter < max_iter and not (misfit < RESIDUAL_PER_CHANGE * tol and change < tol):
        n_iter += 1
        slope = factor.T @ (mu * (factor @ coefficients - target + residual) + multiplier)
        moved = prox_as_published(
            problem, coefficients - slope / step, problem.lam[view] / scale / step
        )
        rebuilt = factor @ moved
        left = problem.datafit.prox(target - rebuilt - multiplier / mu, 1.0 / (mu * scale))
        if not (np.isfinite(moved).all() and np.isfinite(left).all()):
            return Single(coefficients, multiplier, misfit, change, n_iter, finite=False)
        gap = rebuilt - target + left
        multiplier = multiplier + mu * gap
        by_coefficients = float(np.sqrt(step) * np.linalg.norm(moved - coefficients))
        by_residual = left - residual
        coefficients, residual = moved, left
        if mu * max(by_coefficients, float(singular_values(by_residual)[0])) / size < tol:
            mu = min(MU_MAX, GROWTH * mu)
        misfit = float(np.linalg.norm(gap)) / size
        change = (
            mu * max(by_coefficients, float(np.sqrt(step) * np.linalg.norm(by_residual))) / size
        )
    return Single(coefficients, multiplier, misfit, change, n_iter, finite=True)
