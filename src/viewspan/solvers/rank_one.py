r"""The paper's strict objective: all coefficients are multiples of one matrix.

rank(A) = 1 means Z_i = α_i Z, and the problem is

.. math:: \min_{\alpha, Z}\ \sum_i \tfrac w2 \|T_i - \alpha_i F_i Z\|_F^2 + \lambda_i |\alpha_i|\, p(Z) .

It is not convex, but it is in Z for given α and in α for given Z, and both steps are solved exactly: the first is a
problem of one view, whose rows are those of all views, the second a formula for every α_i. So the objective never
rises. Where Z is the best for its α, and the objective has no slope in α, the point is stationary: |α_i| p(Z) has no
first-order term that mixes a change of α with one of Z.

Where λ is small the steps lock each other and crawl, so they are stretched as long as that pays.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from viewspan._utils.linalg import ratio, spectrum_of_gram
from viewspan._utils.typing import Array
from viewspan.objective.couplings import RankOne, Uncoupled
from viewspan.objective.problem import ROUNDING, Problem
from viewspan.solvers import closed_form
from viewspan.solvers.admm import admm
from viewspan.solvers.result import Callback, Check, Solution, Status, relative_gap
from viewspan.solvers.state import State

MAX_ITER = 2000
RESTARTS = 2
"""From random positive scales, beside the start at 1, which is LRR of all features side by side."""
SPREAD = 1.0
"""Standard deviation of the logarithms of random scales."""
TRIED, PATIENCE = 2, 100
"""Rounds, and iterations, that every start is given; the best is followed to the end."""
FIRST, LAST = 10.0, 0.1
"""Gaps of the convex step as multiples of the tolerance: while starts are tried, and afterwards."""
ROUGH = 1e-2
"""The gap of the bound by views that are not coupled, where it takes iterations."""


def applies(problem: Problem) -> bool:
    """Whether the views are bound to one matrix."""
    return isinstance(problem.coupling, RankOne)


@dataclass(frozen=True)
class Point:
    """Scales α (c,) and the shared matrix Z (p, m), with what is known there.

    Attributes
    ----------
    scales, shared : array
    objective : float
    gap : float
        The proven relative distance from the best Z for these scales.
    slope, gain : float
        Of the objective in log α, the largest over views; and by how much the best α for this Z would lower it. Both
        relative to the objective. Steps that lock each other gain nothing on a slope.
    """

    scales: Array
    shared: Array
    objective: float
    gap: float = np.inf
    slope: float = np.inf
    gain: float = np.inf

    def is_stationary(self, tol: float) -> bool:
        """Near a minimum the objective is quadratic in α, so a slope of √tol is a distance of about tol."""
        return max(self.gap, self.gain) <= tol and self.slope <= np.sqrt(tol)


def solve_rank_one(
    problem: Problem,
    *,
    tol: float = 1e-4,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Solution:
    """Alternate until the point is stationary; of a few starts, the best is followed to the end.

    Parameters
    ----------
    problem : Problem
        With a quadratic fit.
    tol : float
    max_iter : int
        Of the convex steps together.
    callback : callable, optional

    Returns
    -------
    Solution
        Its ``stack`` holds the one matrix, ``scales`` the α_i, the largest being 1. The bound is that of views that are
        not coupled at all, so the gap is what strictness costs at most.
    """
    bound = relaxation_bound(problem)

    def tried(scales: Array) -> Descent:
        run = Descent(problem, scales, bound, callback)
        run.follow(FIRST * tol, tol, n_rounds=TRIED, max_iter=min(PATIENCE, max_iter))
        return run

    def better(first: Descent, second: Descent) -> Descent:
        return second if second.point.objective < first.point.objective else first

    n_views = problem.shape[0]
    best = reduce(better, map(tried, starts(n_views)))
    if not best.point.shared.any():  # the weights of all views may be too much for one of them
        best = reduce(better, map(tried, np.eye(n_views)), best)
    best.follow(LAST * tol, tol, n_rounds=MAX_ITER, max_iter=max_iter)
    return best.solution(tol)


def starts(n_views: int) -> Iterator[Array]:
    """All alike, which is nearly always the best, then at random."""
    yield np.ones(n_views)
    generator = np.random.default_rng(0)
    for _ in range(RESTARTS if n_views > 1 else 0):
        yield np.exp(SPREAD * generator.normal(size=n_views))


class Descent:
    """From one start, to where the objective can be followed; it never rises."""

    def __init__(
        self, problem: Problem, scales: Array, bound: float, callback: Callback | None = None
    ) -> None:
        self.problem, self.bound, self.callback = problem, bound, callback
        self.stretch = 1.0
        self.history: list[Check] = []
        self.used = self.limit = 0
        self.finite = True
        self.state = State.zero(shared_problem(problem, scales))
        nothing = np.zeros(problem.shape[1:])
        self.point = Point(scales, nothing, objective_at(problem, scales, nothing))

    def follow(self, inner: float, tol: float, *, n_rounds: int, max_iter: int) -> None:
        """Some rounds, or until the point is stationary; convex steps are solved to a gap of ``inner``."""
        self.limit = max_iter
        if self.history and self.point.gap > tol and self.used < self.limit:
            self._accept(self._shared_step(self.point, inner))
        for _ in range(n_rounds):
            if self.point.is_stationary(tol) or self.used >= self.limit or not self.finite:
                return
            self._round(inner)

    def _round(self, inner: float) -> None:
        """Both steps; the first one is tried farther than it wants to go, if the last rounds went well."""
        if not self.history:
            return self._accept(self._shared_step(self.point, inner))
        plain = scales_step(self.problem, self.point)
        if self.stretch > 1.0 and self.used < self.limit:
            farther = self._shared_step(stretched(self.point, plain, self.stretch), inner)
            if farther.objective <= plain.objective:
                self.stretch *= 2.0
                return self._accept(farther)
            self.stretch = 0.5
        self.stretch *= 2.0
        if self.used >= self.limit:
            return self._accept(replace(plain, gap=np.inf))
        return self._accept(self._shared_step(plain, inner))

    def _shared_step(self, start: Point, inner: float) -> Point:
        """The best Z for given scales, or the one that is there if the tolerance is too rough to improve on it."""
        convex = shared_problem(self.problem, start.scales)
        solution = admm(
            convex, tol=inner, max_iter=max(self.limit - self.used, 1), state=self.state
        )
        self.used += solution.n_iter
        self.finite = self.finite and solution.status != "non_finite"
        shared = solution.stack[0]
        objective = objective_at(self.problem, start.scales, shared)
        if not objective <= start.objective:
            shared, objective = start.shared, start.objective
        terms = InScales.of(self.problem, shared)
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
            Check(self.used, point.objective, self.bound, gap, point.slope, point.gap, size)
        )
        if self.callback is not None:
            self.callback(self.history[-1])

    def solution(self, tol: float) -> Solution:
        point = self.point
        status: Status = (
            "stationary"
            if point.is_stationary(tol)
            else "max_iter"
            if self.finite
            else "non_finite"
        )
        size = (
            float(point.scales[np.abs(point.scales).argmax()]) or 1.0
        )  # α and Z may exchange a factor
        stack = size * point.shared[None]
        return Solution(
            stack=stack,
            dual=[],
            multiplier=np.zeros_like(stack),
            objective=point.objective,
            dual_bound=self.bound,
            status=status,
            n_iter=self.used,
            history=self.history,
            scales=point.scales / size,
        )


def shared_problem(problem: Problem, scales: Array) -> Problem:
    r"""For given scales: one view F, T with FᵀF = Σ α_i² G_i and FᵀT = Σ α_i G_i, where G_i = F_iᵀF_i.

    A quadratic fit sees no more of the views than these two sums, and they are no larger than one view.
    """
    size = problem.shape[1]
    squares, along, energy = np.zeros((size, size)), np.zeros((size, size)), 0.0
    for scale, factor in zip(scales, problem.factors, strict=True):
        gram = factor.T @ factor
        energy += float(gram.trace())
        squares += scale**2 * gram
        along += scale * gram
    view = spectrum_of_gram(squares)
    target = ratio(1.0, view.values)[:, None] * (view.right @ along)
    curvature = problem.datafit.curvature
    assert curvature is not None  # see Axes.named
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
class InScales:
    """The objective as a function of the scales, for a given Z: Σ (w/2)(α_i² energy_i − 2 α_i along_i) + |α_i| weight_i
    and what does not depend on them.
    """

    energy: Array
    along: Array
    weight: Array
    curvature: float

    @classmethod
    def of(cls, problem: Problem, shared: Array) -> "InScales":
        curvature = problem.datafit.curvature
        assert curvature is not None  # see Axes.named
        images = [factor @ shared for factor in problem.factors]
        return cls(
            energy=np.array([np.vdot(image, image) for image in images]),
            along=np.array(
                [
                    np.vdot(image, target)
                    for image, target in zip(images, problem.targets, strict=True)
                ]
            ),
            weight=np.array([problem.penalty.value(shared, lam) for lam in problem.lam]),
            curvature=curvature,
        )

    def best(self) -> Array:
        r"""α_i = soft(⟨F_iᵀT_i, Z⟩, λ_i p(Z)/w) / ‖F_i Z‖²."""
        size = np.maximum(np.abs(self.along) - self.weight / self.curvature, 0.0)
        return np.sign(self.along) * ratio(size, self.energy)

    def value(self, scales: Array) -> float:
        quadratic = 0.5 * self.curvature * (scales**2 @ self.energy - 2.0 * scales @ self.along)
        return float(quadratic + np.abs(scales) @ self.weight)

    def change(self, scales: Array) -> float:
        """From given scales to the best ones."""
        return self.value(self.best()) - self.value(scales)

    def slope(self, scales: Array) -> float:
        """In log α, the largest over views; infinite if a view that is left out should not be."""
        if self.best()[scales == 0.0].any():
            return np.inf
        by_fit = self.curvature * (scales**2 * self.energy - scales * self.along)
        return float(np.abs(by_fit + np.abs(scales) * self.weight).max())


def scales_step(problem: Problem, point: Point) -> Point:
    """The best scales for a given Z; those that are there if it is zero, or all of them would be."""
    scales = InScales.of(problem, point.shared).best()
    objective = objective_at(problem, scales, point.shared)
    if not objective < point.objective or not scales.any():
        return point
    return replace(point, scales=scales, objective=objective)


def objective_at(problem: Problem, scales: Array, shared: Array) -> float:
    """From its definition: sums of squares that cancel would lose small objectives."""
    fit = penalty = rounding = 0.0
    for factor, target, lam, scale in zip(
        problem.factors, problem.targets, problem.lam, scales, strict=True
    ):
        fit += problem.datafit.value(target - scale * (factor @ shared))
        rounding += problem.datafit.value(ROUNDING * target)
        penalty += abs(scale) * problem.penalty.value(shared, lam)
    return float((fit if fit > rounding else 0.0) + penalty + problem.offset)


def stretched(point: Point, step: Point, factor: float) -> Point:
    """Farther along the step in log α; views that it leaves out, brings in or turns around stay as it says. What Z is
    worth there is not known, so any that is found counts as better.
    """
    ratios = step.scales / np.where(point.scales == 0.0, np.inf, point.scales)
    scales = np.where(ratios > 0.0, point.scales * np.maximum(ratios, 0.0) ** factor, step.scales)
    return replace(point, scales=scales, objective=np.inf)


def relaxation_bound(problem: Problem) -> float:
    """A proven lower bound: the optimum without any coupling, which is a formula for the nuclear norm."""
    alone = replace(problem, coupling=Uncoupled(), tau=0.0)
    if closed_form.applies(alone):
        return closed_form.solve_closed_form(alone).dual_bound
    return admm(alone, tol=ROUGH).dual_bound
