"""Measures of a partition, against sums written out."""

import numpy as np
import pytest
import scipy.sparse

from viewspan.graph.quality import (
    assortativity,
    cut_value,
    members,
    modularity,
    own_shares,
    shares_of_ties,
)

LABELS = np.array([0, 0, 1, 2, 1, 2, 2])


def random_graph(seed=0):
    half = np.random.default_rng(seed).uniform(size=(7, 7))
    return half + half.T


def by_hand(graph, labels):
    """The weight inside every cluster, and its degree."""
    inside = [graph[np.ix_(labels == k, labels == k)].sum() for k in range(labels.max() + 1)]
    degree = [graph[labels == k].sum() for k in range(labels.max() + 1)]
    return np.array(inside), np.array(degree)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_the_cut_is_the_share_that_leaves_every_cluster(form):
    graph = random_graph()
    inside, degree = by_hand(graph, LABELS)
    assert cut_value(form(graph), LABELS) == pytest.approx(sum((degree - inside) / degree))


def test_a_cluster_without_edges_is_cut_whole():
    graph = np.zeros((3, 3))
    graph[0, 1] = graph[1, 0] = 1.0
    assert cut_value(graph, np.array([0, 0, 1])) == pytest.approx(1.0)


def test_assortativity_is_one_without_an_edge_between_clusters_and_zero_by_chance():
    apart = random_graph() * (LABELS[:, None] == LABELS)
    assert assortativity(apart, LABELS) == pytest.approx(1.0)
    degree = np.arange(1.0, 8.0)
    assert assortativity(np.outer(degree, degree), LABELS) == pytest.approx(0.0, abs=1e-12)


def test_assortativity_is_modularity_as_a_share_of_its_most():
    graph = random_graph()
    _, degree = by_hand(graph, LABELS)
    most = 1.0 - ((degree / degree.sum()) ** 2).sum()
    assert assortativity(graph, LABELS) == pytest.approx(modularity(graph, LABELS) / most)


def test_without_edges_or_with_one_cluster_there_is_nothing_to_see():
    assert assortativity(np.zeros((7, 7)), LABELS) == 0.0
    assert assortativity(random_graph(), np.zeros(7, dtype=int)) == 0.0


def test_ties_are_shared_among_clusters_and_none_is_with_oneself():
    graph = random_graph()
    shares = shares_of_ties(graph, LABELS)
    ties = graph - np.diag(np.diag(graph))
    expected = (
        np.stack([ties[:, k == LABELS].sum(axis=1) for k in range(3)], axis=1)
        / ties.sum(axis=1)[:, None]
    )
    np.testing.assert_allclose(shares, expected)
    np.testing.assert_allclose(own_shares(graph, LABELS), expected[np.arange(7), LABELS])


def test_rounding_makes_no_share_negative():
    graph = np.array([[0.3, 0.0], [0.0, 0.1]])
    graph[0, 0] = np.nextafter(0.3, 1)
    shares = shares_of_ties(graph, np.array([0, 1]))
    np.testing.assert_array_equal(shares, np.zeros((2, 2)))


def test_members_have_a_one_in_their_group():
    np.testing.assert_array_equal(
        members(np.array([1, 0, 1]), 3).toarray(), [[0, 1, 0], [1, 0, 0], [0, 1, 0]]
    )
