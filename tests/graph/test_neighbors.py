"""Nearest neighbours in a matrix of similarities."""

import numpy as np
import pytest

from viewspan.graph import neighbors
from viewspan.graph.neighbors import (
    Neighbors,
    connect_neighbors,
    largest_of_rows,
    log_ranks,
    mean_graph,
    n_connected,
    ranked_edges,
)


def sorted_rows(matrix, count):
    """Return the largest positive entries of every row by sorting all of them."""
    columns = np.argsort(-matrix, axis=1, kind="stable")[:, :count]
    values = np.take_along_axis(matrix, columns, axis=1)
    return np.where(values > 0, columns, 0), np.where(values > 0, values, 0)


def random_matrix(kind, shape, rng):
    matrix = rng.uniform(size=shape).astype(np.float32)
    if kind == "ties":
        return np.round(4 * matrix) / 4
    if kind == "zeros":
        return matrix * (rng.uniform(size=shape) < 0.05)
    if kind == "ones":
        return np.ones_like(matrix)
    if kind == "rising":
        return np.sort(matrix, axis=1)
    return matrix


@pytest.mark.parametrize("kind", ["random", "ties", "zeros", "ones", "rising"])
@pytest.mark.parametrize(("n_columns", "count"), [(40, 7), (700, 3), (1300, 150), (531, 531)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_largest_entries_are_those_of_sorted_rows(kind, n_columns, count, dtype):
    matrix = random_matrix(kind, (9, n_columns), np.random.default_rng(n_columns)).astype(dtype)
    matrix[3] = 0.0
    kept = matrix.copy()
    found = largest_of_rows(matrix, count)
    for one, other in zip(found, sorted_rows(matrix, count), strict=True):
        np.testing.assert_array_equal(one, other)
    assert found.values.dtype == dtype
    np.testing.assert_array_equal(matrix, kept)


def test_the_result_does_not_depend_on_the_other_rows():
    matrix = random_matrix("ties", (20, 900), np.random.default_rng(1))
    whole = largest_of_rows(matrix, 5)
    parts = Neighbors.stacked([largest_of_rows(matrix[:13], 5), largest_of_rows(matrix[13:], 5)])
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other)


def test_few_entries_are_sorted():
    """The bound admits only few entries more than wanted."""
    matrix = random_matrix("random", (50, 5000), np.random.default_rng(0))
    reached = (matrix >= neighbors.bounds_of_largest(matrix, 15)[:, None]).sum(axis=1)
    assert (reached >= 15).all()
    assert reached.max() < 30


def test_entries_of_extreme_size_are_found():
    matrix = np.array([[3e-200, 0.0, 1e-200], [0.0, 2e-200, 0.0]])
    found = largest_of_rows(matrix, 2)
    np.testing.assert_array_equal(found.columns, [[0, 2], [1, 0]])
    np.testing.assert_array_equal(found.values, [[3e-200, 1e-200], [2e-200, 0.0]])


def test_there_are_no_more_entries_than_columns():
    assert largest_of_rows(np.eye(4)[:2], 9).columns.shape == (2, 4)
    assert largest_of_rows(np.zeros((0, 4), dtype=np.float32), 2).values.shape == (0, 2)


def test_logarithms_of_ranks():
    cosines = np.array([[0.0, 0.9, 0.5, 0.0]] * 4, dtype=np.float32)
    found = log_ranks(largest_of_rows(cosines, 3), 3)
    np.testing.assert_allclose(found[0], [np.log(4), np.log(2), 0], rtol=1e-6)
    assert found.dtype == np.float32


def test_edge_weights_fall_linearly_and_zeros_are_no_neighbours():
    similarity = np.array([[0.3, 0.9, 0.0], [0.0, 0.2, 0.0]], dtype=np.float32)
    edges = ranked_edges(largest_of_rows(similarity, 2), 3)
    np.testing.assert_allclose(edges.toarray(), [[0.5, 1.0, 0.0], [0.0, 1.0, 0.0]])
    assert edges.nnz == 3
    edges = ranked_edges(largest_of_rows(similarity, 7), 3)
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
    found = connect_neighbors([largest_of_rows(similarity, 2)])
    np.testing.assert_allclose(found.toarray(), normalised(expected + expected.T))
    assert found.has_canonical_format


def test_neighbour_graphs_are_averaged():
    first, second = np.random.default_rng(0).uniform(0.1, 1.0, (2, 9, 9))
    for similarity in (first, second):
        np.fill_diagonal(similarity, 0.0)
    nearest = [largest_of_rows(similarity, 3) for similarity in (first, second)]
    found = connect_neighbors([nearest[0], nearest[1], nearest[0]]).toarray()
    single = [connect_neighbors([neighbors]).toarray() for neighbors in nearest]
    np.testing.assert_allclose(found, (2 * single[0] + single[1]) / 3)


def test_samples_without_neighbours_have_no_edges():
    similarity = np.zeros((5, 5))
    similarity[0, 1] = similarity[1, 0] = 1.0
    found = connect_neighbors([largest_of_rows(similarity, 2)]).toarray()
    np.testing.assert_allclose(found, similarity)


@pytest.mark.parametrize(
    ("n_samples", "requested", "used"), [(3, 5, 1), (2, 5, 1), (8, 5, 3), (9, 5, 4), (30, 5, 5)]
)
def test_there_are_no_more_neighbours_than_two_equal_clusters_have(n_samples, requested, used):
    assert n_connected(requested, n_samples) == used


def test_the_mean_graph_is_weighted_unless_all_weights_are_zero():
    graphs = [np.full((2, 2), value) for value in (1.0, 4.0, 10.0)]
    np.testing.assert_allclose(mean_graph(graphs, [1.0, 2.0, 1.0]), 19 / 4)
    np.testing.assert_allclose(mean_graph(graphs, [0.0, 0.0, 0.0]), 5.0)
    np.testing.assert_allclose(mean_graph(graphs[:1], [0.5]), 1.0)
