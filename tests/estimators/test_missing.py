"""Missing samples: rows of NaN in some views."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import two_subspaces
from viewspan.datasets import make_subspaces
from viewspan.metrics import subspace_clustering_accuracy


def remove(views, share, seed=0):
    """Replace a share of all rows by NaN, but keep every sample in at least one view."""
    rng = np.random.default_rng(seed)
    n_samples = len(views[0])
    observed = rng.uniform(size=(len(views), n_samples)) >= share
    observed[rng.integers(0, len(views), n_samples), np.arange(n_samples)] = True
    return [
        np.where(present[:, None], view, np.nan)
        for view, present in zip(views, observed, strict=True)
    ], observed


def clrsc(n_clusters=2, **parameters):
    return viewspan.CLRSC(n_clusters, missing="allow", random_state=0, **parameters)


@pytest.mark.parametrize("affinity", ["patterns", "coefficients"])
@pytest.mark.parametrize(
    "axes", [{}, {"datafit": "l12"}, {"datafit": "l1"}, {"penalty": "l1"}], ids=str
)
def test_planes_are_separated_if_a_third_is_missing(axes, affinity):
    views, labels = two_subspaces(n_views=3)
    given, _ = remove(views, 0.35)
    assert adjusted_rand_score(labels, clrsc(affinity=affinity, **axes).fit_predict(given)) == 1.0


@pytest.mark.filterwarnings("ignore")
def test_missing_samples_are_better_than_zeros_on_real_faces(load):
    archive = load("multiview/yaleA_3v.npz")
    views, labels = [archive[f"view_{view}"].astype(float) for view in range(3)], archive["labels"]
    scores = []
    for seed in range(2):
        given, _ = remove(views, 0.7, seed)
        zeros = viewspan.CLRSC(15, random_state=0).fit_predict(
            [np.nan_to_num(view) for view in given]
        )
        scores.append(
            [
                subspace_clustering_accuracy(labels, predicted)
                for predicted in (clrsc(15).fit_predict(given), zeros)
            ]
        )
    ours, filled = np.mean(scores, axis=0)
    assert ours > filled + 5


def test_without_missing_samples_the_fit_is_the_ordinary_fit():
    views, _ = two_subspaces(noise=0.3)
    allowed = clrsc().fit(views)
    ordinary = viewspan.CLRSC(2, random_state=0).fit(views)
    np.testing.assert_array_equal(allowed.labels_, ordinary.labels_)
    np.testing.assert_array_equal(allowed.cores_, ordinary.cores_)


def test_the_coupling_fills_the_coefficients_of_missing_samples_and_the_gap_is_certified():
    views, _ = two_subspaces(n_views=3)
    given, observed = remove(views, 0.3)
    model = clrsc().fit(given)
    assert model.dual_gap_ <= 1e-4
    for coefficients, present in zip(model.coefficients_, observed, strict=True):
        filled = np.linalg.norm(coefficients[:, ~present], axis=0)
        assert (filled > 0).all()
    alone = clrsc(tau=0.0, lam=model.lam_).fit(given)
    for coefficients, present in zip(alone.coefficients_, observed, strict=True):
        assert not np.linalg.norm(coefficients[:, ~present], axis=0).max() > 1e-6


def test_frames_sparse_views_and_predictions():
    views, labels = two_subspaces(n_views=2)
    given, observed = remove(views, 0.3)
    model = clrsc().fit(given)
    frames = [pd.DataFrame(view, index=[f"s{row}" for row in range(30)]) for view in given]
    np.testing.assert_array_equal(clrsc().fit_predict(frames), model.labels_)
    known = [frame.dropna() for frame in frames]
    together = known[0].index.union(known[1].index)
    aligned = [frame.reindex(together).loc[frames[0].index] for frame in known]
    np.testing.assert_array_equal(clrsc().fit_predict(aligned), model.labels_)
    np.testing.assert_array_equal(
        clrsc().fit_predict([scipy.sparse.csr_array(v) for v in given]), model.labels_
    )
    np.testing.assert_array_equal(model.predict(given), model.labels_)
    np.testing.assert_array_equal(model.predict(frames), model.labels_)
    complete = clrsc().fit(views)
    assert adjusted_rand_score(labels, complete.predict(given)) == 1.0
    only = [
        np.where(np.arange(30)[:, None] < 15, views[0], np.nan),
        np.where(np.arange(30)[:, None] < 15, np.nan, views[1]),
    ]
    assert adjusted_rand_score(labels, complete.predict(only)) == 1.0
    assert complete.transform(only).shape == (30, 2)
    reconstruction = model.reconstruct(given)
    for view, scores, is_missing in zip(
        reconstruction.views, model.outlier_scores_, ~observed, strict=True
    ):
        np.testing.assert_array_equal(np.isnan(view).all(axis=1), is_missing)
        np.testing.assert_array_equal(np.isnan(scores), is_missing)
    np.testing.assert_array_equal(np.isnan(reconstruction.residuals), ~observed)
    assert np.isfinite(model.view_scores_).all()


def test_the_number_of_clusters_is_found():
    views, labels = make_subspaces(
        n_views=3, n_subspaces=4, n_samples_per_subspace=40, noise=0.05, random_state=0
    )
    given, _ = remove(views, 0.2)
    model = clrsc(None).fit(given)
    assert model.n_clusters_ == 4
    assert adjusted_rand_score(labels, model.labels_) == 1.0


def test_scaled_and_affine_views():
    """Statistics ignore missing samples, and the constant feature is missing for them, too."""
    views, labels = two_subspaces(n_views=2)
    views = [view * np.r_[1000.0, np.ones(11)] for view in views]
    given, _ = remove(views, 0.2)
    model = clrsc(affine=True).fit(given)
    assert model.features_scaled_ == [True, True]
    assert model.affine_ == [True, True]
    assert adjusted_rand_score(labels, model.labels_) > 0.8


@pytest.mark.parametrize(
    ("change", "parameters", "message"),
    [
        (
            lambda v: v[0].__setitem__((2, 3), np.nan),
            {},
            "view 0 contains NaN in 1 of its 360 values.*as a whole row of NaN",
        ),
        (
            lambda v: [view.__setitem__(4, np.nan) for view in v],
            {},
            r"1 sample\(s\) are missing from every view, the first in row 4",
        ),
        (lambda v: v[1].__setitem__(4, np.inf), {}, "view 1 contains infinity in 12"),
        (
            lambda v: None,
            {"coupling": "rank_one"},
            "coupling='rank_one' needs all samples in every view",
        ),
        (
            lambda v: None,
            {"solver": "ladmpsap"},
            "solver='ladmpsap' needs all samples in every view",
        ),
        (lambda v: None, {"graph": "landmarks"}, "those with missing='allow' cannot be"),
    ],
)
def test_invalid_missing_samples_and_parameters_raise(change, parameters, message):
    views, _ = two_subspaces()
    change(views)
    with pytest.raises(ValueError, match=message):
        clrsc(**parameters).fit(views)


def test_rows_of_nan_raise_unless_missing_samples_are_allowed():
    views, _ = two_subspaces()
    views[0][3] = np.nan
    for given in (
        views,
        [pd.DataFrame(view) for view in views],
        [scipy.sparse.csr_array(view) for view in views],
    ):
        with pytest.raises(
            ValueError, match=r"view 0 contains NaN in 12 of its 360 values.*missing='allow'"
        ):
            viewspan.CLRSC(2).fit(given)


def test_sparse_views_are_not_changed():
    views, _ = two_subspaces(width=40)
    views[1][3] = np.nan
    given = [scipy.sparse.csr_array(view) for view in views]
    before = [view.copy() for view in given]
    model = clrsc().fit(given)
    assert model.reconstruct(given).residuals.shape == (2, 30)
    for view, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(view.indices, copy.indices)
        np.testing.assert_array_equal(view.data, copy.data)


@pytest.mark.parametrize("axes", [{}, {"datafit": "l1"}, {"penalty": "l1"}], ids=str)
@pytest.mark.filterwarnings("ignore:The graph has")
def test_a_view_without_any_sample_is_ignored(axes):
    views, labels = two_subspaces()
    with pytest.warns(
        UserWarning, match="view 1 has no samples, because all its rows are NaN, and is ignored"
    ):
        model = clrsc(**axes).fit([views[0], np.full((30, 5), np.nan)])
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    assert model.view_scores_[1] == 0.0


@pytest.mark.filterwarnings("ignore:The graph has")
def test_views_without_a_common_sample_warn():
    views, _ = two_subspaces()
    views[0][::2] = views[1][1::2] = np.nan
    with pytest.warns(UserWarning, match="No sample links view 0 with view 1"):
        clrsc().fit(views)


def test_frames_are_checked_if_missing_samples_are_allowed():
    views, _ = two_subspaces()
    frame = pd.DataFrame(views[0].astype(object))
    frame.iloc[3] = pd.NA
    clrsc().fit([frame, views[1]])
    for bad, message in (
        (views[0].astype(complex), "Complex data"),
        (views[0].astype(str), "holds text"),
    ):
        with pytest.raises(ValueError, match=f"view 0: .*{message}"):
            clrsc().fit([pd.DataFrame(bad), views[1]])
    assert (
        clrsc().fit([pd.DataFrame(view.astype(np.float32)) for view in views]).cores_.dtype
        == np.float32
    )
