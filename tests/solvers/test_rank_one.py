"""The strict objective with coupling="rank_one"."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.objective.own_objects import PlainQuadratic
from tests.problems import full_problem, optimum, random_views, two_subspaces
from viewspan.solvers.rank_one import (
    Descent,
    ScalesObjective,
    shared_problem,
    solve_rank_one,
    uncoupled_bound,
)

LAM = np.array([0.1, 0.25])


def problem_of(seed, penalty="nuclear"):
    return full_problem(random_views(seed), LAM, 0.0, penalty=penalty, coupling="rank_one")


def strict_value(views, scales, shared, lam=LAM):
    """Return the paper's objective (obj1) from its definition."""
    fits = [np.linalg.norm(x.T - a * x.T @ shared) ** 2 for x, a in zip(views, scales, strict=True)]
    return sum(fits) + np.abs(scales) @ lam * np.linalg.norm(shared, "nuc")


@pytest.mark.parametrize("seed", range(4))
def test_all_coefficients_are_multiples_of_one_matrix(seed):
    views = random_views(seed, (5, 9, 4))
    result = viewspan.solve(views, 0.2, coupling="rank_one")
    stack = np.array([z.ravel() for z in result.coefficients])
    values = np.linalg.svd(stack, compute_uv=False)
    assert values[1] <= 1e-10 * values[0]
    assert result.cores.shape == (1, 8, 8)
    assert np.abs(result.scales).max() == 1.0
    value = strict_value(views, result.scales, result.coefficient(0), np.full(3, 0.2))
    assert result.objective == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("start", [[1.0, 1.0], [0.2, 3.0], [-1.0, 2.0]])
def test_the_objective_never_increases(seed, start):
    problem = problem_of(seed)
    descent = Descent(problem, np.array(start), uncoupled_bound(problem))
    descent.follow(1e-7, 1e-6, n_rounds=100, max_iter=20000)
    objectives = [check.objective for check in descent.history]
    assert len(objectives) > 2
    assert (np.diff(objectives) <= 0.0).all()
    assert descent.solution(1e-6).status == "stationary"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("penalty", ["nuclear", "l1"])
def test_no_step_lowers_the_objective_at_a_stationary_point(seed, penalty):
    """Z is optimal for α by cvxpy, α for Z on a grid, and small random steps do not help."""
    problem = problem_of(seed, penalty)
    solution = solve_rank_one(problem, tol=1e-8, max_iter=100000)
    assert solution.status == "stationary"
    scales, shared = solution.scales, solution.stack[0]
    best = optimum_for(problem, scales, penalty)
    assert shared_problem(problem, scales).value(shared[None]) == pytest.approx(
        solution.objective, rel=1e-9
    )
    assert solution.objective <= best * (1 + 1e-6)
    terms = ScalesObjective.at(problem, shared)
    for view in range(2):
        grid = np.tile(scales, (401, 1))
        grid[:, view] = np.linspace(-2, 2, 401)
        assert terms.value(scales) <= min(terms.value(row) for row in grid) + 1e-6
    rng = np.random.default_rng(seed)
    for size in (1e-2, 1e-3):
        for _ in range(50):
            moved = shared + size * (shared != 0) * rng.normal(size=shared.shape)
            changed = scales + size * rng.normal(size=2)
            value = sum(
                problem.datafit.value(t - a * f @ moved)
                + abs(a) * problem.penalty.value(moved, lam)
                for t, f, a, lam in zip(
                    problem.targets, problem.factors, changed, problem.lam, strict=True
                )
            )
            assert value >= solution.objective * (1 - 1e-6)


def optimum_for(problem, scales, penalty):
    """Return the least objective at given scales, by cvxpy."""
    z = cp.Variable(problem.shape[1:])
    norm = cp.normNuc(z) if penalty == "nuclear" else cp.sum(cp.abs(z))
    terms = [
        cp.sum_squares(target - scale * factor @ z) + lam * abs(scale) * norm
        for target, factor, scale, lam in zip(
            problem.targets, problem.factors, scales, problem.lam, strict=True
        )
    ]
    found = cp.Problem(cp.Minimize(sum(terms)), [] if penalty == "nuclear" else [cp.diag(z) == 0])
    found.solve(solver=cp.CLARABEL)
    return float(found.value)


def test_with_all_scales_one_the_shared_matrix_is_lrr_of_joined_features():
    views = random_views(5)
    descent = Descent(problem_of(5), np.ones(2), 0.0)
    descent.follow(1e-9, 1e-8, n_rounds=1, max_iter=10000)
    joined = viewspan.solve(np.hstack(views), LAM.sum(), tol=1e-9)
    assert descent.point.objective == pytest.approx(joined.objective, rel=1e-7)
    np.testing.assert_allclose(descent.point.shared, joined.coefficient(0), atol=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_holds_and_the_convex_coupling_gives_no_better_point_of_rank_one(seed):
    """The point of rank one is the one nearest to the solution with a nuclear coupling."""
    views = random_views(seed)
    strict = viewspan.solve(views, LAM, coupling="rank_one", tol=1e-6)
    assert strict.dual_bound <= optimum(views, LAM, 0.0) * (1 + 1e-7)
    assert strict.dual_bound <= strict.objective
    relaxed = viewspan.solve(views, LAM, 1.0, tol=1e-6)
    stack = np.array([z.ravel() for z in relaxed.coefficients])
    left, values, right = np.linalg.svd(stack, full_matrices=False)
    nearest = strict_value(views, left[:, 0], values[0] * right[0].reshape(8, 8))
    assert strict.objective <= nearest * (1 + 1e-6)


def test_a_view_with_too_large_a_lam_has_scale_zero():
    """The other view has the coefficients of its own LRR."""
    views = random_views(2)
    lam = np.array([0.1, 50.0])
    result = viewspan.solve(views, lam, coupling="rank_one", tol=1e-8)
    np.testing.assert_array_equal(result.scales, [1.0, 0.0])
    alone = viewspan.solve(views[0], 0.1, tol=1e-9)
    assert result.objective == pytest.approx(
        alone.objective + np.linalg.norm(views[1]) ** 2, rel=1e-6
    )


def test_reaching_max_iter_warns_that_the_point_is_not_stationary():
    views = two_subspaces()[0]
    with pytest.warns(ConvergenceWarning, match="is not stationary"):
        result = viewspan.solve(views, 0.1, coupling="rank_one", max_iter=3)
    assert result.status == "max_iter"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"datafit": "l12"},
            "coupling='rank_one' needs a quadratic fit, but datafit='l12' is not quadratic",
        ),
        ({"solver": "ladmpsap"}, "solver='ladmpsap' is for convex couplings"),
        ({"tau": 1.0}, "tau weighs a coupling, and coupling='rank_one' is a constraint"),
    ],
)
def test_errors_name_the_parameter_in_the_way(arguments, message):
    with pytest.raises(ValueError, match=message):
        viewspan.solve(random_views(0), **({"lam": 0.1, "coupling": "rank_one"} | arguments))


def test_a_view_without_a_weight_is_fitted_exactly():
    views = two_subspaces(noise=0.1)[0]
    result = viewspan.solve(views, [1e3, 0.0], coupling="rank_one")
    np.testing.assert_array_equal(result.scales, [0.0, 1.0])
    assert result.status == "stationary"
    assert result.objective == pytest.approx(np.linalg.norm(views[0]) ** 2, rel=1e-3)


def test_small_weights_are_certified_and_max_iter_is_kept():
    views = two_subspaces(noise=0.0)[0]
    result = viewspan.solve(views, 1e-6, coupling="rank_one")
    assert 0.0 < result.dual_bound <= result.objective
    with pytest.warns(ConvergenceWarning):
        assert viewspan.solve(views, 0.1, coupling="rank_one", max_iter=1).n_iter == 1


def test_view_weights_change_the_graphs():
    result = viewspan.solve(two_subspaces()[0], 0.5, coupling="rank_one")
    z = np.abs(result.coefficient(0))
    both, first = (
        viewspan.affinity(result, view_weights=weights) for weights in ([1.0, 1.0], [1.0, 0.0])
    )
    np.testing.assert_allclose(both, np.linalg.norm(result.scales) * (z + z.T))
    np.testing.assert_allclose(first, abs(result.scales[0]) * (z + z.T))
    assert viewspan.pattern_graph(result, view_weights=[0.0, 1.0]).nnz > 0


def test_a_quadratic_fit_of_ones_own_is_solved_with_the_left_side_reduced():
    """It promises no invariance, so its shared matrix has one column per sample."""
    views = random_views(0, (3, 4), 12)
    own = viewspan.solve(views, LAM, coupling="rank_one", tol=1e-6, datafit=PlainQuadratic())
    builtin = viewspan.solve(views, LAM, coupling="rank_one", tol=1e-6)
    assert own.cores.shape == (1, 7, 12)
    assert own.objective == pytest.approx(builtin.objective, rel=1e-6)
    np.testing.assert_allclose(own.coefficients, builtin.coefficients, atol=1e-3)
