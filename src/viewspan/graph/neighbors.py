"""Nearest neighbours in a matrix of similarities, and the graphs that they form."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import AnyArray, Array, Graph

GROUPS_PER_NEIGHBOR, MIN_GROUPS = 2, 256
"""Numbers of groups of columns whose largest entries bound the wanted entries of a row."""
POSITION_BITS = np.uint64(32)
"""Sort keys hold a similarity in their upper bits and a column in their lower bits."""
LAST_POSITION = np.uint64(2**32 - 1)


class Neighbors(NamedTuple):
    """The most similar columns of every row, most similar first.

    Attributes
    ----------
    columns : array (n_rows, count) of int
    values : array (n_rows, count)
        Their similarities. Where a row has fewer positive entries, column and value are 0.
    """

    columns: AnyArray
    values: AnyArray

    @classmethod
    def stacked(cls, blocks: Iterable["Neighbors"]) -> "Neighbors":
        """Join blocks of rows."""
        columns, values = zip(*blocks, strict=True)
        return cls(np.concatenate(columns), np.concatenate(values))


def largest_of_rows(matrix: AnyArray, count: int) -> Neighbors:
    """Return the largest positive entries of every row of a non-negative matrix.

    Entries are compared in single precision. Of equal entries, those on the left come first, so
    that the result depends on nothing but the row.
    """
    count = min(count, matrix.shape[1])
    single = single_precision(matrix)
    bounds = bounds_of_largest(single, count)
    bounds = np.maximum(bounds, np.finfo(np.float32).tiny)
    places = np.flatnonzero(single >= bounds[:, None])
    keys = sort_keys(single, places, count)
    keys.sort(axis=1)
    largest = keys[:, ::-1][:, :count]
    columns = (LAST_POSITION - (largest & LAST_POSITION)).astype(np.int64)
    columns[largest == 0] = 0
    values = (largest >> POSITION_BITS).astype(np.uint32).view(np.float32)
    if single is not matrix:
        values = np.where(largest > 0, np.take_along_axis(matrix, columns, axis=1), 0.0)
    return Neighbors(columns, values)


def single_precision(matrix: AnyArray) -> AnyArray:
    """Return the matrix in single precision, scaled if it is not in it already."""
    if matrix.dtype == np.float32 and matrix.flags.c_contiguous:
        return matrix
    largest = float(matrix.max(initial=0.0)) or 1.0
    return np.ascontiguousarray(matrix / largest, dtype=np.float32)


def bounds_of_largest(matrix: AnyArray, count: int) -> AnyArray:
    """Return a value for every row that at least ``count`` of its entries reach.

    It is the ``count``-th largest of the largest entries of groups of columns. This takes a tenth
    of the time of selecting from all columns, and few other entries reach the bound.
    """
    n_rows, n_columns = matrix.shape
    n_groups = max(GROUPS_PER_NEIGHBOR * count, MIN_GROUPS)
    size = n_columns // n_groups
    if size < 2:
        return np.asarray(np.partition(matrix, n_columns - count, axis=1)[:, n_columns - count])
    rest = n_columns - size * n_groups
    # neighbouring columns are in different groups: maxima of whole rows are fast
    largest = matrix[:, : size * n_groups].reshape(n_rows, size, n_groups).max(axis=1)
    np.maximum(largest[:, :rest], matrix[:, size * n_groups :], out=largest[:, :rest])
    largest.partition(n_groups - count, axis=1)
    return np.asarray(largest[:, n_groups - count])


def sort_keys(matrix: AnyArray, places: AnyArray, count: int) -> AnyArray:
    """Return integers that sort the entries at flat places by value, then from right to left.

    Returns
    -------
    array (n_rows, width) of uint64
        ``width`` is at least ``count``. Keys of rows with fewer entries are filled up with 0.
    """
    n_rows, n_columns = matrix.shape
    ends = np.searchsorted(places, np.arange(n_rows + 1) * n_columns)
    n_entries = np.diff(ends)
    width = max(count, int(n_entries.max(initial=0)))
    rows = np.repeat(np.arange(n_rows), n_entries)
    columns = (places - rows * n_columns).astype(np.uint64)
    # positive floats are ordered like the integers of the same bits
    bits = matrix.ravel()[places].view(np.uint32).astype(np.uint64)
    keys = np.zeros((n_rows, width), dtype=np.uint64)
    keys[rows, np.arange(len(places)) - ends[rows]] = (bits << POSITION_BITS) | (
        LAST_POSITION - columns
    )
    return keys


def log_ranks(neighbors: Neighbors, n_ranked: int) -> AnyArray:
    """Return log((n_ranked + 1) / rank) for neighbours, and 0 for similarities of 0."""
    ranks = np.arange(1, neighbors.values.shape[1] + 1)
    similarity = np.log((n_ranked + 1) / ranks).astype(np.float32)
    return np.where(neighbors.values > 0, similarity, np.float32(0))


def connect_neighbors(found: Sequence[Neighbors]) -> scipy.sparse.csr_array:
    """Return the mean of the normalised graphs of several choices of neighbours.

    A sample and its neighbours have edge weights 1, …, 1/n, added up over both directions. Every
    graph G is normalised to D^-½ G D^-½ by its degrees D.
    """
    shape = (len(found[0].columns),) * 2
    edges = [normalized_edges(neighbors) for neighbors in found]
    starts, ends, weights = (np.concatenate(parts) for parts in zip(*edges, strict=True))
    both_directions = (np.concatenate([starts, ends]), np.concatenate([ends, starts]))
    shares = np.tile(weights / len(edges), 2)
    # entries of the same place are added up
    return scipy.sparse.csr_array(scipy.sparse.coo_array((shares, both_directions), shape=shape))


def n_connected(n_neighbors: int, n_samples: int) -> int:
    """Return the number of neighbours of a sample in a graph of few samples.

    Two clusters of equal size leave a sample at most half of the others.
    """
    return min(n_neighbors, max(1, (n_samples - 1) // 2))


def normalized_edges(neighbors: Neighbors) -> tuple[AnyArray, AnyArray, Array]:
    """Return the start, end and normalised weight of the edges from samples to neighbours."""
    n_samples = len(neighbors.columns)
    graph = ranked_edges(neighbors, n_samples)
    starts = np.repeat(np.arange(n_samples), np.diff(graph.indptr))
    ends, weights = graph.indices, graph.data
    degrees = np.bincount(starts, weights, n_samples) + np.bincount(ends, weights, n_samples)
    scale = ratio(1.0, np.sqrt(degrees))
    return starts, ends, weights * scale[starts] * scale[ends]


def ranked_edges(neighbors: Neighbors, n_columns: int) -> scipy.sparse.csr_array:
    """Return edges of weights 1, …, 1/n to the neighbours of every row."""
    count = neighbors.columns.shape[1]
    weights = np.where(neighbors.values > 0, 1.0 - np.arange(count) / count, 0.0)
    edges = sparse_rows(neighbors.columns, weights, n_columns)
    edges.eliminate_zeros()
    return edges


def sparse_rows(columns: AnyArray, values: AnyArray, n_columns: int) -> scipy.sparse.csr_array:
    """Return a sparse matrix with the same number of entries in every row."""
    n_rows, count = columns.shape
    starts = np.arange(n_rows + 1) * count
    parts = (values.ravel(), columns.ravel(), starts)
    return scipy.sparse.csr_array(parts, shape=(n_rows, n_columns))


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
