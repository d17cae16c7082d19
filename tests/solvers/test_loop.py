"""The loop: when it looks, when it balances, when it stops, and what it then says."""

from dataclasses import replace

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan._utils.linalg import NumericalError
from viewspan.solvers import admm as module
from viewspan.solvers.admm import Iteration, admm, at_zero, measure, no_worse_than_zero
from viewspan.solvers.closed_form import applies, solve_closed_form
from viewspan.solvers.ladmpsap import ladmpsap
from viewspan.solvers.result import relative_gap
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import State


def problem_of(lam=(0.1, 0.3), tau=0.5, observed=None, **axes):
    return full_problem(random_views(0, (5, 6), 8), list(lam), tau, observed=observed, **axes)


@pytest.fixture
def advances(monkeypatch):
    """How often the iteration advanced."""
    calls = []
    original = Iteration.advance
    monkeypatch.setattr(Iteration, "advance", lambda self: calls.append(1) or original(self))
    return calls


@pytest.mark.parametrize("max_iter", [1, 7, 23])
def test_so_many_iterations_and_no_more(advances, max_iter):
    solution = admm(problem_of(), tol=1e-15, max_iter=max_iter)
    assert len(advances) == max_iter == solution.n_iter == solution.history[-1].n_iter
    assert solution.status == "max_iter"


def test_without_a_word_the_gap_is_one_in_ten_thousand(advances):
    solution = admm(problem_of())
    assert solution.gap <= 1e-4 < solution.history[0].gap or len(solution.history) == 1
    assert solution.gap == solution.history[-1].gap <= 1e-4
    assert len(advances) == solution.n_iter
    loose = admm(problem_of(), tol=0.5)
    assert loose.n_iter < solution.n_iter


def test_an_optimum_is_returned_as_it_is(monkeypatch):
    monkeypatch.setattr(module, "no_worse_than_zero", lambda *a, **k: pytest.fail("asked"))
    assert admm(problem_of()).status == "optimal"


def recorded(monkeypatch, problem, max_iter):
    """At which iterations ρ was balanced, by what, and at which the iteration was measured."""
    calls, looks, state = [], [], State.zero(problem)
    original = module.measure
    monkeypatch.setattr(module, "measure", lambda *a: looks.append(a[2]) or original(*a))
    monkeypatch.setattr(State, "balance", lambda self, *both: calls.append((len(advanced), both)))
    advanced = []
    advance = Iteration.advance
    monkeypatch.setattr(Iteration, "advance", lambda self: advanced.append(1) or advance(self))
    admm(problem, tol=1e-300, max_iter=max_iter, state=state)
    return calls, looks


def test_rho_is_balanced_at_first_always_then_at_every_look_and_at_last_never(monkeypatch):
    monkeypatch.setattr(module, "SETTLE", 5)
    monkeypatch.setattr(module, "FREEZE", 50)
    monkeypatch.setattr(Schedule, "is_due", lambda self, n_iter: n_iter % 10 == 0)
    monkeypatch.setattr(Schedule, "is_promising", lambda self, relative: False)
    calls, looks = recorded(monkeypatch, problem_of(), 75)
    assert looks == [10, 20, 30, 40, 50, 60, 70, 75]
    assert [n_iter for n_iter, _ in calls] == [1, 2, 3, 4, 5, 10, 20, 30, 40, 50]
    assert all(copies is not None and fit is None for _, (copies, fit) in calls)


def test_a_promising_residual_is_looked_at(monkeypatch):
    monkeypatch.setattr(Schedule, "is_due", lambda self, n_iter: False)
    monkeypatch.setattr(
        Schedule, "is_promising", lambda self, relative: seen.append(relative) or len(seen) == 3
    )
    seen = []
    calls, looks = recorded(monkeypatch, problem_of(), 30)
    assert looks == [3, 30]
    assert seen[0] == calls[0][1][0].relative


@pytest.mark.parametrize(
    ("axes", "copies", "fit"),
    [
        ({}, True, False),
        ({"lam": (0.0, 0.0)}, True, False),
        ({"coupling": "none", "tau": 0.0}, True, False),
        ({"coupling": "none", "tau": 0.0, "lam": (0.0, 0.0)}, False, False),
        ({"coupling": "none", "tau": 0.0, "lam": (0.0, 0.0), "datafit": "l12"}, False, True),
        ({"datafit": "l12"}, True, True),
    ],
    ids=str,
)
def test_only_what_something_pulls_at_is_balanced(monkeypatch, axes, copies, fit):
    calls, _ = recorded(monkeypatch, problem_of(**axes), 3)
    assert calls
    for _, both in calls:
        assert (both[0] is not None, both[1] is not None) == (copies, fit)


@pytest.mark.parametrize("found", [True, False])
def test_a_decomposition_that_fails_ends_with_what_was_found(monkeypatch, found):
    original = Iteration.advance
    count = []

    def failing(self):
        count.append(1)
        if len(count) == 12:
            raise NumericalError
        original(self)

    monkeypatch.setattr(Iteration, "advance", failing)
    monkeypatch.setattr(Schedule, "is_due", lambda self, n_iter: found and n_iter == 9)
    monkeypatch.setattr(Schedule, "is_promising", lambda self, relative: False)
    solution = admm(problem_of(), tol=1e-15)
    assert (solution.status, solution.n_iter) == ("non_finite", 12)
    assert solution.history[-1].n_iter == (9 if found else 0)
    assert solution.stack.any() == found
    assert np.isfinite(solution.gap)


@pytest.mark.parametrize("found", [True, False])
def test_an_iterate_that_is_not_finite_ends_with_what_was_found(monkeypatch, found):
    original = Iteration.residuals

    def overflowing(self):
        count.append(1)
        copies, fit = original(self)
        return (copies._replace(size=np.inf) if len(count) == 12 else copies), fit

    count = []
    monkeypatch.setattr(Iteration, "residuals", overflowing)
    monkeypatch.setattr(
        Schedule, "is_due", lambda self, n_iter: (found and n_iter == 9) or n_iter == 12
    )
    monkeypatch.setattr(Schedule, "is_promising", lambda self, relative: False)
    solution = admm(problem_of(), tol=1e-15)
    assert (solution.status, solution.n_iter) == ("non_finite", 12)
    assert solution.stack.any() == found


def test_the_trivial_point_is_told_with_a_bound():
    problem = replace(problem_of(), offset=0.25)
    zero = at_zero(problem)
    assert zero.objective == pytest.approx(0.25 + sum(np.sum(t**2) for t in problem.targets))
    assert zero.dual_bound == 0.25
    assert (zero.status, zero.n_iter) == ("max_iter", 0)
    assert not zero.stack.any() and not zero.multiplier.any()
    assert zero.stack.shape == zero.multiplier.shape == (2, 8, 8)
    assert [y.shape for y in zero.dual] == [(5, 8), (6, 8)]
    (check,) = zero.history
    expected = (0, zero.objective, 0.25, relative_gap(zero.objective, 0.25), np.inf, np.inf, 8)
    assert check == expected


def test_nothing_is_returned_where_it_is_better():
    problem = problem_of()
    good = admm(problem, max_iter=9, tol=1e-15)
    assert no_worse_than_zero(problem, good).stack is good.stack
    zero = at_zero(problem)
    equal = replace(good, objective=zero.objective)
    assert no_worse_than_zero(problem, equal).stack is good.stack
    bad = replace(good, objective=zero.objective + 1.0, dual_bound=0.5)
    found = no_worse_than_zero(problem, bad, status="non_finite")
    assert not found.stack.any()
    assert (found.objective, found.dual_bound, found.n_iter) == (zero.objective, 0.5, 9)
    assert found.status == "non_finite"
    assert found.history[:-1] == bad.history
    last = found.history[-1]
    assert (last.n_iter, last.objective, last.dual_bound) == (9, zero.objective, 0.5)
    assert last.gap == found.gap == relative_gap(zero.objective, 0.5)
    assert no_worse_than_zero(problem, replace(bad, dual_bound=-1.0)).dual_bound == 0.0
    assert no_worse_than_zero(problem, None, n_iter=3).n_iter == 3


@pytest.mark.parametrize(
    "axes", [{}, {"datafit": "l12"}, {"coupling": "none", "tau": 0.0}], ids=str
)
def test_residuals_are_those_of_the_splits(axes):
    problem = problem_of(**axes)
    iteration = Iteration(problem, State.zero(problem))
    for _ in range(3):
        iteration.advance()
    state, stack = iteration.state, iteration.stack
    state.rho, state.rho_fit = 2.0, 3.0
    copies, fit = iteration.residuals()

    def size(arrays):
        return np.sqrt(sum(np.sum(array**2) for array in arrays))

    splits = state.copies
    assert copies.primal == pytest.approx(size([stack - s.copy for s in splits]))
    assert copies.dual == pytest.approx(2.0 * size([s.copy - s.previous for s in splits]))
    assert copies.size == pytest.approx(
        max(size([stack] * len(splits)), size([s.copy for s in splits]))
    )
    assert copies.force == pytest.approx(2.0 * size([s.point - s.copy for s in splits]))
    if "datafit" not in axes:
        assert fit is None
        return
    images = problem.residuals(stack)
    assert fit.primal == pytest.approx(
        size([i - s.copy for i, s in zip(images, state.residual, strict=True)])
    )
    pulled = [
        f.T @ (s.copy - s.previous) for f, s in zip(problem.factors, state.residual, strict=True)
    ]
    assert fit.dual == pytest.approx(3.0 * size(pulled))
    assert fit.size == pytest.approx(max(size(images), size([s.copy for s in state.residual])))
    pulled = [
        f.T @ (s.point - s.copy) for f, s in zip(problem.factors, state.residual, strict=True)
    ]
    assert fit.force == pytest.approx(3.0 * size(pulled))


@pytest.mark.parametrize(
    "axes", [{}, {"datafit": "l12"}, {"coupling": "none", "tau": 0.0}, {"missing": True}], ids=str
)
def test_one_iteration_minimises_in_the_coefficients_then_takes_every_prox(axes):
    axes = dict(axes)
    observed = None
    if axes.pop("missing", False):
        observed = np.ones((2, 8), dtype=bool)
        observed[0, 2] = observed[1, 5] = False
    problem = problem_of(observed=observed, **axes)
    if observed is not None:
        targets = [t * present for t, present in zip(problem.targets, observed, strict=True)]
        problem = replace(problem, targets=targets)
    state = State.zero(problem)
    iteration = Iteration(problem, state)
    iteration.advance()
    state.rho, state.rho_fit = 0.7, 1.3
    before = [(s.copy.copy(), s.point.copy()) for s in [*state.copies, *state.residual]]
    iteration.advance()
    n_copies, present = (
        len(state.copies),
        np.ones((2, 8), dtype=bool) if observed is None else observed,
    )
    weight = problem.datafit.curvature or 1.3
    for view, (factor, target) in enumerate(zip(problem.factors, problem.targets, strict=True)):
        w = iteration.stack[view]
        slope = 0.7 * sum(w - (2 * copy - point)[view] for copy, point in before[:n_copies])
        goal = target
        if state.residual:
            copy, point = before[n_copies + view]
            goal = target - (2 * copy - point)
        slope = slope + weight * factor.T @ ((factor @ w - goal) * present[view])
        np.testing.assert_allclose(slope, 0.0, atol=1e-10)
        copy, point = before[0]
        moved = point[view] + 1.4 * (w - copy[view])
        expected, value = problem.penalty.prox_and_value(moved, problem.lam[view] / 0.7)
        np.testing.assert_allclose(state.penalty.copy[view], expected, atol=1e-12)
        assert iteration.penalty_values[view] == pytest.approx(0.7 * value)
        if state.residual:
            copy, point = before[n_copies + view]
            image = problem.residuals(iteration.stack)[view]
            expected = problem.datafit.prox(point + 1.4 * (image - copy), 1.0 / 1.3)
            np.testing.assert_allclose(state.residual[view].copy, expected, atol=1e-12)
    if state.coupling is not None:
        copy, point = before[1]
        expected = problem.coupling.prox(point + 1.4 * (iteration.stack - copy), problem.tau / 0.7)
        np.testing.assert_allclose(state.coupling.copy, expected, atol=1e-12)


def test_a_look_certifies_the_penaltys_copy():
    problem = problem_of()
    iteration = Iteration(problem, State.start(problem))
    for _ in range(4):
        iteration.advance()
    copies, _ = iteration.residuals()
    solution = measure(iteration, copies, 4, 1e-4, [])
    assert solution.stack is iteration.state.penalty.copy
    assert solution.objective == pytest.approx(problem.value(solution.stack), rel=1e-9)
    (check,) = solution.history
    assert check == (
        4,
        solution.objective,
        solution.dual_bound,
        solution.gap,
        copies.primal,
        copies.dual,
        8,
    )
    assert measure(iteration, copies, 4, solution.gap, [check]).status == "optimal"
    assert measure(iteration, copies, 4, solution.gap * 0.99, [check]).status == "max_iter"
    assert len(measure(iteration, copies, 4, 1e-4, [check]).history) == 2
    best = problem.certificate(solution.dual, solution.multiplier).bound
    assert measure(iteration, copies, 4, 1e-15, []).dual_bound == pytest.approx(best, rel=1e-12)


def test_the_closed_form_is_for_quadratic_fits_nuclear_norms_and_views_alone():
    assert applies(problem_of(coupling="none", tau=0.0))
    for other in (
        {},
        {"coupling": "none", "tau": 0.0, "penalty": "l1"},
        {"coupling": "none", "tau": 0.0, "datafit": "l1"},
    ):
        assert not applies(problem_of(**other))


@pytest.mark.parametrize("lam", [(0.1, 0.3), (0.0, 1e-9), (50.0, 2.0)])
@pytest.mark.parametrize("datafit", ["frobenius", "half_frobenius"])
def test_the_closed_form_and_its_proof(lam, datafit):
    problem = problem_of(lam=lam, coupling="none", tau=0.0, datafit=datafit)
    weight = problem.datafit.curvature
    solution = solve_closed_form(problem)
    for view, factor in enumerate(problem.factors):
        left, values, right = np.linalg.svd(factor, full_matrices=False)
        kept = np.maximum(1.0 - lam[view] / (weight * values**2), 0.0)
        np.testing.assert_allclose(solution.stack[view], (right.T * kept) @ right, atol=1e-10)
        np.testing.assert_allclose(
            solution.dual[view], (left * (weight * values * (1 - kept))) @ right, atol=1e-10
        )
    assert not solution.multiplier.any()
    assert solution.objective == pytest.approx(problem.value(solution.stack))
    assert solution.gap < 1e-9
    assert (solution.status, solution.n_iter) == ("optimal", 1)
    (check,) = solution.history
    assert check == (1, solution.objective, solution.dual_bound, solution.gap, 0.0, 0.0, 8)


def test_directions_are_those_of_the_rows_where_only_rows_are_reduced():
    """Eight directions, eleven samples."""
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(11, 8)))
    for axes in ({}, {"coupling": "none", "tau": 0.0}):
        problem = problem_of(**axes)
        problem = replace(problem, targets=[f @ rotation.T for f in problem.factors])
        solutions = [admm(problem), at_zero(problem), ladmpsap(problem)]
        if not problem.coupled:
            solutions.append(solve_closed_form(problem))
        for solution in solutions:
            assert solution.stack.shape == (2, 8, 11)
            assert solution.history[-1].n_directions == 8
