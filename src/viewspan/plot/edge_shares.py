"""Plot of samples by the shares of their edge weight to the clusters."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.quality import cluster_shares
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.plot.circular_order import circular_order, cluster_links
from viewspan.plot.colors import cluster_colors
from viewspan.plot.nodes import (
    DEFAULT_MAX_POINTS,
    node_kind,
    second_and_third_eigenvectors,
    stratified_subset,
)
from viewspan.plot.style import (
    FAINT_ALPHA,
    axes_or_new,
    label_text,
    line_color,
    small_font,
    text_color,
)

LABEL_RADIUS = 1.13
"""Distance of the cluster numbers from the centre of the circle."""
MAX_UPRIGHT_LABELS = 40
"""Largest number of clusters whose numbers are written upright; more are written radially."""
N_NAMED_SAMPLES = 6
"""Number of the least confident samples whose names are written."""
TOTAL_MARKER_AREA = 12000.0
"""Area of all markers together, in square points."""


class Layout(NamedTuple):
    """Positions of nodes and clusters in the plot.

    Attributes
    ----------
    positions : array (n_nodes, 2)
    labels : array (n_nodes,)
    confidence : array (n_nodes,)
        Share of the edge weight to the node's own cluster.
    drawn : array (n_drawn,)
        Nodes that are drawn.
    cluster_positions : array (n_clusters, 2)
        Positions on the circle; zeros for one or two clusters.
    """

    positions: Array
    labels: Labels
    confidence: Array
    drawn: AnyArray
    cluster_positions: Array


def edge_shares(
    model: Any,
    *,
    ax: Axes | None = None,
    max_points: int = DEFAULT_MAX_POINTS,
    ids: Sequence[Any] | None = None,
) -> Axes:
    """Plot samples by the shares of their edge weight to the clusters.

    Every cluster has a position on a circle. A sample is drawn at the mean of these positions,
    weighted by the shares of its edge weight to the clusters. Clusters with large edge weights
    between them are neighbours on the circle.

    Two clusters are the ends of a horizontal axis, and the vertical axis is an eigenvector of the
    graph. A single cluster is drawn with the second and third eigenvectors as coordinates.

    How to read it: a sample at the position of its cluster has no edges to other clusters. A sample
    between several positions could belong to any of these clusters.

    Parameters
    ----------
    model : a fitted estimator
        If its graph has landmarks, the landmarks are drawn.
    ax : matplotlib Axes, optional
    max_points : int
        Largest number of points. If there are more samples, the same share of every cluster is
        drawn, and the title says how many.
    ids : sequence of n_samples names, optional
        If given, the names of the least confident samples are written next to them.

    Returns
    -------
    Axes
        All points are one collection with the gid "points", in the order of :func:`drawn_rows`.
    """
    graph: FittedGraph = model.fitted_graph_
    layout = compute_layout(graph, max_points)
    n_clusters = graph.n_clusters
    with axes_or_new(ax) as ax:
        colours = np.array(cluster_colors(n_clusters))
        if n_clusters > 2:
            draw_circle(ax, layout.cluster_positions, colours)
        else:
            draw_axes(ax, n_clusters, colours)
        draw_points(ax, layout, colours)
        if ids is not None:
            write_names(ax, layout, graph.samples, ids)
        pad = 20 if n_clusters == 2 else None
        ax.set_title(title(graph, len(layout.drawn)), pad=pad)
    return ax


def compute_layout(graph: FittedGraph, max_points: int) -> Layout:
    labels, n_clusters = graph.labels, graph.n_clusters
    shares = cluster_shares(graph.affinity, labels)
    if n_clusters > 2:
        order = circular_order(cluster_links(graph.affinity, labels, n_clusters))
        cluster_positions = circle_positions(order)
        positions = shares @ cluster_positions
    else:
        vectors = second_and_third_eigenvectors(graph.affinity)
        x = shares[:, 1] if n_clusters == 2 else vectors[:, 0]
        cluster_positions = np.zeros((n_clusters, 2))
        positions = np.column_stack([x, vectors[:, -1]])
    drawn = stratified_subset(labels, max_points)
    confidence = shares[np.arange(len(labels)), labels]
    return Layout(positions, labels, confidence, drawn, cluster_positions)


def circle_positions(order: AnyArray) -> Array:
    """Return positions on the unit circle, clockwise from the top in the given order."""
    angles = np.empty(len(order))
    angles[order] = 2 * np.pi * np.arange(len(order)) / len(order)
    return np.column_stack([np.sin(angles), np.cos(angles)])


def title(graph: FittedGraph, n_drawn: int) -> str:
    n_nodes, kind = len(graph.labels), node_kind(graph)
    subset = f", {n_drawn} of {n_nodes} {kind}" if n_drawn < n_nodes else ""
    return f"Edge weights to the clusters{subset}"


def draw_points(ax: Axes, layout: Layout, colours: AnyArray) -> None:
    positions = layout.positions[layout.drawn]
    points = ax.scatter(
        positions[:, 0],
        positions[:, 1],
        s=float(np.clip(TOTAL_MARKER_AREA / len(positions), 7.0, 30.0)),
        c=colours[layout.labels[layout.drawn]],
        alpha=0.75,
        linewidths=0,
        zorder=2,
    )
    points.set_gid("points")


def draw_circle(ax: Axes, cluster_positions: Array, colours: AnyArray) -> None:
    """Draw the circle and the number of every cluster at its position."""
    angles = np.linspace(0, 2 * np.pi, 361)
    ax.plot(
        np.sin(angles),
        np.cos(angles),
        color=line_color(),
        alpha=FAINT_ALPHA,
        linewidth=0.8,
        zorder=1,
    )
    radial = len(cluster_positions) > MAX_UPRIGHT_LABELS
    for number, (position, colour) in enumerate(zip(cluster_positions, colours, strict=True)):
        ax.plot(
            *position,
            marker="o",
            markersize=3 if radial else 4.5,
            color=colour,
            markeredgewidth=0,
            zorder=1,
        )
        ax.text(
            LABEL_RADIUS * position[0],
            LABEL_RADIUS * position[1],
            str(number),
            ha="center",
            va="center",
            rotation=radial_angle(position) if radial else 0.0,
            rotation_mode="anchor",
            fontsize=small_font(0.66 if radial else 0.88),
            color=text_color(),
        )
    ax.set_aspect("equal")
    ax.set_xlim(-1.22, 1.22)
    ax.set_ylim(-1.22, 1.22)
    ax.set_axis_off()


def radial_angle(position: Array) -> float:
    """Return the angle in degrees of a text along the radius that is never upside down."""
    angle = float(np.degrees(np.arctan2(position[1], position[0])))
    return angle if abs(angle) <= 90 else angle + 180


def draw_axes(ax: Axes, n_clusters: int, colours: AnyArray) -> None:
    """Draw the axes for one or two clusters."""
    if n_clusters == 1:
        ax.set_xlabel("second eigenvector of the graph")
        ax.set_ylabel("third eigenvector of the graph")
        return
    ax.axvline(0.5, color=line_color(), alpha=FAINT_ALPHA, linewidth=0.8, linestyle="--", zorder=1)
    ax.set_xlim(-0.04, 1.04)
    ax.set_xlabel("share of edge weight to cluster 1 (the rest is to cluster 0)")
    ax.set_ylabel("third eigenvector of the graph")
    for number, side in enumerate(("left", "right")):
        ax.text(
            number,
            1.0,
            f"cluster {number}",
            ha=side,
            va="bottom",
            transform=ax.get_xaxis_transform(),
            color=colours[number],
            fontsize=small_font(),
            fontweight="bold",
        )


def write_names(ax: Axes, layout: Layout, rows: AnyArray, ids: Sequence[Any]) -> None:
    """Write the names of the least confident samples."""
    if len(ids) <= rows.max():
        raise ValueError(
            f"ids must have one name for every sample. Got {len(ids)} names for at least "
            f"{rows.max() + 1} samples."
        )
    known = layout.drawn[rows[layout.drawn] >= 0]
    least_confident = known[np.argsort(layout.confidence[known], kind="stable")]
    for node in least_confident[:N_NAMED_SAMPLES]:
        ax.annotate(
            label_text(str(ids[int(rows[node])])),
            layout.positions[node],
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=small_font(0.8),
            color=text_color(),
        )
