"""Checks of every estimator: those of scikit-learn, and the same with several views."""

import functools
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import check_estimator

import viewspan
from tests.problems import two_subspaces

ESTIMATORS = [viewspan.CLRSC, viewspan.LRR, viewspan.SSC, viewspan.MLAP]
LOOSE = {"tol": 1e-2}
"""Tolerance of slow fits whose optimum is not tested."""
VARIANTS = [
    *[build(n_clusters=2, random_state=0) for build in ESTIMATORS[:-1]],
    viewspan.MLAP(n_clusters=2, random_state=0, **LOOSE),
    viewspan.CLRSC(n_clusters=2, random_state=0, solver="ladmpsap", **LOOSE),
    viewspan.CLRSC(n_clusters=2, random_state=0, coupling="rank_one"),
    viewspan.CLRSC(n_clusters=2, random_state=0, penalty="l1"),
    viewspan.CLRSC(n_clusters=2, random_state=0, datafit="l12", **LOOSE),
    viewspan.CLRSC(n_clusters=2, random_state=0, datafit="l1", **LOOSE),
    viewspan.CLRSC(n_clusters=2, random_state=0, missing="allow"),
    viewspan.LRR(n_clusters=2, random_state=0, datafit="l12", **LOOSE),
    viewspan.LRR(n_clusters=2, random_state=0, fusion="concat"),
    viewspan.SSC(n_clusters=2, random_state=0, fusion="concat"),
]

all_estimators = pytest.mark.parametrize("build", ESTIMATORS, ids=lambda build: build.__name__)
all_variants = pytest.mark.parametrize("model", VARIANTS, ids=repr)
pytestmark = pytest.mark.filterwarnings(
    "ignore:The graph has", "ignore:The solver reached max_iter"
)


@functools.cache
def fitted_on_planes(model, noise=0.05):
    """Return a model fitted to two planes in two views. Tests share it and must not change it."""
    return clone(model).fit(two_subspaces(noise=noise)[0])


@pytest.mark.filterwarnings("ignore")
@all_estimators
def test_scikit_learns_own_checks(build):
    """No check fails. scikit-learn skips one of them, which needs an environment variable."""
    tol = 0.1 if build is viewspan.MLAP else 1e-2  # MLAP takes many iterations
    results = check_estimator(build(tol=tol), on_skip=None)
    assert {result["check_name"] for result in results if result["status"] != "passed"} <= {
        "check_array_api_input"
    }


@all_variants
def test_two_planes_in_two_views_are_separated(model):
    _, labels = two_subspaces()
    assert adjusted_rand_score(labels, fitted_on_planes(model).labels_) == 1.0


@all_variants
def test_fitted_attributes_are_consistent(model):
    views, _ = two_subspaces()
    fitted = fitted_on_planes(model)
    n_matrices = 1 if getattr(model, "fusion", "late") == "concat" else 2
    n_cores = 1 if getattr(model, "coupling", "nuclear") == "rank_one" else n_matrices
    assert fitted.n_views_in_ == 2
    assert fitted.n_features_in_ == (12, 12)
    assert fitted.n_clusters_ == 2
    assert fitted.affinity_matrix_.shape == (30, 30)
    assert fitted.view_similarity_.shape == (n_matrices, n_matrices)
    np.testing.assert_allclose(np.diag(fitted.view_similarity_), 1.0)
    assert fitted.dual_gap_ >= 0.0
    assert fitted.n_iter_ >= 1
    assert fitted.history_[-1].objective == fitted.objective_
    assert len(fitted.lam_) == n_matrices
    assert len(fitted.coefficients_) == n_matrices
    assert len(fitted.cores_) == n_cores
    scales = fitted.scales_ if n_cores < n_matrices else np.ones(n_matrices)
    for scale, core, coefficients in zip(
        scales,
        np.broadcast_to(fitted.cores_, (n_matrices, *fitted.cores_.shape[1:])),
        fitted.coefficients_,
        strict=True,
    ):
        lifted = scale * fitted.basis_ @ core
        lifted = lifted @ fitted.basis_.T if core.shape[0] == core.shape[1] else lifted
        np.testing.assert_allclose(lifted, coefficients, atol=1e-12)
    from_coefficients = clone(model).set_params(affinity="coefficients").fit(views)
    expected = viewspan.affinity(from_coefficients.coefficients_)
    np.testing.assert_allclose(expected, from_coefficients.affinity_matrix_, atol=1e-12)


@all_variants
def test_every_method_has_subspaces_scores_and_reconstructions(model):
    """Check subspaces, view scores, outlier scores and the reconstruction of the data."""
    views, _ = two_subspaces()
    fitted = fitted_on_planes(model)
    assert [[subspace.basis.shape for subspace in cluster] for cluster in fitted.subspaces_] == [
        [(12, 2)] * 2
    ] * 2
    assert fitted.view_scores_.shape == (2,)
    assert (fitted.view_scores_ > 0.8).all()
    reconstruction = fitted.reconstruct(views)
    assert reconstruction.residuals.shape == (2, 30)
    assert reconstruction.residuals.max() < 0.5
    np.testing.assert_array_equal(reconstruction.labels, fitted.labels_)
    assert np.isfinite(fitted.outlier_scores_).all()
    assert fitted.outlier_scores_.shape[1] == 30


@all_variants
def test_fitting_twice_or_a_clone_or_a_pickle_gives_the_same(model):
    views, _ = two_subspaces(noise=0.3)
    first = clone(model).fit(views)
    labels = first.labels_.copy()
    np.testing.assert_array_equal(first.fit(views).labels_, labels)
    np.testing.assert_array_equal(clone(first).fit_predict(views), labels)
    again = pickle.loads(pickle.dumps(first))
    np.testing.assert_array_equal(again.labels_, labels)
    np.testing.assert_allclose(again.coefficients_[0], first.coefficients_[0])


def same_values(views):
    """Return the views in other layouts, types, containers and scales."""
    frozen = [view.copy() for view in views]
    for view in frozen:
        view.setflags(write=False)
    index = [f"sample {i}" for i in range(30)]
    return [
        frozen,
        tuple(views),
        {"first": views[0], "second": views[1]},
        [np.asfortranarray(view) for view in views],
        [view.astype(">f8") for view in views],
        [np.repeat(view, 2, axis=1)[:, ::2] for view in views],
        [pd.DataFrame(view, index=index) for view in views],
        [view.astype(object) for view in views],
        [view.astype(np.float32) for view in views],
        [1e12 * views[0], views[1]],
        [1e-200 * views[0], 1e200 * views[1]],
    ]


@all_variants
def test_layout_dtype_and_container_do_not_matter(model):
    """Estimators with default axes try all layouts; the others read input alike and try three."""
    ways = same_values(two_subspaces()[0])
    for same in ways if model in VARIANTS[: len(ESTIMATORS)] else ways[6:9]:
        labels = clone(model).fit_predict(same)
        np.testing.assert_array_equal(labels, fitted_on_planes(model).labels_)


def test_float32_stays_float32_and_agrees():
    views, _ = two_subspaces()
    double = viewspan.CLRSC(2, random_state=0).fit(views)
    single = viewspan.CLRSC(2, random_state=0).fit([view.astype(np.float32) for view in views])
    assert single.cores_.dtype == single.basis_.dtype == single.coefficients_[0].dtype == np.float32
    np.testing.assert_allclose(single.coefficients_[0], double.coefficients_[0], atol=1e-4)


@all_variants
def test_samples_and_views_in_another_order_give_the_same_clusters(model):
    views, _ = two_subspaces(noise=0.1)
    labels = fitted_on_planes(model, noise=0.1).labels_
    order = np.random.default_rng(0).permutation(30)
    assert (
        adjusted_rand_score(
            labels[order], clone(model).fit_predict([view[order] for view in views])
        )
        == 1.0
    )
    assert adjusted_rand_score(labels, clone(model).fit_predict(views[::-1])) == 1.0


@all_variants
def test_rotated_features_give_the_same_clusters(model):
    views, _ = two_subspaces(noise=0.1)
    rotation, _ = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 12)))
    labels = fitted_on_planes(model, noise=0.1).labels_
    assert (
        adjusted_rand_score(labels, clone(model).fit_predict([view @ rotation for view in views]))
        == 1.0
    )


def test_verbose_logs_every_check(caplog):
    views, _ = two_subspaces()
    with caplog.at_level("INFO", logger="viewspan"):
        model = viewspan.CLRSC(2, verbose=True, random_state=0).fit(views)
    checks = [record.message for record in caplog.records if "certified gap" in record.message]
    assert len(checks) == sum(len(result.history) for result in model.path_)
    stages = [record.message.split()[2] for record in caplog.records if "%" in record.message]
    assert list(dict.fromkeys(stages)) == ["reading", "solving", "comparing"]


def test_quiet_by_default(capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        viewspan.CLRSC(2, random_state=0).fit(two_subspaces()[0])
    captured = capfd.readouterr()
    assert captured.out == captured.err == ""


def test_feature_names_of_one_frame_are_kept():
    frame = pd.DataFrame(two_subspaces()[0][0]).add_prefix("feature ")
    model = viewspan.CLRSC(2, random_state=0).fit(frame)
    assert list(model.feature_names_in_) == list(frame.columns)
    assert model.n_features_in_ == 12
