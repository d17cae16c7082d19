r"""Active sets for SSC, in which every sample is a problem of its own.

With a quadratic fit, an ℓ1 penalty and no coupling, the coefficients of one sample depend on no
other coefficients. :mod:`viewspan.solvers.lasso` solves for them exactly, up to rounding errors.
This module decides when they are accurate enough, by the certificate of the whole problem.
"""

import numpy as np

from viewspan._utils.linalg import check_finite
from viewspan._utils.threads import in_threads
from viewspan.objective.penalties import ZeroDiagonalL1
from viewspan.objective.problem import Problem
from viewspan.solvers.admm import MAX_ITER, solution_or_zero
from viewspan.solvers.lasso import Block, blocks_of
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Solution, Status, relative_gap

FIRST_SWEEP, SWEEP_GROWTH = 10, 2
"""Steps before the first certificate, and the factor by which their number grows after each."""
TOLERANCE_DECAY, MIN_TOLERANCE = 0.1, 1e-12
"""Decay and lower limit of the violation of optimality that is allowed to a solved sample.

It begins at the tolerance of the gap, and decreases while that gap is not reached.
"""


def applies(problem: Problem) -> bool:
    """Return whether :func:`solve_active_set` solves this problem."""
    quadratic = problem.datafit.curvature is not None
    # a subclass may have other values
    return quadratic and type(problem.penalty) is ZeroDiagonalL1 and not problem.coupled


def solve_active_set(
    problem: Problem,
    *,
    tol: float = DEFAULT_TOL,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Solution:
    """Minimise the problem to a certified relative gap of ``tol``.

    Parameters
    ----------
    problem : Problem
    tol : float
        Stop when (objective − dual bound) / objective is at most this.
    max_iter : int
        Limit of the steps of every sample.
    callback : callable, optional
        Called with every :class:`~viewspan.solvers.result.Check`.

    Returns
    -------
    Solution
        ``n_iter`` is the number of steps of the block of samples that took most. The status is
        ``"residuals"`` if every sample is solved up to rounding errors and the gap is larger than
        ``tol`` nevertheless, as it is for λ = 0, where no bound is positive.
    """
    blocks = list(blocks_of(problem))
    solution: Solution | None = None
    sweep, tolerance = FIRST_SWEEP, tol
    while True:
        try:
            advance(blocks, sweep, tolerance, max_iter)
            solution = certify(problem, blocks, tol, solution.history if solution else [])
        except np.linalg.LinAlgError:
            n_iter = max(block.n_steps for block in blocks)
            return solution_or_zero(problem, solution, status="non_finite", n_iter=n_iter)
        if callback is not None:
            callback(solution.history[-1])
        if solution.status == "optimal":
            return solution
        if not all(block.solved.all() for block in blocks):
            if solution.n_iter >= max_iter:
                return solution_or_zero(problem, solution)
            sweep *= SWEEP_GROWTH
        elif tolerance > MIN_TOLERANCE:
            tolerance *= TOLERANCE_DECAY
        else:
            return solution_or_zero(problem, solution, status="residuals")


def advance(blocks: list[Block], n_steps: int, tolerance: float, max_iter: int) -> None:
    """Do steps with every block, several blocks at once."""

    def advance_one(block: Block) -> None:
        block.advance(min(n_steps, max_iter - block.n_steps), tolerance)

    for _ in in_threads(advance_one, blocks):
        pass


def certify(problem: Problem, blocks: list[Block], tol: float, history: list[Check]) -> Solution:
    """Return the present coefficients with the objective and its certified bound."""
    stack = np.zeros(problem.shape)
    for block in blocks:
        block.write(stack)
    dual, multiplier = problem.smooth_dual(stack), np.zeros_like(stack)
    objective = problem.value(stack)
    check_finite(np.array(objective), stack)
    bound = problem.certificate(dual, multiplier).bound
    gap = relative_gap(objective, bound)
    n_iter = max(block.n_steps for block in blocks)
    check = Check(n_iter, objective, bound, gap, 0.0, 0.0, problem.shape[1])
    status: Status = "optimal" if gap <= tol else "max_iter"
    return Solution(stack, dual, multiplier, objective, bound, status, n_iter, [*history, check])
