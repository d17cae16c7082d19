"""Landmarks, batches, all kinds of arrays, and predictions of unseen samples."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import many_subspaces, two_subspaces
from viewspan._utils import memory
from viewspan.fit import memory as fit_memory
from viewspan.fit.readings import N_COMPARED_SAMPLES
from viewspan.inputs import blocks
from viewspan.inputs.views import Views

N_SAMPLES = 500
HALF = N_SAMPLES // 2
LANDMARKS = {"graph": "landmarks", "n_landmarks": 200, "random_state": 0}
MODELS = [
    viewspan.CLRSC(5, **LANDMARKS),
    viewspan.CLRSC(5, lam=0.5, tau=1.0, **LANDMARKS),
    viewspan.LRR(5, **LANDMARKS),
    viewspan.LRR(5, fusion="concat", **LANDMARKS),
]
models = pytest.mark.parametrize("model", MODELS, ids=repr)
ALL_MODELS = [
    *MODELS,
    viewspan.CLRSC(5, random_state=0),
    viewspan.CLRSC(5, lam=0.5, tau=1.0, random_state=0),
    viewspan.CLRSC(5, lam=0.5, tau=1.0, solver="ladmpsap", random_state=0, tol=0.1),
    viewspan.LRR(5, fusion="concat", random_state=0),
    viewspan.LRR(5, datafit="l12", random_state=0, tol=1e-2),
    viewspan.SSC(5, random_state=0, tol=1e-2),
    viewspan.MLAP(5, random_state=0, tol=1e-1),
]


@pytest.fixture(scope="module")
def many():
    return many_subspaces(N_SAMPLES)


@pytest.fixture(scope="module")
def fitted_model(many):
    """The first model, fitted; tests must not change it."""
    return clone(MODELS[0]).fit(many[0])


@models
def test_landmarks_find_what_all_samples_find(model, many):
    views, labels = many
    found = clone(model).fit(views)
    dense = clone(model).set_params(graph="dense").fit(views)
    assert adjusted_rand_score(labels, found.labels_) > 0.99
    assert adjusted_rand_score(dense.labels_, found.labels_) > 0.99
    assert found.objective_ == pytest.approx(dense.objective_, rel=2e-4)
    assert found.dual_gap_ <= 1e-4
    assert found.affinity_matrix_.shape == (200, 200)


def test_the_certificate_is_of_all_samples(many):
    """Both graphs solve one problem, so each bound is below the objective of the other."""
    found, dense = (
        viewspan.CLRSC(5, graph=graph, random_state=0).fit(many[0]).result_
        for graph in ("landmarks", "dense")
    )
    np.testing.assert_allclose(found.lam, dense.lam, rtol=1e-9)
    assert found.tau == pytest.approx(dense.tau, rel=1e-9)
    assert found.dual_bound <= dense.objective * (1 + 1e-9)
    assert dense.dual_bound <= found.objective * (1 + 1e-9)


@pytest.mark.filterwarnings("ignore:The solver", "ignore:The graph has")
@pytest.mark.parametrize("model", ALL_MODELS, ids=repr)
def test_training_samples_predict_to_their_own_labels(model):
    views, _ = many_subspaces(120)
    fitted = clone(model).fit(views)
    np.testing.assert_array_equal(fitted.predict(views), fitted.labels_)
    some = np.random.default_rng(0).permutation(120)[:7]
    np.testing.assert_array_equal(
        fitted.predict([view[some] for view in views]), fitted.labels_[some]
    )
    assert fitted.transform(views).shape == (120, fitted.n_clusters_)


@pytest.mark.filterwarnings("ignore:The solver", "ignore:The graph has")
@pytest.mark.parametrize("model", ALL_MODELS, ids=repr)
def test_unseen_samples_are_assigned_to_their_clusters(model):
    views, labels = many_subspaces(200, noise=0.02)
    seen, unseen = slice(0, 140), slice(140, 200)
    fitted = clone(model).fit([view[seen] for view in views])
    found = np.concatenate([fitted.labels_, fitted.predict([view[unseen] for view in views])])
    assert adjusted_rand_score(labels[seen], fitted.labels_) > 0.95
    assert adjusted_rand_score(labels, found) > 0.95


def test_rows_of_the_embedding_are_near_where_labels_agree(many):
    views, labels = many
    for graph in ("dense", "landmarks"):
        model = viewspan.CLRSC(5, graph=graph, random_state=0).fit([view[:400] for view in views])
        rows = model.transform([view[400:] for view in views])
        rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        same_cluster = labels[400:][:, None] == labels[400:]
        assert np.median(np.abs(rows @ rows.T)[same_cluster]) > 0.9
        assert np.median(np.abs(rows @ rows.T)[~same_cluster]) < 0.3


def kinds(folder, views):
    """Yield the same values as memory maps, sparse matrices, frames and other arrays."""
    path = folder / "view.npy"
    np.save(path, views[0])
    yield [np.load(path, mmap_mode="r"), views[1]]
    yield [scipy.sparse.csr_array(views[0]), views[1]]
    yield [scipy.sparse.coo_array(views[0]), scipy.sparse.csc_array(views[1])]
    yield [np.asfortranarray(views[0]), pd.DataFrame(views[1])]
    yield {"a": views[0][::-1][::-1], "b": views[1].astype(">f8")}


@pytest.mark.parametrize("graph", ["dense", "landmarks"])
def test_the_form_of_a_view_does_not_matter(graph, tmp_path):
    views, _ = many_subspaces(400)
    model = viewspan.CLRSC(5, graph=graph, n_landmarks=100, random_state=0)
    expected = clone(model).fit_predict(views)
    for given in kinds(tmp_path, views):
        np.testing.assert_array_equal(clone(model).fit_predict(given), expected)


@pytest.mark.parametrize("dtype", [np.int32, np.float32])
def test_a_memory_map_is_never_copied_as_a_whole(dtype, tmp_path, monkeypatch):
    """Blocks of at most 256 samples are read, for any data type."""
    views, labels = many_subspaces(N_SAMPLES)
    block_sizes = []
    read = Views.read
    monkeypatch.setattr(blocks, "MAX_BLOCK_ENTRIES", 1)
    monkeypatch.setattr(
        Views,
        "read",
        lambda self, **kw: block_sizes.append(self.n_samples) or read(self, **kw),
    )
    maps = []
    for number, view in enumerate(views):
        np.save(tmp_path / f"{number}.npy", (1000 * view).astype(dtype))
        maps.append(np.load(tmp_path / f"{number}.npy", mmap_mode="r"))
    found = viewspan.CLRSC(5, **LANDMARKS).fit_predict(maps)
    assert max(block_sizes) == N_COMPARED_SAMPLES < len(views[0])
    assert adjusted_rand_score(labels, found) > 0.99


@pytest.mark.parametrize("entries", [1, 10**4, 10**9])
def test_blocks_do_not_matter(entries, many, fitted_model, monkeypatch):
    monkeypatch.setattr(blocks, "MAX_BLOCK_ENTRIES", entries)
    np.testing.assert_array_equal(clone(MODELS[0]).fit_predict(many[0]), fitted_model.labels_)


def test_more_features_than_samples():
    views, labels = many_subspaces(150, width=120, noise=0.05)
    sparse = [scipy.sparse.csr_array(view) for view in views]
    for given in (views, sparse):
        model = viewspan.CLRSC(5, graph="landmarks", n_landmarks=80, random_state=0).fit(
            [view[:140] for view in given]
        )
        assert adjusted_rand_score(labels[:140], model.labels_) > 0.95
        found = np.concatenate([model.labels_, model.predict([view[140:] for view in given])])
        assert adjusted_rand_score(labels, found) > 0.95


def test_features_are_scaled_alike_for_both_graphs():
    views, _ = many_subspaces(300)
    views = [views[0] * np.r_[1e4, np.ones(19)], views[1] - views[1].mean(axis=0)]
    for graph in ("dense", "landmarks"):
        model = viewspan.CLRSC(5, graph=graph, random_state=0).fit(views)
        assert model.features_scaled_ == [True, False]
        assert model.affine_ == [False, True]
        np.testing.assert_array_equal(model.predict(views), model.labels_)


def test_the_number_of_clusters_is_found_with_landmarks(many):
    model = viewspan.CLRSC(**LANDMARKS).fit(many[0])
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(many[1], model.labels_) > 0.99


def test_all_samples_alike_are_one_cluster_with_landmarks():
    model = viewspan.CLRSC(graph="landmarks", random_state=0).fit(
        [np.ones((50, 3)), np.ones((50, 4))]
    )
    assert model.n_clusters_ == 1


def test_weak_directions_that_given_weights_see_are_found():
    """Squares lose singular values of 1e-7 of the largest, but a small λ needs them."""
    rng = np.random.default_rng(0)
    view = rng.normal(size=(300, 6)) * [1, 1, 1, 1e-7, 1e-7, 1e-7]
    fitted = [
        viewspan.LRR(2, lam=1e-15, normalize=False, graph=graph, random_state=0).fit(view)
        for graph in ("dense", "landmarks")
    ]
    assert [np.linalg.matrix_rank(model.cores_[0]) for model in fitted] == [6, 6]
    assert fitted[0].objective_ == pytest.approx(fitted[1].objective_, rel=1e-5)


@pytest.mark.parametrize("size", [1, 37, N_SAMPLES])
def test_batches_add_up(size, many):
    views, labels = many
    model = viewspan.CLRSC(5, random_state=0)
    expected = clone(model).fit(views)
    stop = 200 if size == 1 else N_SAMPLES
    buffers = [np.empty((size, 20)) for _ in views]
    for start in range(0, stop, size):
        rows = slice(start, min(start + size, stop))
        for buffer, view in zip(buffers, views, strict=True):
            buffer[: rows.stop - start] = view[rows]
        # the next batch overwrites the buffers
        model.partial_fit([buffer[: rows.stop - start] for buffer in buffers])
    model.partial_fit()
    if stop == N_SAMPLES:
        assert model.objective_ == pytest.approx(expected.objective_, rel=2e-4)
    assert adjusted_rand_score(labels, model.predict(views)) > 0.99
    np.testing.assert_array_equal(model.labels_, model.predict([view[rows] for view in views]))


def test_batches_are_solved_when_asked_and_again_after_more(many):
    views, labels = many
    model = viewspan.CLRSC(5, **LANDMARKS)
    with pytest.raises(NotFittedError):
        model.predict(views)
    model.partial_fit([view[:HALF] for view in views])
    assert not hasattr(model, "labels_")
    model.predict(views)
    solved = model.result_
    assert model.n_clusters_ == 5 and model.labels_.shape == (HALF,)
    model.predict(views)
    assert model.result_ is solved
    model.partial_fit([view[HALF:] for view in views])
    assert not hasattr(model, "result_")
    assert adjusted_rand_score(labels, pickle.loads(pickle.dumps(model)).predict(views)) > 0.99
    assert model.partial_fit() is model and model.labels_.shape == (HALF,)
    assert model.fit(views).labels_.shape == (N_SAMPLES,)


@pytest.mark.parametrize(
    "name", ["labels_", "result_", "n_clusters_", "subspaces_", "fitted_graph_", "coefficients_"]
)
def test_attributes_of_batches_say_what_to_call(name, many):
    model = viewspan.CLRSC(5, random_state=0).partial_fit(many[0])
    assert not hasattr(model, name)
    with pytest.raises(NotFittedError, match=r"500 samples .* call partial_fit\(\) without data"):
        getattr(model, name)
    assert not hasattr(model, "result_")


def test_solving_without_a_batch_raises(many):
    with pytest.raises(NotFittedError, match=r"call partial_fit\(X\) first"):
        viewspan.CLRSC(5).partial_fit()
    with pytest.raises(NotFittedError, match=r"call partial_fit\(X\) first"):
        viewspan.CLRSC(5, random_state=0).fit([view[:60] for view in many[0]]).partial_fit()


def test_an_unknown_attribute_is_an_ordinary_error():
    with pytest.raises(AttributeError, match="'CLRSC' object has no attribute 'label_'"):
        viewspan.CLRSC().label_  # noqa: B018


def test_a_first_batch_unlike_the_others_warns():
    views, _ = many_subspaces(400)
    model = viewspan.CLRSC(5, random_state=0).partial_fit([view[:200] for view in views])
    model.partial_fit([1e4 * views[0][200:] * np.r_[1e3, np.ones(19)], views[1][200:]])
    with pytest.warns(UserWarning, match="not representative"):
        model.partial_fit()


def test_invalid_parameters_are_named_when_a_batch_arrives(many):
    model = viewspan.CLRSC(2, coupling="l7")
    assert hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="The 'coupling' parameter of CLRSC must be"):
        model.partial_fit(many[0])


def test_only_methods_that_can_be_reduced_take_batches():
    assert hasattr(viewspan.CLRSC(), "partial_fit")
    assert not hasattr(viewspan.CLRSC(solver="ladmpsap"), "partial_fit")
    assert not hasattr(viewspan.LRR(datafit="l12"), "partial_fit")
    assert not hasattr(viewspan.SSC(), "partial_fit")
    with pytest.raises(ValueError, match="those with datafit='l12' cannot be"):
        viewspan.LRR(2, datafit="l12", graph="landmarks").fit(two_subspaces()[0])


@pytest.mark.parametrize("available", [None, 10**6])
def test_fits_that_need_too_much_memory_raise_before_they_start(available, many, monkeypatch):
    views, _ = many
    monkeypatch.setattr(fit_memory, "BLOCK_BYTES", 0)
    if available is None:
        assert viewspan.LRR(5, random_state=0).fit(views).affinity_matrix_.shape == (
            N_SAMPLES,
            N_SAMPLES,
        )
        return
    monkeypatch.setattr(memory, "available", lambda: available)
    with pytest.raises(
        MemoryError, match=r"SSC would need about .* MB for 500 samples.*1\.0 MB are available"
    ):
        viewspan.SSC(5).fit(views)
    with pytest.raises(MemoryError, match="graph='landmarks'"):
        viewspan.LRR(5, graph="dense").fit(views)
    with pytest.raises(MemoryError, match="Decrease n_landmarks"):
        viewspan.LRR(5).fit(views)
    monkeypatch.setattr(memory, "available", lambda: 7 * 10**6)
    assert viewspan.LRR(5, n_landmarks=100, random_state=0).fit(views).affinity_matrix_.shape == (
        100,
        100,
    )


def test_callbacks_receive_progress(many):
    received = []
    viewspan.CLRSC(5, callback=received.append, **LANDMARKS).fit(many[0])
    assert list(dict.fromkeys(progress.stage for progress in received)) == [
        "reading",
        "solving",
        "comparing",
        "labelling",
    ]
    for stage in ("reading", "solving", "comparing", "labelling"):
        shares = [progress.share for progress in received if progress.stage == stage]
        assert shares == sorted(shares) and shares[0] == 0.0 and shares[-1] == 1.0
    assert received[0].remaining is None and received[-1].remaining == 0.0
    elapsed = [progress.elapsed for progress in received]
    assert elapsed == sorted(elapsed)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            lambda views: [views[0][:, :5], views[1]],
            "view 0 has 5 features, but CLRSC is expecting 20 features",
        ),
        (lambda views: [views[0]], "X has 1 views, but CLRSC is expecting 2 views"),
        (
            lambda views: [np.full_like(views[0], np.nan), views[1]],
            "view 0 contains NaN in 10000 of its 10000 values",
        ),
    ],
)
@pytest.mark.parametrize("method", ["predict", "transform"])
def test_views_unlike_those_of_the_fit_raise(given, message, method, many, fitted_model):
    with pytest.raises(ValueError, match=message):
        getattr(fitted_model, method)(given(many[0]))


def test_views_are_found_by_name(many):
    views = dict(zip("ab", many[0], strict=True))
    model = clone(MODELS[0]).fit(views)
    np.testing.assert_array_equal(model.predict(dict(reversed(views.items()))), model.labels_)
    with pytest.raises(ValueError, match="'b' is missing"):
        model.predict({"a": views["a"], "c": views["b"]})


def test_errors_say_where_nan_is(many):
    first = many[0][0].copy()
    first[400, 3] = np.nan
    with pytest.raises(ValueError, match=r"view 0 contains NaN in 1 of its \d+ values from sample"):
        clone(MODELS[0]).fit([first, many[0][1]])


@pytest.mark.filterwarnings("ignore:view 1 is zero")
def test_a_sample_that_resembles_no_other_warns(many, fitted_model):
    with pytest.warns(UserWarning, match="1 of 1 samples resemble none"):
        assert fitted_model.predict([np.zeros((1, 20)), np.zeros((1, 20))])[0] == 0
    views = [view.copy() for view in many[0]]
    for view in views:
        view[7] = 0.0
    with (
        pytest.warns(UserWarning, match="is zero for 1 of 500 samples"),
        pytest.warns(UserWarning, match="arbitrary"),
    ):
        clone(MODELS[0]).fit(views)


def test_float32_stays_float32(many):
    model = clone(MODELS[0]).fit([view.astype(np.float32) for view in many[0]])
    assert model.cores_.dtype == model.basis_.dtype == np.float32
    assert adjusted_rand_score(many[1], model.labels_) > 0.99


def test_features_that_come_with_later_batches_are_not_lost():
    """The worst case: every cluster has features of its own, and every batch is one cluster."""
    rng = np.random.default_rng(0)
    labels, view = np.repeat(range(4), 150), np.zeros((600, 40))
    for cluster in range(4):
        features = slice(10 * cluster, 10 * cluster + 10)
        view[labels == cluster, features] = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 10))
    for scale in (True, "auto"):
        model = viewspan.CLRSC(4, read_as="directions", scale_features=scale, random_state=0)
        for cluster in range(4):
            model.partial_fit(view[labels == cluster])
        if scale is True:
            with pytest.warns(UserWarning, match="not representative"):
                model.partial_fit()
        else:
            lam = model.partial_fit().lam_
            np.testing.assert_allclose(lam, clone(model).fit(view).lam_, rtol=1e-6)
        assert adjusted_rand_score(labels, model.predict(view)) == 1.0


def test_columns_in_another_order_raise():
    views, _ = many_subspaces(100)
    frames = [pd.DataFrame(view, columns=[f"c{number}" for number in range(20)]) for view in views]
    model = viewspan.CLRSC(5, random_state=0).fit(frames[0])
    assert list(model.feature_names_in_) == list(frames[0].columns)
    with pytest.raises(ValueError, match="feature names of X should match"):
        model.predict(frames[0][frames[0].columns[::-1]])
    model.fit(frames)
    assert [list(names) for names in model.feature_names_in_] == [
        list(frame.columns) for frame in frames
    ]
    with pytest.raises(ValueError, match="feature names of view 1 should match"):
        model.predict([frames[0], frames[1][frames[1].columns[::-1]]])
    np.testing.assert_array_equal(model.predict(views), model.labels_)  # arrays have no names


@pytest.mark.filterwarnings("ignore:10 of 500", "ignore:view 1", "ignore:The views agree")
@pytest.mark.parametrize("n_landmarks", [5, 300])
def test_uncertain_training_samples_predict_to_their_own_labels(n_landmarks):
    """The noise is so large that many votes are ties, and some samples resemble no landmark."""
    views, _ = many_subspaces(500, noise=0.5, seed=2)
    for view in views:
        view[::50] = 0.0
    for seed in range(3):
        with pytest.warns(UserWarning, match="is zero for 10 of 500 samples"):
            model = viewspan.CLRSC(
                5,
                read_as="directions",
                graph="landmarks",
                n_landmarks=n_landmarks,
                random_state=seed,
            ).fit(views)
        with pytest.warns(UserWarning, match="resemble none"):
            np.testing.assert_array_equal(model.predict(views), model.labels_)


@pytest.mark.parametrize("noise", [0.5, 1.0])
def test_sparse_training_samples_are_recognised(noise):
    views, _ = many_subspaces(300, noise=noise)
    sparse = [scipy.sparse.csr_array(view) for view in views]
    model = viewspan.CLRSC(5, random_state=0).fit(sparse)
    for given in (views, sparse):
        np.testing.assert_array_equal(model.predict(given), model.labels_)


def test_calls_that_fail_leave_the_model_unchanged(many):
    views, _ = many
    model = clone(MODELS[0]).fit(views)
    for invalid in ([np.full((5, 3), np.nan)] * 2, [views[0][:, :3]] * 3):
        with pytest.raises(ValueError, match=r"NaN|views"):
            model.partial_fit(invalid) if invalid[0].shape == (5, 3) else model.predict(invalid)
        np.testing.assert_array_equal(model.predict(views), model.labels_)
    model.partial_fit([view[:HALF] for view in views])
    with pytest.raises(ValueError, match="NaN"):
        model.fit([np.full((5, 3), np.nan)] * 2)
    assert model.partial_fit([view[HALF:] for view in views]).predict(views).shape == (N_SAMPLES,)


def test_wide_data_needs_no_matrix_of_features_by_features(monkeypatch):
    wide = scipy.sparse.random_array((60, 30_000), density=1e-3, random_state=0, format="csr")
    monkeypatch.setattr(memory, "available", lambda: 2 * 10**9)
    assert viewspan.LRR(2, graph="landmarks", random_state=0).fit(wide).labels_.shape == (60,)
    with pytest.raises(MemoryError, match="TruncatedSVD"):
        viewspan.LRR(2).partial_fit(wide)


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        (
            viewspan.CLRSC(4, graph="landmarks", n_landmarks=3),
            np.eye(9, 4),
            "n_clusters=4 must not exceed n_landmarks=3",
        ),
        (
            viewspan.CLRSC(2, graph="landmarks", normalize=False),
            np.zeros((9, 4)),
            "The affinity is all zeros",
        ),
        (
            viewspan.CLRSC(2, graph="landmarks", normalize=False),
            1e200 * np.eye(9, 4),
            "too extreme",
        ),
    ],
)
def test_impossible_landmark_fits_raise(model, given, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit(given)


def test_too_few_and_too_many_samples_in_batches_raise():
    views, _ = many_subspaces(12_000)
    with pytest.raises(ValueError, match="needs at least 2 samples"):
        _ = viewspan.CLRSC(1).partial_fit([view[:1] for view in views]).partial_fit()
    with pytest.raises(
        ValueError, match="graph='dense' needs all samples, and of 12000 in batches 10000 were kept"
    ):
        _ = viewspan.CLRSC(5, graph="dense").partial_fit(views).partial_fit()


def test_tiny_sparse_values_give_the_same_clusters():
    views, labels = many_subspaces(200)
    tiny = [scipy.sparse.csr_array(1e-306 * view) for view in views]
    assert adjusted_rand_score(labels, viewspan.CLRSC(5, **LANDMARKS).fit_predict(tiny)) > 0.97
