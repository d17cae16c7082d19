"""Parts of the working set, on small problems."""

from dataclasses import replace

import numpy as np
import pytest

from tests.problems import full_problem
from viewspan._utils.linalg import Spectrum
from viewspan.objective.penalties import Nuclear
from viewspan.solvers import working_set
from viewspan.solvers.admm import admm
from viewspan.solvers.closed_form import solve_with_ridge
from viewspan.solvers.result import Check
from viewspan.solvers.working_set import (
    CheckLog,
    certify_on_full,
    is_worthwhile,
    screen,
    solve_screened,
    span,
    violated_directions,
)


@pytest.fixture
def small(monkeypatch):
    """Screen small problems, too."""
    monkeypatch.setattr(working_set, "MIN_DIRECTIONS", 8)


@pytest.fixture
def start_with(small, monkeypatch):
    """Return a function that starts the working set with the first few directions only."""

    def restrict(problem, n_directions):
        first = screen(problem)[:, :n_directions]
        monkeypatch.setattr(working_set, "screen", lambda _: first)

    return restrict


@pytest.fixture
def no_new_directions(monkeypatch):
    """Let the certificate find no violated direction, which does not happen with exact solves."""
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: np.empty((20, 0)))


def with_values(values, lam=0.1, tau=0.2, seed=0, **axes):
    """Return a problem of 20 samples whose two views have given singular values."""
    rng = np.random.default_rng(seed)
    views = []
    for scale in values:
        left, _ = np.linalg.qr(rng.normal(size=(20, len(scale))))
        right, _ = np.linalg.qr(rng.normal(size=(25, len(scale))))
        views.append((left * scale) @ right.T)
    return full_problem(views, [lam, lam], tau, **axes)


def test_directions_above_the_threshold_are_kept(small):
    """w·s² > λ with w = 2 means that s is above √0.05."""
    problem = with_values([[3.0, 0.23, 0.22, 0.1], [2.0, 1.0, 0.1, 0.05]])
    directions = screen(problem)
    assert directions.shape == (20, 4)
    np.testing.assert_allclose(directions.T @ directions, np.eye(4), atol=1e-12)
    for spectrum, count in zip(problem.spectra, (2, 2), strict=True):
        kept = spectrum.right[:count].T
        np.testing.assert_allclose(directions @ (directions.T @ kept), kept, atol=1e-10)


def test_the_first_direction_is_always_kept_and_shared_ones_count_once(small):
    assert screen(with_values([[0.1, 0.05], [0.1, 0.05]])).shape == (20, 2)
    problem = with_values([[3.0, 1.0, 0.1], [3.0, 1.0, 0.1]])
    twice = replace(problem, factors=[problem.factors[0]] * 2, targets=[problem.factors[0]] * 2)
    assert screen(twice).shape == (20, 2)


@pytest.mark.parametrize(
    "axes",
    [{"coupling": "none"}, {"datafit": "l12"}, {"penalty": "l1"}, {"coupling": "l12"}],
    ids=str,
)
def test_only_coupled_problems_in_singular_values_are_screened(small, axes):
    assert screen(with_values([[3.0, 1.0], [2.0, 1.0]], **axes)) is None


def test_small_problems_and_large_working_sets_are_not_screened(monkeypatch):
    problem = with_values([[3.0, 1.0], [2.0, 1.0]])
    assert screen(problem) is None
    monkeypatch.setattr(working_set, "MIN_DIRECTIONS", 20)
    assert screen(problem).shape == (20, 4)
    monkeypatch.setattr(working_set, "MIN_DIRECTIONS", 21)
    assert screen(problem) is None
    monkeypatch.setattr(working_set, "MIN_DIRECTIONS", 8)
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


def test_the_log_counts_the_iterations_of_all_rounds():
    seen = []
    log = CheckLog(seen.append)
    log(Check(3, 1.0, 0.5, 0.5, 0.0, 0.0, 4))
    log.n_iter += 7
    log(Check(3, 1.0, 0.5, 0.5, 0.0, 0.0, 4))
    assert [check.n_iter for check in log.history] == [3, 10]
    assert seen == log.history
    CheckLog(None)(seen[0])


def restricted(tol=1e-6, keep=None):
    problem = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])
    directions = span(np.hstack([s.right[:keep].T for s in problem.spectra]), 1e-6)
    return problem, directions, admm(problem.restrict(directions), tol=tol)


def test_a_restricted_solution_is_certified_on_the_full_problem():
    problem, directions, part = restricted(keep=4)
    solution, excess = certify_on_full(problem, directions, part, 1e-5)
    assert solution.status == "optimal"
    assert solution.objective == part.objective
    expected = admm(problem, tol=1e-8).objective
    assert expected * (1 - 1e-5) <= solution.dual_bound <= expected * (1 + 1e-9)
    assert certify_on_full(problem, directions, part, solution.gap)[0].status == "optimal"
    (check,) = solution.history
    assert (check.dual_bound, check.gap) == (solution.dual_bound, solution.gap)
    assert check.n_directions == 20
    assert (check.n_iter, check.objective) == (part.history[-1].n_iter, part.objective)
    assert len(excess) == 2


def test_directions_that_the_working_set_lacks_are_found_by_the_certificate():
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


def test_strictness_lowers_both_tolerances():
    """The constraint is violated a little, by a direction that is nearly in the working set."""
    directions = np.eye(6)[:, :2]
    matrix = np.zeros((6, 6))
    tilt = np.array([1.0, 0, 0.005, 0, 0, 0]) / np.hypot(1.0, 0.005)
    matrix += 1.0005 * np.outer(tilt, tilt)
    excess = [Nuclear().excess(matrix, np.array(1.0))]
    assert violated_directions(directions, excess, 1.0).shape[1] == 0
    found = violated_directions(directions, excess, 0.1)
    np.testing.assert_allclose(np.abs(found), np.eye(6)[:, 2:3], atol=1e-9)


def test_a_numerical_fault_stays_in_the_status():
    problem, directions, part = restricted(keep=4)
    solution, _ = certify_on_full(problem, directions, replace(part, status="non_finite"), 1e-5)
    assert solution.status == "non_finite"


PROBLEM = with_values([[3.0, 1.0, 0.5, 0.1], [2.0, 1.0, 0.4, 0.1]])


def assert_optimal(found, tol):
    """Check a screened solution against one without screening."""
    assert found.solution.status == "optimal"
    assert found.solution.gap <= tol
    full = admm(PROBLEM, tol=1e-8)
    assert found.solution.objective == pytest.approx(full.objective, rel=2 * tol)
    lifted = found.solution.stack
    if found.directions is not None:
        lifted = found.directions @ lifted @ found.directions.T
    assert PROBLEM.value(lifted) == pytest.approx(found.solution.objective, rel=1e-9)


@pytest.mark.parametrize("n_directions", [1, 3, 6])
def test_a_working_set_of_any_size_ends_at_the_optimum(start_with, n_directions):
    start_with(PROBLEM, n_directions)
    seen = []
    found = solve_screened(PROBLEM, tol=1e-5, callback=seen.append)
    assert_optimal(found, 1e-5)
    assert found.directions.shape[1] < 20
    assert found.solution.history == seen
    assert seen[-1].n_iter == found.solution.n_iter
    assert seen[-1].n_directions == 20
    assert seen[0].n_directions == n_directions
    steps = [check.n_iter for check in seen]
    assert steps == sorted(steps)


@pytest.mark.parametrize(("strictest", "n_rounds"), [(0.5, 2), (5e-3, 4), (1e-9, 6)])
def test_all_directions_are_taken_if_no_violated_one_is_found(
    start_with, no_new_directions, monkeypatch, strictest, n_rounds
):
    """Every round ends with one certificate of the full problem, and the last solve with one."""
    monkeypatch.setattr(working_set, "MIN_TOLERANCE_FACTOR", strictest)
    start_with(PROBLEM, 2)
    found = solve_screened(PROBLEM, tol=1e-5)
    assert found.directions is None
    assert_optimal(found, 1e-5)
    sizes = [check.n_directions for check in found.solution.history]
    rounds = "".join("r" if size == 2 else "f" for size in sizes).split("rf")
    assert len(rounds) - 1 == n_rounds
    assert found.solution.n_iter == found.solution.history[-1].n_iter


def test_all_directions_are_taken_if_the_working_set_grows_too_large(start_with, monkeypatch):
    start_with(PROBLEM, 2)
    first = working_set.screen(PROBLEM)
    rng = np.random.default_rng(0)
    others = np.linalg.qr(np.hstack([first, rng.normal(size=(20, 11))]))[0][:, 2:]
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: others)
    found = solve_screened(PROBLEM, tol=1e-5)
    assert found.directions is None
    assert_optimal(found, 1e-5)


@pytest.mark.parametrize("max_iter", [2, 5, 11])
def test_max_iter_limits_the_iterations_of_all_rounds(start_with, max_iter):
    start_with(PROBLEM, 2)
    found = solve_screened(PROBLEM, tol=1e-12, max_iter=max_iter).solution
    assert found.n_iter == max_iter
    assert found.status == "max_iter"


def test_a_problem_that_is_not_screened_is_solved_by_admm():
    seen = []
    found = solve_screened(PROBLEM, tol=1e-7, max_iter=500, callback=seen.append)
    assert found.directions is None
    assert seen == found.solution.history
    assert_optimal(found, 1e-7)
    assert solve_screened(PROBLEM, tol=1e-15, max_iter=3).solution.n_iter == 3


def test_the_last_solve_continues_from_the_rounds_within_max_iter(
    start_with, no_new_directions, monkeypatch
):
    """With the working set complete, the last solve needs few iterations more."""
    monkeypatch.setattr(working_set, "MIN_TOLERANCE_FACTOR", 5.0)
    start_with(PROBLEM, 6)
    found = solve_screened(PROBLEM, tol=1e-12).solution
    (restricted, *_) = (check for check in found.history if check.n_directions == 20)
    cold = admm(PROBLEM, tol=1e-12).n_iter
    assert 0 < found.n_iter - restricted.n_iter < cold
    limited = solve_screened(PROBLEM, tol=1e-15, max_iter=restricted.n_iter + 2).solution
    assert limited.n_iter == restricted.n_iter + 2


def test_one_new_direction_is_enough_for_another_round(small, monkeypatch):
    basis = screen(PROBLEM)
    monkeypatch.setattr(working_set, "screen", lambda _: basis[:, :3])
    added = iter([basis[:, 3:4], basis[:, 4:]])
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: next(added))
    found = solve_screened(PROBLEM, tol=1e-5)
    assert_optimal(found, 1e-5)
    sizes = [check.n_directions for check in found.solution.history]
    assert list(dict.fromkeys(sizes)) == [3, 20, 4, basis.shape[1]]


def full_rank_problem(tau):
    """Return a problem as estimators state it: factors diag(s) Vᵀ of full rank."""
    rng = np.random.default_rng(0)
    spectra = [
        Spectrum(np.linspace(2.0, 0.5, 20), np.linalg.qr(rng.normal(size=(20, 20)))[0])
        for _ in range(2)
    ]
    factors = [spectrum.matrix for spectrum in spectra]
    problem = full_problem([np.eye(20)] * 2, [0.1, 0.1], tau)
    return replace(problem, factors=factors, targets=factors, known_spectra=spectra)


def test_the_closed_form_with_a_ridge_is_returned_without_an_iteration_if_it_is_good_enough():
    problem = full_rank_problem(tau=1e-3)
    seen = []
    found = solve_screened(problem, tol=1e-2, callback=seen.append)
    assert (found.solution.status, found.solution.n_iter) == ("optimal", 1)
    assert found.solution.history == seen and len(seen) == 1
    assert found.solution.objective <= admm(problem, tol=1e-8).objective * (1 + 1e-2)


def test_too_many_directions_are_iterated_only_on_demand(monkeypatch):
    """Otherwise the gap of the full problem is reported as it is."""
    problem = full_rank_problem(tau=1.0)
    optimal = solve_screened(problem, tol=1e-6).solution
    monkeypatch.setattr(working_set, "MAX_DIRECTIONS", 19)
    seen = []
    found = solve_screened(problem, tol=1e-6, callback=seen.append).solution
    assert (found.status, found.n_iter) == ("size", 1)
    assert found.history == seen
    assert 1e-6 < found.gap < 0.5
    assert found.dual_bound <= optimal.objective <= found.objective
    assert solve_screened(problem, tol=1e-6, max_iter=2000).solution.status == "optimal"
    monkeypatch.setattr(working_set, "MAX_DIRECTIONS", 20)
    assert solve_screened(problem, tol=1e-6).solution.status == "optimal"


def test_the_better_one_of_working_set_and_ridge_is_returned_for_too_many_directions(
    start_with, monkeypatch
):
    """The working set has few directions; all of them would be too many."""
    problem = full_rank_problem(tau=1.0)
    monkeypatch.setattr(working_set, "MAX_DIRECTIONS", 19)
    monkeypatch.setattr(working_set, "violated_directions", lambda *_: np.empty((20, 0)))
    first = np.eye(20)[:, :3]
    monkeypatch.setattr(working_set, "screen", lambda _: first)
    ridge = solve_with_ridge(problem)
    rough = solve_screened(problem, tol=1e-6)
    assert rough.solution.status == "size"
    assert rough.directions is None
    assert rough.solution.objective == ridge.objective
    monkeypatch.setattr(
        working_set, "solve_with_ridge", lambda *_, **__: replace(ridge, dual_bound=0.0)
    )
    other = solve_screened(problem, tol=1e-6)
    assert other.solution.status == "size"
    assert other.directions is first
    assert other.solution.history[-1].gap == other.solution.gap
