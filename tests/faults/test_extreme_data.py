"""Data at the edge of floating point, and data that says little: the labels of ordinary data, or a word about it."""

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
FIRST = two_subspaces(noise=0.3)[0][0]
DENORMAL = 1e-310
each_model = pytest.mark.parametrize("name", MODELS)
pytestmark = pytest.mark.filterwarnings("ignore:The solver reached max_iter")


def largest_at(size, dtype=float):
    return [(view / np.abs(view).max() * size).astype(dtype) for view in VIEWS]


def of_many_sizes():
    """Samples from 1e-290 to 1e290: directions are all that counts."""
    sizes = 10.0 ** np.linspace(-290, 290, 30)
    return [view * np.random.default_rng(0).permutation(sizes)[:, None] for view in VIEWS]


SCALED = {
    "1e300": largest_at(1e300),
    "1e-300": largest_at(1e-300),
    "1e307": largest_at(1e307),
    "denormal": largest_at(DENORMAL),
    "1e300 beside 1e-300": [1e300 * VIEWS[0], 1e-300 * VIEWS[1]],
    "1e12 apart": [1e12 * VIEWS[0], VIEWS[1]],
    "every sample of another size": of_many_sizes(),
    "float32": largest_at(1.0, np.float32),
    "float32 at its largest": largest_at(3e38, np.float32),
    "float32 denormal": largest_at(1e-41, np.float32),
    "float16": largest_at(1.0, np.float16),
}


FEW = ["denormal", "1e300 beside 1e-300", "float32 at its largest"]
"""For roads that differ from others behind the preparation only."""


def everything_finite(model, views):
    """Labels, and all that is found when it is asked for."""
    explained = model.reconstruct(views)
    found = [
        model.confidence_,
        model.eigenvalues_,
        model.view_scores_,
        model.view_similarity_,
        model.cores_,
    ]
    found += [
        model.transform(views),
        model.predict_confidence(views),
        explained.residuals,
        *explained.views,
    ]
    return all(np.isfinite(array).all() for array in found)


@each_model
def test_the_scale_of_the_data_does_not_matter(name):
    model = MODELS[name]
    for what in SCALED if name in {"CLRSC", "LRR", "SSC", "MLAP", "CLRSC by landmarks"} else FEW:
        views = SCALED[what]
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            fitted = clone(model).fit(views)
            assert adjusted_rand_score(TRUTH, fitted.labels_) == 1.0, what
            np.testing.assert_array_equal(fitted.predict(views), fitted.labels_, err_msg=what)
            assert everything_finite(fitted, views), what


@pytest.mark.parametrize("size", [1e300, 1e-300, DENORMAL])
@pytest.mark.parametrize(
    "change", [{"scale_features": True}, {"affine": True}, {"n_clusters": None}], ids=str
)
@pytest.mark.filterwarnings("ignore:The number of clusters is not clear")
def test_nor_does_it_where_features_are_treated(change, size):
    views = largest_at(size)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = clone(MODELS["CLRSC"]).set_params(**change).fit(views)
        assert adjusted_rand_score(TRUTH, model.labels_) == 1.0
        assert everything_finite(model, views)


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_sparse_views_and_batches_have_no_scale_either(size):
    views = largest_at(size)
    sparse = clone(MODELS["CLRSC"]).fit([scipy.sparse.csr_array(view) for view in views])
    assert adjusted_rand_score(TRUTH, sparse.labels_) == 1.0
    batches = clone(MODELS["CLRSC by landmarks"])
    for rows in (slice(0, None, 2), slice(1, None, 2)):
        batches.partial_fit([view[rows] for view in views])
    assert adjusted_rand_score(TRUTH, batches.predict(views)) == 1.0


@pytest.mark.parametrize("scaled", [False, True])
def test_unseen_samples_of_another_size_are_where_they_point(scaled):
    model = clone(MODELS["CLRSC"]).set_params(scale_features=scaled).fit(VIEWS)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        for size in (1e-300, 1e300):
            np.testing.assert_array_equal(
                model.predict([size * view for view in VIEWS]), model.labels_
            )


@pytest.mark.parametrize("name", ["CLRSC", "LRR", "SSC", "MLAP"])
@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_what_is_to_stay_unscaled_and_cannot_is_refused(name, size):
    model = clone(MODELS[name]).set_params(normalize=False)
    with pytest.raises(
        ValueError, match=r"view 0 has values around .* rescale it or use normalize=True"
    ):
        model.fit(largest_at(size))


@pytest.mark.parametrize("size", [1e-310, 1e-300, 1e300, np.finfo(float).max])
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_a_graph_of_extreme_weights_is_cut_as_any_other(size, form):
    graph = np.where(TRUTH[:, None] == TRUTH, 1.0, 0.05) * np.random.default_rng(0).uniform(
        0.5, 1.0, (30, 30)
    )
    graph = (graph + graph.T) / (graph + graph.T).max()
    for how in ("discretize", "cluster_qr", "kmeans", "modularity"):
        assert (
            adjusted_rand_score(
                TRUTH, viewspan.ncut(form(size * graph), 2, assign_labels=how, random_state=0)
            )
            == 1.0
        )


@each_model
def test_a_view_that_is_zero_changes_nothing(name):
    """As if it were not there: same weights, same labels."""
    alone = clone(MODELS[name]).fit([FIRST])
    for views in ([FIRST, np.zeros((30, 4))], [np.zeros((30, 1)), FIRST]):
        with pytest.warns(UserWarning, match="is all zeros and is ignored"):
            beside = clone(MODELS[name]).fit(views)
        np.testing.assert_array_equal(beside.labels_, alone.labels_)
        assert beside.tau_ == pytest.approx(alone.tau_)


@each_model
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


@each_model
def test_duplicates_share_a_label(name):
    """Five samples three times; a graph that falls into pieces by that, or may, is reported."""
    rows = np.concatenate([np.arange(30), [0, 7, 14, 20, 28] * 2])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = clone(MODELS[name]).fit([view[rows] for view in VIEWS])
    np.testing.assert_array_equal(model.labels_, model.labels_[rows])
    copies, pieces = (
        any(words in str(one.message) for one in caught)
        for words in (
            "10 of 40 samples are duplicates of others in every view",
            "connected components",
        )
    )
    assert copies == any(word in name for word in ("SSC", "MLAP", "sparse", "robust"))
    assert copies or pieces or adjusted_rand_score(TRUTH[rows], model.labels_) == 1.0


@pytest.mark.parametrize("name", [name for name in MODELS if "landmarks" not in name])
def test_many_copies_are_told(name):
    """Every sample twice."""
    with pytest.warns(
        UserWarning,
        match="30 of 60 samples are duplicates of others in every view.* Fit one of each",
    ):
        clone(MODELS[name]).fit([np.repeat(view, 2, axis=0) for view in VIEWS])


@pytest.mark.parametrize("name", ["CLRSC", "LRR", "CLRSC by landmarks", "LRR by landmarks"])
def test_many_copies_do_not_mislead_the_default(name):
    model = clone(MODELS[name]).fit([np.repeat(view, 3, axis=0) for view in VIEWS])
    assert adjusted_rand_score(np.repeat(TRUTH, 3), model.labels_) == 1.0


@pytest.mark.parametrize("name", ["SSC", "SSC of one table"])
def test_components_are_not_cut_if_there_are_more_than_clusters(name):
    """Every sample three times: ℓ1 joins it with its copies alone."""
    with pytest.warns(
        UserWarning, match="but 2 clusters are requested, so unrelated components share a label"
    ):
        model = clone(MODELS[name]).fit([np.repeat(view, 3, axis=0) for view in VIEWS])
    copies = model.labels_.reshape(30, 3)
    assert (copies == copies[:, :1]).all()


@each_model
def test_fewer_kinds_of_samples_than_clusters_are_told(name):
    """k-means then finds fewer clusters, and says so in its own words."""
    views = [np.repeat(view[[0, 20]], 10, axis=0) for view in VIEWS]
    with pytest.warns(
        ConvergenceWarning, match=r"n_clusters=3 is more than there are distinct samples \(2\)"
    ):
        labels = clone(MODELS[name]).set_params(n_clusters=3).fit_predict(views)
    assert len(labels) == 20
    assert set(labels) <= {0, 1, 2}


@each_model
def test_samples_on_one_line_are_told_to_be_one_subspace(name):
    """One feature: all that is left of a sample is its sign, which no subspace sees."""
    line = np.random.default_rng(0).uniform(0.5, 1.5, size=(30, 1))
    with pytest.warns(ConvergenceWarning, match="any split of them is arbitrary"):
        labels = clone(MODELS[name]).fit_predict([line, -2 * line])
    assert len(labels) == 30
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        clone(MODELS[name]).set_params(n_clusters=1, max_iter=None).fit([line])


@each_model
def test_samples_that_nothing_relates_are_not_split_silently(name):
    """Orthogonal samples: a zero affinity is refused, a graph of single samples is reported."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            clone(MODELS[name]).fit([np.eye(30), np.eye(30)[::-1]])
        except ValueError as error:
            assert "lam or tau is too large" in str(error)  # noqa: PT017 (one of two good answers)
        else:
            assert any("connected components" in str(one.message) for one in caught)
    assert not any(issubclass(one.category, RuntimeWarning) for one in caught)


@each_model
def test_weights_that_leave_nothing_are_named(name):
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
    """Four groups that have no feature in common, and two clusters asked for."""
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


def test_landmarks_that_lose_a_cluster_are_told():
    """Three samples: all landmarks have a say about each of them."""
    model = clone(MODELS["CLRSC by landmarks"])
    with pytest.warns(UserWarning, match=r"Only 1 of 2 clusters got a sample: .* more n_landmarks"):
        model.fit([view[[0, 1, 20]] for view in VIEWS])
