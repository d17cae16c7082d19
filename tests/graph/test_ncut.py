import warnings

import numpy as np
import pytest
import scipy.sparse.linalg
from sklearn.cluster import spectral_clustering
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import random_views
from viewspan.graph.discretisation import by_direction, diffused
from viewspan.graph.quality import modularity, own_shares
from viewspan.graph.spectrum import Spectrum, leading_eigenvectors

WAYS = ["discretize", "cluster_qr", "kmeans", "modularity"]


def block_graph(sizes, inside=1.0, between=0.05, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(labels[:, None] == labels, inside, between) * rng.uniform(
        0.5, 1.0, (len(labels), len(labels))
    )
    return graph + graph.T, labels


@pytest.mark.parametrize("how", WAYS)
@pytest.mark.parametrize("sizes", [(20, 30, 25), (40, 3), (6,) * 12, (300, 200, 150)])
def test_blocks_are_found(how, sizes):
    graph, labels = block_graph(sizes)
    assert (
        adjusted_rand_score(
            labels, viewspan.ncut(graph, len(sizes), assign_labels=how, random_state=0)
        )
        == 1.0
    )


@pytest.mark.parametrize("how", WAYS[:3])
def test_agrees_with_scikit_learn_on_a_clear_graph(how):
    graph, _ = block_graph((25, 35, 20), between=0.2)
    theirs = spectral_clustering(graph, n_clusters=3, assign_labels=how, random_state=0)
    assert (
        adjusted_rand_score(theirs, viewspan.ncut(graph, 3, assign_labels=how, random_state=0))
        == 1.0
    )


def test_the_number_of_clusters_is_read_off_the_eigengap():
    graph, labels = block_graph((20, 30, 25, 22))
    assert adjusted_rand_score(labels, viewspan.ncut(graph, random_state=0)) == 1.0


def test_labels_are_numbered_by_first_appearance():
    graph, labels = block_graph((10, 10, 10))
    order = np.random.default_rng(0).permutation(30)
    found = viewspan.ncut(graph[np.ix_(order, order)], 3, random_state=1)
    _, first = np.unique(found, return_index=True)
    assert list(first) == sorted(first)
    assert adjusted_rand_score(labels[order], found) == 1.0


def test_same_seed_same_labels():
    graph = np.random.default_rng(0).uniform(size=(60, 60))
    graph += graph.T
    for how in WAYS:
        first, second = (
            viewspan.ncut(graph, 4, assign_labels=how, random_state=3) for _ in range(2)
        )
        np.testing.assert_array_equal(first, second)


def test_one_cluster():
    graph, _ = block_graph((5, 5))
    assert not viewspan.ncut(graph, 1).any()


def test_as_many_clusters_as_samples():
    labels = viewspan.ncut(np.eye(4) + 0.01, 4, random_state=0)
    assert sorted(labels) == [0, 1, 2, 3]


def test_iterative_and_dense_eigenvectors_agree(monkeypatch):
    graph, _ = block_graph((300, 250))
    generator = np.random.RandomState(0)
    iterative = leading_eigenvectors(graph, 3, generator)

    def failing(*args, **kwargs):
        raise scipy.sparse.linalg.ArpackNoConvergence("no", np.array([]), np.array([]))

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", failing)
    dense = leading_eigenvectors(graph, 3, generator)
    np.testing.assert_allclose(iterative.eigenvalues, dense.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(iterative.embedding, dense.embedding, atol=1e-8)


def test_pieces_as_many_as_clusters_are_the_ideal():
    graph, labels = block_graph((10, 12), between=0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert adjusted_rand_score(labels, viewspan.ncut(graph, 2, random_state=0)) == 1.0


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_another_number_of_pieces_is_reported(n_clusters):
    graph, _ = block_graph((10, 12, 9), between=0.0)
    with pytest.warns(UserWarning, match="in 3 separate pieces"):
        viewspan.ncut(graph, n_clusters, random_state=0)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (np.ones((3, 4)), "square"),
        (np.full((3, 3), np.nan), "NaN"),
        (-np.ones((3, 3)), "must not be negative"),
        (np.zeros((3, 3)), "lam or tau is too large"),
    ],
)
def test_bad_graphs_get_one_clear_sentence(graph, message):
    with pytest.raises(ValueError, match=message):
        viewspan.ncut(graph, 2)


def test_an_asymmetric_graph_is_symmetrised_with_a_warning():
    graph, labels = block_graph((10, 10))
    with pytest.warns(UserWarning, match="not symmetric"):
        found = viewspan.ncut(np.triu(graph), 2, random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0


def test_affinity_is_the_papers_formula():
    first, second = np.random.default_rng(0).normal(size=(2, 5, 5))
    united = viewspan.affinity([first, second])
    for i in range(5):
        for j in range(5):
            expected = np.hypot(first[i, j], second[i, j]) + np.hypot(first[j, i], second[j, i])
            assert united[i, j] == pytest.approx(expected)
    np.testing.assert_allclose(viewspan.affinity(first), np.abs(first) + np.abs(first.T))


def test_affinity_of_a_result_is_that_of_its_coefficients():
    result = viewspan.solve(random_views(0), 0.1, 0.5)
    np.testing.assert_allclose(
        viewspan.affinity(result), viewspan.affinity(result.coefficients), atol=1e-12
    )


@pytest.mark.parametrize("blocks", [[np.ones((2, 3))], [np.eye(2), np.eye(3)], []])
def test_affinity_refuses_what_is_not_square(blocks):
    with pytest.raises(ValueError, match="square coefficient matrices"):
        viewspan.affinity(blocks)


@pytest.mark.parametrize("n_pieces", [5, 12, 20])
@pytest.mark.parametrize("seed", range(3))
def test_many_pieces_are_all_found_although_lanczos_sees_one_copy(n_pieces, seed):
    graph, labels = block_graph((500 // n_pieces,) * n_pieces, between=0.0)
    assert adjusted_rand_score(labels, viewspan.ncut(graph, n_pieces, random_state=seed)) == 1.0


def test_isolated_samples_are_reported():
    graph, _ = block_graph((10, 10))
    graph[3] = graph[:, 3] = 0.0
    with pytest.warns(UserWarning, match="1 of 20 samples are connected to no other"):
        viewspan.ncut(graph, 2, random_state=0)


@pytest.mark.parametrize("n_clusters", [0, -1, 2.5, "a", True, 21])
def test_a_bad_number_of_clusters_is_named(n_clusters):
    graph, _ = block_graph((10, 10))
    with pytest.raises(
        ValueError, match="n_clusters must be an int from 1 to the number of samples, 20"
    ):
        viewspan.ncut(graph, n_clusters)


def test_a_bad_way_of_assigning_is_named():
    graph, _ = block_graph((10, 10))
    with pytest.raises(
        ValueError,
        match="assign_labels must be one of 'discretize', 'cluster_qr', 'kmeans', 'modularity'",
    ):
        viewspan.ncut(graph, 2, assign_labels="guess")


@pytest.mark.parametrize("sizes", [(20, 30, 25), (300, 200, 150)])
def test_a_sparse_graph_is_cut_as_the_full_one(sizes):
    graph, _ = block_graph(sizes)
    graph[graph < 0.3] = 0.0
    sparse = scipy.sparse.csr_matrix(graph)
    expected = viewspan.ncut(graph, len(sizes), random_state=0)
    np.testing.assert_array_equal(viewspan.ncut(sparse, len(sizes), random_state=0), expected)


def test_many_pieces_of_a_sparse_graph_are_all_found():
    blocks = scipy.sparse.block_diag([np.ones((30, 30))] * 20, format="csr")
    labels = viewspan.ncut(blocks, 20, random_state=0)
    assert adjusted_rand_score(np.repeat(np.arange(20), 30), labels) == 1.0


def test_an_empty_graph_is_refused():
    with pytest.raises(ValueError, match="affinity is empty"):
        viewspan.ncut(np.zeros((0, 0)), 1)


def test_k_means_goes_by_directions():
    """Three samples far out in the direction of one group are of that group."""
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0], [50.0, 0.0]], [20, 20, 3], axis=0)
    labels = by_direction(rows, 2, np.random.RandomState(0))
    assert labels[0] == labels[-1] != labels[20]


def test_modularity_is_that_of_its_definition():
    graph, labels = random_graph(), np.arange(12) % 3
    degrees, total = graph.sum(axis=0), graph.sum()
    same = labels[:, None] == labels
    expected = ((graph - np.outer(degrees, degrees) / total) * same).sum() / total
    assert modularity(graph, labels) == pytest.approx(expected)
    assert modularity(scipy.sparse.csr_array(graph), labels) == pytest.approx(expected)


def random_graph(n_samples=12):
    half = np.random.default_rng(0).uniform(size=(n_samples, n_samples))
    return half + half.T


def test_a_diffusion_keeps_what_does_not_decay():
    """Two pieces, up to rounding; the third eigenvector is the first that decays."""
    eigenvalues = np.array([1.0, 1.0 - 1e-16, 0.9, 0.5, 0.0, -1.0, -1.0])
    weights = diffused(Spectrum(eigenvalues, np.ones((1, 7))), 2)[0]
    np.testing.assert_allclose(weights, np.exp([0, 0, -1, -5, -10, -20]), rtol=1e-8)


def small_groups_beside_large_ones():
    """Three large groups that are linked, and three pairs that nearly are not and have the leading eigenvectors."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), [60, 60, 60, 2, 2, 2])
    graph = np.where(labels[:, None] == labels, 1.0, 0.1) * rng.uniform(0.5, 1.0, size=(186, 186))
    graph[180:, :180] *= 0.01
    graph[:180, 180:] *= 0.01
    return (graph + graph.T) / 2, labels[:180]


def test_small_groups_do_not_take_the_place_of_large_ones():
    graph, truth = small_groups_beside_large_ones()
    by_way = {
        way: viewspan.ncut(graph, 3, assign_labels=way, random_state=0)[:180]
        for way in ("kmeans", "modularity")
    }
    assert adjusted_rand_score(truth, by_way["modularity"]) == 1.0
    assert len(np.unique(by_way["kmeans"])) < 3


def test_own_shares_are_those_of_the_rows():
    graph = np.array(
        [[0.0, 3.0, 1.0, 0.0], [3.0, 0.0, 0.0, 0.0], [1.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]]
    )
    labels = np.array([0, 0, 1, 1])
    expected = [0.75, 1.0, 0.0, 0.0]
    np.testing.assert_allclose(own_shares(graph, labels), expected)
    np.testing.assert_allclose(own_shares(scipy.sparse.csr_array(graph), labels), expected)
