"""ADMM against the closed form, from warm starts and through numerical faults."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.problems import full_problem, random_views
from viewspan.objective.penalties import Nuclear
from viewspan.solvers.admm import admm
from viewspan.solvers.closed_form import solve_closed_form
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import State


@pytest.mark.parametrize("shape", [((6, 4), 9), ((12, 15), 8)])
def test_admm_finds_the_closed_form_of_lrr(shape):
    views = random_views(0, *shape)
    problem = full_problem(views, [0.1, 0.3], 0.0, coupling="none")
    closed, iterated = solve_closed_form(problem), admm(problem, tol=1e-12)
    assert closed.objective == pytest.approx(iterated.objective, rel=1e-10)
    np.testing.assert_allclose(closed.stack, iterated.stack, atol=1e-8)
    assert closed.gap < 1e-12


def test_clrsc_without_coupling_is_lrr():
    views = random_views(1)
    alone = viewspan.solve(views, [0.1, 0.2], coupling="none")
    coupled = viewspan.solve(views, [0.1, 0.2], 1e-9, tol=1e-8)
    np.testing.assert_allclose(
        np.stack(coupled.coefficients), np.stack(alone.coefficients), atol=1e-4
    )


def test_a_warm_start_needs_fewer_iterations():
    problem = full_problem(random_views(2, (20, 20), 30), [0.1, 0.1], 1.0)
    state = State.start(problem)
    cold = admm(problem, tol=1e-6, state=state)
    again = admm(problem, tol=1e-6, state=state)
    assert again.n_iter < cold.n_iter
    assert again.objective == pytest.approx(cold.objective, rel=2e-6)


def test_the_starting_point_is_nearly_optimal_with_a_subgradient_of_the_coupling():
    problem = full_problem(random_views(3, (20, 20), 30), [0.1, 0.1], 0.5)
    state = State.start(problem)
    stack = state.penalty.copy
    optimum = admm(problem, tol=1e-8).objective
    assert optimum <= problem.value(stack) < 1.1 * optimum
    assert problem.coupling.polar(state.multiplier) <= problem.tau * (1 + 1e-6)
    coupling = problem.tau * problem.coupling.value(stack)
    assert np.vdot(state.multiplier, stack) == pytest.approx(coupling, rel=1e-6)


@dataclass(frozen=True)
class OverflowingNuclear(Nuclear):
    """A nuclear norm whose prox overflows from the 60th call on."""

    calls: list = field(default_factory=list)

    def prox_and_value(self, matrix, lam):
        self.calls.append(lam)
        prox, value = super().prox_and_value(matrix, lam)
        return (prox if len(self.calls) < 60 else prox * np.inf), value


def test_an_overflow_returns_the_last_finite_iterate():
    with np.errstate(invalid="ignore"), pytest.warns(ConvergenceWarning, match="not finite"):
        result = viewspan.solve(random_views(4), 0.1, 0.5, tol=1e-15, penalty=OverflowingNuclear())
    assert result.status == "non_finite"
    assert np.isfinite(result.cores).all()
    assert result.gap < 1e-3


def test_a_failing_decomposition_falls_back_to_the_slower_driver(monkeypatch):
    """NumPy's SVD sometimes fails on finite, rank-deficient matrices; here it always does."""

    def failing(*args, **kwargs):
        raise np.linalg.LinAlgError("SVD did not converge")

    views = random_views(5, (4, 5), 20, 3)
    expected = viewspan.solve(views, 0.1, 0.5, tol=1e-6)
    monkeypatch.setattr(np.linalg, "svd", failing)
    monkeypatch.setattr(np.linalg, "eigh", failing)
    assert viewspan.solve(views, 0.1, 0.5, tol=1e-6).objective == pytest.approx(
        expected.objective, rel=1e-9
    )


def test_noise_free_data_on_which_the_fast_svd_fails_converges(load):
    """LAPACK's divide and conquer fails on iterates of LADMPSAP in the noise-free study."""
    trials = load("reference/synthetic_trials.npz")
    views = [trials[name][0, 0].T for name in ("X1", "X2")]
    assert viewspan.solve(views, 0.2, 8.0, solver="ladmpsap").n_iter == 120


def test_the_schedule_plans_the_next_check_where_the_gap_should_reach_the_tolerance():
    schedule = Schedule(1e-4)
    assert not schedule.is_due(10)
    assert schedule.is_promising(7e-4)
    assert not schedule.is_promising(1e-1)
    schedule.plan(10, 1e-2, relative_residual=1e-1)  # the gap has to fall by a factor of 100
    assert schedule.is_promising(1.1e-2)
    assert not schedule.is_promising(1.3e-2)
    assert not schedule.is_due(19)
    assert schedule.is_due(20)
    schedule.plan(20, 1e-2, relative_residual=1e-2)
    schedule.plan(24, 1e-3, relative_residual=1e-3)
    assert not schedule.is_due(27)
    assert schedule.is_due(28)


def test_every_check_is_passed_to_the_callback():
    seen = []
    result = viewspan.solve(random_views(6), 0.1, 0.5, tol=1e-6, callback=seen.append)
    assert seen == result.history
    assert all(check.dual_bound <= check.objective for check in seen)
