r"""Alternating descent for the paper's strict objective, where the Z_i are multiples of one matrix.

rank(A) = 1 means Z_i = α_i Z, and the problem is

.. math:: \min_{\alpha, Z}\ \sum_i \tfrac w2 \|T_i - \alpha_i F_i Z\|_F^2
          + \lambda_i |\alpha_i|\, p(Z) .

The problem is not convex, but it is convex in Z for given α and in α for given Z. Both steps are
solved exactly. The step in Z is a problem of one view, whose rows are those of all views. The step
in α is a formula for every α_i. So the objective never increases.

A point is stationary if Z is optimal for its α and the objective has no slope in α, because
|α_i| p(Z) has no first-order term that mixes a change of α with one of Z.

If λ is small, alternating steps make little progress. Steps in α are therefore extrapolated as long
as that lowers the objective.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from viewspan._utils.linalg import ratio, spectrum_of_gram
from viewspan._utils.typing import Array
from viewspan.objective.couplings import RankOne, Uncoupled
from viewspan.objective.problem import EXACT_FIT_TOLERANCE, Problem
from viewspan.solvers import closed_form
from viewspan.solvers.admm import MAX_ITER, admm
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Solution, Status, relative_gap
from viewspan.solvers.state import State

MAX_ROUNDS = MAX_ITER
"""Limit of rounds of the best start."""
N_RANDOM_STARTS = 2
"""Starts from random positive scales, beside the start at 1, which is LRR of joined features."""
LOG_SCALE_DEVIATION = 1.0
"""Standard deviation of the logarithms of random scales."""
TRIAL_ROUNDS, TRIAL_ITERATIONS = 2, 100
"""Limits for every start; only the best one is continued."""
TRIAL_TOLERANCE_FACTOR, FINAL_TOLERANCE_FACTOR = 10.0, 0.1
"""Gap of the convex step as a multiple of the tolerance, during trials and afterwards."""
BOUND_TOLERANCE = 1e-2
"""Gap to which uncoupled views are solved for the lower bound, if there is no closed form."""


def applies(problem: Problem) -> bool:
    """Return whether the views share one matrix."""
    return isinstance(problem.coupling, RankOne)


@dataclass(frozen=True)
class Point:
    """Scales α and shared matrix Z, with the objective and how far it is from stationary.

    Attributes
    ----------
    scales : array (c,)
    shared : array (p, m)
    objective : float
    gap : float
        Proven relative distance from the optimal Z for these scales.
    slope : float
        Largest slope of the objective in log α_i over views, relative to the objective.
    gain : float
        Decrease of the objective at the optimal α for this Z, relative to the objective. It can be
        small although the slope is not.
    """

    scales: Array
    shared: Array
    objective: float
    gap: float = np.inf
    slope: float = np.inf
    gain: float = np.inf

    def is_stationary(self, tol: float) -> bool:
        """Return whether gap and gain are at most ``tol`` and the slope is at most √tol.

        Near a minimum the objective is quadratic in α, so a slope of √tol means a distance of
        about tol.
        """
        return max(self.gap, self.gain) <= tol and self.slope <= np.sqrt(tol)


def solve_rank_one(
    problem: Problem,
    *,
    tol: float = DEFAULT_TOL,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Solution:
    """Alternate from the best of a few starts until the point is stationary.

    Parameters
    ----------
    problem : Problem
        A problem with a quadratic fit.
    tol : float
    max_iter : int
        Limit of the iterations of all convex steps together.
    callback : callable, optional
        Called with every :class:`~viewspan.solvers.result.Check`.

    Returns
    -------
    Solution
        ``stack`` holds the shared matrix and ``scales`` the α_i, of which the largest is 1. The
        bound is that of uncoupled views, so the gap bounds the cost of the constraint.
    """
    bound = uncoupled_bound(problem)

    def tried(scales: Array) -> Descent:
        descent = Descent(problem, scales, bound, callback)
        descent.follow(
            TRIAL_TOLERANCE_FACTOR * tol,
            tol,
            n_rounds=TRIAL_ROUNDS,
            max_iter=min(TRIAL_ITERATIONS, max_iter),
        )
        return descent

    def better(first: Descent, second: Descent) -> Descent:
        return second if second.point.objective < first.point.objective else first

    n_views = problem.shape[0]
    best = reduce(better, map(tried, starts(n_views)))
    if not best.point.shared.any():
        # the weights of all views together may make Z zero where those of one view do not
        best = reduce(better, map(tried, np.eye(n_views)), best)
    best.follow(FINAL_TOLERANCE_FACTOR * tol, tol, n_rounds=MAX_ROUNDS, max_iter=max_iter)
    return best.solution(tol)


def starts(n_views: int) -> Iterator[Array]:
    """Yield the scales to start from: equal ones, which are nearly always the best, then random."""
    yield np.ones(n_views)
    generator = np.random.default_rng(0)
    for _ in range(N_RANDOM_STARTS if n_views > 1 else 0):
        yield np.exp(LOG_SCALE_DEVIATION * generator.normal(size=n_views))


class Descent:
    """Alternating steps from one start, along which the objective never increases.

    Attributes
    ----------
    point : Point
        Last accepted point.
    history : list of Check
        One check per accepted point.
    n_iter, limit : int
        Number of iterations of all convex steps so far, and their limit.
    extrapolation : float
        Exponent by which the next step in α is extrapolated; 1 for a plain step.
    finite : bool
        False once a convex step met an iterate that is not finite.
    """

    def __init__(
        self, problem: Problem, scales: Array, bound: float, callback: Callback | None = None
    ) -> None:
        self.problem, self.bound, self.callback = problem, bound, callback
        self.extrapolation = 1.0
        self.history: list[Check] = []
        self.n_iter = self.limit = 0
        self.finite = True
        self.state = State.zero(shared_problem(problem, scales))
        zero = np.zeros(problem.shape[1:])
        self.point = Point(scales, zero, objective_at(problem, scales, zero))

    def follow(self, inner_tol: float, tol: float, *, n_rounds: int, max_iter: int) -> None:
        """Do up to ``n_rounds`` rounds, until the point is stationary to ``tol``.

        Convex steps are solved to a gap of ``inner_tol``.
        """
        self.limit = max_iter
        if self.history and self.point.gap > tol and self.n_iter < self.limit:
            self._accept(self._shared_step(self.point, inner_tol))
        for _ in range(n_rounds):
            if self.point.is_stationary(tol) or self.n_iter >= self.limit or not self.finite:
                return
            self._round(inner_tol)

    def _round(self, inner_tol: float) -> None:
        """Do a step in α and one in Z.

        The step in α is extrapolated if the rounds before succeeded, and farther each time. If that
        does not lower the objective, the plain step is done instead.
        """
        if not self.history:
            return self._accept(self._shared_step(self.point, inner_tol))
        plain = scales_step(self.problem, self.point)
        if self.extrapolation > 1.0 and self.n_iter < self.limit:
            start = extrapolate(self.point, plain, self.extrapolation)
            farther = self._shared_step(start, inner_tol)
            if farther.objective <= plain.objective:
                self.extrapolation *= 2.0
                return self._accept(farther)
            self.extrapolation = 0.5
        self.extrapolation *= 2.0
        if self.n_iter >= self.limit:
            return self._accept(replace(plain, gap=np.inf))
        return self._accept(self._shared_step(plain, inner_tol))

    def _shared_step(self, start: Point, inner_tol: float) -> Point:
        """Return the point with the optimal Z for given scales.

        Z stays the same if the tolerance is too large to improve on it.
        """
        convex = shared_problem(self.problem, start.scales)
        n_left = max(self.limit - self.n_iter, 1)
        solution = admm(convex, tol=inner_tol, max_iter=n_left, state=self.state)
        self.n_iter += solution.n_iter
        self.finite = self.finite and solution.status != "non_finite"
        shared = solution.stack[0]
        objective = objective_at(self.problem, start.scales, shared)
        if not objective <= start.objective:
            shared, objective = start.shared, start.objective
        terms = ScalesObjective.at(self.problem, shared)
        return Point(
            start.scales,
            shared,
            objective,
            gap=relative_gap(objective, solution.dual_bound),
            slope=terms.slope(start.scales) / (objective or 1.0),
            gain=-terms.change(start.scales) / (objective or 1.0),
        )

    def _accept(self, point: Point) -> None:
        self.point = point
        gap = relative_gap(point.objective, self.bound)
        size = self.problem.shape[1]
        self.history.append(
            Check(self.n_iter, point.objective, self.bound, gap, point.slope, point.gap, size)
        )
        if self.callback is not None:
            self.callback(self.history[-1])

    def solution(self, tol: float) -> Solution:
        """Return the last point as a solution, scaled so that the largest α_i is 1."""
        point = self.point
        status: Status = "max_iter" if self.finite else "non_finite"
        if point.is_stationary(tol):
            status = "stationary"
        # α and Z may exchange a factor
        size = float(point.scales[np.abs(point.scales).argmax()]) or 1.0
        stack = size * point.shared[None]
        return Solution(
            stack=stack,
            dual=[],
            multiplier=np.zeros_like(stack),
            objective=point.objective,
            dual_bound=self.bound,
            status=status,
            n_iter=self.n_iter,
            history=self.history,
            scales=point.scales / size,
        )


def shared_problem(problem: Problem, scales: Array) -> Problem:
    """Return the convex problem in Z for given scales, which has one view.

    Its factor F and target T have FᵀF = Σ α_i² F_iᵀF_i and FᵀT = Σ α_i F_iᵀT_i. A quadratic fit
    depends on the views through these two sums alone, up to a constant.
    """
    size = problem.shape[1]
    squares, along, energy = np.zeros((size, size)), np.zeros(problem.shape[1:]), 0.0
    for scale, factor, target in zip(scales, problem.factors, problem.targets, strict=True):
        gram = factor.T @ factor
        energy += float(gram.trace())  # that of the target is the same
        squares += scale**2 * gram
        along += scale * (gram if target is factor else factor.T @ target)
    view = spectrum_of_gram(squares)
    target = ratio(1.0, view.values)[:, None] * (view.right @ along)
    curvature = problem.datafit.curvature
    assert curvature is not None  # see Axes.check
    return Problem(
        factors=[view.matrix],
        targets=[target],
        lam=np.tensordot(np.abs(scales), problem.lam, axes=1)[None],
        tau=0.0,
        datafit=problem.datafit,
        penalty=problem.penalty,
        coupling=Uncoupled(),
        offset=problem.offset + 0.5 * curvature * (energy - float(np.vdot(target, target))),
        known_spectra=[view],
    )


@dataclass(frozen=True)
class ScalesObjective:
    """The objective as a function of the scales for a given Z, up to a constant.

    It is Σ (w/2)(α_i² energy_i − 2 α_i along_i) + |α_i| weight_i.

    Attributes
    ----------
    energy : array (c,)
        ‖F_i Z‖_F².
    along : array (c,)
        ⟨F_i Z, T_i⟩.
    weight : array (c,)
        λ_i p(Z).
    curvature : float
        w.
    """

    energy: Array
    along: Array
    weight: Array
    curvature: float

    @classmethod
    def at(cls, problem: Problem, shared: Array) -> "ScalesObjective":
        """Return the objective for the matrix Z = ``shared``."""
        curvature = problem.datafit.curvature
        assert curvature is not None  # see Axes.check
        images = [factor @ shared for factor in problem.factors]
        return cls(
            energy=np.array([np.vdot(image, image) for image in images]),
            along=np.array(
                [np.vdot(image, t) for image, t in zip(images, problem.targets, strict=True)]
            ),
            weight=np.array([problem.penalty.value(shared, lam) for lam in problem.lam]),
            curvature=curvature,
        )

    def best(self) -> Array:
        """Return the optimal scales α_i = soft(⟨F_iᵀT_i, Z⟩, λ_i p(Z)/w) / ‖F_i Z‖²."""
        size = np.maximum(np.abs(self.along) - self.weight / self.curvature, 0.0)
        return np.sign(self.along) * ratio(size, self.energy)

    def value(self, scales: Array) -> float:
        quadratic = 0.5 * self.curvature * (scales**2 @ self.energy - 2.0 * scales @ self.along)
        return float(quadratic + np.abs(scales) @ self.weight)

    def change(self, scales: Array) -> float:
        """Return the change of the objective from given scales to the optimal ones."""
        return self.value(self.best()) - self.value(scales)

    def slope(self, scales: Array) -> float:
        """Return the largest slope in log α_i over views.

        It is infinite if some α_i is zero and should not be.
        """
        if self.best()[scales == 0.0].any():
            return np.inf
        by_fit = self.curvature * (scales**2 * self.energy - scales * self.along)
        return float(np.abs(by_fit + np.abs(scales) * self.weight).max())


def scales_step(problem: Problem, point: Point) -> Point:
    """Return the point with the optimal scales for its Z.

    The point is unchanged if that does not lower the objective or if all scales would be zero.
    """
    scales = ScalesObjective.at(problem, point.shared).best()
    objective = objective_at(problem, scales, point.shared)
    if not objective < point.objective or not scales.any():
        return point
    return replace(point, scales=scales, objective=objective)


def objective_at(problem: Problem, scales: Array, shared: Array) -> float:
    """Return the objective from its definition.

    An expansion into sums of squares would cancel and lose small objectives.
    """
    fit = penalty = exact = 0.0
    for factor, target, lam, scale in zip(
        problem.factors, problem.targets, problem.lam, scales, strict=True
    ):
        fit += problem.datafit.value(target - scale * (factor @ shared))
        exact += problem.datafit.value(EXACT_FIT_TOLERANCE * target)
        penalty += abs(scale) * problem.penalty.value(shared, lam)
    return float((fit if fit > exact else 0.0) + penalty + problem.offset)


def extrapolate(point: Point, step: Point, factor: float) -> Point:
    """Return the point that is ``factor`` times as far along a step in log α.

    Scales that the step makes zero, makes non-zero or turns around are those of the step. The
    objective there is set to infinity, so that any Z that is found is accepted.
    """
    ratios = step.scales / np.where(point.scales == 0.0, np.inf, point.scales)
    scales = np.where(ratios > 0.0, point.scales * np.maximum(ratios, 0.0) ** factor, step.scales)
    return replace(point, scales=scales, objective=np.inf)


def uncoupled_bound(problem: Problem) -> float:
    """Return a proven lower bound: that of the problem without any coupling."""
    uncoupled = replace(problem, coupling=Uncoupled(), tau=0.0)
    if closed_form.applies(uncoupled):
        return closed_form.solve_closed_form(uncoupled).dual_bound
    return admm(uncoupled, tol=BOUND_TOLERANCE).dual_bound
