"""The one loop that serves every method: ADMM with over-relaxation, residual balancing and a certificate to stop on.

The coefficients W are split from a copy per penalty and coupling, and from the residual where the datafit is not
quadratic,

    J = W,   A = W,   E_i = T_i − F_i W_i,

each copy being updated by its prox. Quadratic datafits stay in the linear system of W.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from viewspan._utils.linalg import NumericalError, check_finite
from viewspan._utils.threads import map_views
from viewspan._utils.typing import Array
from viewspan.objective.problem import Problem
from viewspan.solvers.linear import RidgeSystem
from viewspan.solvers.result import Callback, Check, Solution, Status, relative_gap
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import Residuals, State, norm

MAX_ITER = 2000
SETTLE, FREEZE = 20, 500
"""ρ is balanced after each of the first iterations, then at every check; never after ``FREEZE``, so that convergence is
assured.
"""


def admm(
    problem: Problem,
    *,
    tol: float = 1e-4,
    max_iter: int = MAX_ITER,
    state: State | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Minimise the problem to a certified relative gap of ``tol``.

    Parameters
    ----------
    problem : Problem
    tol : float
        Stop when (objective − dual bound) / objective is at most this.
    max_iter : int
    state : State, optional
        A warm start; it is advanced in place, so that the caller can go on from it.
    callback : callable, optional
        Called with every :class:`~viewspan.solvers.result.Check`.
    """
    iteration = Iteration(problem, State.start(problem) if state is None else state)
    schedule = Schedule(tol)
    weighs = problem.coupled or bool(problem.lam.any())
    solution: Solution | None = None
    for n_iter in range(1, max_iter + 1):
        try:
            iteration.advance()
            due = schedule.is_due(n_iter) or n_iter == max_iter
            if n_iter > SETTLE and not due:
                continue
            copies, fit = iteration.residuals()
            if due or schedule.is_promising(copies.relative):
                solution = measure(
                    iteration, copies, n_iter, tol, solution.history if solution else []
                )
                schedule.plan(n_iter, solution.gap)
                if callback is not None:
                    callback(solution.history[-1])
                if solution.status == "optimal":
                    break
        except NumericalError:  # not finite, or no decomposition of it was found
            return no_worse_than_zero(problem, solution, status="non_finite", n_iter=n_iter)
        if n_iter <= FREEZE:
            iteration.state.balance(
                copies if weighs else None, fit
            )  # copies that nothing pulls at need no balance
    if solution is not None and solution.status == "optimal":
        return solution
    return no_worse_than_zero(problem, solution)


class Iteration:
    """The steps of one problem."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem = problem
        self.state = state
        self.systems = [
            RidgeSystem(spectrum.values, spectrum.right) for spectrum in problem.spectra
        ]
        self.correlations = [f.T @ t for f, t in zip(problem.factors, problem.targets, strict=True)]
        self.stack = np.zeros(problem.shape)
        self.penalty_values = np.zeros(len(self.stack))

    def advance(self) -> None:
        """One iteration. Views meet only in the coupling; everything before it is done for each on its own."""
        problem, state = self.problem, self.state
        proximal = np.empty_like(self.stack)
        map_views(self._view_step, range(len(proximal)), proximal)
        state.penalty.accept(proximal)
        if state.coupling is not None:
            state.coupling.move(self.stack)
            state.coupling.accept(
                problem.coupling.prox(state.coupling.point, problem.tau / state.rho)
            )
        for split, image in zip(state.residual, self._images(), strict=True):
            split.move(image)
            split.accept(problem.datafit.prox(split.point, 1.0 / state.rho_fit))

    def _view_step(self, view: int, proximal: Array) -> None:
        """Coefficients W_i, then the penalty's copy of them, written to ``proximal``.

        W_i = (w F_iᵀF_i + kρI)⁻¹ (w F_iᵀR_i + ρ Σ targets), with w the fit's curvature, or the ρ of a residual that
        is split off.
        """
        problem, state = self.problem, self.state
        curvature = problem.datafit.curvature or state.rho_fit
        pull = state.penalty.target(view)
        if state.coupling is not None:
            pull += state.coupling.target(view)
        pull *= state.rho
        pull += curvature * self.correlations[view]
        if state.residual:
            pull -= curvature * (problem.factors[view].T @ state.residual[view].target())
        ridge = len(state.copies) * state.rho
        self.stack[view] = self.systems[view].solve(pull, curvature, ridge)
        if problem.observed is not None:
            absent = ~problem.observed[view]
            self.stack[view][:, absent] = pull[:, absent] / ridge
        state.penalty.move(self.stack[view], view)
        proximal[...], value = problem.penalty.prox_and_value(
            state.penalty.point[view], problem.lam[view] / state.rho
        )
        self.penalty_values[view] = value * state.rho

    def _images(self) -> list[Array]:
        return self.problem.residuals(self.stack) if self.state.residual else []

    def residuals(self) -> tuple[Residuals, Residuals | None]:
        """How far the copies of W, and the residuals that are split off, are from agreeing and from standing still."""
        state, factors = self.state, self.problem.factors
        copies = Residuals(
            primal=norm(self.stack - split.copy for split in state.copies),
            dual=state.rho * norm(split.change for split in state.copies),
            size=max(
                norm([self.stack] * len(state.copies)), norm(split.copy for split in state.copies)
            ),
            force=state.rho * norm(split.scaled for split in state.copies),
        )
        if not state.residual:
            return copies, None
        images = self._images()
        return copies, Residuals(
            primal=norm(
                image - split.copy for image, split in zip(images, state.residual, strict=True)
            ),
            dual=state.rho_fit
            * norm(f.T @ split.change for f, split in zip(factors, state.residual, strict=True)),
            size=max(norm(images), norm(split.copy for split in state.residual)),
            force=state.rho_fit
            * norm(f.T @ split.scaled for f, split in zip(factors, state.residual, strict=True)),
        )


def at_zero(problem: Problem) -> Solution:
    """The trivial point, to return if not one iterate is finite."""
    zero = np.zeros(problem.shape)
    dual = [np.zeros_like(target) for target in problem.targets]
    objective, bound = problem.value(zero, 0.0), problem.offset
    check = Check(
        0, objective, bound, relative_gap(objective, bound), np.inf, np.inf, problem.shape[1]
    )
    return Solution(zero, dual, zero, objective, bound, "max_iter", 0, [check])


def no_worse_than_zero(problem: Problem, solution: Solution | None, **changes: Any) -> Solution:
    """What an iteration that did not arrive has found, unless nothing at all would be better."""
    zero = at_zero(problem)
    if solution is None:
        return replace(zero, **changes)
    if solution.objective <= zero.objective:
        return replace(solution, **changes)
    bound = max(zero.dual_bound, solution.dual_bound)
    check = zero.history[-1]._replace(
        n_iter=solution.n_iter, dual_bound=bound, gap=relative_gap(zero.objective, bound)
    )
    found = replace(
        zero, dual_bound=bound, n_iter=solution.n_iter, history=[*solution.history, check]
    )
    return replace(found, **changes)


def measure(
    iteration: Iteration, residuals: Residuals, n_iter: int, tol: float, history: list[Check]
) -> Solution:
    """Certify the penalty's copy of the coefficients: it is exactly low-rank or sparse."""
    problem, state = iteration.problem, iteration.state
    stack, multiplier = state.penalty.copy, state.multiplier
    check_finite(np.array([residuals.primal, residuals.size]), stack)
    dual = state.dual or problem.smooth_dual(stack)
    objective = problem.value(stack, float(iteration.penalty_values.sum()))
    bound = problem.certificate(dual, multiplier, enough=(1.0 - tol) * objective).bound
    gap = relative_gap(objective, bound)
    check = Check(n_iter, objective, bound, gap, residuals.primal, residuals.dual, problem.shape[1])
    status: Status = "optimal" if gap <= tol else "max_iter"
    return Solution(stack, dual, multiplier, objective, bound, status, n_iter, [*history, check])
