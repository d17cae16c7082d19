"""Nearest neighbours in a matrix of similarities."""

import numpy as np
import pytest

from viewspan.graph import neighbors
from viewspan.graph.neighbors import (
    blocks_of_rows,
    connect_neighbors,
    largest_of_rows,
    mean_graph,
    rank_similarity,
    strongest_edges,
)


def test_the_largest_entries_come_first():
    matrix = np.array([[0.1, 0.9, 0.5, 0.9], [0.0, 0.0, 0.0, 1.0]])
    found, values = largest_of_rows(matrix, 3)
    np.testing.assert_array_equal(values, [[0.9, 0.9, 0.5], [1.0, 0.0, 0.0]])
    assert set(found[0, :2]) == {1, 3}
    assert found[1, 0] == 3


def test_there_are_no_more_entries_than_columns():
    assert largest_of_rows(np.eye(4)[:2], 9)[0].shape == (2, 4)


def test_large_matrices_are_searched_in_blocks(monkeypatch):
    matrix = np.random.default_rng(0).normal(size=(50, 30)).astype(np.float32)
    at_once = largest_of_rows(matrix, 7)
    monkeypatch.setattr(neighbors, "MAX_ENTRIES_AT_ONCE", 400)
    for in_blocks, expected in zip(largest_of_rows(matrix, 7), at_once, strict=True):
        np.testing.assert_array_equal(in_blocks, expected)
    np.testing.assert_array_equal(at_once[1], -np.sort(-matrix, axis=1)[:, :7])


@pytest.mark.parametrize(
    ("entries", "shape", "heights"),
    [(400, (50, 10), [10] * 5), (100, (5, 30), [1] * 5), (480, (7, 40), [3, 3, 1])],
)
def test_blocks_hold_a_quarter_of_the_entries_and_cover_all_rows(
    monkeypatch, entries, shape, heights
):
    monkeypatch.setattr(neighbors, "MAX_ENTRIES_AT_ONCE", entries)
    matrix = np.zeros(shape)
    assert [len(matrix[rows]) for rows in blocks_of_rows(matrix)] == heights


def test_rank_similarity_falls_with_the_logarithm_of_the_rank():
    cosines = np.array([[0.0, 0.9, 0.5, 0.0]] * 4, dtype=np.float32)
    found = rank_similarity(cosines, 3)
    np.testing.assert_allclose(found[0], [0, np.log(4), np.log(2), 0], rtol=1e-6)
    assert found.dtype == np.float32


def test_edge_weights_fall_linearly_and_zeros_are_no_neighbours():
    similarity = np.array([[0.3, 0.9, 0.0], [0.0, 0.2, 0.0]], dtype=np.float32)
    edges = strongest_edges(similarity, 2)
    np.testing.assert_allclose(edges.toarray(), [[0.5, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert edges.nnz == 3
    edges = strongest_edges(similarity, 7)
    np.testing.assert_allclose(edges.toarray(), [[2 / 3, 1.0, 0.0], [0.0, 1.0, 0.0]])


def normalised(graph):
    """Return D^-½ G D^-½ of a dense graph."""
    scale = 1.0 / np.sqrt(graph.sum(axis=1))
    return scale[:, None] * graph * scale


def test_the_neighbour_graph_is_the_normalised_sum_of_both_directions():
    places = np.array([0, 1, 3, 7, 15])
    similarity = 1.0 / (1 + np.abs(np.subtract.outer(places, places)))
    np.fill_diagonal(similarity, 0.0)
    expected = np.zeros((5, 5))
    for sample, (first, second) in enumerate([(1, 2), (0, 2), (1, 0), (2, 1), (3, 2)]):
        expected[sample, first] += 1.0
        expected[sample, second] += 0.5
    found = connect_neighbors([similarity], 2)
    np.testing.assert_allclose(found.toarray(), normalised(expected + expected.T))
    assert found.has_canonical_format


def test_neighbour_graphs_are_averaged():
    first, second = np.random.default_rng(0).uniform(0.1, 1.0, (2, 9, 9))
    found = connect_neighbors([first, second, first], 3).toarray()
    single = [connect_neighbors([similarity], 3).toarray() for similarity in (first, second)]
    np.testing.assert_allclose(found, (2 * single[0] + single[1]) / 3)


def test_samples_without_neighbours_have_no_edges():
    similarity = np.zeros((5, 5))
    similarity[0, 1] = similarity[1, 0] = 1.0
    found = connect_neighbors([similarity], 2).toarray()
    np.testing.assert_allclose(found, similarity)


@pytest.mark.parametrize(
    ("n_samples", "requested", "used"), [(3, 5, 1), (2, 5, 1), (8, 5, 3), (9, 5, 4), (30, 5, 5)]
)
def test_there_are_no_more_neighbours_than_two_equal_clusters_have(n_samples, requested, used):
    rng = np.random.default_rng(0)
    similarity = rng.uniform(0.1, 1.0, (n_samples, n_samples)).astype(np.float32)
    np.fill_diagonal(similarity, 0.0)
    expected = strongest_edges(similarity, used).toarray()
    found = connect_neighbors([similarity], requested).toarray()
    np.testing.assert_allclose(found, normalised(expected + expected.T))


def test_the_mean_graph_is_weighted_unless_all_weights_are_zero():
    graphs = [np.full((2, 2), value) for value in (1.0, 4.0, 10.0)]
    np.testing.assert_allclose(mean_graph(graphs, [1.0, 2.0, 1.0]), 19 / 4)
    np.testing.assert_allclose(mean_graph(graphs, [0.0, 0.0, 0.0]), 5.0)
    np.testing.assert_allclose(mean_graph(graphs[:1], [0.5]), 1.0)
