"""The one loop that serves every method: ADMM with over-relaxation, residual balancing and a certificate to stop on.

The coefficients W are split from a copy per penalty and coupling, and from the residual where the datafit is not
quadratic,

    J = W,   A = W,   E_i = T_i − F_i W_i,

each copy being updated by its prox. Quadratic datafits stay in the linear system of W.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from viewspan._threads import map_views
from viewspan._typing import Array
from viewspan.model.problem import Problem
from viewspan.solvers.linear import RidgeSystem
from viewspan.solvers.result import Callback, Check, Solution, Status, relative_gap

RELAXATION = 1.4
SETTLE = 20
"""ρ is balanced after each of the first iterations, then at every check; never after ``FREEZE``, so that
convergence is assured.
"""
FREEZE = 500
PROMISING = 20.0
"""The first certificate is tried when the relative residuals are below this multiple of ``tol``, at the latest
after ``FIRST_CHECK``.
"""
FIRST_CHECK = 20
USUAL_RATE = 0.5
"""Decay of log(gap) per iteration that is assumed until it has been seen."""
SHORTEST_WAIT, LONGEST_WAIT = 2, 50
MAX_ITER = 2000
BALANCE = 1.5
"""Residuals further apart than this factor change ρ, by at most ``MAX_CHANGE`` at a time."""
MAX_CHANGE = 5.0
ALL = slice(None)


@dataclass
class Split:
    """A copy of something linear in W, tied to it by a scaled multiplier."""

    copy: Array
    scaled: Array
    change: Array = field(init=False)

    def target(self, view: int | slice = ALL) -> Array:
        """Where the copy pulls W."""
        pulled: Array = self.copy[view] - self.scaled[view]
        return pulled

    def relax(self, image: Array, view: int | slice = ALL) -> Array:
        """Over-relaxed image plus multiplier: what the prox is applied to."""
        relaxed: Array = RELAXATION * image + (1.0 - RELAXATION) * self.copy[view] + self.scaled[view]
        return relaxed

    def accept(self, point: Array, proximal: Array) -> None:
        """Take the prox of ``point`` as the new copy; what the prox took away is the new multiplier."""
        self.change = proximal - self.copy
        self.copy = proximal
        self.scaled = point - proximal


@dataclass
class State:
    """Everything an iteration needs of the one before; hand it in again for a warm start."""

    penalty: Split
    coupling: Split | None
    residual: list[Split]
    rho: float

    @classmethod
    def zero(cls, problem: Problem) -> "State":
        """Start at Z = 0 with ρ near 3·mean λ (found best over many problems; balancing corrects it)."""
        shape = problem.shape

        def split(like: tuple[int, ...]) -> Split:
            return Split(np.zeros(like), np.zeros(like))

        weights = [float(np.mean(problem.lam)) * 3.0, problem.tau, 1e-3]
        return cls(
            penalty=split(shape),
            coupling=split(shape) if problem.coupled else None,
            residual=[] if problem.datafit.curvature else [split(t.shape) for t in problem.targets],
            rho=next(weight for weight in weights if weight > 0),
        )

    @property
    def copies(self) -> list[Split]:
        """The splits of W itself."""
        return [self.penalty] if self.coupling is None else [self.penalty, self.coupling]

    @property
    def multiplier(self) -> Array:
        """M, the coupling's dual variable."""
        return np.zeros_like(self.penalty.copy) if self.coupling is None else self.rho * self.coupling.scaled

    @property
    def dual(self) -> list[Array] | None:
        """Y_i, the residuals' dual variables, where residuals are split off."""
        return [self.rho * split.scaled for split in self.residual] or None

    def rescale(self, factor: float) -> None:
        """Change ρ and keep the true multipliers."""
        self.rho *= factor
        for split in [*self.copies, *self.residual]:
            split.scaled = split.scaled / factor


class Iteration:
    """The steps of one problem."""

    def __init__(self, problem: Problem, state: State) -> None:
        self.problem = problem
        self.state = state
        self.systems = [RidgeSystem(spectrum.values, spectrum.right) for spectrum in problem.spectra]
        self.correlations = [f.T @ t for f, t in zip(problem.factors, problem.targets, strict=True)]
        self.stack = state.penalty.copy

    def advance(self) -> None:
        """One iteration. Views meet only in the coupling; everything before it is done for each on its own."""
        problem, state = self.problem, self.state
        views = map_views(self._view_step, range(len(self.stack)))
        self.stack, points, proximal = (np.stack(part) for part in zip(*views, strict=True))
        state.penalty.accept(points, proximal)
        if state.coupling is not None:
            point = state.coupling.relax(self.stack)
            state.coupling.accept(point, problem.coupling.prox(point, problem.tau / state.rho))
        for split, image in zip(state.residual, self._images(), strict=True):
            point = split.relax(image)
            split.accept(point, problem.datafit.prox(point, 1.0 / state.rho))

    def _view_step(self, view: int) -> tuple[Array, Array, Array]:
        """Coefficients W_i, what the penalty's prox is applied to, and the prox.

        W_i = (w F_iᵀF_i + kρI)⁻¹ (w F_iᵀR_i + ρ Σ targets), with w the fit's curvature, or ρ for a residual that is
        split off.
        """
        problem, state = self.problem, self.state
        curvature = problem.datafit.curvature or state.rho
        rhs = self.correlations[view]
        if state.residual:
            rhs = rhs - problem.factors[view].T @ state.residual[view].target()
        rhs = curvature * rhs
        for split in state.copies:
            rhs = rhs + state.rho * split.target(view)
        coefficients = self.systems[view].solve(rhs, curvature, len(state.copies) * state.rho)
        point = state.penalty.relax(coefficients, view)
        return coefficients, point, problem.penalty.prox(point, problem.lam[view] / state.rho)

    def _images(self) -> list[Array]:
        return self.problem.residuals(self.stack) if self.state.residual else []

    def residuals(self) -> "Residuals":
        state = self.state
        splits = [*state.copies, *state.residual]
        images = [self.stack] * len(state.copies) + self._images()
        return Residuals(
            primal=norm(image - split.copy for image, split in zip(images, splits, strict=True)),
            dual=state.rho * norm(self._pull_back(i, split.change) for i, split in enumerate(splits)),
            size=max(norm(images), norm(split.copy for split in splits)),
            force=state.rho * norm(self._pull_back(i, split.scaled) for i, split in enumerate(splits)),
        )

    def _pull_back(self, position: int, array: Array) -> Array:
        """To the space of W: copies live there, residuals come back through F_iᵀ."""
        view = position - len(self.state.copies)
        return array if view < 0 else self.problem.factors[view].T @ array

    def balance(self, residuals: "Residuals") -> None:
        """Move ρ towards equal relative residuals."""
        if min(residuals) <= 0.0:
            return
        factor = float(np.sqrt((residuals.primal / residuals.size) / (residuals.dual / residuals.force)))
        if not 1 / BALANCE < factor < BALANCE:
            self.state.rescale(min(max(factor, 1 / MAX_CHANGE), MAX_CHANGE))


class Residuals(NamedTuple):
    """How far the copies are from W and from their last values, and the sizes of the copies and of their
    multipliers.
    """

    primal: float
    dual: float
    size: float
    force: float

    @property
    def relative(self) -> float:
        if min(self.size, self.force) <= 0.0:
            return np.inf
        return max(self.primal / self.size, self.dual / self.force)


def norm(arrays: Iterable[Array]) -> float:
    """Frobenius norm of several arrays taken together."""
    return float(np.sqrt(sum(float(np.vdot(array, array)) for array in arrays)))


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
    iteration = Iteration(problem, State.zero(problem) if state is None else state)
    schedule = Schedule(tol)
    solution = at_zero(problem)
    for n_iter in range(1, max_iter + 1):
        iteration.advance()
        settling = n_iter <= SETTLE
        due = schedule.is_due(n_iter) or n_iter == max_iter
        if not (settling or due):
            continue
        residuals = iteration.residuals()
        if due or residuals.relative <= schedule.promising:
            if not np.isfinite(residuals.size):
                return replace(solution, status="non_finite", n_iter=n_iter)
            solution = measure(iteration, residuals, n_iter, tol, solution.history)
            schedule.plan(n_iter, solution.gap)
            if callback is not None:
                callback(solution.history[-1])
            if solution.status == "optimal":
                break
        if n_iter <= FREEZE:
            iteration.balance(residuals)
    return solution


class Schedule:
    """When to measure. A certificate costs about two iterations, so it is asked for when it is likely to hold."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self.promising = PROMISING * tol
        self._next = FIRST_CHECK
        self._last: tuple[int, float] | None = None

    def is_due(self, n_iter: int) -> bool:
        return n_iter >= self._next

    def plan(self, n_iter: int, gap: float) -> None:
        """The gap shrinks about geometrically: aim at the iteration where it should cross the tolerance."""
        rate = USUAL_RATE
        if self._last is not None:
            rate = np.log(self._last[1] / gap) / (n_iter - self._last[0]) if 0.0 < gap < self._last[1] else 0.0
        wait = np.log(gap / self.tol) / rate if gap > self.tol and rate > 0.0 else LONGEST_WAIT
        self._last = (n_iter, gap)
        longest = min(n_iter // 2, LONGEST_WAIT)  # a rate seen over few iterations is not to be trusted for many
        self._next = n_iter + int(np.ceil(max(min(wait, longest), SHORTEST_WAIT)))
        self.promising = 0.0


def at_zero(problem: Problem) -> Solution:
    """The trivial point, to return if not one iterate is finite."""
    zero = np.zeros(problem.shape)
    dual = [np.zeros_like(target) for target in problem.targets]
    return Solution(zero, dual, zero, problem.value(zero), problem.offset, "max_iter", 0, [])


def measure(iteration: Iteration, residuals: Residuals, n_iter: int, tol: float, history: list[Check]) -> Solution:
    """Certify the penalty's copy of the coefficients: it is exactly low-rank or sparse."""
    problem, state = iteration.problem, iteration.state
    stack, multiplier = state.penalty.copy, state.multiplier
    dual = state.dual or problem.smooth_dual(stack)
    objective, bound = problem.value(stack), problem.certificate(dual, multiplier).bound
    gap = relative_gap(objective, bound)
    check = Check(n_iter, objective, bound, gap, residuals.primal, residuals.dual, problem.shape[1])
    status: Status = "optimal" if gap <= tol else "max_iter"
    return Solution(stack, dual, multiplier, objective, bound, status, n_iter, [*history, check])
