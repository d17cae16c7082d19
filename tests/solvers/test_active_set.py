"""Active sets solve SSC exactly: the optimality criterion of the lasso holds for every sample."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.problems import full_problem, optimum, random_views
from viewspan._utils.linalg import NumericalError
from viewspan.objective.couplings import NuclearCoupling
from viewspan.objective.datafits import L1
from viewspan.objective.penalties import Nuclear, ZeroDiagonalL1
from viewspan.solvers import active_set, lasso, reduced
from viewspan.solvers.active_set import applies, solve_active_set
from viewspan.solvers.admm import admm

SSC = {"datafit": "half_frobenius", "penalty": "l1", "coupling": "none"}


def nearly_parallel(n_samples=12, n_features=6, seed=0):
    """Return a view like point trajectories: one common direction and small differences."""
    rng = np.random.default_rng(seed)
    return np.ones((n_samples, n_features)) + 0.01 * rng.normal(size=(n_samples, n_features))


def with_duplicates(seed=0):
    view = random_views(seed, (5,), 6)[0]
    return np.vstack([view, view[:4], np.zeros((1, 5))])


VIEWS = {
    "two views": random_views(0),
    "more samples than features": random_views(1, (3,), 12),
    "duplicates and a zero sample": [with_duplicates()],
    "nearly parallel": [nearly_parallel()],
    "collinear": [np.outer(np.linspace(-1.0, 2.0, 7), np.ones(3))],
    "uneven": [random_views(2, (4,), 9)[0] * np.logspace(-3, 2, 9)[:, None]],
}


def violation(problem, stack):
    """Return the largest violation of the optimality criterion, relative to the data.

    With r = t_j − Fz: w⟨f_k, r⟩ = λ_j sign(z_k) where z_k ≠ 0, else |w⟨f_k, r⟩| ≤ λ_j.
    """
    worst = 0.0
    for factor, dual, z, lam in zip(
        problem.factors, problem.smooth_dual(stack), stack, problem.lam, strict=True
    ):
        slope = factor.T @ dual
        np.fill_diagonal(slope, 0.0)
        at_zero = np.maximum(np.abs(slope) - lam, 0.0)
        violated = np.where(z == 0, at_zero, np.abs(slope - lam * np.sign(z)))
        unit = np.linalg.norm(factor) * np.linalg.norm(factor, axis=0)
        worst = max(worst, float((violated / np.where(unit > 0, unit, 1.0)).max()))
    return worst


@pytest.mark.parametrize("datafit", ["half_frobenius", "frobenius"])
@pytest.mark.parametrize("share", [0.3, 1e-2, 1e-4])
@pytest.mark.parametrize("name", VIEWS)
def test_the_solution_is_that_of_a_generic_solver_and_optimal_for_every_sample(
    name, share, datafit
):
    views = VIEWS[name]
    draw = np.random.default_rng(3).uniform(0.5, 2.0, (len(views), len(views[0])))
    lam = share * draw * np.stack([(view**2).sum(axis=1).mean() for view in views])[:, None]
    axes = {**SSC, "datafit": datafit}
    found = solve_active_set(full_problem(views, lam, 0.0, **axes), tol=1e-9)
    best = optimum(views, lam, 0.0, **axes)
    unit = sum((view**2).sum() for view in views)
    assert found.status == "optimal"
    assert violation(full_problem(views, lam, 0.0, **axes), found.stack) < 1e-10
    assert abs(found.objective - best) <= 1e-5 * best + 1e-9 * unit
    assert found.dual_bound <= best + 1e-9 * unit
    assert not np.einsum("ikk->ik", found.stack).any()


@pytest.mark.parametrize("n_features", [4, 15])
@pytest.mark.filterwarnings("ignore:The solver stopped at rounding errors")
def test_without_a_penalty_it_is_least_squares(n_features):
    view = random_views(5, (n_features,), 10)[0]
    result = viewspan.solve([view], 0.0, **SSC)
    residuals = []
    for sample in range(10):
        others = np.delete(view, sample, axis=0).T
        nearest = others @ np.linalg.lstsq(others, view[sample], rcond=None)[0]
        residuals.append(view[sample] - nearest)
    assert result.objective == pytest.approx(0.5 * np.sum(np.square(residuals)), abs=1e-12)


def test_nearly_parallel_samples_are_solved_to_high_accuracy():
    """ADMM has a gap above 0.9 after 100 iterations here."""
    problem = full_problem([nearly_parallel(80, 10)], 1e-6, 0.0, **SSC)
    found = solve_active_set(problem, tol=1e-6)
    assert found.status == "optimal"
    assert admm(problem, tol=1e-2, max_iter=100).status == "max_iter"


def test_duplicates_of_a_sample_represent_it_alone():
    view = np.repeat(random_views(4, (6,), 5)[0], 2, axis=0)
    lam = 0.05
    stack = solve_active_set(full_problem([view], lam, 0.0, **SSC), tol=1e-10).stack[0]
    twin = stack[np.arange(10) ^ 1, np.arange(10)]
    assert np.allclose(twin, 1.0 - lam, atol=1e-6)
    np.testing.assert_allclose(np.abs(stack).sum(axis=0), np.abs(twin), atol=1e-6)


@pytest.mark.parametrize("lam", [1e3, 1e100, 1e300])
def test_large_weights_and_missing_samples_give_zeros(lam):
    views = [view.copy() for view in random_views(0)]
    assert not np.stack(viewspan.solve(views, lam, **SSC).coefficients).any()
    views[0][[1, 4]] = np.nan
    result = viewspan.solve(views, 0.05, missing="allow", tol=1e-8, **SSC)
    coefficients = result.coefficients[0]
    assert coefficients.any()
    assert not coefficients[:, [1, 4]].any()
    assert not coefficients[[1, 4]].any()
    assert result.gap <= 1e-8


def test_a_view_of_tiny_values_is_solved_like_any_other():
    view = random_views(6, (5,), 9)[0]
    views, lam = [view, 1e-140 * view], np.array([0.05, 0.05e-280])
    large, small = solve_active_set(full_problem(views, lam, 0.0, **SSC)).stack
    np.testing.assert_allclose(small, large, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "value"), [("BLOCK_SIZE", 3), ("MAX_SYSTEM_ENTRIES", 1), ("N_JOINING", 1)]
)
def test_the_division_of_the_work_does_not_change_the_solution(name, value, monkeypatch):
    problem = full_problem(random_views(7, (6, 20), 30), 0.02, 0.0, **SSC)
    expected = solve_active_set(problem, tol=1e-12)
    monkeypatch.setattr(lasso, name, value)
    found = solve_active_set(problem, tol=1e-12)
    np.testing.assert_allclose(found.stack, expected.stack, atol=1e-9)


def test_no_step_increases_the_objective_of_any_sample():
    view = nearly_parallel(20, 8)
    problem = full_problem([view], 1e-5, 0.0, **SSC)
    (block,) = lasso.blocks_of(problem)
    stack, before = np.zeros(problem.shape), np.full(20, np.inf)
    while not block.solved.all():
        block.advance(1, 1e-6)
        stack[:] = 0.0
        block.write(stack)
        residuals = problem.residuals(stack)[0]
        values = 0.5 * (residuals**2).sum(axis=0) + 1e-5 * np.abs(stack[0]).sum(axis=0)
        assert (values <= before * (1 + 1e-12) + 1e-15).all()
        before = values
    assert block.n_steps > 3


def test_every_sweep_is_certified_and_reported(monkeypatch):
    monkeypatch.setattr(active_set, "FIRST_SWEEP", 1)
    seen = []
    problem = full_problem([nearly_parallel(30, 8)], 1e-6, 0.0, **SSC)
    found = solve_active_set(problem, tol=1e-8, callback=seen.append)
    assert seen == found.history
    assert len(seen) > 2
    steps = [check.n_iter for check in seen]
    assert steps == sorted(steps)
    objectives = [check.objective for check in seen]
    assert all(after <= before for before, after in pairwise(objectives))
    assert all(check.dual_bound <= found.objective for check in seen)


@pytest.mark.parametrize("max_iter", [1, 3, 10])
def test_a_limit_of_steps_is_kept_and_the_gap_still_holds(max_iter):
    view = nearly_parallel(30, 8)
    best = solve_active_set(full_problem([view], 1e-6, 0.0, **SSC), tol=1e-8).objective
    with pytest.warns(ConvergenceWarning, match=f"reached max_iter after {max_iter} iterations"):
        early = viewspan.solve([view], 1e-6, tol=1e-8, max_iter=max_iter, **SSC)
    assert early.status == "max_iter"
    assert early.n_iter == max_iter
    assert early.dual_bound <= best * (1 + 1e-8)
    assert early.gap >= (early.objective - best) / early.objective - 1e-8


def test_a_gap_that_rounding_errors_prevent_is_reported():
    view = random_views(8, (30,), 6)[0]
    with pytest.warns(ConvergenceWarning, match=r"stopped at rounding errors.*Increase lam or tol"):
        result = viewspan.solve([view], 0.0, **SSC)
    assert result.status == "residuals"
    assert result.gap == 1.0


def test_values_that_are_not_finite_are_an_error(monkeypatch):
    def failing(*arguments):
        raise np.linalg.LinAlgError("Singular matrix")

    monkeypatch.setattr(np.linalg, "solve", failing)
    with pytest.raises(NumericalError, match="failed in iteration"):
        viewspan.solve(random_views(0), 0.05, **SSC)


class OwnPenalty(ZeroDiagonalL1):
    """A subclass, which may have other values."""


def test_it_applies_to_separate_samples_only():
    problem = full_problem(random_views(0), 0.1, 0.0, **SSC)
    assert applies(problem)
    assert not applies(replace(problem, penalty=OwnPenalty()))
    assert not applies(replace(problem, penalty=Nuclear()))
    assert not applies(replace(problem, datafit=L1()))
    assert not applies(replace(problem, coupling=NuclearCoupling(), tau=0.1))


def test_a_published_algorithm_is_not_replaced(monkeypatch):
    def refused(*arguments, **options):
        raise AssertionError("solved by active sets")

    monkeypatch.setattr(reduced.active_set, "solve_active_set", refused)
    result = viewspan.solve(random_views(0), 0.1, solver="ladmap", tol=1e-3, **SSC)
    assert np.stack(result.coefficients).any()
