"""The graph that was cut: its matrix, and the eigenvalues that tell the number of clusters."""

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
from viewspan.plot.colours import ACCENT, INK, cluster_colours
from viewspan.plot.references import graph_of
from viewspan.plot.style import FAINT, canvas, line_colour, small, text_colour, without_frame

STRONG = 0.95
"""Blocks stronger than this share of those that are not empty are drawn in full ink."""
POWER = 0.4
"""Of strength, for the opacity: weak links between clusters must be seen beside strong ones inside."""
FEW = 3
"""Smaller groups need no order."""
NUMBERED = 25
"""So many clusters have room for their numbers."""
SEPARATED = 50
"""Lines between more clusters than this would hide the ties."""
WIDER = 1.1
"""Another gap is worth telling if it is so many times wider."""
BEYOND = 6
"""Eigenvalues that are shown after the clusters, at least."""


def affinity(model: Any, *, ax: Axes | None = None, max_size: int = 600) -> Axes:
    """The graph that was cut, as a matrix with samples in the order of their clusters.

    Inside a cluster they are in the order of its own second eigenvector, which puts neighbours side by side. Larger
    graphs are drawn as means over blocks of samples, none of them across two clusters; the opacity of the ink grows
    with the mean to the power of 0.4.

    How to read it: dark squares along the diagonal are clusters that hold together; ink outside of them is ties
    between two clusters.

    Parameters
    ----------
    model : a fitted estimator
        With landmarks, the graph is theirs.
    ax : matplotlib Axes, optional
    max_size : int
        Blocks along a side, at most; but one for every cluster.

    Returns
    -------
    Axes
    """
    graph, labels, n_clusters = graph_of(model)
    blocks = blocks_of(graph, labels, n_clusters, max_size)
    means, sizes = block_means(graph, blocks)
    owners = np.array([labels[block[0]] for block in blocks])
    with canvas(ax, 5.0, 4.6) as ax:
        image = np.empty((*means.shape, 4))
        image[..., :3], image[..., 3] = to_rgb(INK), opacity(means)
        count = len(blocks)
        ax.imshow(image, extent=(0, count, count, 0), zorder=1)
        edges = np.concatenate([[0], np.flatnonzero(np.diff(owners)) + 1, [count]])
        draw_borders(ax, edges, owners, cluster_colours(n_clusters))
        what = "landmarks" if model.fitted_graph_.landmarks else "samples"
        per_block = "" if sizes.max() == 1 else f", means of blocks of up to {sizes.max()}"
        ax.set_title(f"Ties between {len(labels)} {what}{per_block}")
    return ax


def blocks_of(graph: Graph, labels: Labels, n_clusters: int, most: int) -> list[AnyArray]:
    """Groups of samples of one cluster each, in order."""
    clusters = [ordered(graph, np.flatnonzero(labels == number)) for number in range(n_clusters)]
    clusters = [cluster for cluster in clusters if len(cluster)]
    longest = max(len(cluster) for cluster in clusters)
    size = -(-len(labels) // most)
    while size < longest and sum(-(-len(cluster) // size) for cluster in clusters) > most:
        size += 1
    return [
        block for cluster in clusters for block in np.array_split(cluster, -(-len(cluster) // size))
    ]


def ordered(graph: Graph, rows: AnyArray) -> AnyArray:
    """By the second eigenvector of the part of the graph that they are."""
    if len(rows) < FEW:
        return rows
    part: Any = graph[rows][:, rows]
    scale = ratio(1.0, np.sqrt(degrees(part)))
    _, vectors = symmetric_eigenpairs(scaled(part, scale), 2, np.random.RandomState(0))
    return rows[np.argsort(vectors[:, 1] * scale, kind="stable")]


def block_means(graph: Graph, blocks: list[AnyArray]) -> tuple[Array, AnyArray]:
    """The mean of the graph over every pair of blocks, and the blocks' sizes; a sparse graph stays sparse."""
    sizes = np.array([len(block) for block in blocks])
    owner = np.empty(graph.shape[0], dtype=np.int64)
    owner[np.concatenate(blocks)] = np.repeat(np.arange(len(blocks)), sizes)
    indicator = members(owner, len(blocks))
    sums: Any = indicator.T @ (graph @ indicator)
    sums = np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=float)
    return sums / np.outer(sizes, sizes), sizes


def opacity(means: Array) -> Array:
    """From 0 to 1, with a power of the strength."""
    off = means[~np.eye(len(means), dtype=bool)]
    present = off[off > 0] if (off > 0).any() else np.maximum(means.ravel(), np.finfo(float).tiny)
    return np.clip(means / np.quantile(present, STRONG), 0.0, 1.0) ** POWER


def draw_borders(ax: Axes, edges: AnyArray, owners: AnyArray, colours: list[str]) -> None:
    """Strips of the clusters' colours at the left and the top, and thin lines between clusters."""
    count = int(edges[-1])
    width, space = 0.028 * count, 0.012 * count
    if len(edges) - 1 <= SEPARATED:
        look: dict[str, Any] = {
            "color": line_colour(),
            "alpha": FAINT,
            "linewidth": min(0.5, 10 / len(edges)),
            "zorder": 2,
        }
        ax.hlines(edges[1:-1], 0, count, **look)
        ax.vlines(edges[1:-1], 0, count, **look)
    for start, stop in pairwise(edges):
        colour = colours[owners[start]]
        ax.add_patch(
            Rectangle((-space - width, start), width, stop - start, color=colour, linewidth=0)
        )
        ax.add_patch(
            Rectangle((start, -space - width), stop - start, width, color=colour, linewidth=0)
        )
    without_frame(ax)
    if len(edges) - 1 <= NUMBERED:
        ax.set_yticks((edges[:-1] + edges[1:]) / 2, [str(owners[start]) for start in edges[:-1]])
        ax.tick_params(axis="y", length=0)
        ax.set_ylabel("cluster")
    ax.set_xlim(-space - width, count)
    ax.set_ylim(count, -space - width)


def eigenvalues(model: Any, *, ax: Axes | None = None) -> Axes:
    """The leading eigenvalues of the graph's normalised Laplacian, as 1 minus them, and the gap after the clusters.

    Those that the number of clusters was read from are drawn if there are any. If the number was given, they are those
    of the graph that was cut.

    How to read it: a graph of k separate groups has k eigenvalues of 1; the wider the gap after the k-th, the clearer
    it is that there are k clusters.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    asked = model.n_clusters
    n_clusters = int(asked or graph_of(model)[2])
    values = enough_eigenvalues(model, n_clusters)
    with canvas(ax, 5.0, 3.4) as ax:
        numbers = np.arange(1, len(values) + 1)
        inside = numbers <= n_clusters
        for chosen, colour in ((inside, INK), (~inside, text_colour())):
            ax.plot(
                numbers[chosen],
                values[chosen],
                "o",
                color=colour,
                markersize=4.5,
                markeredgewidth=0,
            )
        write_gap(ax, values, n_clusters, given=asked is not None)
        ax.set_xlim(0.3, len(values) + 0.7)
        low, high = float(values.min()), float(values.max())
        ax.set_ylim(low - 0.08 * (high - low or 1.0), high + 0.22 * (high - low or 1.0))
        ax.set_yticks(
            [tick for tick in ax.get_yticks() if low - 0.08 * (high - low) <= tick <= 1.0]
        )
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
        ax.set_xlabel("number of the eigenvalue")
        ax.set_ylabel("eigenvalue (1: a separate group)")
        ax.set_title("Eigenvalues of the graph")
    return ax


def enough_eigenvalues(model: Any, n_clusters: int) -> Array:
    """Some more than there are clusters, as far as there are samples."""
    graph, _, _ = graph_of(model)
    wanted = min(max(n_clusters + BEYOND, int(1.5 * n_clusters)), graph.shape[0])
    stored: Array = np.asarray(model.eigenvalues_, dtype=float)
    if len(stored) >= wanted:
        return stored[:wanted]
    # values of several graphs' mean and of their united graph must not be mixed, so all are found anew
    steps = 2 if model.fitted_graph_.landmarks else 1
    return leading_eigenvalues(graph, wanted, np.random.RandomState(0), steps=steps)


def write_gap(ax: Axes, values: Array, n_clusters: int, *, given: bool) -> None:
    """How many clusters, who said so, how wide the gap is, and whether another is wider."""
    text = f"k = {n_clusters} was given" if given else f"k = {n_clusters}"
    gaps = values[:-1] - values[1:]
    if n_clusters < len(values):
        above, below = float(values[n_clusters - 1]), float(values[n_clusters])
        ax.axhspan(below, above, color=ACCENT, alpha=0.3, linewidth=0, zorder=0, gid="gap")
        ax.axvline(
            n_clusters + 0.5,
            ymax=0.9,
            color=line_colour(),
            alpha=FAINT,
            linewidth=0.8,
            linestyle="--",
            zorder=0,
        )
        text += f", gap {above - below:.2g}"
        widest = int(gaps[1:].argmax()) + 2 if len(gaps) > 1 else n_clusters
        if given and n_clusters > 1 and gaps[widest - 1] > WIDER * gaps[n_clusters - 1]:
            text += f"\nthe widest from k = 2 on, {gaps[widest - 1]:.2g}, is at k = {widest}"
    ax.text(
        0.02, 1.0, text, va="top", transform=ax.transAxes, color=text_colour(), fontsize=small(1.0)
    )
