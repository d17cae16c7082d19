"""Parts of the working set, on problems small enough to look at."""

from dataclasses import replace

import numpy as np
import pytest

from tests.problems import full_problem
from viewspan.objective.penalties import Nuclear
from viewspan.solvers import working_set
from viewspan.solvers.admm import admm
from viewspan.solvers.result import Check
from viewspan.solvers.working_set import (
    Log,
    certify_on_full,
    is_worthwhile,
    screen,
    solve_screened,
    span,
    violated_directions,
)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(working_set, "SMALLEST", 8)


def with_values(values, lam=0.1, tau=0.2, seed=0, **axes):
    """Two views of 20 samples with given singular values, in different directions."""
    rng = np.random.default_rng(seed)
    views = []
    for scale in values:
        left, _ = np.linalg.qr(rng.normal(size=(20, len(scale))))
        right, _ = np.linalg.qr(rng.normal(size=(25, len(scale))))
        views.append((left * scale) @ right.T)
    return full_problem(views, [lam, lam], tau, **axes)


def test_directions_above_the_threshold_are_kept(small):
    """w·s² > λ with w = 2: s above √0.05."""
    problem = with_values([[3.0, 0.23, 0.22, 0.1], [2.0, 1.0, 0.1, 0.05]])
    directions = screen(problem)
    assert directions.shape == (20, 4)
    np.testing.assert_allclose(directions.T @ directions, np.eye(4), atol=1e-12)
    for spectrum, count in zip(problem.spectra, (2, 2), strict=True):
        kept = spectrum.right[:count].T
        np.testing.assert_allclose(directions @ (directions.T @ kept), kept, atol=1e-10)


def test_the_first_direction_is_always_kept_and_common_ones_count_once(small):
    assert screen(with_values([[0.1, 0.05], [0.1, 0.05]])).shape == (20, 2)
    problem = with_values([[3.0, 1.0, 0.1], [3.0, 1.0, 0.1]])
    twice = replace(problem, factors=[problem.factors[0]] * 2, targets=[problem.factors[0]] * 2)
    assert screen(twice).shape == (20, 2)


@pytest.mark.parametrize(
    "axes",
    [{"coupling": "none"}, {"datafit": "l12"}, {"penalty": "l1"}, {"coupling": "l12"}],
    ids=str,
)
def test_only_what_sees_singular_values_alone_is_screened(small, axes):
    assert screen(with_values([[3.0, 1.0], [2.0, 1.0]], **axes)) is None


def test_small_problems_and_large_working_sets_are_solved_whole(monkeypatch):
    problem = with_values([[3.0, 1.0], [2.0, 1.0]])
    assert screen(problem) is None
    monkeypatch.setattr(working_set, "SMALLEST", 20)
    assert screen(problem).shape == (20, 4)
    monkeypatch.setattr(working_set, "SMALLEST", 21)
    assert screen(problem) is None
    monkeypatch.setattr(working_set, "SMALLEST", 8)
    assert screen(with_values([np.ones(13), np.ones(1)])) is None  # 13 of 20 in one view
    assert screen(with_values([np.ones(7), np.ones(7)])) is None  # 14 of 20 together
    assert screen(with_values([np.ones(6), np.ones(6)])).shape == (20, 12)
    assert is_worthwhile(12, problem)
    assert not is_worthwhile(13, problem)


def test_the_span_is_orthonormal_down_to_the_threshold():
    vectors = np.diag([3.0, 1.0, 0.1, 0.0])
    for threshold, count in ((0.05, 3), (0.1001, 2), (2.0, 1)):
        basis = span(vectors, threshold)
        np.testing.assert_allclose(np.abs(basis).sum(axis=1), np.arange(4) < count)


def test_the_log_counts_iterations_of_all_rounds():
    seen = []
    log = Log(seen.append)
    log(Check(3, 1.0, 0.5, 0.5, 0.0, 0.0, 4))
    log.used += 7
    log(Check(3, 1.0, 0.5, 0.5, 0.0, 0.0, 4))
    assert [check.n_iter for check in log.history] == [3, 10]
    assert seen == log.history
    Log(None)(seen[0])


def restricted(tol=1e-6, keep=None):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    directions = span(np.hstack([s.right[:keep].T for s in problem.spectra]), 1e-6)
    return problem, directions, admm(problem.restrict(directions), tol=tol)


def test_a_restricted_solution_is_certified_on_the_whole_problem():
    problem, directions, part = restricted(keep=4)
    solution, excess = certify_on_full(problem, directions, part, 1e-5)
    assert solution.status == "optimal"
    assert solution.objective == part.objective
    whole = admm(problem, tol=1e-8)
    assert whole.objective * (1 - 1e-5) <= solution.dual_bound <= whole.objective * (1 + 1e-9)
    (check,) = solution.history
    assert (check.dual_bound, check.gap, check.n_directions) == (
        solution.dual_bound,
        solution.gap,
        20,
    )
    assert (check.n_iter, check.objective) == (part.history[-1].n_iter, part.objective)
    assert len(excess) == 2


def test_what_the_working_set_lacks_keeps_the_gap_open_and_is_asked_for():
    problem, directions, part = restricted(keep=1)
    assert part.status == "optimal"
    solution, excess = certify_on_full(problem, directions, part, 1e-5)
    assert solution.status == "max_iter"
    assert solution.gap > 1e-3
    added = violated_directions(directions, excess, 1.0)
    assert 1 <= added.shape[1] <= 8
    np.testing.assert_allclose(added.T @ added, np.eye(added.shape[1]), atol=1e-9)
    np.testing.assert_allclose(directions.T @ added, 0.0, atol=1e-12)
    wanted = np.hstack([view.directions(1.001) for view in excess])
    together = np.hstack([directions, added])
    assert np.linalg.norm(wanted - together @ (together.T @ wanted), axis=0).max() < 0.02


def test_strictness_lowers_both_bounds():
    """A constraint that is violated a little, by a direction that is new a little."""
    directions = np.eye(6)[:, :2]
    matrix = np.zeros((6, 6))
    tilt = np.array([1.0, 0, 0.005, 0, 0, 0]) / np.hypot(1.0, 0.005)
    matrix += 1.0005 * np.outer(tilt, tilt)
    excess = [Nuclear().excess(matrix, np.array(1.0))]
    assert violated_directions(directions, excess, 1.0).shape[1] == 0
    found = violated_directions(directions, excess, 0.1)
    np.testing.assert_allclose(np.abs(found), np.eye(6)[:, 2:3], atol=1e-9)


def test_a_fault_stays_a_fault():
    problem, directions, part = restricted(keep=4)
    solution, _ = certify_on_full(problem, directions, replace(part, status="non_finite"), 1e-5)
    assert solution.status == "non_finite"


@pytest.mark.parametrize("keep", [None, 1, 3])
def test_a_working_set_of_any_size_ends_at_the_optimum(small, monkeypatch, keep):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    whole = admm(problem, tol=1e-8)
    if keep:
        enough = screen(problem)[:, :keep]
        monkeypatch.setattr(working_set, "screen", lambda _: enough)
    seen = []
    found = solve_screened(problem, tol=1e-5, callback=seen.append)
    assert found.directions.shape[1] < 20
    solution = found.solution
    assert solution.status == "optimal"
    assert solution.gap <= 1e-5
    lifted = found.directions @ solution.stack @ found.directions.T
    assert problem.value(lifted) == pytest.approx(solution.objective, rel=1e-9)
    assert solution.objective == pytest.approx(whole.objective, rel=2e-5)
    assert solution.history == seen
    assert solution.history[-1].n_iter == solution.n_iter
    assert solution.history[-1].n_directions == 20
    steps = [check.n_iter for check in seen]
    assert steps == sorted(steps)


@pytest.mark.parametrize(("strictest", "rounds"), [(0.5, 2), (5e-3, 4), (1e-9, working_set.ROUNDS)])
def test_when_nothing_helps_all_directions_are_taken(small, monkeypatch, strictest, rounds):
    monkeypatch.setattr(working_set, "STRICTEST", strictest)
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    enough = screen(problem)[:, :2]
    monkeypatch.setattr(working_set, "screen", lambda _: enough)
    monkeypatch.setattr(
        working_set, "violated_directions", lambda directions, *_: np.empty((20, 0))
    )
    calls = []
    original = working_set.admm
    monkeypatch.setattr(
        working_set, "admm", lambda p, **k: calls.append((p.shape[1], k["tol"])) or original(p, **k)
    )
    found = solve_screened(problem, tol=1e-5)
    assert found.directions is None
    assert found.solution.status == "optimal"
    assert found.solution.objective == pytest.approx(admm(problem, tol=1e-8).objective, rel=2e-5)
    sizes, tols = zip(*calls, strict=True)
    assert sizes == (2,) * rounds + (20,)
    np.testing.assert_allclose(tols, [1e-3, *(1e-5 / 2**k for k in range(1, rounds)), 1e-5])
    assert found.solution.n_iter == found.solution.history[-1].n_iter


def test_a_working_set_that_grows_too_large_is_given_up(small, monkeypatch):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    enough = screen(problem)[:, :2]
    rest = np.linalg.qr(np.hstack([enough, np.random.default_rng(0).normal(size=(20, 11))]))[0][
        :, 2:
    ]
    monkeypatch.setattr(working_set, "screen", lambda _: enough)
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: rest)
    found = solve_screened(problem, tol=1e-5)
    assert found.directions is None
    assert found.solution.status == "optimal"


@pytest.mark.parametrize("max_iter", [2, 5, 11])
def test_iterations_of_all_rounds_together_are_limited(small, monkeypatch, max_iter):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    enough = screen(problem)[:, :2]
    monkeypatch.setattr(working_set, "screen", lambda _: enough)
    found = solve_screened(problem, tol=1e-12, max_iter=max_iter).solution
    assert found.n_iter == max_iter
    assert found.status == "max_iter"


def test_a_problem_that_is_not_screened_is_handed_on_as_it_is():
    problem = with_values([[3.0, 1.0], [2.0, 1.0]])
    seen = []
    found = solve_screened(problem, tol=1e-7, max_iter=500, callback=seen.append)
    assert found.directions is None
    assert seen == found.solution.history
    assert found.solution.gap <= 1e-7
    assert solve_screened(problem, tol=1e-15, max_iter=3).solution.n_iter == 3


def test_the_last_solve_goes_on_from_the_rounds_and_within_their_limit(small, monkeypatch):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    enough = screen(problem)[:, :2]
    monkeypatch.setattr(working_set, "screen", lambda _: enough)
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: np.empty((20, 0)))
    monkeypatch.setattr(working_set, "STRICTEST", 5.0)
    seen, parts = [], []
    original = working_set.admm

    def spied(problem, **more):
        seen.append(more)
        parts.append(original(problem, **more))
        return parts[-1]

    monkeypatch.setattr(working_set, "admm", spied)
    found = solve_screened(problem, max_iter=400).solution
    assert [more["max_iter"] for more in seen] == [400, 400 - parts[0].n_iter]
    assert [more["tol"] for more in seen] == [pytest.approx(1e-2), 1e-4]
    assert seen[1]["state"].penalty.copy.shape == (2, 20, 20)
    assert found.n_iter == parts[0].n_iter + parts[1].n_iter
    assert found.gap <= 1e-4


def test_one_new_direction_is_enough_to_go_on(small, monkeypatch):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    basis = screen(problem)
    monkeypatch.setattr(working_set, "screen", lambda _: basis[:, :3])
    given = iter([basis[:, 3:4], basis[:, 4:]])
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: next(given))
    seen = []
    original = working_set.admm
    monkeypatch.setattr(
        working_set, "admm", lambda p, **k: seen.append((p.shape[1], k)) or original(p, **k)
    )
    solve_screened(problem, tol=1e-5)
    assert [size for size, _ in seen][:2] == [3, 4]
    assert seen[1][1]["tol"] == pytest.approx(5e-6)
    assert seen[1][1]["state"].penalty.copy.shape[1:] == (4, 4)


def test_the_certificate_of_the_whole_is_asked_for_as_much_as_is_enough(monkeypatch):
    problem, directions, part = restricted(keep=4)
    asked = []
    original = type(problem).certificate
    monkeypatch.setattr(
        type(problem),
        "certificate",
        lambda self, *a, enough: asked.append(enough) or original(self, *a, enough=enough),
    )
    solution, _ = certify_on_full(problem, directions, part, 1e-5)
    assert asked == [pytest.approx((1.0 - 1e-5) * part.objective, rel=1e-12)]
    assert certify_on_full(problem, directions, part, solution.gap)[0].status == "optimal"
