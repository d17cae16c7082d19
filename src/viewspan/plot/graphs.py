"""Plots of the fitted graph: its affinity matrix and its eigenvalues."""

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.quality import members
from viewspan.graph.spectrum import degrees, leading_eigenvalues, scaled, symmetric_eigenpairs
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.plot.colors import ACCENT, INK, cluster_colors
from viewspan.plot.nodes import node_kind
from viewspan.plot.style import (
    FAINT_ALPHA,
    axes_or_new,
    hide_frame,
    line_color,
    small_font,
    text_color,
)

OPAQUE_QUANTILE = 0.95
"""Quantile of the non-zero block means above which a block is drawn fully opaque."""
OPACITY_POWER = 0.4
"""Power of the edge weight for the opacity. It makes weak edges between clusters visible."""
MIN_SORTED_SIZE = 3
"""Smallest cluster whose samples are sorted."""
MAX_NUMBERED_CLUSTERS = 25
"""Largest number of clusters that get their numbers on the axis."""
MAX_SEPARATED_CLUSTERS = 50
"""Largest number of clusters with lines between them; more lines would hide the edges."""
WIDER_GAP_FACTOR = 1.1
"""Factor by which another eigengap must be wider to be mentioned."""
MIN_EXTRA_EIGENVALUES = 6
"""Smallest number of eigenvalues that are drawn after those of the clusters."""


def affinity(model: Any, *, ax: Axes | None = None, max_size: int = 600) -> Axes:
    """Plot the affinity matrix of the fitted graph, with samples sorted by cluster.

    Within a cluster, samples are sorted by the second eigenvector of its part of the graph, which
    places neighbours side by side. Large matrices are drawn as means over blocks of samples of the
    same cluster. The opacity is proportional to the mean to the power of 0.4.

    How to read it: dark squares along the diagonal are clusters with strong edges inside. Marks
    outside the squares are edges between two clusters.

    Parameters
    ----------
    model : a fitted estimator
        If its graph has landmarks, the affinity of the landmarks is drawn.
    ax : matplotlib Axes, optional
    max_size : int
        Largest number of blocks per side, if it is not smaller than the number of clusters.

    Returns
    -------
    Axes
    """
    graph: FittedGraph = model.fitted_graph_
    blocks = blocks_of_clusters(graph.affinity, graph.labels, graph.n_clusters, max_size)
    means, sizes = block_means(graph.affinity, blocks)
    clusters = np.array([graph.labels[block[0]] for block in blocks])
    with axes_or_new(ax, 5.0, 4.6) as ax:
        image = np.empty((*means.shape, 4))
        image[..., :3], image[..., 3] = to_rgb(INK), opacity(means)
        count = len(blocks)
        ax.imshow(image, extent=(0, count, count, 0), zorder=1)
        borders = np.concatenate([[0], np.flatnonzero(np.diff(clusters)) + 1, [count]])
        draw_borders(ax, borders, clusters, cluster_colors(graph.n_clusters))
        averaged = "" if sizes.max() == 1 else f", means of blocks of up to {sizes.max()}"
        ax.set_title(f"Affinity of {len(graph.labels)} {node_kind(graph)}{averaged}")
    return ax


def blocks_of_clusters(
    affinity: Graph, labels: Labels, n_clusters: int, max_blocks: int
) -> list[AnyArray]:
    """Split the sorted samples of every cluster into blocks of nearly equal size."""
    clusters = [
        sort_by_eigenvector(affinity, np.flatnonzero(labels == number))
        for number in range(n_clusters)
    ]
    clusters = [cluster for cluster in clusters if len(cluster)]
    largest = max(len(cluster) for cluster in clusters)
    size = -(-len(labels) // max_blocks)
    while size < largest and sum(-(-len(cluster) // size) for cluster in clusters) > max_blocks:
        size += 1
    return [
        block for cluster in clusters for block in np.array_split(cluster, -(-len(cluster) // size))
    ]


def sort_by_eigenvector(affinity: Graph, rows: AnyArray) -> AnyArray:
    """Sort rows by the second eigenvector of the subgraph that they induce."""
    if len(rows) < MIN_SORTED_SIZE:
        return rows
    subgraph: Any = affinity[rows][:, rows]
    scale = ratio(1.0, np.sqrt(degrees(subgraph)))
    _, vectors = symmetric_eigenpairs(scaled(subgraph, scale), 2, np.random.RandomState(0))
    return rows[np.argsort(vectors[:, 1] * scale, kind="stable")]


def block_means(affinity: Graph, blocks: list[AnyArray]) -> tuple[Array, AnyArray]:
    """Return the mean edge weight of every pair of blocks, and the sizes of the blocks.

    A sparse graph is not made dense.
    """
    sizes = np.array([len(block) for block in blocks])
    block_of_row = np.empty(affinity.shape[0], dtype=np.int64)
    block_of_row[np.concatenate(blocks)] = np.repeat(np.arange(len(blocks)), sizes)
    indicator = members(block_of_row, len(blocks))
    sums: Any = indicator.T @ (affinity @ indicator)
    sums = np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=float)
    return sums / np.outer(sizes, sizes), sizes


def opacity(means: Array) -> Array:
    """Return opacities from 0 to 1 that increase with the mean edge weights."""
    off_diagonal = means[~np.eye(len(means), dtype=bool)]
    positive = off_diagonal[off_diagonal > 0]
    if not len(positive):
        positive = np.maximum(means.ravel(), np.finfo(float).tiny)
    return np.clip(means / np.quantile(positive, OPAQUE_QUANTILE), 0.0, 1.0) ** OPACITY_POWER


def draw_borders(ax: Axes, borders: AnyArray, clusters: AnyArray, colours: list[str]) -> None:
    """Draw coloured strips along the left and top sides, and thin lines between clusters."""
    count, n_clusters = int(borders[-1]), len(borders) - 1
    width, space = 0.028 * count, 0.012 * count
    if n_clusters <= MAX_SEPARATED_CLUSTERS:
        line: dict[str, Any] = {
            "color": line_color(),
            "alpha": FAINT_ALPHA,
            "linewidth": min(0.5, 10 / len(borders)),
            "zorder": 2,
        }
        ax.hlines(borders[1:-1], 0, count, **line)
        ax.vlines(borders[1:-1], 0, count, **line)
    for start, stop in pairwise(borders):
        colour, length = colours[clusters[start]], stop - start
        ax.add_patch(Rectangle((-space - width, start), width, length, color=colour, linewidth=0))
        ax.add_patch(Rectangle((start, -space - width), length, width, color=colour, linewidth=0))
    hide_frame(ax)
    if n_clusters <= MAX_NUMBERED_CLUSTERS:
        numbers = [str(clusters[start]) for start in borders[:-1]]
        ax.set_yticks((borders[:-1] + borders[1:]) / 2, numbers)
        ax.tick_params(axis="y", length=0)
        ax.set_ylabel("cluster")
    ax.set_xlim(-space - width, count)
    ax.set_ylim(count, -space - width)


def eigenvalues(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the leading eigenvalues of the normalised affinity, and the eigengap after the k-th.

    These are 1 minus the eigenvalues of the normalised Laplacian. If the number of clusters was
    estimated, the plot shows the eigenvalues that it was estimated from. If it was given, the plot
    shows those of the fitted graph.

    How to read it: a graph of k separate parts has k eigenvalues of 1. The wider the gap after the
    k-th eigenvalue, the better the data support k clusters.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    graph: FittedGraph = model.fitted_graph_
    given = model.n_clusters is not None
    n_clusters = int(model.n_clusters) if given else graph.n_clusters
    values = leading_values(model, n_clusters)
    with axes_or_new(ax, 5.0, 3.4) as ax:
        numbers = np.arange(1, len(values) + 1)
        inside = numbers <= n_clusters
        for chosen, colour in ((inside, INK), (~inside, text_color())):
            ax.plot(
                numbers[chosen],
                values[chosen],
                "o",
                color=colour,
                markersize=4.5,
                markeredgewidth=0,
            )
        mark_gap(ax, values, n_clusters)
        write_gap(ax, values, n_clusters, given=given)
        ax.set_xlim(0.3, len(values) + 0.7)
        low, high = float(values.min()), float(values.max())
        ax.set_ylim(low - 0.08 * (high - low or 1.0), high + 0.22 * (high - low or 1.0))
        ax.set_yticks(
            [tick for tick in ax.get_yticks() if low - 0.08 * (high - low) <= tick <= 1.0]
        )
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.set_xlabel("number of the eigenvalue")
        ax.set_ylabel("eigenvalue of the normalised affinity")
        ax.set_title("Eigenvalues of the graph")
    return ax


def leading_values(model: Any, n_clusters: int) -> Array:
    """Return the leading eigenvalues, some more than there are clusters.

    If the model has too few, all are computed from the fitted graph: the model's are means over
    several graphs, and the two kinds must not be mixed.
    """
    graph: FittedGraph = model.fitted_graph_
    wanted = max(n_clusters + MIN_EXTRA_EIGENVALUES, int(1.5 * n_clusters))
    wanted = min(wanted, len(graph.labels))
    stored: Array = np.asarray(model.eigenvalues_, dtype=float)
    if len(stored) >= wanted:
        return stored[:wanted]
    steps = 2 if graph.landmarks else 1
    return leading_eigenvalues(graph.affinity, wanted, np.random.RandomState(0), steps=steps)


def mark_gap(ax: Axes, values: Array, n_clusters: int) -> None:
    """Shade the gap after the clusters."""
    if n_clusters >= len(values):
        return
    above, below = float(values[n_clusters - 1]), float(values[n_clusters])
    ax.axhspan(below, above, color=ACCENT, alpha=0.3, linewidth=0, zorder=0, gid="gap")
    ax.axvline(
        n_clusters + 0.5,
        ymax=0.9,
        color=line_color(),
        alpha=FAINT_ALPHA,
        linewidth=0.8,
        linestyle="--",
        zorder=0,
    )


def write_gap(ax: Axes, values: Array, n_clusters: int, *, given: bool) -> None:
    """Write the number of clusters, the width of its gap, and where a wider gap is."""
    text = f"k = {n_clusters} ({'given' if given else 'estimated'})"
    gaps = values[:-1] - values[1:]
    if n_clusters < len(values):
        gap = gaps[n_clusters - 1]
        text += f", gap {gap:.2g}"
        # k = 1 is not a clustering, so its gap is not considered
        widest = int(gaps[1:].argmax()) + 2 if len(gaps) > 1 else n_clusters
        if given and n_clusters > 1 and gaps[widest - 1] > WIDER_GAP_FACTOR * gap:
            text += f"\nwidest gap from k = 2: {gaps[widest - 1]:.2g} at k = {widest}"
    font = small_font(1.0)
    ax.text(0.02, 1.0, text, va="top", transform=ax.transAxes, color=text_color(), fontsize=font)
