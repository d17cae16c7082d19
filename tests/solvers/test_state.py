"""State of ADMM, its starting point, its linear system and its schedule of checks."""

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan.solvers import state as module
from viewspan.solvers.linear import RidgeSystem
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import Residuals, Split, State, joint_norm, ridge_start


def coupled(tau=0.5, lam=(0.1, 0.3), **axes):
    return full_problem(random_views(0, (6, 7), 8), list(lam), tau, **axes)


def test_relative_residuals_are_in_units_of_copies_and_multipliers():
    assert Residuals(1.0, 6.0, 4.0, 12.0).relative == 0.5
    assert Residuals(3.0, 6.0, 4.0, 12.0).relative == 0.75
    assert (
        Residuals(1.0, 1.0, 0.0, 1.0).relative == Residuals(1.0, 1.0, 1.0, 0.0).relative == np.inf
    )
    assert Residuals(0.1, 0.1, 0.5, 0.5).relative == 0.2


@pytest.mark.parametrize(
    ("residuals", "factor"),
    [
        ((4.0, 1.0, 1.0, 1.0), 2.0),
        ((1.0, 4.0, 1.0, 1.0), 0.5),
        ((1.0, 1.0, 1.0, 9.0), 3.0),
        ((1.0, 1.0, 9.0, 1.0), 1 / 3),
        ((1e6, 1.0, 1.0, 1.0), 5.0),
        ((1.0, 1e6, 1.0, 1.0), 0.2),
        ((2.25, 1.0, 1.0, 1.0), 1.5),
        ((2.24, 1.0, 1.0, 1.0), 1.0),
        ((1.0, 2.24, 1.0, 1.0), 1.0),
        ((0.0, 1.0, 1.0, 1.0), 1.0),
        ((0.8, 0.1, 0.4, 0.5), 10**0.5),
    ],
)
def test_rho_changes_by_the_root_of_the_ratio_of_residuals_within_bounds(residuals, factor):
    assert Residuals(*residuals).rho_factor == pytest.approx(factor)


def random_split(seed=0, shape=(2, 3, 3)):
    rng = np.random.default_rng(seed)
    return Split(rng.normal(size=shape), rng.normal(size=shape))


def test_a_split_is_a_copy_and_its_multiplier():
    split = random_split()
    copy, point = split.copy.copy(), split.point.copy()
    np.testing.assert_allclose(split.scaled_multiplier, point - copy)
    np.testing.assert_allclose(split.target(), copy - (point - copy))
    np.testing.assert_allclose(split.target(1), (copy - (point - copy))[1])
    image = np.random.default_rng(1).normal(size=(3, 3))
    split.move(image, 1)
    np.testing.assert_allclose(split.point[1], point[1] + module.RELAXATION * (image - copy[1]))
    np.testing.assert_allclose(split.point[0], point[0])
    split.rescale(4.0)
    np.testing.assert_allclose(split.scaled_multiplier[0], (point - copy)[0] / 4.0)
    np.testing.assert_array_equal(split.copy, copy)
    new = np.ones_like(copy)
    split.accept(new)
    assert split.copy is new
    np.testing.assert_allclose(split.change, new - copy)


def test_an_embedded_split_is_the_same_in_a_larger_space():
    split = random_split()
    isometry, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(5, 3)))
    larger = split.embed(isometry)
    np.testing.assert_allclose(isometry.T @ larger.copy @ isometry, split.copy)
    np.testing.assert_allclose(isometry.T @ larger.point @ isometry, split.point)
    assert larger.copy.shape == larger.point.shape == (2, 5, 5)


def test_the_first_rho_is_three_times_the_mean_weight_within_bounds():
    assert State.zero(coupled()).rho == pytest.approx(0.6)
    assert State.zero(coupled(lam=(0.0, 0.0))).rho == 0.5
    assert (
        State.zero(coupled(tau=0.0, lam=(0.0, 0.0), coupling="none")).rho
        == module.RHO_WITHOUT_WEIGHTS
    )
    assert State.zero(coupled(lam=(1e-12, 1e-12))).rho == module.SMALLEST_RHO
    assert State.zero(coupled(lam=(1e5, 1e5))).rho == module.LARGEST_RHO


def test_the_zero_state_has_only_the_splits_that_the_problem_needs():
    quadratic = State.zero(coupled())
    assert quadratic.residual == []
    assert quadratic.dual is None
    assert quadratic.copies == [quadratic.penalty, quadratic.coupling]
    for split in quadratic.copies:
        assert split.copy.shape == split.point.shape == (2, 8, 8)
        assert not split.copy.any() and not split.point.any()
    alone = State.zero(coupled(tau=0.0, coupling="none"))
    assert alone.coupling is None
    assert alone.copies == [alone.penalty]
    np.testing.assert_array_equal(alone.multiplier, np.zeros((2, 8, 8)))
    robust = State.zero(coupled(datafit="l12"))
    assert [split.copy.shape for split in robust.residual] == [(6, 8), (7, 8)]


def test_the_rho_of_residuals_is_one_over_the_typical_length_of_a_sample():
    """A norm of zero counts as 1."""
    assert State.zero(coupled(datafit="l12")).rho_fit == pytest.approx(1.0)
    longer = full_problem(
        [4.0 * view for view in random_views(0, (6, 7), 8)], [0.1, 0.1], 0.5, datafit="l12"
    )
    assert State.zero(longer).rho_fit == pytest.approx(0.25)
    empty = full_problem([np.zeros((9, 3))], [0.1], 0.5, datafit="l12")
    assert State.zero(empty).rho_fit == pytest.approx(3.0)


def test_multipliers_are_scaled_by_their_own_rho():
    state = State(
        random_split(0), random_split(1), [random_split(2), random_split(3)], rho=2.0, rho_fit=3.0
    )
    np.testing.assert_allclose(state.multiplier, 2.0 * state.coupling.scaled_multiplier)
    for dual, split in zip(state.dual, state.residual, strict=True):
        np.testing.assert_allclose(dual, 3.0 * split.scaled_multiplier)


def test_balancing_changes_rho_and_keeps_the_true_multipliers():
    state = State(random_split(0), random_split(1), [random_split(2)], rho=2.0, rho_fit=3.0)
    before = [2.0 * split.scaled_multiplier for split in state.copies], state.dual
    state.balance(Residuals(4.0, 1.0, 1.0, 1.0), Residuals(1.0, 4.0, 1.0, 1.0))
    assert (state.rho, state.rho_fit) == (4.0, 1.5)
    np.testing.assert_allclose([4.0 * split.scaled_multiplier for split in state.copies], before[0])
    np.testing.assert_allclose(state.dual, before[1])
    state.balance(None, None)
    assert (state.rho, state.rho_fit) == (4.0, 1.5)
    state.balance(Residuals(1.0, 1.0, 1.0, 1.0), None)
    assert (state.rho, state.rho_fit) == (4.0, 1.5)


def test_an_embedded_state_keeps_its_rho_and_both_copies():
    isometry, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(5, 3)))
    state = State(random_split(0), random_split(1), [], rho=2.0)
    larger = state.embed(isometry)
    assert larger.rho == 2.0
    np.testing.assert_allclose(larger.multiplier, isometry @ state.multiplier @ isometry.T)
    np.testing.assert_allclose(larger.penalty.copy, isometry @ state.penalty.copy @ isometry.T)
    assert State(random_split(0), None, [], rho=2.0).embed(isometry).coupling is None


def test_the_ridge_start_is_a_fixed_point_and_each_view_is_optimal_for_its_ridge(monkeypatch):
    """For (w/2)‖F − FZ‖² + λ‖Z‖_* + (μ/2)‖Z‖² the smooth part has a gradient of norm λ."""
    problem = coupled(tau=2.0)
    assert ridge_start(problem)[1] == pytest.approx(
        2.0 / joint_norm(ridge_start(problem)[0]), rel=1e-3
    )
    monkeypatch.setattr(module, "N_RIDGE_STEPS", 50)
    stack, ridge = ridge_start(problem)
    assert ridge == pytest.approx(2.0 / joint_norm(stack), rel=1e-12)
    for factor, block, lam in zip(problem.factors, stack, problem.lam, strict=True):
        slope = 2.0 * factor.T @ (factor - factor @ block) - ridge * block
        assert np.linalg.norm(slope, 2) == pytest.approx(lam, rel=1e-9)
        assert np.vdot(slope, block) == pytest.approx(lam * np.linalg.norm(block, "nuc"), rel=1e-9)
    assert ridge_start(coupled(lam=(1e3, 1e3))) is None


def test_the_starting_point_has_matching_multipliers():
    problem = coupled(tau=2.0)
    state, (stack, ridge) = State.start(problem), ridge_start(problem)
    np.testing.assert_allclose(state.multiplier, ridge * stack)
    slopes = [f.T @ y for f, y in zip(problem.factors, problem.smooth_dual(stack), strict=True)]
    np.testing.assert_allclose(
        state.rho * state.penalty.scaled_multiplier, slopes - ridge * stack, atol=1e-12
    )
    np.testing.assert_array_equal(state.penalty.copy, stack)
    np.testing.assert_array_equal(state.coupling.copy, stack)
    assert not np.shares_memory(state.penalty.copy, state.coupling.copy)


@pytest.mark.parametrize(
    "axes",
    [
        {"penalty": "l1"},
        {"coupling": "l12"},
        {"datafit": "l12"},
        {"coupling": "none", "tau": 0.0},
        {"lam": (1e3, 1e3)},
    ],
    ids=str,
)
def test_the_starting_point_is_zero_if_there_is_no_closed_form(axes):
    assert not State.start(coupled(**axes)).penalty.copy.any()


def test_joint_norm_is_the_norm_of_all_arrays_together():
    assert joint_norm([np.array([3.0]), np.array([[0.0, 4.0]])]) == 5.0
    assert joint_norm([]) == 0.0


@pytest.mark.parametrize(("rows", "columns"), [(3, 9), (4, 8), (5, 8), (8, 8), (12, 8)])
def test_the_linear_system_is_solved_for_every_shape_and_weight(rows, columns):
    rng = np.random.default_rng(0)
    factor, rhs = rng.normal(size=(rows, columns)), rng.normal(size=(columns, 2))
    _, singular, right = np.linalg.svd(factor, full_matrices=False)
    system = RidgeSystem(singular, right)
    assert system.thin == (2 * rows < columns)
    for weight, ridge in ((2.0, 0.3), (2.0, 0.3), (2.0, 1.0), (3.0, 1.0), (1.0, 1e-8)):
        expected = np.linalg.solve(weight * factor.T @ factor + ridge * np.eye(columns), rhs)
        np.testing.assert_allclose(system.solve(rhs, weight, ridge), expected, rtol=1e-6, atol=1e-9)


def test_the_orthogonal_part_of_the_right_side_is_accurate():
    """A small ridge would magnify rounding errors along the row space."""
    rng = np.random.default_rng(0)
    right = np.linalg.qr(rng.normal(size=(10, 3)))[0].T
    rhs = 1e3 * right.T @ rng.normal(size=(3, 1))
    across = RidgeSystem(np.ones(3), right)._across(rhs, right @ rhs)
    assert 0 < np.linalg.norm(across) < 1e-10
    assert np.linalg.norm(right @ across) < 1e-9 * np.linalg.norm(across)


def planned(tol, *seen):
    schedule = Schedule(tol)
    for n_iter, gap in seen:
        schedule.plan(n_iter, gap, relative_residual=1.0)
    return next(n for n in range(1, 10**4) if schedule.is_due(n))


@pytest.mark.parametrize(
    ("tol", "seen", "due"),
    [
        (1e-4, [], 20),
        (1e-4, [(40, 1e-2)], 40 + 10),  # log(100) / 0.5, rounded up
        (1e-4, [(40, 1e-1), (50, 1e-2)], 50 + 20),  # two more decades at one per ten iterations
        (1e-4, [(10, 1.0), (20, 0.9)], 20 + 10),  # slow: at most half of the iterations so far
        (1e-4, [(400, 1.0), (500, 0.9)], 500 + 50),
        (1e-4, [(400, 0.5), (500, 0.6)], 500 + 50),  # the gap increased
        (1e-4, [(400, 0.5), (500, 0.5)], 500 + 50),
        (1e-4, [(400, 0.5), (500, 0.0)], 500 + 50),
        (1e-4, [(40, 1e-4)], 40 + 20),
        (1e-4, [(100, 1e-2), (110, 1.1e-4)], 110 + 2),
        (1e-4, [(2, 1e-2)], 20),  # until then residuals decide
        (1e-4, [(10, 0.0)], 20),
        (1e-4, [(19, 1e-2)], 19 + 9),
        (1e-4, [(10, 1e-3), (19, 1.1e-4)], 19 + 2),
    ],
)
def test_the_next_check_is_where_the_gap_should_reach_the_tolerance(tol, seen, due):
    assert planned(tol, *seen) == due


@pytest.mark.parametrize(
    ("seen", "largest"),
    [
        ([], 2e-4),
        ([(3, 1e-2, 4e-2)], 1.5 * 4e-4),  # the gap has to fall by a factor of 100
        ([(3, 1e-2, 4e-2), (9, 1e-3, 1e-3)], 1.5 * 1e-4),
        ([(3, 1.5e-4, 4e-4)], 1.5 * 2e-4),  # at least by a factor of 2
        ([(3, 1e-4, 4e-4)], 1.5 * 2e-4),
        ([(3, 0.0, 4e-4)], 1.5 * 2e-4),
        ([(19, 1e-2, 4e-2), (20, 1e-3, 1e-9)], 1.5 * 4e-4),  # later ones count iterations alone
    ],
)
def test_residuals_trigger_a_check_where_the_gap_should_reach_the_tolerance(seen, largest):
    schedule = Schedule(1e-4)
    for check in seen:
        schedule.plan(*check)
    assert schedule.is_promising(largest * 0.999)
    assert not schedule.is_promising(largest * 1.001)


@pytest.mark.parametrize("residual", [1.0, np.inf])
def test_no_residual_is_small_enough_for_a_gap_that_is_infinite(residual):
    schedule = Schedule(1e-4)
    schedule.plan(3, np.inf, residual)
    assert not schedule.is_promising(1e-300)
    assert schedule.is_due(20)
