"""Every step of the strict objective, from its definition."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan.solvers import rank_one
from viewspan.solvers.rank_one import (
    Descent,
    InScales,
    Point,
    applies,
    objective_at,
    relaxation_bound,
    scales_step,
    shared_problem,
    solve_rank_one,
    starts,
    stretched,
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


def test_it_is_for_one_coupling():
    assert applies(problem_of())
    assert not applies(full_problem(random_views(0), LAM, 1.0))


@pytest.mark.parametrize("scales", [[1.0, 1.0], [0.5, -2.0], [0.0, 3.0]])
def test_the_problem_for_given_scales_has_the_same_values(scales):
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


def test_an_exact_fit_is_exact():
    """Up to rounding of the data; beyond, it counts."""
    problem = problem_of()
    assert objective_at(problem, np.ones(2), np.eye(8)) == pytest.approx(8 * LAM.sum(), rel=1e-15)
    assert (
        objective_at(problem, np.ones(2), (1 + 1e-8) * np.eye(8))
        > 8 * LAM.sum() * (1 + 1e-8) + 1e-16
    )


def test_the_best_scales_are_the_best_of_a_grid():
    problem, shared = problem_of(), some_matrix()
    for shared in (
        some_matrix(),
        3.0 * some_matrix(2),
        np.linalg.inv(np.eye(8) + 0.1 * np.ones((8, 8))),
    ):
        terms = InScales.of(problem, shared)
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


def test_the_value_in_scales_differs_from_the_objective_by_a_constant():
    problem, shared = problem_of(), some_matrix()
    terms = InScales.of(problem, shared)
    scales = [np.array(which) for which in ([0.0, 0.0], [1.0, 1.0], [-0.5, 2.0])]
    differences = [value(problem, which, shared) - terms.value(which) for which in scales]
    np.testing.assert_allclose(differences, differences[0])


def test_the_slope_is_the_derivative_in_log_scales():
    problem, shared = problem_of(), some_matrix()
    terms = InScales.of(problem, shared)
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


def test_a_view_that_is_wrongly_left_out_has_an_infinite_slope():
    problem = problem_of()
    shared = np.eye(8) - 0.1
    terms = InScales.of(problem, shared)
    assert terms.best()[1] != 0.0
    assert terms.slope(np.array([1.0, 0.0])) == np.inf
    heavy = InScales.of(problem_of(lam=np.array([0.1, 1e3])), shared)
    assert np.isfinite(heavy.slope(np.array([1.0, 0.0])))


def at(problem, scales, shared):
    return Point(np.array(scales), shared, objective_at(problem, np.array(scales), shared))


def test_scales_move_only_if_that_helps():
    problem, shared = problem_of(), some_matrix()
    point = at(problem, [1.0, 1.0], shared)
    moved = scales_step(problem, point)
    np.testing.assert_allclose(moved.scales, InScales.of(problem, shared).best())
    assert moved.objective == pytest.approx(value(problem, moved.scales, shared))
    assert moved.objective < point.objective
    assert moved.shared is shared
    assert scales_step(problem, replace(moved, objective=moved.objective)) is not None
    nothing = at(problem, [1.0, 1.0], np.zeros((8, 8)))
    assert scales_step(problem, nothing) is nothing
    heavy = problem_of(lam=np.array([1e3, 1e3]))
    costly = at(heavy, [1.0, 1.0], shared)
    assert scales_step(heavy, costly) is costly  # all of them would be zero


def test_a_stretched_step_goes_farther_in_the_logarithm():
    point = Point(np.array([1.0, 2.0, 0.0, 1.0, 1.0]), np.eye(2), 1.0)
    step = replace(point, scales=np.array([2.0, 1.0, 0.5, 0.0, -1.0]))
    farther = stretched(point, step, 3.0)
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


def test_starts_are_alike_then_random_and_positive():
    found = list(starts(3))
    np.testing.assert_array_equal(found[0], np.ones(3))
    assert len(found) == 1 + rank_one.RESTARTS
    generator = np.random.default_rng(0)
    for start in found[1:]:
        np.testing.assert_allclose(np.log(start), generator.normal(size=3))
    assert len(list(starts(1))) == 1
    assert len(list(starts(2))) == 3


def test_the_bound_is_that_of_views_alone():
    problem = problem_of()
    alone = sum(
        np.sum(np.where(2 * s**2 > lam, lam - lam**2 / (4 * s**2), s**2))
        for s, lam in (
            (np.linalg.svd(f)[1], lam) for f, lam in zip(problem.factors, problem.lam, strict=True)
        )
    )
    assert relaxation_bound(problem) == pytest.approx(alone, rel=1e-9)
    sparse = problem_of(penalty="l1")
    assert 0.9 * relaxation_bound(sparse) < solve_rank_one(sparse).objective
    assert relaxation_bound(sparse) > 0.5


def test_the_history_tells_every_accepted_point():
    problem = problem_of()
    seen = []
    solution = solve_rank_one(problem, tol=1e-5, callback=seen.append)
    assert solution.history[-1] in seen
    assert len(seen) >= len(solution.history)
    last = solution.history[-1]
    assert last.objective == solution.objective
    assert last.dual_bound == solution.dual_bound == relaxation_bound(problem)
    assert last.gap == pytest.approx(solution.gap)
    assert last.n_iter == solution.n_iter
    assert last.n_directions == 8
    assert last.dual_residual <= 1e-5
    assert last.primal_residual <= np.sqrt(1e-5)
    assert solution.status == "stationary"
    assert [check.n_iter for check in solution.history] == sorted(
        check.n_iter for check in solution.history
    )


def test_the_solution_has_its_scale_in_the_matrix():
    problem = problem_of()
    run = Descent(problem, np.array([-4.0, 2.0]), 0.5)
    run.point = replace(run.point, shared=some_matrix())
    solution = run.solution(1e-4)
    np.testing.assert_allclose(solution.scales, [1.0, -0.5])
    np.testing.assert_allclose(solution.stack[0], -4.0 * some_matrix())
    assert solution.status == "max_iter"
    assert solution.dual_bound == 0.5
    assert solution.dual == []
    assert not solution.multiplier.any()
    assert solution.multiplier.shape == solution.stack.shape


def test_a_run_begins_at_nothing_and_counts_its_iterations():
    problem = problem_of()
    run = Descent(problem, np.ones(2), 0.0)
    assert run.point.objective == pytest.approx(sum(np.sum(t**2) for t in problem.targets))
    assert (run.used, run.history) == (0, [])
    run.follow(1e-6, 1e-5, n_rounds=1, max_iter=1000)
    assert len(run.history) == 1
    used = run.used
    assert 0 < used == run.history[0].n_iter
    run.follow(1e-6, 1e-5, n_rounds=2, max_iter=used)
    assert (run.used, len(run.history)) == (used, 1)  # the limit is reached
    run.follow(1e-6, 1e-5, n_rounds=2, max_iter=used + 1000)
    assert run.used > used
    assert len(run.history) == 3


def test_a_rough_first_try_is_solved_closely_before_it_is_followed():
    problem = problem_of()
    run = Descent(problem, np.ones(2), 0.0)
    run.follow(1e-1, 1e-6, n_rounds=1, max_iter=1000)
    assert run.point.gap > 1e-6
    run.follow(1e-7, 1e-6, n_rounds=0, max_iter=1000)
    assert run.point.gap <= 1e-7
    assert len(run.history) == 2
    np.testing.assert_array_equal(run.point.scales, np.ones(2))


def test_steps_are_stretched_while_that_pays(monkeypatch):
    problem = problem_of(lam=np.array([1e-3, 2e-3]))
    run = Descent(problem, np.array([1.0, 0.3]), 0.0)
    factors = []
    original = rank_one.stretched
    monkeypatch.setattr(rank_one, "stretched", lambda *a: factors.append(a[2]) or original(*a))
    run.follow(1e-8, 1e-7, n_rounds=12, max_iter=10**5)
    assert factors[0] == 2.0
    for before, after in pairwise(factors):
        assert after in (2.0 * before, 2.0, before)
    assert max(factors) >= 4.0
    assert (np.diff([check.objective for check in run.history]) <= 0).all()


def test_where_the_weights_of_all_are_too_much_for_one_each_is_tried_alone():
    """Together they leave nothing at equal scales."""
    problem = problem_of(lam=np.array([50.0, 0.1]))
    together = shared_problem(problem, np.ones(2))
    assert 2.0 * np.linalg.norm(together.factors[0].T @ together.targets[0], 2) < together.lam[0]
    solution = solve_rank_one(problem, tol=1e-6)
    np.testing.assert_array_equal(solution.scales, [0.0, 1.0])
    assert solution.objective < 0.9 * sum(np.sum(t**2) for t in problem.targets)
    assert solution.status == "stationary"


def test_a_step_for_z_tells_gap_slope_and_gain_relative_to_the_objective():
    problem, scales = problem_of(), np.array([1.0, 0.4])
    run = Descent(problem, scales, 0.0)
    run.limit = 1000
    point = run._shared_step(run.point, 1e-6)
    terms = InScales.of(problem, point.shared)
    assert point.objective == pytest.approx(value(problem, scales, point.shared))
    assert point.slope == pytest.approx(terms.slope(scales) / point.objective)
    assert point.gain == pytest.approx(
        (terms.value(scales) - terms.value(terms.best())) / point.objective
    )
    assert point.gain > 0.0
    assert 0.0 <= point.gap <= 1e-6
    again = run._shared_step(point, 1e-1)  # too rough to improve on what is there
    assert again.objective <= point.objective


def test_a_step_for_z_goes_on_from_the_last_one_and_within_the_limit(monkeypatch):
    problem = problem_of()
    run = Descent(problem, np.ones(2), 0.0)
    seen = []
    original = rank_one.admm
    monkeypatch.setattr(rank_one, "admm", lambda p, **k: seen.append(k) or original(p, **k))
    run.limit = 30
    run._shared_step(run.point, 1e-9)
    used = run.used
    run._shared_step(run.point, 1e-3)
    assert [k["state"] is run.state for k in seen] == [True, True]
    assert [k["max_iter"] for k in seen] == [30, max(30 - used, 1)]
    assert [k["tol"] for k in seen] == [1e-9, 1e-3]
    assert not run.point.shared.any()  # nothing is accepted here


def test_a_run_at_its_limit_accepts_scales_without_a_proof():
    problem = problem_of()
    run = Descent(problem, np.array([1.0, 0.3]), 0.0)
    run.follow(1e-6, 1e-5, n_rounds=1, max_iter=1000)
    run.limit, before = run.used, run.point
    run._round(1e-6)
    assert run.used == run.limit
    assert run.point.gap == np.inf
    assert run.point.shared is before.shared
    np.testing.assert_array_equal(run.point.scales, scales_step(problem, before).scales)
    assert run.stretch == 2.0


def test_a_stretched_step_that_does_not_pay_is_taken_back(monkeypatch):
    problem = problem_of()
    run = Descent(problem, np.array([1.0, 0.3]), 0.0)
    run.follow(1e-6, 1e-9, n_rounds=1, max_iter=600)
    stretches = []
    original = rank_one.stretched

    def spoiled(point, step, factor):
        stretches.append(factor)
        return replace(original(point, step, factor), scales=np.array([1e-3, 1e3]))

    monkeypatch.setattr(rank_one, "stretched", spoiled)
    run.follow(1e-6, 1e-9, n_rounds=1, max_iter=600)
    assert (run.stretch, stretches) == (2.0, [])  # the first round is a plain one
    before = run.point.objective
    run.follow(1e-6, 1e-9, n_rounds=1, max_iter=600)
    assert (run.stretch, stretches) == (1.0, [2.0])
    assert run.point.objective <= before


def test_starts_are_tried_roughly_and_the_best_followed_closely(monkeypatch):
    seen = []
    original = Descent.follow
    monkeypatch.setattr(
        Descent, "follow", lambda self, *a, **k: seen.append((a, k)) or original(self, *a, **k)
    )
    solve_rank_one(problem_of(), max_iter=500)
    tried, (last, limits) = seen[:-1], seen[-1]
    assert len(tried) == 3
    for arguments, more in tried:
        assert arguments == (pytest.approx(1e-3), 1e-4)
        assert more == {"n_rounds": 2, "max_iter": 100}
    assert last == (pytest.approx(1e-5), 1e-4)
    assert limits == {"n_rounds": rank_one.MAX_ITER, "max_iter": 500}


def test_of_exact_fits_rounding_of_all_views_is_allowed():
    """The sum over views: a large one next to a small one has more of it."""
    views = random_views(0)
    problem = full_problem([1e3 * views[0], views[1]], [0.0, 0.0], 0.0, coupling="rank_one")
    assert objective_at(problem, np.ones(2), (1.0 - 1e-15) * np.eye(8)) == 0.0
    assert objective_at(problem, np.ones(2), np.zeros((8, 8))) == pytest.approx(8e6 + 8)
