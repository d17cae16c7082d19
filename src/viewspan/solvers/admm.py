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
from viewspan.objective.rounding import frobenius_norm
from viewspan.objective.thresholding import MAX_BLOCK_SHARE, WarmThresholding, margin
from viewspan.solvers.linear import RidgeSystem
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Solution, Status, relative_gap
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import Residuals, State

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
        self.systems = map_views(RidgeSystem, problem.spectra, problem.factors, problem.targets)
        self.stack = np.zeros(problem.shape)
        self.proxes = [
            WarmThresholding(self._first_block(view))
            if is_nuclear_norm(problem.penalty)
            else problem.penalty.prox_and_value
            for view in range(len(self.systems))
        ]
        self.penalty_values = np.zeros(len(self.stack))
        self.value_at_zero = problem.value(self.stack, 0.0)

    def _first_block(self, view: int) -> Array | None:
        """Return singular vectors from which the thresholding starts.

        At the closed form with a ridge, the coefficients are diagonal in the right singular vectors
        of the view, and those with w·s² > λ exceed the threshold.
        """
        curvature, square = self.problem.datafit.curvature, self.stack[view]
        if curvature is None or square.shape[0] != square.shape[1]:
            return None
        if not self.state.penalty.copy[view].any():
            return None
        values, right = self.problem.spectra[view]
        n_above = int((curvature * values**2 > self.problem.lam[view]).sum())
        count = n_above + margin(n_above)
        fits = count <= len(right) and count <= MAX_BLOCK_SHARE * square.shape[0]
        return right[:count].T if fits else None

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

        W_i minimises (w/2)‖R_i − F_i W_i‖² + (kρ/2)‖W_i − P_i‖², where P_i is the mean of the
        targets of the k copies. w is the curvature of a quadratic fit, or the ρ of a residual that
        is split off. R_i is T_i for a quadratic fit, else T_i − (copy of the residual − its scaled
        multiplier).
        """
        problem, state = self.problem, self.state
        pull = state.penalty.target(view)
        if state.coupling is not None:
            pull += state.coupling.target(view)
            pull *= 0.5
        self.stack[view] = self.systems[view].solve(
            pull,
            problem.datafit.curvature or state.rho_fit,
            len(state.copies) * state.rho,
            state.residual[view].target() if state.residual else None,
        )
        if problem.observed is not None:
            missing = ~problem.observed[view]
            self.stack[view][:, missing] = pull[:, missing]
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
        copies = Residuals(np.stack(map_views(self._residuals_of_view, range(len(factors)))))
        if not state.residual:
            return copies, None
        fit = [
            (
                frobenius_norm(image - split.copy),
                state.rho_fit * frobenius_norm(f.T @ split.change),
                max(frobenius_norm(image), frobenius_norm(split.copy)),
                state.rho_fit * frobenius_norm(f.T @ split.scaled_multiplier),
            )
            for f, image, split in zip(factors, self._images(), state.residual, strict=True)
        ]
        return copies, Residuals(np.array(fit)[:, None])

    def _residuals_of_view(self, view: int) -> Array:
        """Return the parts of the residuals that belong to a view."""
        image, rho = self.stack[view], self.state.rho
        buffer, size = np.empty_like(image), frobenius_norm(image)
        parts = []
        for split in self.state.copies:
            copy = split.copy[view]
            parts.append(
                (
                    frobenius_norm(np.subtract(image, copy, out=buffer)),
                    rho * frobenius_norm(np.subtract(copy, split.previous[view], out=buffer)),
                    max(size, frobenius_norm(copy)),
                    rho * frobenius_norm(np.subtract(split.point[view], copy, out=buffer)),
                )
            )
        return np.array(parts)


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
    """Certify the penalty's copy of the coefficients, which is exactly low-rank or sparse.

    If zero coefficients have a lower objective, certify these.
    """
    problem, state = iteration.problem, iteration.state
    stack, multiplier, spectra = state.penalty.copy, state.multiplier, iteration.spectra
    check_finite(residuals.parts, stack)
    residuals_of_copy = problem.residuals(stack)
    dual = state.dual or problem.smooth_dual(iteration.stack)
    objective = problem.value(stack, float(iteration.penalty_values.sum()), residuals_of_copy)
    if iteration.value_at_zero < objective:
        stack, objective, spectra = np.zeros_like(stack), iteration.value_at_zero, None
    enough = (1.0 - tol) * objective
    bound = problem.certificate(dual, multiplier, enough, iteration.blocks).bound
    gap = relative_gap(objective, bound)
    check = Check(n_iter, objective, bound, gap, residuals.primal, residuals.dual, problem.shape[1])
    status: Status = "optimal" if gap <= tol else "max_iter"
    return Solution(
        *(stack, dual, multiplier, objective, bound, status, n_iter, [*history, check]),
        spectra=spectra,
    )
