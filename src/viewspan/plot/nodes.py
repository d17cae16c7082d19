"""Nodes of the fitted graph that the scatter plots draw, and their eigenvector coordinates."""

from typing import Any

import numpy as np

from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.spectrum import degrees, leading_eigenvectors
from viewspan.inference.fitted_graph import FittedGraph

DEFAULT_MAX_POINTS = 2000
"""Default for the largest number of points in a scatter plot."""


def drawn_rows(model: Any, *, max_points: int = DEFAULT_MAX_POINTS) -> AnyArray:
    """Return the samples that :func:`edge_shares` and :func:`embedding` draw, in their order.

    Parameters
    ----------
    model : a fitted estimator
    max_points : int
        The value that was passed to the plot.

    Returns
    -------
    array (n_points,) of int
        Rows of the fitted views; −1 for landmarks chosen from a reservoir sample, whose rows are
        unknown.
    """
    graph: FittedGraph = model.fitted_graph_
    return graph.samples[stratified_subset(graph.labels, max_points)]


def drawn_labels(model: Any, *, max_points: int = DEFAULT_MAX_POINTS) -> Labels:
    """Return the clusters of the points that :func:`edge_shares` and :func:`embedding` draw."""
    graph: FittedGraph = model.fitted_graph_
    return graph.labels[stratified_subset(graph.labels, max_points)]


def stratified_subset(labels: Labels, max_size: int) -> AnyArray:
    """Return at most ``max_size`` sorted positions, with the same share of every cluster."""
    if len(labels) <= max_size:
        return np.arange(len(labels))
    by_cluster = np.argsort(labels, kind="stable")
    return np.sort(by_cluster[np.linspace(0, len(labels) - 1, max_size).round().astype(int)])


def second_and_third_eigenvectors(affinity: Graph) -> Array:
    """Return two eigenvectors as columns with unit root mean square, or zeros if there is none."""
    n_nodes = affinity.shape[0]
    columns = np.zeros((n_nodes, 2))
    if degrees(affinity).any():
        spectrum = leading_eigenvectors(affinity, min(3, n_nodes), np.random.RandomState(0))
        vectors = spectrum.embedding[:, 1:]
        columns[:, : vectors.shape[1]] = vectors
    size = np.sqrt((columns**2).mean(axis=0))
    return columns / np.where(size > 0, size, 1.0)


def node_kind(graph: FittedGraph) -> str:
    """Return the noun for the nodes of the graph in titles."""
    return "landmarks" if graph.landmarks else "samples"
