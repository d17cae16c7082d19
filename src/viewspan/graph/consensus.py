"""One graph from several."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse

from viewspan._typing import Array
from viewspan.graph.ncut import leading_eigenvectors, most_clusters
from viewspan.graph.patterns import average
from viewspan.selection import count_by_eigengap


def consensus(
    graphs: Sequence[scipy.sparse.csr_array], n_clusters: int | None, generator: np.random.RandomState
) -> scipy.sparse.csr_array:
    """The mean of the graphs, each weighted by its eigengap at the number of clusters.

    A graph that noise has broken has no gap and no say. If the number is not known, it is that of the plain mean.
    """
    if len(graphs) == 1:
        return graphs[0]
    if n_clusters is None:
        plain = average(graphs, [1.0] * len(graphs))
        n_clusters = count_by_eigengap(leading_eigenvalues(plain, most_clusters(plain.shape[0]), generator))
    return average(graphs, [eigengap(leading_eigenvalues(graph, n_clusters, generator)) for graph in graphs])


def leading_eigenvalues(graph: scipy.sparse.csr_array, n_clusters: int, generator: np.random.RandomState) -> Array:
    """One more than there are clusters, if there are as many."""
    return leading_eigenvectors(graph, min(n_clusters + 1, graph.shape[0]), generator).eigenvalues


def eigengap(eigenvalues: Array) -> float:
    """Between the last two."""
    return max(float(eigenvalues[-2] - eigenvalues[-1]), 0.0) if len(eigenvalues) > 1 else 1.0
