"""Plot of the spectral embedding in two dimensions."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from viewspan._utils.typing import AnyArray, Array
from viewspan.graph.discretisation import unit_rows
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.plot.colors import cluster_colors
from viewspan.plot.nodes import (
    DEFAULT_MAX_POINTS,
    node_kind,
    second_and_third_eigenvectors,
    stratified_subset,
)
from viewspan.plot.style import axes_or_new, background_color, hide_frame, text_color

MAX_CLUSTERS_WITHOUT_TSNE = 3
"""Largest number of clusters that two eigenvectors can separate."""
TOTAL_MARKER_AREA = 12000.0
"""Area of all markers together, in square points."""
PERPLEXITY = 30.0
"""Perplexity of t-SNE for graphs with enough nodes."""
TSNE_ITERATIONS = 500
"""Number of iterations of t-SNE."""
OUTLINE_WIDTH = 2.5
"""Width in points of the outline around cluster numbers, which are written over the dots."""


def embedding(model: Any, *, ax: Axes | None = None, max_points: int = DEFAULT_MAX_POINTS) -> Axes:
    """Plot the spectral embedding of the samples in two dimensions.

    Up to three clusters are drawn with the second and third eigenvectors as coordinates. For more
    clusters, t-SNE (van der Maaten and Hinton 2008) maps the rows of the leading eigenvectors,
    scaled to unit length, to the plane such that nearest neighbours stay close.

    How to read it: samples with strong edges are close to each other, and clusters that touch are
    hard to separate. The distances between separate clusters, and their positions, have no meaning.

    Parameters
    ----------
    model : a fitted estimator
        If its graph has landmarks, the landmarks are drawn.
    ax : matplotlib Axes, optional
    max_points : int
        Largest number of points. If there are more samples, the same share of every cluster is
        drawn, and the title says how many.

    Returns
    -------
    Axes
        All points are one collection with the gid "points", in the order of :func:`drawn_rows`.
    """
    graph: FittedGraph = model.fitted_graph_
    drawn = stratified_subset(graph.labels, max_points)
    positions, labels = compute_positions(graph, drawn), graph.labels[drawn]
    colours = np.array(cluster_colors(graph.n_clusters))
    with axes_or_new(ax) as ax:
        size = float(np.clip(TOTAL_MARKER_AREA / len(drawn), 7.0, 30.0))
        x, y = positions.T
        points = ax.scatter(x, y, s=size, c=colours[labels], alpha=0.8, linewidths=0)
        points.set_gid("points")
        for number in range(graph.n_clusters):
            cluster = positions[labels == number]
            if len(cluster):
                write_number(ax, number, central_point(cluster))
        if graph.n_clusters <= MAX_CLUSTERS_WITHOUT_TSNE:
            ax.set_xlabel("second eigenvector of the graph")
            ax.set_ylabel("third eigenvector of the graph")
            ax.set_xticks([])
            ax.set_yticks([])
        else:
            hide_frame(ax)
        n_nodes, kind = len(graph.labels), node_kind(graph)
        subset = f", {len(drawn)} of {n_nodes} {kind}" if len(drawn) < n_nodes else ""
        ax.set_title(f"Spectral embedding{subset}")
    return ax


def compute_positions(graph: FittedGraph, drawn: AnyArray) -> Array:
    if graph.n_clusters <= MAX_CLUSTERS_WITHOUT_TSNE:
        return second_and_third_eigenvectors(graph.affinity)[drawn]
    rows = unit_rows(graph.embedding[drawn])
    tsne = TSNE(
        init="pca",
        perplexity=min(PERPLEXITY, (len(rows) - 1) / 3),
        max_iter=TSNE_ITERATIONS,
        random_state=0,
    )
    # OpenMP's threads wait by spinning. On a busy machine several threads are therefore much slower
    # than one. The positions do not depend on the number of threads.
    with threadpool_limits(1, user_api="openmp"):
        return np.asarray(tsne.fit_transform(rows), dtype=float)


def central_point(points: Array) -> Array:
    """Return the point that is closest to the median of all."""
    distances = np.linalg.norm(points - np.median(points, axis=0), axis=1)
    return np.asarray(points[distances.argmin()])


def write_number(ax: Axes, number: int, position: Array) -> None:
    text = ax.text(
        position[0],
        position[1],
        str(number),
        ha="center",
        va="center",
        color=text_color(),
        fontweight="bold",
    )
    outline = withStroke(linewidth=OUTLINE_WIDTH, foreground=background_color(), alpha=0.8)
    text.set_path_effects([outline])
