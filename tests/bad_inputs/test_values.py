"""Unusual values, graphs and sizes (rows 31 to 36 and 40)."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.bad_inputs.entry_points import every_estimator
from tests.problems import two_subspaces
from viewspan._utils import memory
from viewspan.inputs.views import Views

VIEWS, LABELS = two_subspaces(size=10)


@every_estimator
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_31_a_constant_feature(build, value):
    views = [np.column_stack([view, np.full(20, value)]) for view in VIEWS]
    assert adjusted_rand_score(LABELS, build(2, random_state=0).fit_predict(views)) == 1.0


@every_estimator
def test_32_a_zero_view_is_ignored(build):
    with pytest.warns(UserWarning, match="view 1 is all zeros and is ignored"):
        labels = build(2, random_state=0).fit_predict([VIEWS[0], np.zeros((20, 4))])
    assert adjusted_rand_score(LABELS, labels) == 1.0


@every_estimator
def test_32_a_zero_sample_is_reported(build):
    views = [np.where(np.arange(20)[:, None] == 3, 0.0, view) for view in VIEWS]
    with pytest.warns(UserWarning, match="is zero for 1 of 20 samples and is ignored for them"):
        model = build(2, random_state=0).fit(views)
    others = np.arange(20) != 3
    assert adjusted_rand_score(LABELS[others], model.labels_[others]) == 1.0
    assert model.labels_[3] in (0, 1)
    assert np.isfinite(model.confidence_).all()


@every_estimator
@pytest.mark.filterwarnings("ignore:view . is all zeros")
def test_32_only_zeros_raise(build):
    with pytest.raises(ValueError, match="Every value of every view is zero"):
        build(2, random_state=0).fit([np.zeros((20, 3)), np.zeros((20, 4))])


@every_estimator
@pytest.mark.parametrize(
    "scales",
    [(1e-300, 1e-300), (1e300, 1e300), (1e-300, 1e300), (1e12, 1.0), (1e-310, 1.0)],
    ids=str,
)
def test_33_34_scales_do_not_matter(build, scales):
    """Labels stay the same, even for denormal numbers (1e-310), which have fewer digits."""
    views = [view * scale / np.abs(view).max() for view, scale in zip(VIEWS, scales, strict=True)]
    model = build(2, random_state=0).fit(views)
    assert adjusted_rand_score(LABELS, model.labels_) == 1.0
    assert all(np.isfinite(coefficients).all() for coefficients in model.coefficients_)
    np.testing.assert_array_equal(model.predict(views), model.labels_)


@every_estimator
def test_35_a_disconnected_graph_is_reported(build):
    """Three groups have no features in common, and two clusters are asked for."""
    rng = np.random.default_rng(0)
    views = [
        scipy.sparse.block_diag(
            [rng.normal(size=(8, 2)) @ rng.normal(size=(2, 4)) for _ in range(3)]
        ).toarray()
        for _ in range(2)
    ]
    with pytest.warns(
        UserWarning, match="The graph has 3 connected components, but 2 clusters are requested"
    ):
        labels = build(
            2, affinity="coefficients", affine=False, scale_features=False, random_state=0
        ).fit_predict(views)
    assert set(labels) == {0, 1}


@every_estimator
def test_35_a_zero_affinity_raises_and_names_the_weights(build):
    weights = {name: 1e9 for name in ("lam", "tau") if name in build().get_params()}
    with pytest.raises(ValueError, match=r"lam.* too large|too large.*lam"):
        build(2, random_state=0, **weights).fit(VIEWS)


GRAPH = np.kron(np.eye(2), np.ones((4, 4)))


def changed(value):
    graph = GRAPH.copy()
    graph[0, 1] = value
    return graph


@pytest.mark.parametrize(
    ("graph", "error", "message"),
    [
        (changed(-1.0), ValueError, "negative"),
        (GRAPH[:, :7], ValueError, r"square.*\(8, 7\)"),
        (changed(np.nan), ValueError, "NaN"),
        (changed(np.inf), ValueError, "infinity"),
        (np.zeros((8, 8)), ValueError, "zero"),
        (GRAPH.astype(str), ValueError, "must be a number or an array of numbers"),
        (GRAPH + 1j, ValueError, "must be a number|must hold real numbers"),
        (GRAPH[0], ValueError, "2D|square"),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, scipy.sparse.csr_array], ids=["full", "sparse"])
def test_36_bad_graphs_raise(graph, error, message, kind):
    if kind is scipy.sparse.csr_array and (graph.dtype.kind == "U" or graph.ndim == 1):
        graph, kind = graph.copy(), np.asarray
    with pytest.raises(error, match=message):
        viewspan.ncut(kind(graph), 2)


def test_36_an_asymmetric_graph_is_symmetrised_with_a_warning():
    with pytest.warns(UserWarning, match="symmetric"):
        labels = viewspan.ncut(changed(0.5), 2)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], 4))


@every_estimator
def test_40_too_little_memory_raises_before_the_views_are_read(build, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    monkeypatch.setattr(Views, "read", lambda *_, **__: pytest.fail("the views were read"))
    views = [np.tile(view, (20, 1)) for view in VIEWS]
    with pytest.raises(
        MemoryError,
        match=rf"{build.__name__} would need about .* for 400 samples, and 1.* available\. ",
    ) as caught:
        build(2, **({"graph": "dense"} if "graph" in build().get_params() else {})).fit(views)
    assert "landmarks" in str(caught.value) or "CLRSC or LRR" in str(caught.value)
