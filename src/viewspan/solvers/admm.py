"""ADMM with over-relaxation and residual balancing, stopped by a certified gap.

This loop solves every convex problem of the family that has no closed form. The penalty and the
coupling each have a copy of the coefficients W, and a datafit that is not quadratic has a copy of
the residual,

    J = W,   A = W,   E_i = T_i − F_i W_i.

Every copy is updated by its prox. Quadratic datafits stay in the linear system of W.
"""

from dataclasses import replace
from typing import Any

import numpy as np

from viewspan._utils.linalg import NumericalError, Spectrum, check_finite
from viewspan._utils.threads import map_views
from viewspan._utils.typing import Array
from viewspan.objective.penalties import is_nuclear_norm
from viewspan.objective.problem import Problem
from viewspan.objective.thresholding import WarmThresholding
from viewspan.solvers.linear import RidgeSystem
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Solution, Status, relative_gap
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import Residuals, State, joint_norm, squared_norm

MAX_ITER = 2000
"""Default limit of iterations."""
N_ALWAYS_BALANCED = 20
"""Number of initial iterations that all balance ρ; later it is balanced only at checks."""
LAST_BALANCED = 500
"""Last iteration after which ρ may change. With a fixed ρ convergence is guaranteed."""


def admm(
    problem: Problem,
    *,
    tol: float = DEFAULT_TOL,
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
        Warm start. It is advanced in place, so that the caller can continue from it.
    callback : callable, optional
        Called with every :class:`~viewspan.solvers.result.Check`.
    """
    iteration = Iteration(problem, State.start(problem) if state is None else state)
    schedule = Schedule(tol)
    has_weights = problem.coupled or bool(problem.lam.any())
    solution: Solution | None = None
    for n_iter in range(1, max_iter + 1):
        try:
            iteration.advance()
            due = schedule.is_due(n_iter) or n_iter == max_iter
            if n_iter > N_ALWAYS_BALANCED and not due:
                continue
            copies, fit = iteration.residuals()
            if due or schedule.is_promising(copies.relative):
                history = solution.history if solution else []
                solution = certify(iteration, copies, n_iter, tol, history)
                schedule.plan(n_iter, solution.gap, copies.relative)
                if callback is not None:
                    callback(solution.history[-1])
                if solution.status == "optimal":
                    break
        except NumericalError:  # an iterate is not finite or could not be decomposed
            return solution_or_zero(problem, solution, status="non_finite", n_iter=n_iter)
        if n_iter <= LAST_BALANCED:
            # without weights nothing pulls at the copies, and their ρ needs no balance
            iteration.state.balance(copies if has_weights else None, fit)
    if solution is not None and solution.status == "optimal":
        return solution
    return solution_or_zero(problem, solution)


class Iteration:
    """The steps of ADMM for one problem."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem = problem
        self.state = state
        self.systems = [
            RidgeSystem(spectrum.values, spectrum.right) for spectrum in problem.spectra
        ]
        self.correlations = [f.T @ t for f, t in zip(problem.factors, problem.targets, strict=True)]
        self.stack = np.zeros(problem.shape)
        self.proxes = [
            WarmThresholding()
            if is_nuclear_norm(problem.penalty)
            else problem.penalty.prox_and_value
            for _ in self.systems
        ]
        self.penalty_values = np.zeros(len(self.stack))

    def advance(self) -> None:
        """Do one iteration: a step for every view, then the prox of the coupling and of the fit."""
        problem, state = self.problem, self.state
        proximal = np.empty_like(self.stack)
        map_views(self._view_step, range(len(proximal)), proximal)
        state.penalty.accept(proximal)
        if state.coupling is not None:
            state.coupling.accept(
                problem.coupling.prox(state.coupling.point, problem.tau / state.rho)
            )
        for split, image in zip(state.residual, self._images(), strict=True):
            split.move(image)
            split.accept(problem.datafit.prox(split.point, 1.0 / state.rho_fit))

    def _view_step(self, view: int, proximal: Array) -> None:
        """Update the coefficients W_i and write the penalty's copy of them to ``proximal``.

        W_i = (w F_iᵀF_i + kρI)⁻¹ (w F_iᵀR_i + ρ Σ targets) for k copies. w is the curvature of a
        quadratic fit, or the ρ of a residual that is split off. R_i is T_i for a quadratic fit,
        else T_i − (copy of the residual − its scaled multiplier).
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
            missing = ~problem.observed[view]
            self.stack[view][:, missing] = pull[:, missing] / ridge
        for split in state.copies:
            split.move(self.stack[view], view)
        proximal[...], value = self.proxes[view](
            state.penalty.point[view], problem.lam[view] / state.rho
        )
        self.penalty_values[view] = value * state.rho

    def _images(self) -> list[Array]:
        return self.problem.residuals(self.stack) if self.state.residual else []

    @property
    def blocks(self) -> list[Array | None]:
        """Leading singular vectors of every view, if the penalty is a nuclear norm."""
        return [getattr(prox, "block", None) for prox in self.proxes]

    @property
    def spectra(self) -> list[Spectrum] | None:
        """Spectra of the penalty's copy of the coefficients, if its prox computes them."""
        found = [getattr(prox, "spectrum", None) for prox in self.proxes]
        known = [spectrum for spectrum in found if spectrum is not None]
        return known if len(known) == len(found) else None

    def residuals(self) -> tuple[Residuals, Residuals | None]:
        """Return the ADMM residuals of the copies of W and, if the fit is split off, of the fit."""
        state, factors = self.state, self.problem.factors
        squares = np.sum(map_views(self._view_squares, range(len(self.stack))), axis=0)
        primal, change, image, copy, multiplier = np.sqrt(squares)
        copies = Residuals(
            primal=primal,
            dual=state.rho * change,
            primal_norm=max(image, copy),
            dual_norm=state.rho * multiplier,
        )
        if not state.residual:
            return copies, None
        images = self._images()
        return copies, Residuals(
            primal=joint_norm(
                image - split.copy for image, split in zip(images, state.residual, strict=True)
            ),
            dual=state.rho_fit
            * joint_norm(
                f.T @ split.change for f, split in zip(factors, state.residual, strict=True)
            ),
            primal_norm=max(joint_norm(images), joint_norm(split.copy for split in state.residual)),
            dual_norm=state.rho_fit
            * joint_norm(
                f.T @ split.scaled_multiplier
                for f, split in zip(factors, state.residual, strict=True)
            ),
        )

    def _view_squares(self, view: int) -> Array:
        """Return the squared norms of a view's part of the residuals and what they relate to."""
        image, buffer = self.stack[view], np.empty_like(self.stack[view])
        squares = np.zeros(5)
        for split in self.state.copies:
            copy = split.copy[view]
            squares += [
                squared_norm(np.subtract(image, copy, out=buffer)),
                squared_norm(np.subtract(copy, split.previous[view], out=buffer)),
                squared_norm(image),
                squared_norm(copy),
                squared_norm(np.subtract(split.point[view], copy, out=buffer)),
            ]
        return squares


def zero_solution(problem: Problem) -> Solution:
    """Return zero coefficients as a solution, for the case that no iterate is finite."""
    zero = np.zeros(problem.shape)
    dual = [np.zeros_like(target) for target in problem.targets]
    objective, bound = problem.value(zero, 0.0), problem.offset
    check = Check(
        0, objective, bound, relative_gap(objective, bound), np.inf, np.inf, problem.shape[1]
    )
    return Solution(zero, dual, zero, objective, bound, "max_iter", 0, [check])


def solution_or_zero(problem: Problem, solution: Solution | None, **changes: Any) -> Solution:
    """Return a solution that missed the tolerance, or zero coefficients if these are better.

    ``changes`` are fields to replace in whichever is returned.
    """
    zero = zero_solution(problem)
    if solution is None:
        return replace(zero, **changes)
    if solution.objective <= zero.objective:
        return replace(solution, **changes)
    bound = max(zero.dual_bound, solution.dual_bound)
    check = zero.history[-1]._replace(
        n_iter=solution.n_iter, dual_bound=bound, gap=relative_gap(zero.objective, bound)
    )
    history = [*solution.history, check]
    better = replace(zero, dual_bound=bound, n_iter=solution.n_iter, history=history)
    return replace(better, **changes)


def certify(
    iteration: Iteration, residuals: Residuals, n_iter: int, tol: float, history: list[Check]
) -> Solution:
    """Certify the penalty's copy of the coefficients, which is exactly low-rank or sparse."""
    problem, state = iteration.problem, iteration.state
    stack, multiplier = state.penalty.copy, state.multiplier
    check_finite(np.array([residuals.primal, residuals.primal_norm]), stack)
    residuals_of_copy = problem.residuals(stack)
    dual = state.dual or problem.smooth_dual(stack, residuals_of_copy)
    objective = problem.value(stack, float(iteration.penalty_values.sum()), residuals_of_copy)
    enough = (1.0 - tol) * objective
    bound = problem.certificate(dual, multiplier, enough, iteration.blocks).bound
    gap = relative_gap(objective, bound)
    check = Check(n_iter, objective, bound, gap, residuals.primal, residuals.dual, problem.shape[1])
    status: Status = "optimal" if gap <= tol else "max_iter"
    return Solution(
        *(stack, dual, multiplier, objective, bound, status, n_iter, [*history, check]),
        spectra=iteration.spectra,
    )
