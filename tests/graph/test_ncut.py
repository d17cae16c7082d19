"""Normalised cuts: labels, warnings and errors."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.cluster import spectral_clustering
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.graph.graphs import block_graph, random_graph
from viewspan.graph import spectrum
from viewspan.graph.discretisation import assign
from viewspan.graph.ncut import (
    check_affinity,
    check_request,
    components_of,
    components_to_keep,
    cut,
    majority_labels,
    number_by_appearance,
    warn_of_empty_clusters,
)
from viewspan.graph.spectrum import degrees, leading_eigenvalues, leading_eigenvectors

ASSIGNMENTS = ["discretize", "cluster_qr", "kmeans", "modularity"]
FORMS = [np.asarray, scipy.sparse.csr_array]


@pytest.mark.parametrize("how", ASSIGNMENTS)
@pytest.mark.parametrize("sizes", [(20, 30, 25), (40, 3), (6,) * 12, (300, 200, 150)])
def test_groups_are_found(how, sizes):
    graph, labels = block_graph(sizes)
    found = viewspan.ncut(graph, len(sizes), assign_labels=how, random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0


@pytest.mark.parametrize("how", ASSIGNMENTS[:3])
def test_labels_agree_with_scikit_learn_on_a_clear_graph(how):
    graph, _ = block_graph((25, 35, 20), between=0.2)
    theirs = spectral_clustering(graph, n_clusters=3, assign_labels=how, random_state=0)
    ours = viewspan.ncut(graph, 3, assign_labels=how, random_state=0)
    assert adjusted_rand_score(theirs, ours) == 1.0


def test_the_number_of_clusters_is_estimated_from_the_eigengap():
    graph, labels = block_graph((20, 30, 25, 22))
    assert adjusted_rand_score(labels, viewspan.ncut(graph, random_state=0)) == 1.0


def test_labels_are_numbered_by_first_appearance():
    found = number_by_appearance(np.array([7, 2, 2, 9, 7, 0]))
    np.testing.assert_array_equal(found, [0, 1, 1, 2, 0, 3])
    assert found.dtype == np.int64
    graph, labels = block_graph((10, 10, 10))
    order = np.random.default_rng(0).permutation(30)
    found = viewspan.ncut(graph[np.ix_(order, order)], 3, random_state=1)
    np.testing.assert_array_equal(found, number_by_appearance(labels[order]))


@pytest.mark.parametrize("how", ASSIGNMENTS)
def test_the_same_seed_gives_the_same_labels(how):
    graph = random_graph(60)
    first, second = (viewspan.ncut(graph, 4, assign_labels=how, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("how", ASSIGNMENTS)
def test_one_generator_draws_for_the_eigenvectors_and_for_the_assignment(monkeypatch, how):
    monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", 100)  # so that the iteration draws, too
    graph, generator = random_graph(150), np.random.RandomState(7)
    found = viewspan.ncut(graph, 3, assign_labels=how, random_state=7)
    pairs = leading_eigenvectors(graph, 9 if how == "modularity" else 4, generator)
    expected = assign(graph, pairs, 3, how, generator)
    np.testing.assert_array_equal(found, number_by_appearance(expected))


def test_discretize_is_the_default():
    graph = random_graph(60)
    default = viewspan.ncut(graph, 4, random_state=0)
    for how in ASSIGNMENTS:
        found = viewspan.ncut(graph, 4, assign_labels=how, random_state=0)
        assert np.array_equal(found, default) == (how == "discretize")


def test_one_cluster_holds_all_samples():
    labels, eigenvalues = cut(block_graph()[0], 1, assign_labels="discretize", random_state=0)
    np.testing.assert_array_equal(labels, np.zeros(30))
    assert labels.dtype == np.int64
    assert len(eigenvalues) == 2


def test_there_can_be_as_many_clusters_as_samples():
    labels = viewspan.ncut(np.eye(4) + 0.01, 4, random_state=0)
    assert sorted(labels) == [0, 1, 2, 3]


@pytest.mark.parametrize(("how", "count"), [("kmeans", 4), ("modularity", 9)])
def test_as_many_eigenvalues_are_returned_as_the_assignment_uses(how, count):
    graph, labels = block_graph((6, 7, 8))
    found, eigenvalues = cut(graph, 3, assign_labels=how, random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0
    expected = leading_eigenvalues(graph, count, np.random.RandomState(0))
    np.testing.assert_allclose(eigenvalues, expected, atol=1e-12)


def test_an_estimate_returns_the_eigenvalues_that_it_used():
    graph, labels = block_graph((6, 7, 8))
    found, eigenvalues = cut(graph, None, assign_labels="discretize", random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0
    assert len(eigenvalues) == 14


def test_an_estimate_that_needs_more_eigenvectors_is_cut_again():
    """Six clusters need eighteen eigenvectors by modularity; the estimate has fifteen."""
    graph, labels = block_graph((4,) * 6)
    found, eigenvalues = cut(graph, None, assign_labels="modularity", random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0
    assert len(eigenvalues) == 15


def test_edges_of_two_steps_weight_samples_by_their_degrees():
    scale = np.random.default_rng(0).uniform(size=40) ** 6 + 0.01
    graph = random_graph(40, power=3) * scale * scale[:, None]
    once, values = cut(graph, 3, assign_labels="kmeans", random_state=0)
    twice, roots = cut(graph, 3, assign_labels="kmeans", random_state=0, steps=2)
    np.testing.assert_allclose(roots, np.sqrt(np.maximum(values, 0)))
    pairs = leading_eigenvectors(graph, 4, np.random.RandomState(0))
    for found, weights in ((once, None), (twice, degrees(graph))):
        expected = assign(graph, pairs, 3, "kmeans", np.random.RandomState(0), weights)
        np.testing.assert_array_equal(found, number_by_appearance(expected))
    assert adjusted_rand_score(once, twice) < 0.9


def test_empty_clusters_warn():
    message = (
        r"^Only 9 of 10 clusters got a sample: the graph has fewer groups\. "
        r'assign_labels="kmeans" leaves none empty\.$'
    )
    with pytest.warns(UserWarning, match=message):
        labels = viewspan.ncut(random_graph(20), 10, random_state=0)
    assert labels.max() == 8


def test_the_warning_of_empty_clusters_advises_kmeans_only_to_others():
    for how in ("kmeans", "modularity"):
        with pytest.warns(UserWarning, match=r"^Only 2 of 3 clusters .* has fewer groups\.$"):
            warn_of_empty_clusters(np.array([0, 1]), 3, how)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_empty_clusters(np.array([0, 1]), 2, "discretize")


def test_as_many_components_as_clusters_do_not_warn():
    graph, labels = block_graph((10, 12), between=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adjusted_rand_score(labels, viewspan.ncut(graph, 2, random_state=0)) == 1.0


@pytest.mark.parametrize("form", FORMS)
def test_more_components_than_clusters_warn_and_are_not_cut(form):
    graph, labels = block_graph((10, 12, 9), between=0.0)
    message = (
        r"^The graph has 3 connected components, but 2 clusters are requested, so unrelated "
        r"components share a label\. To connect more samples, increase n_neighbors, or in the "
        r"paper's graph lower lam or tau\.$"
    )
    with pytest.warns(UserWarning, match=message):
        found = viewspan.ncut(form(graph), 2, random_state=0)
    assert all(len(set(found[labels == k])) == 1 for k in range(3))


@pytest.mark.parametrize("form", FORMS)
def test_fewer_components_than_clusters_warn_and_are_cut(form):
    graph, _ = block_graph((10, 12, 9), between=0.0)
    message = r"^The graph has 3 connected components, but 4 .*, so some components are cut further"
    with pytest.warns(UserWarning, match=message):
        found = viewspan.ncut(form(graph), 4, random_state=0)
    assert found.max() == 3


@pytest.mark.parametrize(
    ("between", "n_clusters", "eigenvalues", "warns"),
    [
        (0.0, 2, [1.0, 1.0, 1.0, 0.5], True),
        (0.0, 3, [1.0, 1.0, 1.0, 0.5], False),  # one component for every cluster
        (0.0, 2, [1.0 - 2e-10, 0.5], False),  # not close enough to 1
        (0.0, 4, [1.0, 1.0 - 0.5e-10, 0.5], True),
        (0.05, 3, [1.0, 1.0], False),  # 1 only by rounding: the graph is connected
    ],
)
def test_components_are_counted_if_eigenvalues_are_one(between, n_clusters, eigenvalues, warns):
    graph, labels = block_graph((6, 7, 8), between)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kept = components_to_keep(graph, np.array(eigenvalues), n_clusters)
    assert len(caught) == warns
    if warns and n_clusters < 3:
        np.testing.assert_array_equal(kept, labels)
    else:
        assert kept is None


def test_components_of_small_weights_are_found():
    count, found = components_of(0.3 * np.kron(np.eye(3), np.ones((4, 4))))
    assert count == 3
    np.testing.assert_array_equal(found, np.repeat([0, 1, 2], 4))


def test_edges_of_rounding_do_not_connect_components():
    graph = np.kron(np.eye(2), np.ones((3, 3)))
    graph[0, 5] = graph[5, 0] = 2e-10
    assert components_of(graph)[0] == 2
    graph[0, 5] = graph[5, 0] = 4e-10
    assert components_of(graph)[0] == 1


def test_a_component_gets_the_label_of_most_of_its_samples():
    labels, components = np.array([0, 1, 1, 2, 2, 0, 2]), np.array([0, 0, 0, 1, 1, 1, 2])
    np.testing.assert_array_equal(majority_labels(labels, components), [1, 1, 1, 2, 2, 2, 2])


@pytest.mark.parametrize("n_components", [5, 12, 20])
@pytest.mark.parametrize("seed", range(3))
def test_all_components_are_found_although_lanczos_sees_one_copy(n_components, seed):
    graph, labels = block_graph((500 // n_components,) * n_components, between=0.0)
    found = viewspan.ncut(graph, n_components, random_state=seed)
    assert adjusted_rand_score(labels, found) == 1.0


def test_all_components_of_a_sparse_graph_are_found():
    blocks = scipy.sparse.block_diag([np.ones((30, 30))] * 20, format="csr")
    labels = viewspan.ncut(blocks, 20, random_state=0)
    assert adjusted_rand_score(np.repeat(np.arange(20), 30), labels) == 1.0


@pytest.mark.parametrize("sizes", [(20, 30, 25), (300, 200, 150)])
def test_a_sparse_graph_is_cut_as_the_dense_one(sizes):
    graph, _ = block_graph(sizes)
    graph[graph < 0.3] = 0.0
    sparse = scipy.sparse.csr_matrix(graph)
    expected = viewspan.ncut(graph, len(sizes), random_state=0)
    np.testing.assert_array_equal(viewspan.ncut(sparse, len(sizes), random_state=0), expected)


def test_small_groups_do_not_take_the_place_of_large_ones_by_modularity():
    """Three large connected groups, and three pairs that have the leading eigenvectors."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), [60, 60, 60, 2, 2, 2])
    graph = np.where(labels[:, None] == labels, 1.0, 0.1) * rng.uniform(0.5, 1.0, size=(186, 186))
    graph[180:, :180] *= 0.01
    graph[:180, 180:] *= 0.01
    graph = (graph + graph.T) / 2
    kmeans, modularity = (
        viewspan.ncut(graph, 3, assign_labels=how, random_state=0)[:180]
        for how in ("kmeans", "modularity")
    )
    assert adjusted_rand_score(labels[:180], modularity) == 1.0
    assert len(np.unique(kmeans)) < 3


def test_isolated_samples_warn():
    graph, _ = block_graph((10, 10))
    graph[3] = graph[:, 3] = 0.0
    with pytest.warns(UserWarning, match="1 of 20 samples are connected to no other"):
        viewspan.ncut(graph, 2, random_state=0)


@pytest.mark.parametrize("n_clusters", [None, 1, 20, np.int32(3)])
def test_valid_requests_pass(n_clusters):
    check_request(n_clusters, "kmeans", 20)


@pytest.mark.parametrize("n_clusters", [0, -1, 21, 2.0, 2.5, True, "2"])
def test_an_invalid_number_of_clusters_raises(n_clusters):
    message = (
        r"^n_clusters must be an int from 1 to the number of samples, 20, or None\. "
        rf"Got {n_clusters!r} instead\.$"
    )
    with pytest.raises(ValueError, match=message):
        viewspan.ncut(block_graph((10, 10))[0], n_clusters)


def test_an_invalid_assignment_raises():
    message = (
        r"^assign_labels must be one of 'discretize', 'cluster_qr', 'kmeans', 'modularity'\. "
        r"Got 'guess' instead\.$"
    )
    with pytest.raises(ValueError, match=message):
        viewspan.ncut(block_graph((10, 10))[0], 2, assign_labels="guess")


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            np.ones((3, 4)),
            r"^affinity must be a square matrix \(n_samples, n_samples\)\. "
            r"Got shape \(3, 4\) instead\.$",
        ),
        (np.ones(4), r"Got shape \(4,\) instead\.$"),
        (np.ones((2, 2, 2)), r"Got shape \(2, 2, 2\) instead\.$"),
        (np.zeros((0, 0)), r"^affinity is empty: there is no sample to cluster\.$"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), r"^affinity contains NaN or infinity\.$"),
        (np.full((3, 3), np.nan), r"^affinity contains NaN or infinity\.$"),
        (
            np.array([[0.0, -0.25], [-0.25, 0.0]]),
            r"^affinity must not be negative; its smallest entry is -0\.25\. "
            r"Take absolute values if signs do not matter\.$",
        ),
        (np.zeros((3, 3)), "lam or tau is too large"),
    ],
)
def test_an_invalid_graph_raises(graph, message):
    for form in FORMS if graph.ndim == 2 and graph.size else FORMS[:1]:
        with pytest.raises(ValueError, match=message):
            viewspan.ncut(form(graph), 2)


@pytest.mark.parametrize("form", FORMS)
def test_a_symmetric_graph_of_integers_becomes_one_of_floats(form):
    graph = np.array([[1, 4], [4, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = check_affinity(form(graph))
        check_affinity(form(np.zeros((2, 2))))
    assert found.dtype == float
    np.testing.assert_array_equal(found @ np.eye(2), graph)


@pytest.mark.parametrize("form", FORMS)
def test_an_asymmetric_graph_warns_and_is_symmetrised(form):
    message = r"^affinity is not symmetric; the mean of it and its transpose is used\.$"
    with pytest.warns(UserWarning, match=message):
        found = check_affinity(form(np.array([[0, 1], [2, 0]])))
    np.testing.assert_array_equal(found @ np.eye(2), [[0, 1.5], [1.5, 0]])


def test_asymmetry_of_rounding_does_not_warn():
    graph = np.array([[1.0, 4.0], [4.0 + 3.9e-8, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = check_affinity(graph)
    assert found[0, 1] == found[1, 0] == 4.0 + 1.95e-8
    graph[1, 0] = 4.0 + 4.1e-8
    with pytest.warns(UserWarning, match="not symmetric"):
        check_affinity(graph)


def test_very_large_entries_do_not_overflow():
    graph, labels = block_graph((10, 10))
    found = viewspan.ncut(1e307 * graph, 2, random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0
