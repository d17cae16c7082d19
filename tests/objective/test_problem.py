"""The objective equals its definition, and no certificate is above any objective."""

from dataclasses import replace

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan._utils.linalg import Spectrum
from viewspan.objective.couplings import L12Coupling, RankOne, Uncoupled, row_singular_values
from viewspan.objective.datafits import L1, L12, Ball, Frobenius, squared_lengths
from viewspan.objective.excess import SpectralExcess, relative
from viewspan.objective.penalties import EntryExcess, Nuclear, ZeroDiagonalL1, shrinkage
from viewspan.objective.problem import ABSORBED_SHARES, EXACT_FIT_TOLERANCE, scale_limit
from viewspan.solvers.admm import admm

AXES = [
    {},
    {"coupling": "l12"},
    {"penalty": "l1"},
    {"datafit": "l12"},
    {"datafit": "l1", "penalty": "l1", "coupling": "l12"},
    {"coupling": "none", "tau": 0.0},
    {"coupling": "none", "tau": 0.0, "penalty": "l1"},
    {"coupling": "none", "tau": 0.0, "datafit": "l12"},
]


def problem_of(seed=0, lam=(0.1, 0.3), tau=0.5, observed=None, **axes):
    return full_problem(random_views(seed, (5, 6), 8), list(lam), tau, observed=observed, **axes)


def random_stack(seed=0, scale=0.1):
    stack = scale * np.random.default_rng(seed).normal(size=(2, 8, 8))
    stack[:, range(8), range(8)] = 0.0
    return stack


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_value_is_the_sum_of_its_terms(axes):
    problem, stack = replace(problem_of(**axes), offset=0.25), random_stack()
    residuals = [t - f @ w for t, f, w in zip(problem.targets, problem.factors, stack, strict=True)]
    fit = {
        "l1": lambda e: np.abs(e).sum(),
        "l12": lambda e: np.linalg.norm(e, axis=0).sum(),
        "frobenius": lambda e: np.sum(e**2),
    }[axes.get("datafit", "frobenius")]
    size = {
        "l1": lambda w: np.abs(w).sum(),
        "nuclear": lambda w: np.linalg.norm(w, "nuc"),
    }[axes.get("penalty", "nuclear")]
    rows = stack.reshape(2, -1)
    coupling = {
        "nuclear": lambda: np.linalg.norm(rows, "nuc"),
        "l12": lambda: np.linalg.norm(rows, axis=0).sum(),
        "none": lambda: 0.0,
    }[axes.get("coupling", "nuclear")]()
    penalty = sum(lam * size(w) for lam, w in zip((0.1, 0.3), stack, strict=True))
    expected = sum(map(fit, residuals)) + penalty + problem.tau * coupling + 0.25
    assert problem.value(stack) == pytest.approx(expected, rel=1e-12)
    assert problem.value(stack, 7.0) == pytest.approx(expected - penalty + 7.0, rel=1e-12)


def test_residuals_below_rounding_count_as_an_exact_fit():
    problem = problem_of(coupling="none", tau=0.0)
    target = sum(np.sum(t**2) for t in problem.targets)
    below, above = (
        np.stack([(1 - factor * EXACT_FIT_TOLERANCE) * np.eye(8)] * 2) for factor in (0.5, 3.0)
    )
    assert problem.value(below, 0.0) == 0.0
    expected = (3 * EXACT_FIT_TOLERANCE) ** 2 * target
    assert problem.value(above, 0.0) == pytest.approx(expected, rel=0.5)
    assert replace(problem, datafit=Ball(np.full(8, 1e-30))).value(0.0 * below, 0.0) == np.inf


def test_missing_samples_have_no_residual():
    observed = np.ones((2, 8), dtype=bool)
    observed[0, 3] = observed[1, 5] = False
    problem = problem_of(observed=observed)
    complete, found = problem_of().residuals(random_stack()), problem.residuals(random_stack())
    for view, missing in enumerate((3, 5)):
        assert not found[view][:, missing].any()
        np.testing.assert_array_equal(
            np.delete(found[view], missing, 1), np.delete(complete[view], missing, 1)
        )


def test_shape_has_one_number_for_each_side_of_the_coefficients():
    problem = problem_of()
    wide = replace(problem, targets=[np.zeros((5, 11)), np.zeros((6, 11))])
    assert wide.shape == (2, 8, 11)
    assert problem.coupled
    assert not problem_of(coupling="none", tau=0.0).coupled


def test_right_vectors_are_in_the_coordinates_of_the_columns():
    problem = problem_of()
    for given, view in zip(problem.right_vectors, problem.spectra, strict=True):
        np.testing.assert_array_equal(given, view.right)
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))
    rotated = replace(problem, targets=[f @ rotation for f in problem.factors])
    for given, view in zip(rotated.right_vectors, rotated.spectra, strict=True):
        np.testing.assert_allclose(given, view.right @ rotation, atol=1e-10)
    known = [Spectrum(np.ones(1), np.ones((1, 8)))] * 2
    assert replace(problem, known_spectra=known).spectra is known


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_the_bound_of_any_dual_point_is_below_any_objective(axes):
    """Weak duality holds for random and for nearly optimal dual points of any size."""
    problem = replace(problem_of(**axes), offset=0.25)
    solution = admm(problem, tol=1e-3)
    values = [
        problem.value(random_stack(seed, scale)) for seed in range(5) for scale in (0.0, 0.01, 0.1)
    ]
    best = min([*values, solution.objective])
    rng = np.random.default_rng(0)
    for scale in (0.0, 0.01, 1.0, 100.0):
        for noise in (0.0, 0.1, 1.0):
            dual = [scale * (y + noise * rng.normal(size=y.shape)) for y in solution.dual]
            multiplier = scale * (
                solution.multiplier + noise * rng.normal(size=solution.multiplier.shape)
            )
            if not problem.coupled:
                multiplier = np.zeros_like(multiplier)
            assert problem.certificate(dual, multiplier).bound <= best * (1 + 1e-9)
    zero = problem.certificate([np.zeros_like(t) for t in problem.targets], np.zeros(problem.shape))
    assert zero.bound == pytest.approx(0.25)


@pytest.mark.parametrize("axes", AXES, ids=str)
def test_the_optimal_dual_point_gives_a_tight_bound_at_any_scale(axes):
    """A point that is too large is scaled down; without coupling a small one is scaled up."""
    problem = replace(problem_of(**axes), offset=0.25)
    solution = admm(problem, tol=1e-4)
    for scale in (1.0, 3.0) if problem.coupled else (1.0, 3.0, 0.2):
        dual = [scale * y for y in solution.dual]
        bound = problem.certificate(dual, scale * solution.multiplier).bound
        allowed = 1e-4 if scale == 1.0 else 0.2
        assert solution.objective * (1 - allowed) <= bound <= solution.objective


def test_the_first_bound_that_is_enough_is_returned():
    """The best bound is at least as tight as the first one."""
    problem = problem_of()
    solution = admm(problem, tol=1e-3)
    point = problem.smooth_dual(solution.stack), solution.multiplier
    first = problem.certificate(*point, enough=-1.0)
    best = problem.certificate(*point)
    assert first.bound < best.bound <= solution.objective
    assert problem.certificate(*point, enough=first.bound).bound == first.bound
    assert problem.certificate(*point, enough=best.bound).bound == best.bound
    assert len(best.excess) == 2


def test_a_view_with_zero_lam_is_certified_by_its_coupling():
    problem = problem_of(lam=(0.0, 0.3))
    solution = admm(problem, tol=1e-5)
    assert solution.status == "optimal"
    assert solution.gap <= 1e-5


def test_scale_limit_is_one_over_the_worst_violation():
    worst = np.array([[0.5, 2.0], [0.0, np.nan], [np.inf, 4.0]])
    largest = np.finfo(float).max
    np.testing.assert_array_equal(
        scale_limit(worst, 0.0), [[2.0, 0.5], [largest, 0.0], [0.0, 0.25]]
    )
    np.testing.assert_array_equal(scale_limit(np.array([0.5, 4.0]), 1.0), [1.0, 0.25])


def test_the_best_scale_of_a_dual_point():
    """s·linear − s²·conjugate is largest at linear / (2 conjugate), if that is feasible."""
    problem = problem_of()
    linear, conjugate = np.array([[3.0, 1.0], [1.0, 1.0]]), np.array([[0.5, 0.5], [2.0, 0.0]])
    per_view = problem._scaled(linear, conjugate, np.array([[10.0], [0.1]]))
    assert per_view == pytest.approx(2.0 * 4.0 - 4.0 * 1.0 + 0.1 * 2.0 - 0.01 * 2.0)
    per_sample = problem._scaled(linear, conjugate, np.array([[1.0, 10.0], [10.0, 10.0]]))
    assert per_sample == pytest.approx((3.0 - 0.5) + (1.0 - 0.5) + (0.25 - 0.125) + 0.0)
    assert problem._scaled(-linear, conjugate, np.array([[1.0], [1.0]])) == 0.0
    robust = problem_of(datafit="l12")
    found = robust._scaled(linear, conjugate, np.array([[2.0, 2.0], [3.0, 3.0]]))
    assert found == pytest.approx(2.0 * 3.0 + 3.0 * 1.0)
    assert robust._scaled(linear, conjugate, np.array([[2.0], [3.0]])) == pytest.approx(2.0 * 3.0)


def test_a_restricted_problem_has_the_objective_of_the_full_one():
    problem = replace(problem_of(), offset=0.25)
    directions, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 3)))
    small = problem.restrict(directions)
    stack = 0.3 * np.random.default_rng(1).normal(size=(2, 3, 3))
    assert small.shape == (2, 3, 3)
    assert small.value(stack) == pytest.approx(
        problem.value(directions @ stack @ directions.T), rel=1e-12
    )
    known = replace(problem, known_spectra=problem.spectra).restrict(directions)
    assert known.known_spectra is None
    np.testing.assert_allclose(
        known.spectra[0].values, np.linalg.svd(problem.factors[0] @ directions)[1]
    )


def test_smooth_dual_is_the_gradient_of_the_fit():
    problem, stack = problem_of(datafit="half_frobenius"), random_stack()
    for dual, residual in zip(problem.smooth_dual(stack), problem.residuals(stack), strict=True):
        np.testing.assert_array_equal(dual, residual)
    for dual, residual in zip(
        problem_of().smooth_dual(stack), problem.residuals(stack), strict=True
    ):
        np.testing.assert_array_equal(dual, 2.0 * residual)


def test_rank_one_is_zero_for_multiples_of_one_matrix_and_infinite_otherwise():
    coupling, rng = RankOne(), np.random.default_rng(0)
    multiples = np.multiply.outer([1.0, -2.0, 0.5], np.array([[1.0, 2.0], [3.0, -1.0]]))
    for stack in (multiples, multiples[:1], np.zeros((3, 2, 2))):
        assert coupling.value(stack) == 0.0
    noise = rng.normal(size=multiples.shape)
    assert coupling.value(multiples + 1e-6 * noise) == np.inf
    different = rng.normal(size=(2, 2, 2))
    assert coupling.value(different) == coupling.value(1e-12 * different) == np.inf
    assert coupling.polar(np.zeros((2, 3, 3))) == 0.0
    assert coupling.polar(multiples) == np.inf
    np.testing.assert_allclose(
        row_singular_values(multiples), np.linalg.svd(multiples.reshape(3, 4))[1], atol=1e-14
    )


def test_the_prox_of_rank_one_is_the_leading_singular_triple():
    stack = np.random.default_rng(0).normal(size=(3, 2, 2))
    nearest = RankOne().prox(stack, 7.0)
    assert RankOne().value(nearest) == 0.0
    left, values, right = np.linalg.svd(stack.reshape(3, 4), full_matrices=False)
    np.testing.assert_allclose(nearest.reshape(3, 4), values[0] * np.outer(left[:, 0], right[0]))


def test_the_prox_of_no_coupling_is_the_identity():
    stack = random_stack()
    assert Uncoupled().prox(stack, 5.0) is stack


def test_shrinkage_thresholds_singular_values():
    matrix = np.random.default_rng(0).normal(size=(3, 9))
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    threshold = values[1] * 1.01
    expected = (left * np.maximum(values - threshold, 0)) @ right
    np.testing.assert_allclose(
        shrinkage(matrix @ matrix.T, threshold) @ matrix, expected, atol=1e-12
    )
    assert not shrinkage(np.zeros((3, 3)), 0.0).any()
    assert np.isfinite(shrinkage(-1e-18 * np.eye(3), 0.0)).all()


def test_with_zero_lam_only_the_zero_matrix_is_feasible():
    found = relative(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.0, 2.0]))
    np.testing.assert_array_equal(found, [0.0, np.inf, 1.5])


def test_directions_outside_the_ball_are_singular_vectors():
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(5, 5))
    left, values, right = np.linalg.svd(matrix)
    excess = Nuclear().excess(matrix, np.array(values[2]))
    assert isinstance(excess, SpectralExcess)
    found = excess.directions(1.0001)
    assert found.shape == (5, 4)
    expected = np.hstack([left[:, :2], right[:2].T])
    np.testing.assert_allclose(np.abs((found * expected).sum(axis=0)), 1.0)
    np.testing.assert_allclose(excess.values, values)
    np.testing.assert_allclose(
        excess.beyond(1.0001),
        (left * np.maximum(values - 1.0001 * values[2], 0)) @ right,
        atol=1e-9,
    )


def test_entries_outside_their_own_bounds():
    excess = EntryExcess(np.array([[3.0, -4.0], [0.5, 1.0]]), np.array([[1.0, 2.0], [1.0, 4.0]]))
    assert excess.worst == 3.0
    np.testing.assert_array_equal(excess.beyond(1.0), [[2.0, -2.0], [0.0, 0.0]])
    np.testing.assert_array_equal(excess.beyond(2.0), [[1.0, 0.0], [0.0, 0.0]])
    assert EntryExcess(np.zeros((0, 0)), np.zeros((0, 0))).worst == 0.0


def test_l1_penalty_with_one_weight_per_sample_and_a_free_diagonal():
    matrix, lam = np.array([[9.0, -2.0], [3.0, 8.0]]), np.array([1.0, 4.0])
    penalty = ZeroDiagonalL1()
    np.testing.assert_array_equal(penalty.polar(matrix, lam), [3.0, 0.5])
    assert matrix[0, 0] == 9.0  # the argument is not changed
    assert penalty.excess(matrix, lam).worst == 3.0
    np.testing.assert_array_equal(penalty.excess(matrix, lam).beyond(1.0), [[0.0, 0.0], [2.0, 0.0]])
    prox, value = penalty.prox_and_value(matrix, lam)
    np.testing.assert_array_equal(prox, [[0.0, 0.0], [2.0, 0.0]])
    assert value == penalty.value(prox, lam) == 2.0
    assert penalty.value(np.array([[0.0, -2.0], [3.0, 0.0]]), lam) == 11.0
    assert penalty.value(matrix, lam) == np.inf
    np.testing.assert_array_equal(penalty.polar(matrix, np.array(2.0)), [1.5, 1.0])


@pytest.mark.parametrize("shape", [(3, 7), (7, 3), (5, 5)])
@pytest.mark.parametrize("threshold", [0.8, 1e-9])
def test_singular_value_thresholding_with_and_without_a_gram_matrix(shape, threshold):
    matrix = np.random.default_rng(0).normal(size=shape)
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    shrunk = np.maximum(values - threshold, 0.0)
    prox, value = Nuclear().prox_and_value(matrix, np.array(threshold))
    np.testing.assert_allclose(prox, (left * shrunk) @ right, atol=1e-12)
    assert value == pytest.approx(threshold * shrunk.sum(), rel=1e-12)
    np.testing.assert_allclose(Nuclear().polar(matrix, np.array(2.0)), [values[0] / 2])


def test_datafits_equal_their_definitions():
    residual = np.array([[3.0, 0.0, -1.0], [4.0, 0.0, 1.0]])
    np.testing.assert_array_equal(squared_lengths(residual), [25.0, 0.0, 2.0])
    assert Frobenius().value(residual) == 27.0
    assert Frobenius(1.0).value(residual) == 13.5
    assert L12().value(residual) == pytest.approx(5.0 + np.sqrt(2))
    assert L1().value(residual) == 9.0
    np.testing.assert_array_equal(Frobenius(2.0).conjugate(residual), [6.25, 0.0, 0.5])
    np.testing.assert_array_equal(Frobenius(0.5).prox(residual, 2.0), residual / 2.0)
    assert Frobenius().polar(residual) == 0.0
    assert L12().polar(residual) == 5.0
    assert L1().polar(residual) == 4.0
    assert L1().polar(np.zeros((2, 0))) == L12().polar(np.zeros((2, 0))) == 0.0
    np.testing.assert_array_equal(L1().prox(residual, 1.0), [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    np.testing.assert_array_equal(L1().conjugate(residual), np.zeros(3))
    np.testing.assert_array_equal(L12().conjugate(residual), np.zeros(3))


def test_ball_contains_its_surface():
    ball = Ball(np.array([5.0, 0.0, 1.0]))
    residual = np.array([[3.0, 0.0, 0.0], [4.0, 0.0, 1.0 + 1e-13]])
    assert ball.value(residual) == 0.0
    assert ball.value(1.00001 * residual) == np.inf
    assert ball.polar(residual) == 0.0
    np.testing.assert_allclose(ball.conjugate(np.ones((2, 3))), np.sqrt(2) * ball.radius)
    np.testing.assert_allclose(ball.prox(2.0 * residual, 0.7), residual, rtol=1e-12)


def test_empty_arrays_have_dual_norm_zero():
    assert L12Coupling().polar(np.zeros((2, 0, 3))) == 0.0
    assert ZeroDiagonalL1().polar(np.zeros((0, 0)), np.array(1.0)).shape == (0,)


def test_a_dual_violation_is_shared_between_penalty_and_coupling():
    """The ball of the penalty grows to κλ with κ = 1 + share·(worst − 1)₊; M absorbs the rest."""
    problem = problem_of(lam=(0.5, 0.1), tau=0.7)
    rng = np.random.default_rng(0)
    slack = [0.1 * rng.normal(size=(8, 8)), rng.normal(size=(8, 8))]
    excess = [
        problem.penalty.excess(block, lam) for block, lam in zip(slack, problem.lam, strict=True)
    ]
    assert excess[0].worst < 1.0 < excess[1].worst
    multiplier, exact = rng.normal(size=(2, 8, 8)), [np.zeros((8, 8))] * 2
    found = list(problem._coupled_limits(excess, multiplier, 0.3, exact))
    for share, limit in zip(ABSORBED_SHARES, found, strict=True):
        kappa = np.array([1.0, 1.0 + share * (excess[1].worst - 1.0)])
        beyond = np.stack([view.beyond(k) for view, k in zip(excess, kappa, strict=True)])
        norm = np.linalg.norm((multiplier + beyond).reshape(2, -1), 2)
        np.testing.assert_allclose(limit.ravel(), 1.0 / np.maximum(kappa, norm / 0.7))
        assert limit.shape == (2, 1)
    inside = [
        problem.penalty.excess(0.01 * block, lam)
        for block, lam in zip(slack, problem.lam, strict=True)
    ]
    for limit in problem._coupled_limits(inside, 0.0 * multiplier, 0.0, exact):
        np.testing.assert_array_equal(limit, np.ones((2, 1)))  # a feasible point is not scaled
    weightless = [problem.penalty.excess(block, np.array(0.0)) for block in slack]
    (only,) = problem._coupled_limits(weightless, multiplier, 0.3, exact)
    norm = np.linalg.norm((multiplier + np.stack(slack)).reshape(2, -1), 2)
    np.testing.assert_allclose(only.ravel(), min(1.0, 0.7 / norm))
    (limit, *_) = problem._coupled_limits(excess, 0.0 * multiplier, 100.0, exact)
    np.testing.assert_allclose(limit.ravel(), 0.01)


def test_the_bound_of_uncoupled_views_follows_from_their_dual_norms():
    problem = problem_of(coupling="none", tau=0.0)
    dual = [np.ones_like(t) for t in problem.targets]
    certificate = problem.certificate(dual, np.zeros(problem.shape))
    assert certificate.excess == []
    bound = 0.0
    for y, t, f, lam in zip(dual, problem.targets, problem.factors, problem.lam, strict=True):
        linear, conjugate = np.sum(y * t), np.sum(y**2) / 4.0
        scale = np.clip(linear / (2 * conjugate), 0.0, lam / np.linalg.norm(f.T @ y, 2))
        bound += scale * linear - scale**2 * conjugate
    assert certificate.bound == pytest.approx(bound)
