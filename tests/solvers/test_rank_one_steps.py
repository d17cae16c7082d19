"""Every step for the strict objective against its definition."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan.solvers.rank_one import (
    N_RANDOM_STARTS,
    TRIAL_ITERATIONS,
    Descent,
    Point,
    ScalesObjective,
    applies,
    extrapolate,
    objective_at,
    scales_step,
    shared_problem,
    solve_rank_one,
    starts,
    uncoupled_bound,
)

LAM = np.array([0.1, 0.25])


def problem_of(seed=0, lam=LAM, penalty="nuclear"):
    return full_problem(random_views(seed), lam, 0.0, penalty=penalty, coupling="rank_one")


def some_matrix(seed=1):
    return 0.1 * np.random.default_rng(seed).normal(size=(8, 8))


def value(problem, scales, shared):
    fits = [
        np.sum((t - a * f @ shared) ** 2)
        for t, f, a in zip(problem.targets, problem.factors, scales, strict=True)
    ]
    return sum(fits) + np.abs(scales) @ problem.lam * np.linalg.norm(shared, "nuc") + problem.offset


def test_the_descent_applies_to_rank_one_only():
    assert applies(problem_of())
    assert not applies(full_problem(random_views(0), LAM, 1.0))


@pytest.mark.parametrize("scales", [[1.0, 1.0], [0.5, -2.0], [0.0, 3.0]])
def test_the_convex_problem_for_given_scales_has_the_same_objective(scales):
    problem = replace(problem_of(), offset=0.7)
    convex, scales = shared_problem(problem, np.array(scales)), np.array(scales)
    for seed in range(3):
        shared = some_matrix(seed)
        assert convex.value(shared[None]) == pytest.approx(
            value(problem, scales, shared), rel=1e-10
        )
        assert objective_at(problem, scales, shared) == pytest.approx(
            value(problem, scales, shared), rel=1e-12
        )
    assert convex.shape == (1, 8, 8)
    assert convex.tau == 0.0
    assert not convex.coupled
    np.testing.assert_allclose(
        np.abs(convex.known_spectra[0].right @ np.linalg.svd(convex.factors[0])[2].T).max(0), 1
    )


def test_weights_per_sample_are_summed_over_views():
    lam = np.random.default_rng(0).uniform(size=(2, 8))
    convex = shared_problem(problem_of(lam=lam, penalty="l1"), np.array([2.0, -3.0]))
    np.testing.assert_allclose(convex.lam, [2.0 * lam[0] + 3.0 * lam[1]])


def test_a_fit_counts_as_exact_below_rounding_of_the_data_only():
    problem = problem_of()
    exact, inexact = np.eye(8), (1 + 1e-8) * np.eye(8)
    assert objective_at(problem, np.ones(2), exact) == pytest.approx(8 * LAM.sum(), rel=1e-15)
    penalty = 8 * LAM.sum() * (1 + 1e-8)
    assert objective_at(problem, np.ones(2), inexact) > penalty + 1e-16


def test_no_change_of_a_scale_improves_on_the_best_ones():
    problem = problem_of()
    for shared in (
        some_matrix(),
        3.0 * some_matrix(2),
        np.linalg.inv(np.eye(8) + 0.1 * np.ones((8, 8))),
    ):
        terms = ScalesObjective.at(problem, shared)
        best = terms.best()
        for view in range(2):
            for change in (-1.0, -1e-3, 1e-3, 1.0):
                other = best.copy()
                other[view] += change
                assert terms.value(best) < terms.value(other)
        assert terms.change(best) == 0.0
        ones = np.ones(2)
        assert terms.change(ones) == pytest.approx(
            value(problem, best, shared) - value(problem, ones, shared)
        )


def test_the_objective_in_scales_is_right_up_to_a_constant():
    problem, shared = problem_of(), some_matrix()
    terms = ScalesObjective.at(problem, shared)
    scales = [np.array(which) for which in ([0.0, 0.0], [1.0, 1.0], [-0.5, 2.0])]
    differences = [value(problem, which, shared) - terms.value(which) for which in scales]
    np.testing.assert_allclose(differences, differences[0])


def test_the_slope_is_the_derivative_in_log_scales():
    problem, shared = problem_of(), some_matrix()
    terms = ScalesObjective.at(problem, shared)
    for scales in (np.array([1.0, 2.0]), np.array([-0.5, 0.3])):
        step = 1e-6
        slopes = [
            (
                terms.value(scales * np.exp(step * direction))
                - terms.value(scales * np.exp(-step * direction))
            )
            / step
            / 2
            for direction in np.eye(2)
        ]
        assert terms.slope(scales) == pytest.approx(np.abs(slopes).max(), rel=1e-5)


def test_the_slope_is_infinite_if_a_zero_scale_should_not_be_zero():
    problem = problem_of()
    shared = np.eye(8) - 0.1
    terms = ScalesObjective.at(problem, shared)
    assert terms.best()[1] != 0.0
    assert terms.slope(np.array([1.0, 0.0])) == np.inf
    heavy = ScalesObjective.at(problem_of(lam=np.array([0.1, 1e3])), shared)
    assert np.isfinite(heavy.slope(np.array([1.0, 0.0])))


def at(problem, scales, shared):
    return Point(np.array(scales), shared, objective_at(problem, np.array(scales), shared))


def test_scales_change_only_if_that_lowers_the_objective():
    problem, shared = problem_of(), some_matrix()
    point = at(problem, [1.0, 1.0], shared)
    moved = scales_step(problem, point)
    np.testing.assert_allclose(moved.scales, ScalesObjective.at(problem, shared).best())
    assert moved.objective == pytest.approx(value(problem, moved.scales, shared))
    assert moved.objective < point.objective
    assert moved.shared is shared
    zero = at(problem, [1.0, 1.0], np.zeros((8, 8)))
    assert scales_step(problem, zero) is zero
    heavy = problem_of(lam=np.array([1e3, 1e3]))
    costly = at(heavy, [1.0, 1.0], shared)
    assert scales_step(heavy, costly) is costly  # all of them would be zero


def test_an_extrapolated_step_goes_farther_in_the_logarithm():
    point = Point(np.array([1.0, 2.0, 0.0, 1.0, 1.0]), np.eye(2), 1.0)
    step = replace(point, scales=np.array([2.0, 1.0, 0.5, 0.0, -1.0]))
    farther = extrapolate(point, step, 3.0)
    np.testing.assert_allclose(farther.scales, [8.0, 0.25, 0.5, 0.0, -1.0])
    assert farther.objective == np.inf
    assert farther.shared is point.shared


@pytest.mark.parametrize(
    ("gap", "slope", "gain", "expected"),
    [
        (1e-4, 1e-2, 1e-4, True),
        (2e-4, 0.0, 0.0, False),
        (0.0, 2e-2, 0.0, False),
        (0.0, 0.0, 2e-4, False),
    ],
)
def test_a_point_is_stationary_if_gap_slope_and_gain_are_small(gap, slope, gain, expected):
    point = Point(np.ones(1), np.eye(1), 1.0, gap=gap, slope=slope, gain=gain)
    assert point.is_stationary(1e-4) == expected
    assert not Point(np.ones(1), np.eye(1), 1.0).is_stationary(1e-4)


def test_starts_are_equal_scales_then_random_positive_ones():
    found = list(starts(3))
    np.testing.assert_array_equal(found[0], np.ones(3))
    assert len(found) == 1 + N_RANDOM_STARTS
    generator = np.random.default_rng(0)
    for start in found[1:]:
        np.testing.assert_allclose(np.log(start), generator.normal(size=3))
    assert len(list(starts(1))) == 1
    assert len(list(starts(2))) == 3


def test_the_bound_is_that_of_uncoupled_views():
    problem = problem_of()
    uncoupled = sum(
        np.sum(np.where(2 * s**2 > lam, lam - lam**2 / (4 * s**2), s**2))
        for s, lam in (
            (np.linalg.svd(f)[1], lam) for f, lam in zip(problem.factors, problem.lam, strict=True)
        )
    )
    assert uncoupled_bound(problem) == pytest.approx(uncoupled, rel=1e-9)
    sparse = problem_of(penalty="l1")
    assert 0.9 * uncoupled_bound(sparse) < solve_rank_one(sparse).objective
    assert uncoupled_bound(sparse) > 0.5


def test_the_history_has_one_check_per_accepted_point():
    problem = problem_of()
    seen = []
    solution = solve_rank_one(problem, tol=1e-5, callback=seen.append)
    assert solution.history[-1] in seen
    assert len(seen) >= len(solution.history)
    last = solution.history[-1]
    assert last.objective == solution.objective
    assert last.dual_bound == solution.dual_bound == uncoupled_bound(problem)
    assert last.gap == pytest.approx(solution.gap)
    assert last.n_iter == solution.n_iter
    assert last.n_directions == 8
    assert last.dual_residual <= 1e-5
    assert last.primal_residual <= np.sqrt(1e-5)
    assert solution.status == "stationary"
    assert [check.n_iter for check in solution.history] == sorted(
        check.n_iter for check in solution.history
    )


def test_the_largest_scale_of_a_solution_is_one():
    problem = problem_of()
    descent = Descent(problem, np.array([-4.0, 2.0]), 0.5)
    descent.point = replace(descent.point, shared=some_matrix())
    solution = descent.solution(1e-4)
    np.testing.assert_allclose(solution.scales, [1.0, -0.5])
    np.testing.assert_allclose(solution.stack[0], -4.0 * some_matrix())
    assert solution.status == "max_iter"
    assert solution.dual_bound == 0.5
    assert solution.dual == []
    assert not solution.multiplier.any()
    assert solution.multiplier.shape == solution.stack.shape


def test_a_descent_starts_at_zero_and_counts_its_iterations():
    problem = problem_of()
    descent = Descent(problem, np.ones(2), 0.0)
    assert descent.point.objective == pytest.approx(sum(np.sum(t**2) for t in problem.targets))
    assert (descent.n_iter, descent.history) == (0, [])
    descent.follow(1e-6, 1e-5, n_rounds=1, max_iter=1000)
    assert len(descent.history) == 1
    used = descent.n_iter
    assert 0 < used == descent.history[0].n_iter
    descent.follow(1e-6, 1e-5, n_rounds=2, max_iter=used)
    assert (descent.n_iter, len(descent.history)) == (used, 1)  # the limit was reached before
    descent.follow(1e-6, 1e-5, n_rounds=2, max_iter=used + 1000)
    assert descent.n_iter > used
    assert len(descent.history) == 3


def test_a_descent_that_continues_first_solves_for_z_to_the_smaller_tolerance():
    problem = problem_of()
    descent = Descent(problem, np.ones(2), 0.0)
    descent.follow(1e-1, 1e-6, n_rounds=1, max_iter=1000)
    assert descent.point.gap > 1e-6
    descent.follow(1e-7, 1e-6, n_rounds=0, max_iter=1000)
    assert descent.point.gap <= 1e-7
    assert len(descent.history) == 2
    np.testing.assert_array_equal(descent.point.scales, np.ones(2))


def test_steps_are_extrapolated_farther_while_that_lowers_the_objective():
    problem = problem_of(lam=np.array([1e-3, 2e-3]))
    descent = Descent(problem, np.array([1.0, 0.3]), 0.0)
    exponents = []
    for _ in range(13):
        descent.follow(1e-8, 1e-7, n_rounds=1, max_iter=10**5)
        exponents.append(descent.extrapolation)
    assert exponents[:2] == [1.0, 2.0]
    for before, after in pairwise(exponents[1:]):
        assert after in (2.0 * before, 1.0, before)
    assert max(exponents) >= 8.0
    assert (np.diff([check.objective for check in descent.history]) <= 0).all()


def test_every_view_is_tried_alone_if_equal_scales_give_zero():
    """At equal scales the sum of both λ makes the shared matrix zero."""
    problem = problem_of(lam=np.array([50.0, 0.1]))
    together = shared_problem(problem, np.ones(2))
    assert 2.0 * np.linalg.norm(together.factors[0].T @ together.targets[0], 2) < together.lam[0]
    solution = solve_rank_one(problem, tol=1e-6)
    np.testing.assert_array_equal(solution.scales, [0.0, 1.0])
    assert solution.objective < 0.9 * sum(np.sum(t**2) for t in problem.targets)
    assert solution.status == "stationary"


def test_a_step_in_z_has_gap_slope_and_gain_relative_to_the_objective():
    problem, scales = problem_of(), np.array([1.0, 0.4])
    descent = Descent(problem, scales, 0.0)
    descent.limit = 1000
    point = descent._shared_step(descent.point, 1e-6)
    terms = ScalesObjective.at(problem, point.shared)
    assert point.objective == pytest.approx(value(problem, scales, point.shared))
    assert point.slope == pytest.approx(terms.slope(scales) / point.objective)
    assert point.gain == pytest.approx(
        (terms.value(scales) - terms.value(terms.best())) / point.objective
    )
    assert point.gain > 0.0
    assert 0.0 <= point.gap <= 1e-6
    again = descent._shared_step(point, 1e-1)  # too large a tolerance to improve Z
    assert again.objective <= point.objective


def test_a_step_in_z_continues_from_the_last_one_within_the_limit():
    problem = problem_of()
    descent = Descent(problem, np.ones(2), 0.0)
    descent.limit = 1000
    descent._shared_step(descent.point, 1e-6)
    cold = descent.n_iter
    descent._shared_step(descent.point, 1e-6)
    assert descent.n_iter - cold < cold
    descent.limit = descent.n_iter + 3
    descent._shared_step(descent.point, 1e-15)
    assert descent.n_iter == descent.limit
    assert not descent.point.shared.any()  # the steps above were not accepted


def test_a_descent_at_its_limit_accepts_scales_without_a_gap():
    problem = problem_of()
    descent = Descent(problem, np.array([1.0, 0.3]), 0.0)
    descent.follow(1e-6, 1e-5, n_rounds=1, max_iter=1000)
    descent.limit, before = descent.n_iter, descent.point
    descent._round(1e-6)
    assert descent.n_iter == descent.limit
    assert descent.point.gap == np.inf
    assert descent.point.shared is before.shared
    np.testing.assert_array_equal(descent.point.scales, scales_step(problem, before).scales)
    assert descent.extrapolation == 2.0


def test_an_extrapolated_step_that_raises_the_objective_is_replaced_by_a_plain_one():
    problem = problem_of()
    descent = Descent(problem, np.array([1.0, 0.3]), 0.0)
    descent.follow(1e-6, 1e-9, n_rounds=2, max_iter=600)
    before = descent.point
    plain = scales_step(problem, before)
    assert not np.array_equal(plain.scales, before.scales)
    descent.extrapolation = 1e3  # far too far
    descent.limit = 10**4
    descent._round(1e-6)
    assert descent.extrapolation == 1.0
    np.testing.assert_array_equal(descent.point.scales, plain.scales)
    assert descent.point.objective <= before.objective


@pytest.mark.parametrize("seed", range(3))
def test_the_solution_is_no_worse_than_a_descent_from_any_start(seed):
    problem = problem_of(seed)
    solution = solve_rank_one(problem, max_iter=500)
    assert solution.n_iter <= 500
    for scales in starts(2):
        trial = Descent(problem, scales, 0.0)
        trial.follow(1e-3, 1e-4, n_rounds=2, max_iter=TRIAL_ITERATIONS)
        assert solution.objective <= trial.point.objective


def test_the_rounding_of_an_exact_fit_is_that_of_all_views():
    """A large view next to a small one has larger rounding errors."""
    views = random_views(0)
    problem = full_problem([1e3 * views[0], views[1]], [0.0, 0.0], 0.0, coupling="rank_one")
    assert objective_at(problem, np.ones(2), (1.0 - 1e-15) * np.eye(8)) == 0.0
    assert objective_at(problem, np.ones(2), np.zeros((8, 8))) == pytest.approx(8e6 + 8)
