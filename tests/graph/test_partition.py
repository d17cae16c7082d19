"""From solutions to labels: graphs, view weights, number of clusters, cut."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.graph.results import result_of
from tests.problems import random_views, two_subspaces
from viewspan.graph.consensus import cut_consensus
from viewspan.graph.landmarks import affinity_to_landmarks, pattern_graph_to_landmarks
from viewspan.graph.partition import GraphSettings, partition
from viewspan.graph.patterns import neighbor_graph, patterns_of
from viewspan.graph.view_weights import automatic_view_weights, noise_patterns

PATTERNS = GraphSettings(by_patterns=True)
PAPER = GraphSettings(by_patterns=False)
LANDMARKS = np.arange(0, 24, 2)


def generator():
    return np.random.RandomState(0)


def unit(views):
    return [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]


@pytest.fixture(scope="module")
def solved():
    """Return a solution of two views with two clusters, and the labels."""
    views, labels = two_subspaces(size=12, noise=0.05)
    return viewspan.solve(unit(views), 0.1, 0.2), labels


@pytest.fixture(scope="module")
def with_noise():
    """Return a solution of one view with two clusters and one of noise."""
    views, _ = two_subspaces(size=12, noise=0.05)
    noise = np.random.default_rng(0).normal(size=(24, 2))
    return viewspan.solve(unit([views[0], noise]), 0.1, 0.2)


@pytest.mark.parametrize("mutual", [False, True])
def test_the_graph_of_patterns_has_the_given_settings(solved, mutual):
    result, labels = solved
    settings = GraphSettings(True, view_weights=[1.0, 0.5], n_neighbors=4, mutual=mutual)
    found = partition([result], 2, settings, generator())
    patterns = patterns_of(result, mutual=mutual)
    expected = neighbor_graph(patterns, np.array([1.0, 0.5]), 4)
    np.testing.assert_array_equal(found.graph.toarray(), expected.toarray())
    np.testing.assert_array_equal(found.graphs[0].toarray(), expected.toarray())
    np.testing.assert_array_equal(found.view_weights, [1.0, 0.5])
    assert adjusted_rand_score(labels, found.labels) == 1.0


def test_the_papers_graph_has_the_given_weights(solved):
    result, labels = solved
    settings = GraphSettings(False, view_weights=[1.0, 0.5])
    found = partition([result], 2, settings, generator())
    expected = viewspan.affinity(result, view_weights=[1.0, 0.5])
    np.testing.assert_array_equal(found.graph, expected)
    np.testing.assert_array_equal(found.view_weights, [1.0, 0.5])
    assert adjusted_rand_score(labels, found.labels) == 1.0


def test_weights_are_automatic_for_patterns_only(with_noise):
    automatic = automatic_view_weights(patterns_of(with_noise, mutual=False), 2)
    assert automatic[1] < 0.8
    for settings, expected in (
        (PATTERNS, automatic),
        (PAPER, [1, 1]),
        (GraphSettings(True, "equal"), [1, 1]),
    ):
        found = partition([with_noise], 2, settings, generator())
        np.testing.assert_array_equal(found.view_weights, expected)


@pytest.mark.parametrize("mutual", [False, True])
def test_automatic_weights_are_those_of_the_patterns_that_are_compared(mutual):
    """Columns of a rank-two matrix with four directions; Z + Zᵀ does not have these."""
    rng = np.random.default_rng(0)
    angles = np.pi * (np.arange(40) % 4) / 4 + 0.01 * rng.normal(size=40)
    left, _ = np.linalg.qr(rng.normal(size=(40, 2)))
    four_directions = left @ np.stack([np.cos(angles), np.sin(angles)])
    result = result_of(np.stack([four_directions, rng.normal(size=(40, 40))]))
    found = partition([result], 4, GraphSettings(True, mutual=mutual), generator()).view_weights
    expected = automatic_view_weights(patterns_of(result, mutual=mutual), 4)
    np.testing.assert_array_equal(found, expected)
    assert (found[0] == 1) == (not mutual)


@pytest.mark.parametrize("by_patterns", [True, False])
def test_samples_are_connected_with_landmarks(solved, by_patterns):
    result, labels = solved
    weights = np.array([1.0, 0.5])
    settings = GraphSettings(by_patterns, view_weights=weights, n_neighbors=6)
    found = partition([result], 2, settings, generator(), landmarks=LANDMARKS)
    if by_patterns:
        patterns = patterns_of(result, mutual=False)
        expected = pattern_graph_to_landmarks(patterns, LANDMARKS, weights, 4)
    else:
        expected = affinity_to_landmarks(result, LANDMARKS, weights, 4)
    np.testing.assert_array_equal(found.graphs[0].toarray(), expected.toarray())
    assert found.graph.shape == (12, 12)
    assert adjusted_rand_score(labels[LANDMARKS], found.labels) == 1.0


@pytest.mark.parametrize(
    ("n_neighbors", "expected"), [(1, 1), (2, 1), (15, 10), (16, 10), (17, 11)]
)
def test_a_sample_has_two_thirds_as_many_landmarks_as_neighbours(n_neighbors, expected):
    assert GraphSettings(True, n_neighbors=n_neighbors).n_landmark_neighbors == expected


@pytest.mark.parametrize("by_patterns", [True, False])
@pytest.mark.parametrize("assign_labels", ["auto", "discretize", "cluster_qr", "kmeans"])
def test_the_consensus_of_all_solutions_is_cut(by_patterns, assign_labels):
    """Solutions without clusters, in which every assignment finds other labels."""
    views = random_views(0, (5, 9), 40)
    results = [viewspan.solve(views, lam, 0.5) for lam in (0.2, 0.4)]
    settings = GraphSettings(by_patterns, "equal", assign_labels)
    found = partition(results, 4, settings, generator())
    if by_patterns:
        graphs = [neighbor_graph(patterns_of(r, mutual=False), np.ones(2)) for r in results]
    else:
        graphs = [viewspan.affinity(r) for r in results]
    default = "modularity" if by_patterns else "discretize"
    labels, eigenvalues, graph = cut_consensus(
        graphs,
        4,
        assign_labels=default if assign_labels == "auto" else assign_labels,
        generator=generator(),
    )
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.eigenvalues, eigenvalues)
    np.testing.assert_array_equal(found.graph @ np.eye(40), graph @ np.eye(40))
    assert len(found.graphs) == 2


@pytest.mark.filterwarnings("ignore:The number of clusters")
@pytest.mark.parametrize("landmarks", [None, LANDMARKS])
@pytest.mark.parametrize("mutual", [True, False])
def test_an_estimated_number_reweights_the_views(with_noise, landmarks, mutual):
    """The eigenvalues are those of equal weights; graph and labels are those of the second cut."""
    settings = GraphSettings(True, n_neighbors=6, mutual=mutual)
    found = partition([with_noise], None, settings, generator(), landmarks=landmarks)
    patterns = patterns_of(with_noise, mutual=mutual)

    def graph_of(patterns, weights):
        if landmarks is None:
            return neighbor_graph(patterns, weights, 6)
        return pattern_graph_to_landmarks(patterns, landmarks, weights, 4)

    options = {"assign_labels": "modularity", "to_landmarks": landmarks is not None}
    draws = generator()
    first, eigenvalues, _ = cut_consensus(
        [graph_of(patterns, np.ones(2))],
        None,
        generator=draws,
        chance=[graph_of(noise_patterns(patterns, 0), np.ones(2))],
        **options,
    )
    weights = automatic_view_weights(patterns, first.max() + 1)
    second, _, graph = cut_consensus(
        [graph_of(patterns, weights)], first.max() + 1, generator=draws, **options
    )
    assert weights[1] < 1
    np.testing.assert_array_equal(found.view_weights, weights)
    np.testing.assert_array_equal(found.eigenvalues, eigenvalues)
    np.testing.assert_array_equal(found.labels, second)
    np.testing.assert_array_equal(found.graph @ np.eye(len(second)), graph @ np.eye(len(second)))


def test_an_estimated_number_is_found(solved):
    result, labels = solved
    for settings in (PATTERNS, PAPER):
        found = partition([result, replace(result)], None, settings, generator())
        assert adjusted_rand_score(labels, found.labels) == 1.0
        assert len(found.eigenvalues) == 15


@pytest.mark.filterwarnings("ignore:The number of clusters")
@pytest.mark.parametrize(
    ("settings", "n_clusters", "n_steps"),
    [
        (PATTERNS, 2, 2),
        (PATTERNS, None, 4),  # both graphs are built again with other weights
        (GraphSettings(True, "equal"), None, 2),
        (GraphSettings(True, [1.0, 0.5]), None, 2),
        (PAPER, None, 2),
    ],
)
def test_a_step_is_reported_after_every_graph(with_noise, settings, n_clusters, n_steps):
    steps = []
    results = [with_noise, replace(with_noise)]
    partition(results, n_clusters, settings, generator(), step=lambda: steps.append(1))
    assert len(steps) == n_steps


def test_views_that_share_one_matrix_are_not_weighted_again():
    result = viewspan.solve(random_views(0, rank=4), 0.2, coupling="rank_one")
    found = partition([result], 2, PAPER, generator())
    np.testing.assert_array_equal(found.graph, viewspan.affinity(result))
