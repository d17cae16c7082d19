"""Nearest neighbours in a matrix of similarities, and the graphs that they form."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.threads import in_threads
from viewspan._utils.typing import AnyArray, Array, Graph

MAX_ENTRIES_AT_ONCE = 2**24
"""Larger matrices are searched in blocks of rows, by several threads."""


def rank_similarity(cosines: AnyArray, n_ranked: int) -> AnyArray:
    """Return log((n_ranked + 1) / rank) for the ``n_ranked`` largest cosines of every row.

    All other entries are 0, as are those whose cosine is 0.
    """
    found, values = largest_of_rows(cosines, n_ranked)
    similarity = np.log((n_ranked + 1) / np.arange(1, found.shape[1] + 1)).astype(np.float32)
    ranked: AnyArray = np.zeros_like(cosines)
    np.put_along_axis(ranked, found, np.where(values > 0, similarity, np.float32(0)), axis=1)
    return ranked


def largest_of_rows(matrix: AnyArray, count: int) -> tuple[AnyArray, AnyArray]:
    """Return the columns and values of the largest entries of every row, largest first."""
    if matrix.size <= MAX_ENTRIES_AT_ONCE:
        return largest_of_block(matrix, count)
    parts = in_threads(lambda rows: largest_of_block(matrix[rows], count), blocks_of_rows(matrix))
    found, values = zip(*parts, strict=True)
    return np.concatenate(found), np.concatenate(values)


def blocks_of_rows(matrix: AnyArray) -> list[slice]:
    height = max(1, MAX_ENTRIES_AT_ONCE // (4 * matrix.shape[1]))
    return [slice(start, start + height) for start in range(0, len(matrix), height)]


def largest_of_block(matrix: AnyArray, count: int) -> tuple[AnyArray, AnyArray]:
    count = min(count, matrix.shape[1])
    found = np.argpartition(matrix, -count, axis=1)[:, -count:]
    values = np.take_along_axis(matrix, found, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)


def connect_neighbors(similarities: Sequence[AnyArray], n_neighbors: int) -> scipy.sparse.csr_array:
    """Return the mean of the normalised neighbour graphs of several matrices of similarities.

    A sample and its neighbours have edge weights 1, …, 1/n, added up over both directions. Every
    graph G is normalised to D^-½ G D^-½ by its degrees D.

    Parameters
    ----------
    similarities : sequence of arrays (n_samples, n_samples)
    n_neighbors : int
    """
    shape = similarities[0].shape
    # two clusters of equal size leave a sample at most half of the others
    count = min(n_neighbors, max(1, (len(similarities[0]) - 1) // 2))
    edges = [normalized_edges(similarity, count) for similarity in similarities]
    starts, ends, weights = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    both_directions = (np.concatenate([starts, ends]), np.concatenate([ends, starts]))
    shares = np.tile(weights / len(edges), 2)
    # entries of the same place are added up
    return scipy.sparse.csr_array(scipy.sparse.coo_array((shares, both_directions), shape=shape))


def normalized_edges(similarity: AnyArray, count: int) -> tuple[AnyArray, AnyArray, Array]:
    """Return the start, end and normalised weight of the edges from samples to neighbours."""
    graph = strongest_edges(similarity, count)
    starts = np.repeat(np.arange(len(similarity)), np.diff(graph.indptr))
    ends, weights = graph.indices, graph.data
    n_samples = len(similarity)
    degrees = np.bincount(starts, weights, n_samples) + np.bincount(ends, weights, n_samples)
    scale = ratio(1.0, np.sqrt(degrees))
    return starts, ends, weights * scale[starts] * scale[ends]


def strongest_edges(similarity: AnyArray, count: int) -> scipy.sparse.csr_array:
    """Keep the largest positive entries of every row and replace them by 1, …, 1/n."""
    found, values = largest_of_rows(similarity, count)
    count = found.shape[1]
    weights = np.where(values > 0, 1.0 - np.arange(count) / count, 0.0)
    starts = np.arange(len(similarity) + 1) * count
    edges = scipy.sparse.csr_array((weights.ravel(), found.ravel(), starts), shape=similarity.shape)
    edges.eliminate_zeros()
    return edges


def scale_both_sides(graph: scipy.sparse.csr_array, scale: Array) -> scipy.sparse.csr_array:
    """Return diag(scale) · graph · diag(scale)."""
    rows = np.repeat(scale, np.diff(graph.indptr))
    values = rows * graph.data * scale[graph.indices]
    parts = (values, graph.indices, graph.indptr)
    return scipy.sparse.csr_array(parts, shape=graph.shape, copy=True)


def mean_graph(graphs: Sequence[Graph], weights: Sequence[float]) -> Graph:
    """Return the weighted mean of graphs, or their plain mean if all weights are 0."""
    total = sum(weights)
    shares = (
        [weight / total for weight in weights] if total > 0 else [1.0 / len(graphs)] * len(graphs)
    )
    mean: Graph = shares[0] * graphs[0]
    for share, graph in zip(shares[1:], graphs[1:], strict=True):
        mean = mean + share * graph
    return mean
