"""Objective and certified gap of the solvers against a generic convex solver."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.problems import nuclear_norm_of_rows, optimum, random_views

SHAPES = [
    ((6,), 8, None),
    ((10,), 7, None),
    ((3, 4), 9, None),
    ((5, 9), 8, None),
    ((12, 10), 7, 3),
    ((2, 3, 2), 8, None),
    ((4, 8, 3), 6, None),
]
WEIGHTS = [(0.1, 0.5), (0.02, 2.0), (0.6, 0.1)]
PROBLEMS = [
    pytest.param(shape, weights, seed, id=f"{len(shape[0])}views-{shape[1]}samples-{seed}")
    for seed, (shape, weights) in enumerate(
        (shape, weights) for shape in SHAPES for weights in WEIGHTS
    )
]


@pytest.mark.parametrize("shape", [(1, 6), (3, 10), (4, 4)])
def test_the_generic_solver_minimises_the_nuclear_norm(shape):
    """The small cones of ``nuclear_norm_of_rows`` give the sum of the singular values."""
    matrix = np.random.default_rng(0).normal(size=shape)
    norm, cones = nuclear_norm_of_rows(cp.Constant(matrix))
    smallest = cp.Problem(cp.Minimize(norm), cones).solve(solver=cp.CLARABEL)
    assert smallest == pytest.approx(np.linalg.norm(matrix, "nuc"), rel=1e-7)


@pytest.mark.parametrize(("shape", "weights", "seed"), PROBLEMS)
def test_clrsc_reaches_the_optimum_and_every_gap_holds(shape, weights, seed):
    n_features, n_samples, rank = shape
    views = random_views(seed, n_features, n_samples, rank)
    lam = weights[0] * np.random.default_rng(seed).uniform(0.5, 2.0, len(views))
    best = optimum(views, lam, weights[1])
    result = viewspan.solve(views, lam, weights[1], tol=1e-7)
    assert result.status == "optimal"
    assert abs(result.objective - best) <= 1e-6 * best
    assert result.dual_bound <= best * (1 + 1e-7)
    for max_iter in (1, 3, 10):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            early = viewspan.solve(views, lam, weights[1], tol=1e-12, max_iter=max_iter)
        assert early.gap >= 0.0
        assert early.gap >= (early.objective - best) / early.objective - 1e-7


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    ("axes", "tau"),
    [
        ({"datafit": "l12", "coupling": "none"}, 0.0),
        ({"datafit": "half_frobenius", "penalty": "l1", "coupling": "none"}, 0.0),
        ({"datafit": "l12", "coupling": "l12"}, 0.05),
        ({"datafit": "l12", "coupling": "nuclear"}, 0.3),
        ({"datafit": "l1", "coupling": "nuclear"}, 0.3),
        ({"datafit": "l1", "coupling": "none"}, 0.0),
        ({"datafit": "l1", "penalty": "l1", "coupling": "nuclear"}, 0.3),
        ({"datafit": "frobenius", "penalty": "l1", "coupling": "nuclear"}, 0.3),
        ({"datafit": "frobenius", "coupling": "none"}, 0.0),
    ],
    ids=[
        "lrr-l12",
        "ssc",
        "mlap",
        "l12-nuclear",
        "l1-nuclear",
        "lrr-l1",
        "l1-l1",
        "collaborative-ssc",
        "lrr",
    ],
)
def test_other_members_of_the_family_reach_the_optimum(axes, tau, seed):
    views = random_views(seed)
    lam = [0.1, 0.25]
    best = optimum(views, lam, tau, **axes)
    result = viewspan.solve(views, lam, tau, tol=1e-6, max_iter=20000, **axes)
    assert abs(result.objective - best) <= 1e-5 * best
    assert result.dual_bound <= best * (1 + 1e-6)
    assert result.gap <= 1e-6


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_features", [(5, 9), (3, 4)], ids=["wide", "narrow"])
@pytest.mark.parametrize("datafit", ["frobenius", "l12", "l1"])
def test_missing_samples_are_left_out_of_the_fit(datafit, n_features, seed):
    views = random_views(seed, n_features)
    observed = np.ones((2, 8), dtype=bool)
    observed[0, [1, 4]] = observed[1, 6] = False
    given = [
        np.where(present[:, None], view, np.nan)
        for view, present in zip(views, observed, strict=True)
    ]
    zeroed = [np.nan_to_num(view) for view in given]
    best = optimum(zeroed, [0.1, 0.25], 0.3, datafit=datafit, observed=observed)
    result = viewspan.solve(
        given, [0.1, 0.25], 0.3, datafit=datafit, missing="allow", tol=1e-6, max_iter=20000
    )
    assert abs(result.objective - best) <= 1e-5 * best
    assert result.dual_bound <= best * (1 + 1e-6)
    assert result.gap <= 1e-6
    if datafit == "frobenius":  # the coupling fills in the coefficients of missing samples
        assert np.abs(result.coefficients[0][:, [1, 4]]).max() > 1e-3


def test_missing_samples_are_an_error_unless_they_are_allowed():
    views = random_views(0)
    views[1][3] = np.nan
    with pytest.raises(
        ValueError, match=r"view 1 contains NaN in 9 of its 72 values.*missing='allow'"
    ):
        viewspan.solve(views, 0.1)


def test_ssc_takes_a_weight_per_sample():
    views = random_views(3, (6,), 8)
    lam = np.random.default_rng(0).uniform(0.05, 0.3, (1, 8))
    axes = {"datafit": "half_frobenius", "penalty": "l1", "coupling": "none"}
    best = optimum(views, lam, 0.0, **axes)
    result = viewspan.solve(views, lam, **axes, tol=1e-7)
    assert abs(result.objective - best) <= 1e-5 * best
    assert not np.diagonal(result.coefficients[0]).any()


def test_coefficients_are_zero_above_the_largest_tau_only():
    """The largest τ is ‖·‖₂ of the matrix with rows vec((2G_i − λ_i I)₊)."""
    views = random_views(0)
    lam = np.array([0.2, 0.3])
    rows = []
    for view, weight in zip(views, lam, strict=True):
        values, vectors = np.linalg.eigh(2 * view @ view.T)
        rows.append(((vectors * np.maximum(values - weight, 0)) @ vectors.T).ravel())
    tau_max = np.linalg.norm(np.array(rows), 2)
    above = viewspan.solve(views, lam, 1.001 * tau_max, tol=1e-9)
    below = viewspan.solve(views, lam, 0.9 * tau_max, tol=1e-9)
    assert np.abs(above.cores).max() < 1e-6
    assert np.abs(below.cores).max() > 1e-3


@pytest.mark.parametrize("which", ["lam", "tau"])
def test_zero_weights_have_a_certificate(which):
    views = random_views(1)
    lam, tau = ([0.0, 0.2], 0.5) if which == "lam" else ([0.1, 0.2], 0.0)
    best = optimum(views, lam, tau)
    result = viewspan.solve(views, lam, tau, tol=1e-6)
    assert abs(result.objective - best) <= 1e-5 * best
    assert result.status == "optimal"


def test_reaching_max_iter_warns_with_the_certified_gap():
    views = random_views(2)
    with pytest.warns(ConvergenceWarning, match=r"proven to be within .* of the optimum"):
        result = viewspan.solve(views, 0.1, 1.0, max_iter=1, tol=1e-12)
    assert result.status == "max_iter"
    assert result.history[-1].gap == result.gap


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"lam": -1.0}, "lam must be finite and at least 0"),
        ({"lam": [0.1, np.nan]}, "lam must be finite"),
        ({"lam": "auto"}, "lam must be a number.*only the estimators choose it"),
        ({"tau": "auto"}, "tau must be finite"),
        ({"lam": [0.1] * 3}, r"one per view \(2,\)\. Got an array of shape \(3,\)"),
        ({"lam": np.ones((2, 8))}, r"Got an array of shape \(2, 8\)"),
        ({"tau": -1.0}, "tau must be finite and at least 0"),
        ({"tol": 0.0}, "tol must be positive"),
        ({"max_iter": 0}, "max_iter must be at least 1"),
        ({"solver": "newton"}, "solver must be one of 'admm', 'ladmpsap', 'ladmap'. Got 'newton'"),
        ({"datafit": "l7"}, "datafit must be one of 'frobenius', 'half_frobenius', 'l12'"),
        ({"penalty": "l7"}, "penalty must be one of"),
        ({"coupling": "l7"}, "coupling must be one of"),
    ],
    ids=str,
)
def test_errors_name_the_wrong_argument(arguments, message):
    with pytest.raises(ValueError, match=message):
        viewspan.solve(random_views(0), **({"lam": 0.1, "tau": 0.5} | arguments))


def test_a_zero_view_has_zero_coefficients():
    views = [random_views(0, (20,), 10)[0], np.zeros((10, 15))]
    result = viewspan.solve(views, 0.1, 0.5, tol=1e-6)
    assert result.status == "optimal"
    assert np.abs(result.cores[1]).max() <= 1e-6
