"""Extreme inputs, on which certificates, iterations or reductions once failed."""

import warnings

import numpy as np
import pytest

import viewspan
from tests.problems import full_problem, random_views
from viewspan.objective.reduction import reduce_views

AXES = [
    {},
    {"coupling": "none"},
    {"datafit": "l12", "coupling": "none"},
    {"datafit": "l12", "coupling": "l12"},
    {"datafit": "half_frobenius", "penalty": "l1", "coupling": "none"},
]


def ill_conditioned(small, n_samples=10, n_features=15):
    rng = np.random.default_rng(0)
    left, _, right = np.linalg.svd(rng.normal(size=(n_samples, n_features)), full_matrices=False)
    return (left * np.array([1.0] * 3 + [small] * (n_samples - 3))) @ right


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("small", [1e-4, 1e-7, 1e-8, 1e-12])
@pytest.mark.filterwarnings("ignore:The solver reached max_iter")
def test_the_bound_holds_for_ill_conditioned_wide_views(axes, small):
    """The ℓ1,2 fit depends on singular values that a Gram matrix would lose."""
    views = [ill_conditioned(small), ill_conditioned(1.0)[:, ::-1]]
    lam, tau = [0.01, 0.02], 0.01
    result = viewspan.solve(views, lam, tau, tol=1e-6, max_iter=5000, **axes)
    by_hand = full_problem(views, lam, tau, **axes).value(np.stack(result.coefficients))
    assert result.objective == pytest.approx(by_hand, rel=1e-9)
    assert result.dual_bound <= by_hand * (1 + 1e-9)


@pytest.mark.parametrize("shape", [(20, 30), (60, 12)], ids=["wide", "narrow"])
@pytest.mark.parametrize("scale", [1e4, 1e8, 1e12])
def test_a_small_view_next_to_a_large_one_keeps_its_directions(shape, scale):
    n_samples, n_features = shape
    large, small = (
        random_views(0, (n_features,), n_samples, 2)[0],
        random_views(1, (n_features,), n_samples, 2)[0],
    )
    weights = [0.1 * np.linalg.norm(scale * large, 2) ** 2, 0.1 * np.linalg.norm(small, 2) ** 2]
    together = viewspan.solve([scale * large, small], weights).coefficients[1]
    alone = viewspan.solve([small], weights[1]).coefficients[0]
    np.testing.assert_allclose(together, alone, atol=1e-8)


@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.parametrize("scale", [1e-50, 1e-3, 1e3, 1e50])
def test_the_solver_is_independent_of_the_scale_of_the_data(axes, scale):
    views = random_views(2, (6, 9), 12)
    unit = scale if axes.get("datafit") == "l12" else scale**2
    reference = viewspan.solve(views, 0.2, 0.1, **axes)
    seen = []
    scaled = viewspan.solve(
        [scale * view for view in views], 0.2 * unit, 0.1 * unit, callback=seen.append, **axes
    )
    assert scaled.n_iter == reference.n_iter
    assert scaled.objective == pytest.approx(unit * reference.objective, rel=1e-8)
    assert scaled.dual_bound == pytest.approx(unit * reference.dual_bound, rel=1e-8)
    assert scaled.history[-1].objective == scaled.objective
    assert seen in ([], scaled.history)


@pytest.mark.parametrize("lam", [0.0, 1e-12, 1e-6, 1.0])
def test_the_closed_form_is_certified_for_any_weight(lam):
    result = viewspan.solve(random_views(3, (20, 5), 12), lam)
    assert result.gap < 1e-9


@pytest.mark.parametrize("lam", [1e3, 1e100])
@pytest.mark.parametrize("datafit", ["frobenius", "l12"])
def test_very_large_weights_give_a_certified_zero(lam, datafit):
    result = viewspan.solve(random_views(4), lam, 1.0, datafit=datafit)
    assert result.gap < 1e-4
    assert np.abs(result.cores).max() < 1e-9


@pytest.mark.parametrize("scale", [1e-4, 1e-3, 1e-2, 0.1, 1.0])
@pytest.mark.filterwarnings("ignore:The solver reached max_iter")
def test_ladmpsap_does_not_diverge_on_data_of_any_scale(scale):
    """The released step leaves out the coupling's curvature and diverges below a norm of 0.6.

    μ depends on the scale of the data, so on tiny data the iteration is slow. It must not become
    worse than its starting point.
    """
    views = [scale * view for view in random_views(5, (6, 6), 12)]
    weights = 0.3 * scale**2, 0.1 * scale**2
    pressed = viewspan.solve(views, *weights, solver="ladmpsap", tol=1e-9, max_iter=3000)
    assert pressed.objective <= sum(np.linalg.norm(view) ** 2 for view in views) * (1 + 1e-9)
    if scale >= 0.1:
        assert pressed.objective == pytest.approx(
            viewspan.solve(views, *weights, tol=1e-8).objective, rel=1e-4
        )


@pytest.mark.parametrize("solver", ["admm", "ladmpsap"])
@pytest.mark.parametrize("axes", AXES, ids=str)
@pytest.mark.filterwarnings("ignore:The solver reached max_iter")
def test_all_zero_views_are_solved_by_zero(solver, axes):
    for views in ([np.zeros((5, 9))], [np.zeros((6, 2)), np.zeros((6, 3))]):
        result = viewspan.solve(views, 0.1, 0.1, solver=solver, **axes)
        assert result.objective == result.gap == 0.0
        assert not np.stack(result.coefficients).any()


def test_an_l12_fit_of_clean_data_converges_quickly():
    """Coefficients and residuals have different units; one ρ for both took 2000 iterations."""
    rng = np.random.default_rng(0)
    views = [
        np.vstack([rng.normal(size=(10, 2)) @ rng.normal(size=(2, width)) for _ in range(3)])
        + 0.01 * rng.normal(size=(30, width))
        for width in (20, 25)
    ]
    model = viewspan.LRR(3, datafit="l12", random_state=0).fit(views)
    assert model.dual_gap_ <= 1e-4
    assert model.n_iter_ < 500


@pytest.mark.parametrize("scale", [1e-2, 1e2, 1e12])
@pytest.mark.parametrize(
    "model",
    [
        viewspan.CLRSC(2, normalize=False, random_state=0),
        viewspan.LRR(2, normalize=False, datafit="l12", random_state=0),
        viewspan.SSC(2, normalize=False, random_state=0),
        viewspan.MLAP(2, normalize=False, random_state=0),
    ],
    ids=repr,
)
def test_estimators_without_normalisation_are_independent_of_the_scale(model, scale):
    views = [view * np.linspace(0.5, 2, 20)[:, None] for view in random_views(6, (8, 9), 20, 4)]
    reference = model.fit(views)
    labels, similarity = reference.labels_.copy(), reference.view_similarity_
    scaled = model.fit([scale * view for view in views])
    np.testing.assert_array_equal(scaled.labels_, labels)
    np.testing.assert_allclose(scaled.view_similarity_, similarity, atol=1e-4)


@pytest.mark.parametrize("datafit", ["frobenius", "l12", "l1"])
@pytest.mark.parametrize("masked", [False, True])
def test_zero_weights_give_an_exact_fit(datafit, masked):
    views = random_views(2, (5, 4), 9)
    if masked:
        views[0][1] = np.nan
    result = viewspan.solve(views, 0.0, datafit=datafit, missing="allow")
    assert result.objective == 0.0
    assert result.status == "optimal"


def test_no_result_is_worse_than_zero_coefficients():
    """The scales of the views are too different to be balanced in a few iterations."""
    first, second = random_views(3, (5, 4), 9)
    for axes in (
        {"coupling": "rank_one"},
        {"penalty": "l1", "tau": 1.0},
        {"datafit": "l1", "tau": 1.0},
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = viewspan.solve([1e9 * first, 1e-9 * second], 1.0, **axes, max_iter=50)
        at_zero = (
            1e9 * np.abs(first).sum() if axes.get("datafit") == "l1" else 1e18 * np.sum(first**2)
        )
        assert result.objective <= at_zero * (1 + 1e-12)


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize(
    "axes", [{}, {"datafit": "l12"}, {"coupling": "rank_one", "tau": 0.0}], ids=str
)
def test_views_of_low_rank_are_solved_in_their_joint_basis(axes, rank):
    """Singular vectors of rounding errors lie outside the basis and must be left out."""
    views = [*random_views(0, (5, 9), 12, rank), np.zeros((12, 4))]
    weights = {"lam": 0.1, "tau": axes.get("tau", 0.5)}
    names = {key: value for key, value in axes.items() if key != "tau"}
    result = viewspan.solve(views, **weights, **names, tol=1e-3)
    assert result.status in ("optimal", "stationary")
    assert result.left.shape == (12, 2 * rank)
    full = full_problem(views, weights["lam"], weights["tau"], **names)
    assert full.value(np.stack(result.coefficients)) == pytest.approx(result.objective, rel=1e-9)
    for spectrum in reduce_views(views).spectra:
        np.testing.assert_allclose(
            spectrum.right @ spectrum.right.T, np.eye(len(spectrum.values)), atol=1e-12
        )
