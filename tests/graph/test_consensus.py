"""One partition from several graphs."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from tests.graph.graphs import block_graph, random_graph
from viewspan.graph import spectrum
from viewspan.graph.consensus import cut_consensus
from viewspan.graph.landmarks import graph_between_landmarks
from viewspan.graph.ncut import cut
from viewspan.graph.neighbors import mean_graph
from viewspan.graph.spectrum import leading_eigenvalues

LABELS = np.repeat(np.arange(3), 10)


def generator():
    return np.random.RandomState(0)


def consensus(graphs, n_clusters, assign_labels="discretize", **options):
    return cut_consensus(
        graphs, n_clusters, assign_labels=assign_labels, generator=generator(), **options
    )


def test_one_graph_with_a_known_number_is_simply_cut():
    graph, labels = block_graph()
    found, eigenvalues, used = consensus([graph], 3)
    assert adjusted_rand_score(labels, found) == 1.0
    assert used is graph
    np.testing.assert_allclose(eigenvalues, leading_eigenvalues(graph, 4, generator()))


def test_one_graph_with_an_unknown_number_is_counted():
    graph, labels = block_graph()
    found, eigenvalues, used = consensus([graph], None)
    assert adjusted_rand_score(labels, found) == 1.0
    assert len(eigenvalues) == 17
    np.testing.assert_allclose(used, graph)


def test_graphs_are_weighted_by_their_eigengaps():
    graphs = [
        block_graph(between=between, seed=seed)[0] for seed, between in enumerate((0.05, 0.3, 0.6))
    ]
    found, eigenvalues, used = consensus(graphs, 3)
    spectra = [leading_eigenvalues(graph, 4, generator()) for graph in graphs]
    np.testing.assert_allclose(eigenvalues, np.mean(spectra, axis=0), atol=1e-12)
    expected = mean_graph(graphs, [values[2] - values[3] for values in spectra])
    np.testing.assert_allclose(used, expected)
    assert adjusted_rand_score(LABELS, found) == 1.0


def test_graphs_without_a_gap_are_ignored():
    clear = np.where(LABELS[:, None] == LABELS, 1.0, 0.02)
    rng = np.random.default_rng(0)
    noise = [(matrix + matrix.T) / 2 for matrix in rng.uniform(0.4, 1.0, (2, 30, 30))]
    found, _, used = consensus([noise[0], clear, noise[1]], None)
    assert adjusted_rand_score(LABELS, found) == 1.0
    assert np.abs(used - clear).max() < 0.05


@pytest.mark.parametrize("assign_labels", ["discretize", "cluster_qr", "kmeans", "modularity"])
@pytest.mark.parametrize("n_graphs", [1, 2])
@pytest.mark.parametrize("to_landmarks", [False, True])
def test_the_mean_graph_is_cut_as_requested(assign_labels, n_graphs, to_landmarks):
    """Graphs without groups, in which every assignment and every seed finds other labels."""
    graphs = [scipy.sparse.csr_array(random_graph(40, seed, 6)) for seed in range(n_graphs)]
    found, _, used = consensus(graphs, 4, assign_labels, to_landmarks=to_landmarks)
    steps = 2 if to_landmarks else 1
    expected, _ = cut(used, 4, assign_labels=assign_labels, random_state=generator(), steps=steps)
    np.testing.assert_array_equal(found, expected)


def test_one_generator_draws_for_the_eigenvalues_and_for_the_cut(monkeypatch):
    monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", 40)  # so that eigenvalues are iterated
    graphs, draws = [random_graph(60, seed, 6) for seed in range(2)], generator()
    found, eigenvalues, used = consensus(graphs, 3, "kmeans")
    expected = np.mean([leading_eigenvalues(graph, 4, draws) for graph in graphs], axis=0)
    np.testing.assert_array_equal(eigenvalues, expected)
    labels, _ = cut(used, 3, assign_labels="kmeans", random_state=draws)
    np.testing.assert_array_equal(found, labels)


def graph_to_landmarks(seed=0):
    """Return a graph from thirty samples of three groups to nine landmarks, and their labels."""
    labels = np.repeat(np.arange(3), 3)
    rng = np.random.default_rng(seed)
    weights = np.where(LABELS[:, None] == labels, 1.0, 0.02) * rng.uniform(0.5, 1.0, (30, 9))
    return scipy.sparse.csr_array(weights), labels


@pytest.mark.parametrize("n_clusters", [3, None])
@pytest.mark.parametrize("n_graphs", [1, 2])
def test_graphs_to_landmarks_are_cut_between_landmarks(n_clusters, n_graphs):
    graphs = [graph_to_landmarks(seed)[0] for seed in range(n_graphs)]
    found, eigenvalues, used = consensus(graphs, n_clusters, to_landmarks=True)
    assert adjusted_rand_score(graph_to_landmarks()[1], found) == 1.0
    between = [graph_between_landmarks(graph) for graph in graphs]
    spectra = [
        leading_eigenvalues(graph, len(eigenvalues), generator(), steps=2) for graph in between
    ]
    np.testing.assert_allclose(eigenvalues, np.mean(spectra, axis=0), atol=1e-12)
    mean = mean_graph(graphs, [values[2] - values[3] for values in spectra])
    np.testing.assert_allclose(used, graph_between_landmarks(mean))


def test_only_eigenvalues_above_those_of_noise_are_clusters():
    graphs = [block_graph(seed=seed)[0] for seed in range(2)]
    noise = [random_graph(30, seed, 4) for seed in range(2)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, eigenvalues, _ = consensus(graphs, None, chance=noise)
    assert adjusted_rand_score(LABELS, found) == 1.0
    assert len(eigenvalues) == 17  # one more than the largest number that is considered
    with pytest.warns(UserWarning, match="noise would give such a graph"):
        consensus(graphs, None, chance=graphs)


def test_eigenvalues_of_noise_are_averaged():
    """The mean of two graphs of noise is below the graph, although one of them is above it."""
    graphs = [block_graph(seed=seed)[0] for seed in range(2)]
    noise = [random_graph(30, 0, 4), block_graph(between=0.0)[0]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, _, _ = consensus(graphs, None, chance=noise)
    assert adjusted_rand_score(LABELS, found) == 1.0
    with pytest.warns(UserWarning, match="noise would give such a graph"):
        consensus(graphs, None, chance=noise[1:])


def test_as_many_clusters_as_samples_leave_no_next_eigenvalue():
    graphs = [np.eye(4) + 0.01, np.eye(4) + 0.02]
    found, eigenvalues, used = consensus(graphs, 4)
    assert sorted(found) == [0, 1, 2, 3]
    assert len(eigenvalues) == 4
    np.testing.assert_allclose(used, np.eye(4) + 0.015)
