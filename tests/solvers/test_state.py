"""State of ADMM, its starting point, its linear system and its schedule of checks."""

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan._utils.linalg import Spectrum
from viewspan.solvers import closed_form
from viewspan.solvers import state as module
from viewspan.solvers.closed_form import ridge_shares
from viewspan.solvers.linear import RidgeSystem
from viewspan.solvers.schedule import Schedule
from viewspan.solvers.state import Residuals, Split, State, joint_norm, slopes_of_fit


def coupled(tau=0.5, lam=(0.1, 0.3), **axes):
    return full_problem(random_views(0, (6, 7), 8), list(lam), tau, **axes)


def residuals_of(*views):
    """Return residuals of views with one copy each."""
    return Residuals(np.array(views, dtype=float)[:, None])


@pytest.mark.parametrize(
    ("part", "relative"),
    [
        ((1.0, 6.0, 4.0, 12.0), 0.5),
        ((3.0, 6.0, 4.0, 12.0), 0.75),
        ((1.0, 1.0, 0.0, 1.0), np.inf),
        ((1.0, 1.0, 1.0, 0.0), np.inf),
        ((0.1, 0.1, 0.5, 0.5), 0.2),
    ],
)
def test_relative_residuals_are_in_units_of_copies_and_multipliers(part, relative):
    assert residuals_of(part).relative == relative
    assert residuals_of(part, part).relative == pytest.approx(relative)


def test_residuals_and_norms_of_all_parts_are_joined():
    joint = residuals_of((3.0, 1.0, 6.0, 1.0), (4.0, 1.0, 8.0, 1.0))
    assert (joint.primal, joint.dual) == pytest.approx((5.0, 2**0.5))
    assert joint.relative == pytest.approx(1.0)


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
    assert residuals_of(residuals).rho_factor == pytest.approx(factor)


def test_rho_follows_the_geometric_mean_over_the_views():
    high, low = (4.0, 1.0, 1.0, 1.0), (1.0, 4.0, 1.0, 1.0)
    assert residuals_of(high, high, high).rho_factor == pytest.approx(2.0)
    assert residuals_of(high, low).rho_factor == 1.0
    assert residuals_of(high, high, low).rho_factor == 1.0  # 4^(1/6) is below the threshold
    tenfold = (400.0, 10.0, 100.0, 10.0)
    assert residuals_of(tenfold, high).rho_factor == pytest.approx(2.0)  # sizes do not count


def test_the_copies_of_a_view_count_together():
    """Their norms are joined, so a copy whose multiplier is small hardly counts."""
    large, small = (40.0, 10.0, 10.0, 10.0), (0.1, 0.4, 0.1, 0.1)
    together = Residuals(np.array([[large, small]]))
    assert together.rho_factor == pytest.approx(residuals_of(large).rho_factor, rel=1e-3)


def test_views_without_a_multiplier_and_rounding_errors_say_nothing_about_rho():
    high = (4.0, 1.0, 1.0, 1.0)
    unpulled, exact = (1.0, 9e-4, 1.0, 9e-4), (1e-11, 1.0, 1.0, 1.0)
    assert residuals_of(high, unpulled, exact).rho_factor == pytest.approx(2.0)
    assert residuals_of(exact).rho_factor == 1.0
    assert residuals_of((0.0, 0.0, 0.0, 0.0)).rho_factor == 1.0


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


def test_the_first_rho_is_twice_the_mean_weight_within_bounds():
    assert State.zero(coupled()).rho == pytest.approx(0.4)
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
    state.balance(residuals_of((4.0, 1.0, 1.0, 1.0)), residuals_of((1.0, 4.0, 1.0, 1.0)))
    assert (state.rho, state.rho_fit) == (4.0, 1.5)
    np.testing.assert_allclose([4.0 * split.scaled_multiplier for split in state.copies], before[0])
    np.testing.assert_allclose(state.dual, before[1])
    state.balance(None, None)
    assert (state.rho, state.rho_fit) == (4.0, 1.5)
    state.balance(residuals_of((1.0, 1.0, 1.0, 1.0)), None)
    assert (state.rho, state.rho_fit) == (4.0, 1.5)


def test_an_embedded_state_starts_where_the_larger_problem_pulls():
    """Multipliers of the old coefficients stay; those of new ones are the slopes of the fit."""
    problem = coupled(tau=2.0)
    isometry = np.linalg.qr(np.random.default_rng(2).normal(size=(8, 3)))[0]
    state = State.start(problem.restrict(isometry))
    larger = state.embed(isometry, problem)
    assert larger.rho == state.rho
    np.testing.assert_allclose(larger.multiplier, isometry @ state.multiplier @ isometry.T)
    np.testing.assert_allclose(larger.penalty.copy, isometry @ state.penalty.copy @ isometry.T)
    pulled, before = larger.penalty.scaled_multiplier, state.penalty.scaled_multiplier
    np.testing.assert_allclose(isometry.T @ pulled @ isometry, before, atol=1e-12)
    slopes = slopes_of_fit(problem, larger.penalty.copy) / state.rho
    inside = isometry @ isometry.T
    np.testing.assert_allclose(
        pulled - inside @ pulled @ inside, slopes - inside @ slopes @ inside, atol=1e-12
    )
    alone = coupled(tau=0.0, coupling="none")
    assert State.zero(alone.restrict(isometry)).embed(isometry, alone).coupling is None


def test_the_ridge_is_a_fixed_point_and_each_view_is_optimal_for_it(monkeypatch):
    """For (w/2)‖F − FZ‖² + λ‖Z‖_* + (μ/2)‖Z‖² the smooth part has a gradient of norm λ."""
    problem = coupled(tau=2.0)
    shares, ridge = ridge_shares(problem)
    assert ridge == pytest.approx(2.0 / joint_norm(shares), rel=1e-3)
    monkeypatch.setattr(closed_form, "N_RIDGE_STEPS", 50)
    shares, ridge = ridge_shares(problem)
    assert ridge == pytest.approx(2.0 / joint_norm(shares), rel=1e-12)
    views = zip(problem.factors, problem.spectra, shares, problem.lam, strict=True)
    for factor, spectrum, share, lam in views:
        block = (spectrum.right.T * share) @ spectrum.right
        slope = 2.0 * factor.T @ (factor - factor @ block) - ridge * block
        assert np.linalg.norm(slope, 2) == pytest.approx(lam, rel=1e-9)
        assert np.vdot(slope, block) == pytest.approx(lam * np.linalg.norm(block, "nuc"), rel=1e-9)
    assert ridge_shares(coupled(lam=(1e3, 1e3))) is None


def test_the_starting_point_has_a_subgradient_of_the_coupling_and_a_matching_multiplier():
    problem = coupled(tau=2.0)
    state, (shares, _) = State.start(problem), ridge_shares(problem)
    for block, spectrum, share in zip(state.penalty.copy, problem.spectra, shares, strict=True):
        np.testing.assert_allclose(block, (spectrum.right.T * share) @ spectrum.right, atol=1e-12)
    stack = state.penalty.copy
    left, _, right = np.linalg.svd(stack.reshape(2, -1), full_matrices=False)
    np.testing.assert_allclose(
        state.multiplier, 2.0 * (left @ right).reshape(stack.shape), atol=1e-12
    )
    np.testing.assert_allclose(
        state.rho * state.penalty.scaled_multiplier,
        slopes_of_fit(problem, stack) - state.multiplier,
        atol=1e-12,
    )
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


@pytest.mark.parametrize("same", [True, False], ids=["one basis", "two bases"])
@pytest.mark.parametrize(("rows", "columns"), [(3, 9), (4, 8), (5, 8), (8, 8), (12, 8)])
def test_the_linear_system_is_solved_for_every_shape_and_weight(rows, columns, same):
    rng = np.random.default_rng(0)
    factor = rng.normal(size=(rows, columns))
    target = factor if same else rng.normal(size=(rows, 5))
    pull, split = rng.normal(size=(columns, target.shape[1])), rng.normal(size=target.shape)
    _, singular, right = np.linalg.svd(factor, full_matrices=False)
    system = RidgeSystem(Spectrum(singular, right), factor, target)
    assert system.thin == (2 * rows < columns)
    for weight, ridge in ((2.0, 0.3), (2.0, 0.3), (2.0, 0.3), (2.0, 1.0), (3.0, 1.0), (1.0, 1e-8)):
        stacked = np.vstack([weight**0.5 * factor, ridge**0.5 * np.eye(columns)])
        for part in (None, split):
            fit = target if part is None else target - part
            goal = np.vstack([weight**0.5 * fit, ridge**0.5 * pull])
            expected = np.linalg.lstsq(stacked, goal)[0]
            found = system.solve(pull, weight, ridge, part)
            np.testing.assert_allclose(found, expected, atol=1e-10)


def test_a_small_ridge_magnifies_no_rounding_errors():
    """Along the row space W is nearly the identity, and across it W is P."""
    rng = np.random.default_rng(0)
    right = np.linalg.qr(rng.normal(size=(10, 6)))[0].T
    system = RidgeSystem(Spectrum(np.ones(6), right), right, right)
    pull = rng.normal(size=(10, 10))
    for _ in range(3):
        found = system.solve(pull, 2.0, 1e-300)
        np.testing.assert_allclose(right @ found, right, atol=1e-14)
        across = found - right.T @ (right @ found)
        np.testing.assert_allclose(across, pull - right.T @ (right @ pull), atol=1e-14)


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
        ([], 0.08 * 1e-2),
        ([(3, 1e-2, 4e-2)], 1.2 * 4e-3),  # the gap has to fall by a factor of 100
        ([(3, 1e-2, 4e-2), (9, 1e-4 * 9, 3e-3)], 1.2 * 1e-3),
        ([(3, 1.5e-4, 4e-4)], 1.2 * 4e-4 / 2**0.5),  # at least by a factor of 2
        ([(3, 1e-4, 4e-4)], 1.2 * 4e-4 / 2**0.5),
        ([(3, 0.0, 4e-4)], 1.2 * 4e-4 / 2**0.5),
        ([(19, 1e-2, 4e-2), (20, 1e-3, 1e-9)], 1.2 * 4e-3),  # later ones count iterations alone
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
