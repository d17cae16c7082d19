"""Measures of a partition, compared with sums written out."""

import numpy as np
import pytest
import scipy.sparse

from tests.graph.graphs import random_graph
from viewspan.graph.quality import (
    assortativity,
    cluster_shares,
    cut_value,
    members,
    modularity,
    own_shares,
)

LABELS = np.array([0, 0, 1, 2, 1, 2, 2])
GRAPH = random_graph(7)


def inside_and_degree(graph, labels):
    """Return the weight inside every cluster and its degree."""
    inside = [graph[np.ix_(labels == k, labels == k)].sum() for k in range(labels.max() + 1)]
    degree = [graph[labels == k].sum() for k in range(labels.max() + 1)]
    return np.array(inside), np.array(degree)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_cut_value_sums_the_shares_that_leave_the_clusters(form):
    inside, degree = inside_and_degree(GRAPH, LABELS)
    assert cut_value(form(GRAPH), LABELS) == pytest.approx(sum((degree - inside) / degree))


def test_cut_value_of_a_cluster_without_edges_is_one():
    graph = np.zeros((3, 3))
    graph[0, 1] = graph[1, 0] = 1.0
    assert cut_value(graph, np.array([0, 0, 1])) == pytest.approx(1.0)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_modularity_follows_its_definition(form):
    graph, labels = random_graph(12), np.arange(12) % 3
    degrees, total = graph.sum(axis=0), graph.sum()
    same = labels[:, None] == labels
    expected = ((graph - np.outer(degrees, degrees) / total) * same).sum() / total
    assert modularity(form(graph), labels) == pytest.approx(expected)


def test_assortativity_is_one_without_edges_between_clusters_and_zero_by_chance():
    apart = GRAPH * (LABELS[:, None] == LABELS)
    assert assortativity(apart, LABELS) == pytest.approx(1.0)
    degree = np.arange(1.0, 8.0)
    assert assortativity(np.outer(degree, degree), LABELS) == pytest.approx(0.0, abs=1e-12)


def test_assortativity_is_modularity_divided_by_its_maximum():
    _, degree = inside_and_degree(GRAPH, LABELS)
    maximum = 1.0 - ((degree / degree.sum()) ** 2).sum()
    assert assortativity(GRAPH, LABELS) == pytest.approx(modularity(GRAPH, LABELS) / maximum)


def test_assortativity_without_edges_or_with_one_cluster_is_zero():
    assert assortativity(np.zeros((7, 7)), LABELS) == 0.0
    assert assortativity(GRAPH, np.zeros(7, dtype=int)) == 0.0


def test_cluster_shares_ignore_self_loops():
    edges = GRAPH - np.diag(np.diag(GRAPH))
    sums = np.stack([edges[:, k == LABELS].sum(axis=1) for k in range(3)], axis=1)
    expected = sums / edges.sum(axis=1)[:, None]
    np.testing.assert_allclose(cluster_shares(GRAPH, LABELS), expected)
    np.testing.assert_allclose(own_shares(GRAPH, LABELS), expected[np.arange(7), LABELS])


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_own_shares_of_samples_without_edges_are_zero(form):
    graph = np.zeros((4, 4))
    graph[0, 1] = graph[1, 0] = 3.0
    graph[0, 2] = graph[2, 0] = 1.0
    shares = own_shares(form(graph), np.array([0, 0, 1, 1]))
    np.testing.assert_allclose(shares, [0.75, 1.0, 0.0, 0.0])


def test_rounding_makes_no_share_negative():
    graph = np.array([[0.3, 0.0], [0.0, 0.1]])
    graph[0, 0] = np.nextafter(0.3, 1)
    np.testing.assert_array_equal(cluster_shares(graph, np.array([0, 1])), np.zeros((2, 2)))


def test_members_is_an_indicator_matrix():
    found = members(np.array([1, 0, 1]), 3).toarray()
    np.testing.assert_array_equal(found, [[0, 1, 0], [1, 0, 0], [0, 1, 0]])
