"""Plots of the clusters: sizes and confidence."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.typing import AnyArray
from viewspan.plot.colors import INK, cluster_colors
from viewspan.plot.style import (
    FAINT_ALPHA,
    axes_or_new,
    line_color,
    small_font,
    text_color,
    write_right_of,
)

MAX_STACKED_CLUSTERS = 25
"""Largest number of clusters that the histogram of confidence shows in their colours."""
MIN_LABELLED_BAR_HEIGHT = 6.5
"""Smallest height in points of a bar that gets a number."""
TICK_SPACING = 11
"""Smallest distance in points between cluster labels on an axis."""
N_EXTREME_CLUSTERS = 6
"""Number of clusters whose size is written if there is no room for all."""
UNCERTAIN_BELOW = 0.5
"""Confidence below which a sample has more edge weight to other clusters than to its own."""
N_BINS = 20
"""Number of bins of the histogram of confidence."""


def sizes(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the number of samples in every cluster.

    How to read it: each bar is a cluster, and its length is the number of samples. A very small
    cluster may consist of a few outliers.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    check_is_fitted(model, "result_")
    counts = np.bincount(model.labels_, minlength=model.n_clusters_)
    n_clusters = len(counts)
    height = float(np.clip(0.8 + 0.26 * n_clusters, 1.6, max(6.0, 0.16 * n_clusters)))
    with axes_or_new(ax, 5.0, height) as ax:
        ax.barh(np.arange(n_clusters), counts, height=0.8, color=cluster_colors(n_clusters))
        bar_height = points_per_bar(ax, n_clusters)
        all_labeled = bar_height >= MIN_LABELLED_BAR_HEIGHT
        if all_labeled:
            label_all(ax, counts, bar_height)
        else:
            label_extremes(ax, counts, bar_height)
        ax.set_yticks(spaced_numbers(n_clusters, int(n_clusters * bar_height / TICK_SPACING)))
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(n_clusters - 0.4, -0.6)
        ax.set_xlim(0, (1.1 if all_labeled else 1.3) * max(int(counts.max()), 1))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel("samples")
        ax.set_ylabel("cluster")
        ax.set_title(f"{counts.sum()} samples in {n_clusters} cluster{'s' * (n_clusters > 1)}")
    return ax


def points_per_bar(ax: Axes, count: int) -> float:
    """Return the approximate height in points of each of ``count`` bars."""
    return 72 * float(ax.bbox.height) / float(ax.figure.dpi) / count


def label_all(ax: Axes, counts: AnyArray, bar_height: float) -> None:
    size = min(small_font(), 0.95 * bar_height)
    for number, count in enumerate(counts):
        write_right_of(ax, str(count), int(count), number, size)


def label_extremes(ax: Axes, counts: AnyArray, bar_height: float) -> None:
    """Write the sizes of a few of the largest and smallest clusters."""
    distance = int(np.ceil(MIN_LABELLED_BAR_HEIGHT / bar_height))
    for number in extreme_clusters(counts, distance):
        # right of the bars next to it, which the text would cover
        longest = int(counts[max(number - distance, 0) : number + distance + 1].max())
        text = f"cluster {number}: {counts[number]}"
        write_right_of(ax, text, longest, number, small_font(0.8))


def extreme_clusters(counts: AnyArray, distance: int) -> list[int]:
    """Return a few of the largest and smallest clusters, each two more than ``distance`` apart."""
    order = np.argsort(-counts, kind="stable")
    chosen: list[int] = []
    for number in map(int, np.stack([order, order[::-1]], axis=1).ravel()):
        far = all(abs(number - other) > distance for other in chosen)
        if far and len(chosen) < N_EXTREME_CLUSTERS:
            chosen.append(number)
    return chosen


def spaced_numbers(count: int, max_count: int) -> AnyArray:
    """Return at most ``max_count`` (or 2) numbers below ``count``, from 0 in equal steps."""
    return np.arange(0, count, -(-count // max(2, max_count)))


def confidence(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot a histogram of the confidence of the labels.

    Up to 25 clusters are stacked in their colours.

    How to read it: the confidence of a sample is the share of its edge weight that stays in its own
    cluster. Samples left of the dashed line have more edge weight to other clusters than to their
    own, so their labels are unreliable.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    check_is_fitted(model, "result_")
    values, labels = np.asarray(model.confidence_, dtype=float), np.asarray(model.labels_)
    known = np.isfinite(values)
    n_clusters = int(model.n_clusters_)
    groups, colours = [known], [INK]
    if n_clusters <= MAX_STACKED_CLUSTERS:
        groups = [known & (labels == number) for number in range(n_clusters)]
        colours = cluster_colors(n_clusters)
    n_uncertain = int((values[known] < UNCERTAIN_BELOW).sum())
    with axes_or_new(ax, 5.0, 3.2) as ax:
        shade_uncertain(ax)
        ax.hist(
            [np.clip(values[group], 0.0, 1.0) for group in groups],
            bins=list(np.linspace(0.0, 1.0, N_BINS + 1)),
            stacked=True,
            color=colours,
            linewidth=0,
            rwidth=0.92,
        )
        ax.text(
            0.02,
            0.97,
            f"{n_uncertain} of {known.sum()} uncertain",
            ha="left",
            va="top",
            transform=ax.transAxes,
            color=text_color(),
            fontsize=small_font(),
        )
        ax.set_xlim(0.0, 1.0)
        ax.set_xlabel("share of edge weight within the sample's own cluster")
        ax.set_ylabel("samples")
        ax.set_title("Confidence of the labels")
    return ax


def shade_uncertain(ax: Axes) -> None:
    colour = line_color()
    ax.axvspan(0.0, UNCERTAIN_BELOW, color=colour, alpha=0.09, linewidth=0, zorder=0)
    ax.axvline(
        UNCERTAIN_BELOW, color=colour, alpha=FAINT_ALPHA, linewidth=0.8, linestyle="--", zorder=0
    )
