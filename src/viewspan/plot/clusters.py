"""The clusters: how large, how sure, and what is typical of them."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from viewspan._utils.sparse import full, is_sparse
from viewspan._utils.typing import AnyArray, Array
from viewspan.graph.discretisation import unit_rows
from viewspan.inputs.views import is_one_view
from viewspan.plot.colours import INK, cluster_colours
from viewspan.plot.references import labels_of, names_of_views
from viewspan.plot.style import FAINT, canvas, line_colour, plain, small, text_colour, without_frame

ROOMY = 25
"""So many clusters have room for a number, or a colour, each."""
READABLE = 6.5
"""Points that a bar needs for a number at it."""
EXTREMES = 6
"""Clusters whose size is written where there is no room for all."""
UNCERTAIN = 0.5
"""A sample with fewer of its ties in its own cluster than this has most of them elsewhere."""
BINS = 20
BETWEEN = 0.12
"""Space between pictures, as a share of their width."""


def sizes(model: Any, *, ax: Axes | None = None) -> Axes:
    """How many samples every cluster has.

    How to read it: a bar is a cluster, and as long as the cluster has samples; very short ones may be outliers that
    were put together.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    counts = np.bincount(labels_of(model), minlength=model.n_clusters_)
    n_clusters = len(counts)
    with canvas(
        ax, 5.0, float(np.clip(0.8 + 0.26 * n_clusters, 1.6, max(6.0, 0.16 * n_clusters)))
    ) as ax:
        numbers = np.arange(n_clusters)
        ax.barh(numbers, counts, height=0.8, color=cluster_colours(n_clusters))
        room = points_per_bar(ax, n_clusters)
        if room >= READABLE:
            for number, count in enumerate(counts):
                write_at(ax, str(count), int(count), number, min(small(), 0.95 * room))
        else:
            apart = int(np.ceil(READABLE / room))
            for number in extremes(counts, apart):
                around = int(counts[max(number - apart, 0) : number + apart + 1].max())
                write_at(ax, f"cluster {number}: {counts[number]}", around, number, small(0.8))
        ax.set_yticks(every(n_clusters, max(2, int(n_clusters * room / 11))))
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(n_clusters - 0.4, -0.6)
        ax.set_xlim(0, (1.1 if room >= READABLE else 1.3) * max(int(counts.max()), 1))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("samples")
        ax.set_ylabel("cluster")
        ax.set_title(f"{counts.sum()} samples in {n_clusters} cluster{'s' * (n_clusters > 1)}")
    return ax


def write_at(ax: Axes, text: str, x: float, y: float, size: float) -> None:
    """Just right of a point."""
    ax.annotate(
        text,
        (x, y),
        xytext=(3, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=size,
        color=text_colour(),
    )


def points_per_bar(ax: Axes, count: int) -> float:
    """The height that each of so many bars has in a picture, about."""
    return 72 * float(ax.bbox.height) / float(ax.figure.dpi) / count


def extremes(counts: AnyArray, apart: int) -> list[int]:
    """The largest and the smallest clusters, a few of each, none so near to another that numbers would collide."""
    order = np.argsort(-counts, kind="stable")
    chosen: list[int] = []
    for number in np.stack([order, order[::-1]], axis=1).ravel():
        if len(chosen) < EXTREMES and all(abs(int(number) - other) > apart for other in chosen):
            chosen.append(int(number))
    return chosen


def every(count: int, most: int) -> AnyArray:
    """Numbers from 0 at equal steps, so many at most."""
    return np.arange(0, count, -(-count // most))


def confidence(model: Any, *, ax: Axes | None = None) -> Axes:
    """How sure the samples' clusters are, as a histogram, with up to 25 clusters upon each other.

    How to read it: samples at the right have all their ties in their own cluster; those at the left of the line have
    most of them in others, and their label should not be relied upon.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    labels, found = labels_of(model), np.asarray(model.confidence_, dtype=float)
    known = np.isfinite(found)
    n_clusters = int(model.n_clusters_)
    groups = (
        [known & (labels == number) for number in range(n_clusters)]
        if n_clusters <= ROOMY
        else [known]
    )
    colours = cluster_colours(n_clusters) if n_clusters <= ROOMY else [INK]
    uncertain = int((found[known] < UNCERTAIN).sum())
    with canvas(ax, 5.0, 3.2) as ax:
        ax.axvspan(0.0, UNCERTAIN, color=line_colour(), alpha=0.09, linewidth=0, zorder=0)
        ax.axvline(
            UNCERTAIN, color=line_colour(), alpha=FAINT, linewidth=0.8, linestyle="--", zorder=0
        )
        ax.hist(
            [np.clip(found[group], 0.0, 1.0) for group in groups],
            bins=list(np.linspace(0.0, 1.0, BINS + 1)),
            stacked=True,
            color=colours,
            linewidth=0,
            rwidth=0.92,
        )
        ax.text(
            0.02,
            0.97,
            f"{uncertain} of {known.sum()} uncertain",
            ha="left",
            va="top",
            transform=ax.transAxes,
            color=text_colour(),
            fontsize=small(),
        )
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("share of a sample's ties that are with its own cluster")
        ax.set_ylabel("samples")
        ax.set_title("How sure the clusters are")
    return ax


def exemplars(
    model: Any,
    views: Any,
    *,
    view: int | str = 0,
    image_shape: tuple[int, int] = (8, 8),
    n: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """The most typical samples of every cluster as pictures, one row per cluster.

    These are the ones with the highest confidence; of equals, those nearest to the cluster's centre in the spectral
    embedding. Every picture is stretched to its own contrast.

    How to read it: the pictures in a row should show the same thing; two rows that show the same are one group that was
    cut in two.

    Parameters
    ----------
    model : a fitted estimator
    views : as for ``fit``
        The samples that were fitted.
    view : int or str
        The one whose features are pixels: grey, or red, green and blue of every pixel.
    image_shape : (int, int)
        Rows and columns.
    n : int
        Pictures per cluster.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    samples = samples_of(model, views, view)
    pictures = as_pictures(samples, image_shape)
    chosen = typical(model, views, np.asarray(np.isfinite(samples).all(axis=1)), n)
    sheet = contact_sheet(pictures, chosen, n)
    with canvas(
        ax, 5.0, float(np.clip(0.4 + 4.4 * sheet.shape[0] / sheet.shape[1], 1.2, 14.0))
    ) as ax:
        across, down = sheet.shape[1] / n, sheet.shape[0] / len(chosen)
        ax.imshow(sheet, extent=(0, sheet.shape[1], sheet.shape[0], 0))
        for number, colour in enumerate(cluster_colours(len(chosen))):
            strip = Rectangle(
                (-0.3 * across, number * down), 0.16 * across, down - 1, color=colour, linewidth=0
            )
            ax.add_patch(strip)
        without_frame(ax)
        shown = every(len(chosen), ROOMY)
        ax.set_yticks((shown + 0.5) * down - 0.5, [str(number) for number in shown])
        ax.tick_params(axis="y", length=0)
        ax.set_xlim(-0.3 * across, sheet.shape[1])
        ax.set_ylabel("cluster")
        ax.set_title(
            f"Most typical samples ({plain(names_of_views(model)[position_of(model, view)])})"
        )
    return ax


def position_of(model: Any, view: int | str) -> int:
    names = names_of_views(model)
    if view in names:
        return names.index(str(view))
    if isinstance(view, str) or not -len(names) <= view < len(names):
        raise ValueError(
            f"view must be one of {names} or a number below {len(names)}. Got {view!r} instead."
        )
    return int(view) % len(names)


def samples_of(model: Any, views: Any, view: int | str) -> Array:
    """One of the views that were fitted."""
    position = position_of(model, view)
    if is_one_view(views):
        found = views
    elif isinstance(views, Mapping):
        found = (
            list(views.values())[position]
            if not hasattr(model, "view_names_in_")
            else views[model.view_names_in_[position]]
        )
    else:
        found = views[position]
    samples = full(found) if is_sparse(found) else np.asarray(found, dtype=float)
    if len(samples) != len(model.labels_):
        raise ValueError(
            f"views must be the {len(model.labels_)} samples that were fitted. Got {len(samples)} samples instead."
        )
    return samples


def as_pictures(samples: Array, image_shape: tuple[int, int]) -> Array:
    """(n_samples, rows, columns, 1 or 3)."""
    n_pixels = image_shape[0] * image_shape[1]
    if samples.shape[1] not in (n_pixels, 3 * n_pixels):
        raise ValueError(
            f"image_shape={tuple(image_shape)} needs {n_pixels} grey or {3 * n_pixels} coloured features. "
            f"Got {samples.shape[1]} features instead."
        )
    return samples.reshape(len(samples), *image_shape, samples.shape[1] // n_pixels)


def typical(model: Any, views: Any, usable: AnyArray, n: int) -> list[AnyArray]:
    """Rows of the most typical samples of every cluster, best first."""
    labels = labels_of(model)
    graph = model.fitted_graph_
    complete = not graph.landmarks and len(graph.embedding) == len(labels)
    rows = unit_rows(graph.embedding if complete else np.asarray(model.transform(views)))
    sure = np.nan_to_num(np.asarray(model.confidence_, dtype=float))
    chosen = []
    for number in range(model.n_clusters_):
        own = np.flatnonzero((labels == number) & usable)
        near = rows[own] @ rows[own].sum(axis=0)
        chosen.append(own[np.lexsort((-near, -sure[own]))][:n])
    return chosen


def contact_sheet(pictures: Array, chosen: list[AnyArray], n: int) -> Array:
    """All pictures in one image, transparent between them."""
    _, height, width, _ = pictures.shape
    space = max(1, round(BETWEEN * width))
    sheet = np.zeros((len(chosen) * (height + space), n * (width + space), 4))
    for row, rows in enumerate(chosen):
        for column, picture in enumerate(pictures[rows]):
            top, left = row * (height + space), column * (width + space)
            part = sheet[top : top + height, left : left + width]
            part[..., :3], part[..., 3] = stretched(picture), 1.0
    return sheet


def stretched(picture: Array) -> Array:
    """From 0 to 1; one that is all the same is grey."""
    low, high = picture.min(), picture.max()
    return (picture - low) / (high - low) if high > low else np.full_like(picture, 0.5)
