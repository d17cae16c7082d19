"""Screening changes the time of a solve, not its result."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from viewspan.solvers import working_set


def low_rank_views(seed, n_samples=220, n_features=(150, 140), rank=12, noise=0.02):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(n_samples, rank))
    views = [
        shared @ rng.normal(size=(rank, d)) + noise * rng.normal(size=(n_samples, d))
        for d in n_features
    ]
    return [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("lam", "tau"), [(0.05, 0.2), (0.5, 2.0), ([0.02, 1.0], 0.5)])
def test_screening_gives_the_solution_of_the_full_problem(monkeypatch, seed, lam, tau):
    views = low_rank_views(seed)
    screened = viewspan.solve(views, lam, tau, tol=1e-6)
    assert screened.status == "optimal"
    assert screened.cores.shape[1] < 220
    monkeypatch.setattr(working_set, "MIN_DIRECTIONS", 1000)
    full = viewspan.solve(views, lam, tau, tol=1e-6)
    assert screened.objective == pytest.approx(full.objective, rel=2e-6)
    assert screened.dual_bound <= full.objective


@pytest.fixture
def start_with_three_directions(monkeypatch):
    """Start with too small a working set, which the data alone does not provoke."""
    screen = working_set.screen
    monkeypatch.setattr(working_set, "screen", lambda problem: screen(problem)[:, :3])


def test_too_small_a_working_set_grows_until_the_full_gap_is_reached(start_with_three_directions):
    views = low_rank_views(0)
    grown = viewspan.solve(views, 0.05, 0.2, tol=1e-5)
    assert grown.status == "optimal"
    assert grown.cores.shape[1] > 3
    steps = [check.n_iter for check in grown.history]
    assert steps == sorted(steps)
    precise = viewspan.solve(views, 0.05, 0.2, tol=1e-6)
    assert grown.objective == pytest.approx(precise.objective, rel=2e-5)


def test_the_reported_gap_is_that_of_the_full_problem():
    seen = []
    result = viewspan.solve(low_rank_views(1), 0.05, 0.2, callback=seen.append)
    assert seen == result.history
    assert result.history[-1].n_directions == 220
    assert result.history[-1].gap == result.gap


def test_max_iter_counts_the_iterations_of_all_rounds(start_with_three_directions):
    with pytest.warns(ConvergenceWarning):
        result = viewspan.solve(low_rank_views(2), 0.05, 0.2, tol=1e-10, max_iter=12)
    assert result.n_iter == 12
    assert np.isfinite(result.gap)
