"""Samples between the clusters that they are tied to."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.quality import shares_of_ties
from viewspan.plot.colours import cluster_colours
from viewspan.plot.references import (
    MOST_POINTS,
    eigenvectors,
    even_part,
    graph_of,
    links,
    round_tour,
    rows_of,
)
from viewspan.plot.style import FAINT, canvas, line_colour, plain, small, text_colour

RIM = 1.13
"""Where the numbers of clusters stand."""
CROWDED = 40
"""More numbers than this are written along the radius."""
NAMED = 6
"""So many of the least sure samples get their name written."""
AREA = 12000.0
"""Of all markers together, in square points."""


class Placed(NamedTuple):
    """What is drawn.

    Attributes
    ----------
    positions : array (n, 2)
    labels : array (n,)
    own : array (n,)
        The share of ties with the own cluster.
    chosen : array (m,)
        Which of them are drawn.
    places : array (n_clusters, 2)
        Of the clusters.
    """

    positions: Array
    labels: Labels
    own: Array
    chosen: AnyArray
    places: Array


def ties(
    model: Any,
    *,
    ax: Axes | None = None,
    max_points: int = MOST_POINTS,
    ids: Sequence[Any] | None = None,
) -> Axes:
    """Samples between the clusters that they are tied to.

    Every cluster has a place on a circle, and every sample stands at the mean of these places, weighted by the shares
    of its ties in the graph with each cluster. Clusters with strong links are neighbours on the circle. Two clusters
    are the ends of a line, beside the next eigenvector of the graph; one cluster is seen in the first two that are not
    constant.

    How to read it: a sample at the place of its cluster is tied to no other cluster; one that stands between places is
    uncertain, and they are the clusters that it wavers between.

    Parameters
    ----------
    model : a fitted estimator
        With landmarks, these are drawn.
    ax : matplotlib Axes, optional
    max_points : int
        Of more samples an even part of every cluster is drawn, and the title says so.
    ids : sequence of n_samples names, optional
        The least sure samples get theirs written beside them.

    Returns
    -------
    Axes
        All points are one collection with the gid "points", in the order of :func:`drawn_rows`.
    """
    placed = place(model, max_points)
    n_clusters = len(placed.places)
    with canvas(ax) as ax:
        colours = np.array(cluster_colours(n_clusters))
        positions, labels = placed.positions[placed.chosen], placed.labels[placed.chosen]
        if n_clusters > 2:
            draw_circle(ax, placed.places, colours)
        else:
            draw_line(ax, n_clusters, colours)
        size = float(np.clip(AREA / len(positions), 7.0, 30.0))
        points = ax.scatter(
            positions[:, 0],
            positions[:, 1],
            s=size,
            c=colours[labels],
            alpha=0.75,
            linewidths=0,
            zorder=2,
        )
        points.set_gid("points")
        if ids is not None:
            write_names(ax, placed, rows_of(model), ids)
        ax.set_title(
            title(model, len(positions), len(placed.labels)), pad=20 if n_clusters == 2 else None
        )
    return ax


def place(model: Any, max_points: int) -> Placed:
    graph, labels, n_clusters = graph_of(model)
    shares = shares_of_ties(graph, labels)
    own = shares[np.arange(len(labels)), labels]
    if n_clusters > 2:
        places = circle(round_tour(links(graph, labels, n_clusters)))
        positions = shares @ places
    else:
        vectors = eigenvectors(graph)
        across = shares[:, 1] if n_clusters == 2 else vectors[:, 0]
        positions, places = np.column_stack([across, vectors[:, -1]]), np.zeros((n_clusters, 2))
    return Placed(positions, labels, own, even_part(labels, max_points), places)


def circle(order: AnyArray) -> Array:
    """Places clockwise from the top."""
    angles = np.empty(len(order))
    angles[order] = 2 * np.pi * np.arange(len(order)) / len(order)
    return np.column_stack([np.sin(angles), np.cos(angles)])


def title(model: Any, n_drawn: int, n_all: int) -> str:
    what = "landmarks" if model.fitted_graph_.landmarks else "samples"
    return (
        f"{n_drawn} of {n_all} {what} by their ties"
        if n_drawn < n_all
        else f"{what.capitalize()} by their ties"
    )


def draw_circle(ax: Axes, places: Array, colours: AnyArray) -> None:
    """The rim, and every cluster's number at its place."""
    angles = np.linspace(0, 2 * np.pi, 361)
    ax.plot(
        np.sin(angles), np.cos(angles), color=line_colour(), alpha=FAINT, linewidth=0.8, zorder=1
    )
    crowded = len(places) > CROWDED
    for number, (place, colour) in enumerate(zip(places, colours, strict=True)):
        ax.plot(
            *place,
            marker="o",
            markersize=3 if crowded else 4.5,
            color=colour,
            markeredgewidth=0,
            zorder=1,
        )
        ax.text(
            RIM * place[0],
            RIM * place[1],
            str(number),
            ha="center",
            va="center",
            rotation=outwards(place) if crowded else 0.0,
            rotation_mode="anchor",
            fontsize=small(0.66 if crowded else 0.88),
            color=text_colour(),
        )
    ax.set_aspect("equal")
    ax.set_xlim(-1.22, 1.22)
    ax.set_ylim(-1.22, 1.22)
    ax.set_axis_off()


def outwards(place: Array) -> float:
    """The angle of a text along the radius, never upside down."""
    angle = float(np.degrees(np.arctan2(place[1], place[0])))
    return angle if abs(angle) <= 90 else angle + 180


def draw_line(ax: Axes, n_clusters: int, colours: AnyArray) -> None:
    if n_clusters == 2:
        ax.axvline(0.5, color=line_colour(), alpha=FAINT, linewidth=0.8, linestyle="--", zorder=1)
        ax.set_xlim(-0.04, 1.04)
        ax.set_xlabel("share of ties with cluster 1 (the rest is with cluster 0)")
        ax.set_ylabel("next eigenvector of the graph")
        for number, side in enumerate(("left", "right")):
            ax.text(
                number,
                1.0,
                f"cluster {number}",
                ha=side,
                va="bottom",
                transform=ax.get_xaxis_transform(),
                color=colours[number],
                fontsize=small(),
                fontweight="bold",
            )
    else:
        ax.set_xlabel("second eigenvector of the graph")
        ax.set_ylabel("third eigenvector of the graph")


def write_names(ax: Axes, placed: Placed, rows: AnyArray, ids: Sequence[Any]) -> None:
    """Of the samples that are least sure."""
    if len(ids) <= rows.max():
        raise ValueError(
            f"ids must be names of all samples. Got {len(ids)} names, and row {rows.max()} needs one."
        )
    known = placed.chosen[rows[placed.chosen] >= 0]
    for position in known[np.argsort(placed.own[known], kind="stable")[:NAMED]]:
        ax.annotate(
            plain(str(ids[int(rows[position])])),
            placed.positions[position],
            xytext=(4, 3),
            textcoords="offset points",
            fontsize=small(0.8),
            color=text_colour(),
        )
