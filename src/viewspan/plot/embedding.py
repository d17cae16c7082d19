"""The spectral embedding, flattened."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke
from sklearn.manifold import TSNE

from viewspan._utils.typing import AnyArray, Array
from viewspan.graph.discretisation import unit_rows
from viewspan.plot.colours import cluster_colours
from viewspan.plot.references import MOST_POINTS, eigenvectors, even_part, graph_of
from viewspan.plot.style import canvas, page_colour, text_colour, without_frame

FLAT = 3
"""Up to so many clusters, two eigenvectors show all of them."""
PERPLEXITY = 30.0
STEPS = 500
HALO = 2.5
"""Points around a number, so that it is read upon its cluster."""


def embedding(model: Any, *, ax: Axes | None = None, max_points: int = MOST_POINTS) -> Axes:
    """The rows of samples in the leading eigenvectors of the graph, which are what was cut, as a map.

    Of up to three clusters the second and third eigenvector are drawn. More clusters need as many eigenvectors, and
    their rows, at unit length, are laid out by t-SNE (van der Maaten and Hinton 2008) so that neighbours stay
    neighbours.

    How to read it: samples that the graph holds together are near each other; groups that touch are hard to tell
    apart. How far apart groups are, and where they lie, means nothing.

    Parameters
    ----------
    model : a fitted estimator
        With landmarks, these are drawn.
    ax : matplotlib Axes, optional
    max_points : int
        Of more samples an even part of every cluster is drawn, and the title says so.

    Returns
    -------
    Axes
        All points are one collection with the gid "points", in the order of :func:`drawn_rows`.
    """
    positions, chosen = place(model, max_points)
    _, labels, n_clusters = graph_of(model)
    colours = np.array(cluster_colours(n_clusters))
    with canvas(ax) as ax:
        size = float(np.clip(12000.0 / len(chosen), 7.0, 30.0))
        across, up = positions.T
        points = ax.scatter(across, up, s=size, c=colours[labels[chosen]], alpha=0.8, linewidths=0)
        points.set_gid("points")
        for number in range(n_clusters):
            own = positions[labels[chosen] == number]
            if len(own):
                middle = own[
                    np.linalg.norm(own - np.median(own, axis=0), axis=1).argmin()
                ]  # on the cluster itself
                write_number(ax, number, middle)
        if n_clusters <= FLAT:
            ax.set_xlabel("second eigenvector of the graph")
            ax.set_ylabel("third eigenvector")
            ax.set_xticks([])
            ax.set_yticks([])
        else:
            without_frame(ax)
        what = "landmarks" if model.fitted_graph_.landmarks else "samples"
        part = f", {len(chosen)} of {len(labels)} {what}" if len(chosen) < len(labels) else ""
        ax.set_title(f"Spectral embedding{part}")
    return ax


def write_number(ax: Axes, number: int, where: Array) -> None:
    text = ax.text(
        where[0],
        where[1],
        str(number),
        ha="center",
        va="center",
        color=text_colour(),
        fontweight="bold",
    )
    text.set_path_effects([withStroke(linewidth=HALO, foreground=page_colour(), alpha=0.8)])


def place(model: Any, max_points: int) -> tuple[Array, AnyArray]:
    """Positions of the references that are drawn, and which they are."""
    graph, labels, n_clusters = graph_of(model)
    chosen = even_part(labels, max_points)
    if n_clusters <= FLAT:
        return eigenvectors(graph)[chosen], chosen
    rows = unit_rows(model.fitted_graph_.embedding[chosen])
    layout = TSNE(
        init="pca", perplexity=min(PERPLEXITY, (len(rows) - 1) / 3), max_iter=STEPS, random_state=0
    )
    flat = layout.fit_transform(rows)
    return np.asarray(flat, dtype=float), chosen
