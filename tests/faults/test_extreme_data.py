"""Extreme values and uninformative data give the usual labels, a warning or an error."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.faults.models import MODELS
from tests.problems import two_subspaces

VIEWS, TRUTH = two_subspaces()
NOISY_VIEW = two_subspaces(noise=0.3)[0][0]
DENORMAL = 1e-310
all_models = pytest.mark.parametrize("name", MODELS)
pytestmark = pytest.mark.filterwarnings("ignore:The solver reached max_iter")


def scaled_views(size, dtype=float):
    """Return the views with their largest absolute value at ``size``."""
    return [(view / np.abs(view).max() * size).astype(dtype) for view in VIEWS]


def samples_of_many_sizes():
    """Return the views with samples of norms from 1e-290 to 1e290. Only directions matter."""
    sizes = 10.0 ** np.linspace(-290, 290, 30)
    return [view * np.random.default_rng(0).permutation(sizes)[:, None] for view in VIEWS]


SCALED = {
    "1e300": scaled_views(1e300),
    "1e-300": scaled_views(1e-300),
    "1e307": scaled_views(1e307),
    "denormal": scaled_views(DENORMAL),
    "1e300 beside 1e-300": [1e300 * VIEWS[0], 1e-300 * VIEWS[1]],
    "1e12 apart": [1e12 * VIEWS[0], VIEWS[1]],
    "every sample of another size": samples_of_many_sizes(),
    "float32": scaled_views(1.0, np.float32),
    "float32 at its largest": scaled_views(3e38, np.float32),
    "float32 denormal": scaled_views(1e-41, np.float32),
    "float16": scaled_views(1.0, np.float16),
}
FEW_SCALES = ["denormal", "1e300 beside 1e-300", "float32 at its largest"]
"""Scales for models that differ from the others only after preprocessing."""


def all_results_finite(model, views):
    """Return whether all results are finite, including those that are computed when needed."""
    reconstruction = model.reconstruct(views)
    arrays = [
        model.confidence_,
        model.eigenvalues_,
        model.view_scores_,
        model.view_similarity_,
        model.cores_,
    ]
    arrays += [
        model.transform(views),
        model.predict_confidence(views),
        reconstruction.residuals,
        *reconstruction.views,
    ]
    return all(np.isfinite(array).all() for array in arrays)


@all_models
def test_the_scale_of_the_data_does_not_matter(name):
    model = MODELS[name]
    all_scales = name in {"CLRSC", "LRR", "CLRSC by landmarks"}
    for scale in SCALED if all_scales else FEW_SCALES:
        views = SCALED[scale]
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            fitted = clone(model).fit(views)
            assert adjusted_rand_score(TRUTH, fitted.labels_) == 1.0, scale
            np.testing.assert_array_equal(fitted.predict(views), fitted.labels_, err_msg=scale)
            assert all_results_finite(fitted, views), scale


@pytest.mark.parametrize("size", [1e300, 1e-300, DENORMAL])
@pytest.mark.parametrize(
    "change", [{"scale_features": True}, {"affine": True}, {"n_clusters": None}], ids=str
)
@pytest.mark.filterwarnings("ignore:The number of clusters is not clear")
def test_the_scale_does_not_matter_if_features_are_preprocessed(change, size):
    views = scaled_views(size)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = clone(MODELS["CLRSC"]).set_params(**change).fit(views)
        assert adjusted_rand_score(TRUTH, model.labels_) == 1.0
        assert all_results_finite(model, views)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_the_scale_of_sparse_views_and_batches_does_not_matter(size):
    views = scaled_views(size)
    sparse = clone(MODELS["CLRSC"]).fit([scipy.sparse.csr_array(view) for view in views])
    assert adjusted_rand_score(TRUTH, sparse.labels_) == 1.0
    batches = clone(MODELS["CLRSC by landmarks"])
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        batches.partial_fit([view[rows] for view in views])
    assert adjusted_rand_score(TRUTH, batches.predict(views)) == 1.0


@pytest.mark.parametrize("scaled", [False, True])
def test_the_scale_of_unseen_samples_does_not_matter(scaled):
    model = clone(MODELS["CLRSC"]).set_params(scale_features=scaled).fit(VIEWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for size in (1e-300, 1e300):
            np.testing.assert_array_equal(
                model.predict([size * view for view in VIEWS]), model.labels_
            )


@pytest.mark.parametrize("name", ["CLRSC", "LRR", "SSC", "MLAP"])
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_extreme_values_without_normalisation_raise(name, size):
    model = clone(MODELS[name]).set_params(normalize=False)
    with pytest.raises(
        ValueError, match=r"view 0 has values around .* rescale it or, .* set normalize=True"
    ):
        model.fit(scaled_views(size))


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e300, np.finfo(float).max])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_graph_of_extreme_weights_is_cut_as_any_other(size, form):
    graph = np.where(TRUTH[:, None] == TRUTH, 1.0, 0.05) * np.random.default_rng(0).uniform(
        0.5, 1.0, (30, 30)
    )
    graph = (graph + graph.T) / (graph + graph.T).max()
    for method in ("discretize", "cluster_qr", "kmeans", "modularity"):
        assert (
            adjusted_rand_score(
                TRUTH, viewspan.ncut(form(size * graph), 2, assign_labels=method, random_state=0)
            )
            == 1.0
        )


@all_models
def test_a_view_that_is_zero_changes_nothing(name):
    """Weights and labels are those of a fit without the view."""
    alone = clone(MODELS[name]).fit([NOISY_VIEW])
    for views in ([NOISY_VIEW, np.zeros((30, 4))], [np.zeros((30, 1)), NOISY_VIEW]):
        with pytest.warns(UserWarning, match="is all zeros and is ignored"):
            beside = clone(MODELS[name]).fit(views)
        np.testing.assert_array_equal(beside.labels_, alone.labels_)
        assert beside.tau_ == pytest.approx(alone.tau_)


@all_models
def test_a_zero_sample_is_reported_and_the_others_keep_their_labels(name):
    views = [view.copy() for view in VIEWS]
    for view in views:
        view[3] = 0.0
    with pytest.warns(UserWarning, match="is zero for 1 of 30 samples"):
        model = clone(MODELS[name]).fit(views)
    others = np.arange(30) != 3
    assert adjusted_rand_score(TRUTH[others], model.labels_[others]) == 1.0
    assert model.labels_[3] in {0, 1}
    assert np.isfinite(model.confidence_).all()


@all_models
def test_duplicates_share_a_label(name):
    """Repeat five samples three times. A graph that is or may be disconnected raises a warning."""
    rows = np.concatenate([np.arange(30), [0, 7, 14, 20, 28] * 2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = clone(MODELS[name]).fit([view[rows] for view in VIEWS])
    np.testing.assert_array_equal(model.labels_, model.labels_[rows])
    duplicates, components = (
        any(text in str(warning.message) for warning in caught)
        for text in (
            "10 of 40 samples are duplicates of others in every view",
            "connected components",
        )
    )
    assert duplicates == any(word in name for word in ("SSC", "MLAP", "sparse", "robust"))
    assert duplicates or components or adjusted_rand_score(TRUTH[rows], model.labels_) == 1.0


@pytest.mark.parametrize("name", [name for name in MODELS if "landmarks" not in name])
def test_many_duplicates_warn(name):
    """Repeat every sample twice."""
    with pytest.warns(
        UserWarning,
        match="30 of 60 samples are duplicates of others in every view.* Fit one of each",
    ):
        clone(MODELS[name]).fit([np.repeat(view, 2, axis=0) for view in VIEWS])


@pytest.mark.parametrize("name", ["CLRSC", "LRR", "CLRSC by landmarks", "LRR by landmarks"])
def test_many_duplicates_do_not_change_the_clusters_of_defaults(name):
    model = clone(MODELS[name]).fit([np.repeat(view, 3, axis=0) for view in VIEWS])
    assert adjusted_rand_score(np.repeat(TRUTH, 3), model.labels_) == 1.0


@pytest.mark.parametrize("name", ["SSC", "SSC of one table"])
def test_components_are_not_cut_if_there_are_more_than_clusters(name):
    """Repeat every sample three times, so that ℓ1 connects it only with its duplicates."""
    with pytest.warns(
        UserWarning, match="but 2 clusters are requested, so unrelated components share a label"
    ):
        model = clone(MODELS[name]).fit([np.repeat(view, 3, axis=0) for view in VIEWS])
    duplicates = model.labels_.reshape(30, 3)
    assert (duplicates == duplicates[:, :1]).all()


@all_models
def test_fewer_distinct_samples_than_clusters_warn(name):
    """k-means then finds fewer clusters and warns."""
    views = [np.repeat(view[[0, 20]], 10, axis=0) for view in VIEWS]
    with pytest.warns(
        ConvergenceWarning, match=r"n_clusters=3 is more than there are distinct samples \(2\)"
    ):
        labels = clone(MODELS[name]).set_params(n_clusters=3).fit_predict(views)
    assert len(labels) == 20
    assert set(labels) <= {0, 1, 2}


@all_models
def test_samples_on_one_line_warn(name):
    """With one feature, normalised samples differ only in sign, so they lie in one subspace."""
    line = np.random.default_rng(0).uniform(0.5, 1.5, size=(30, 1))
    model = clone(MODELS[name]).set_params(read_as="directions")
    with pytest.warns(ConvergenceWarning, match="any split of them is arbitrary"):
        labels = model.fit_predict([line, -2 * line])
    assert len(labels) == 30
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        clone(MODELS[name]).set_params(n_clusters=1, max_iter=None).fit([line])


@all_models
def test_orthogonal_samples_raise_or_warn(name):
    """A zero affinity raises an error, and a graph of single samples raises a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clone(MODELS[name]).fit([np.eye(30), np.eye(30)[::-1]])
        except ValueError as error:
            assert "lam or tau is too large" in str(error)  # noqa: PT017 (one of two good answers)
        else:
            assert any("connected components" in str(warning.message) for warning in caught)
    assert not any(issubclass(warning.category, RuntimeWarning) for warning in caught)


@all_models
def test_weights_that_make_all_coefficients_zero_raise(name):
    model = clone(MODELS[name]).set_params(lam=1e6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with pytest.raises(
            ValueError, match=r"lam or tau is too large for this data; lower them\. If they are"
        ):
            model.fit(VIEWS)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("name", ["CLRSC", "LRR", "SSC", "MLAP", "CLRSC by landmarks"])
def test_more_components_than_clusters_are_reported(name):
    """Fit two clusters to four groups that have no feature in common."""
    rng = np.random.default_rng(0)
    views = [
        np.kron(np.eye(4), np.ones((10, 1))).repeat(3, axis=1) * rng.uniform(0.5, 1, (40, 12))
        for _ in range(2)
    ]
    with pytest.warns(
        UserWarning, match="has 4 connected components, but 2 clusters are requested"
    ):
        labels = clone(MODELS[name]).set_params(n_neighbors=5).fit_predict(views)
    groups = labels.reshape(4, 10)
    assert (groups == groups[:, :1]).all()


def test_landmarks_that_lose_a_cluster_warn():
    """With three samples, all landmarks vote on the label of each of them."""
    model = clone(MODELS["CLRSC by landmarks"])
    with pytest.warns(UserWarning, match=r"Only 1 of 2 clusters got a sample: .* more n_landmarks"):
        model.fit([view[[0, 1, 20]] for view in VIEWS])
