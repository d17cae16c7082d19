"""The views: how alike their patterns are, and what each of them gave."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from viewspan._utils.typing import AnyArray, Array
from viewspan.plot.clusters import write_at
from viewspan.plot.colours import ACCENT, ALERT, INK
from viewspan.plot.references import names_of_views
from viewspan.plot.style import (
    FAINT,
    canvas,
    line_colour,
    plain,
    say,
    small,
    text_colour,
    without_frame,
)

PALE = 0.75
"""The largest opacity under a number."""
ROOMY = 12
"""So many columns have room for numbers."""


def view_similarity(model: Any, *, ax: Axes | None = None) -> Axes:
    """Cosines between the coefficients of the views.

    How to read it: 1 means that two views explain every sample by the same others; 0 that what they see has nothing in
    common.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    cosines, names = np.asarray(model.view_similarity_, dtype=float), names_of_views(model)
    side = float(np.clip(1.6 + 0.6 * len(cosines), 2.6, 7.0))
    with canvas(ax, side + 0.6, side) as ax:
        if len(cosines) == 1:
            say(
                ax,
                "There is one view, and nothing to compare it with."
                if len(names) == 1
                else "The views were solved as one, so there is nothing to compare.",
            )
        else:
            heat_map(ax, cosines, names, names, "{:.2f}")
        ax.set_title("How alike the views are")
    return ax


def heat_map(ax: Axes, values: Array, rows: list[str], columns: list[str], form: str) -> None:
    """Numbers on ink whose opacity is their share of the largest."""
    image = np.empty((*values.shape, 4))
    image[..., :3] = np.where((values < 0)[..., None], to_rgb(ALERT), to_rgb(INK))
    image[..., 3] = PALE * np.abs(values) / max(float(np.abs(values).max()), np.finfo(float).tiny)
    ax.imshow(image, aspect="auto" if values.shape[0] != values.shape[1] else "equal")
    without_frame(ax)
    ax.set_xticks(
        range(len(columns)), map(plain, columns), rotation=0 if sum(map(len, columns)) < 36 else 35
    )
    if sum(map(len, columns)) >= 36:
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
    ax.set_yticks(range(len(rows)), map(plain, rows))
    ax.tick_params(length=0)
    if values.shape[1] <= ROOMY and values.shape[0] <= 3 * ROOMY:
        for (row, column), value in np.ndenumerate(values):
            ax.text(
                column,
                row,
                form.format(value),
                ha="center",
                va="center",
                color=text_colour(),
                fontsize=small(),
            )


def view_contributions(model: Any, *, ax: Axes | None = None) -> Axes:
    """How much every view counted in the graph, and how far the clusters can be seen in it alone.

    How to read it: a view with a long first bar had much to say; one with a long second bar sees the clusters well on
    its own, and one near 0 sees no more of them than chance would.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    names, scores = names_of_views(model), np.asarray(model.view_scores_, dtype=float)
    weights = np.asarray(model.view_weights_, dtype=float)
    places = np.arange(len(names))
    with canvas(ax, 5.0, float(np.clip(1.2 + 0.5 * len(names), 1.9, 7.0))) as ax:
        if len(weights) == len(names):
            share = weights / (weights.max() or 1.0)
            written_bars(ax, places - 0.2, share, weights, "weight in the graph", INK)
        written_bars(ax, places + 0.2, scores, scores, "clusters seen in it alone", ACCENT)
        ax.axvline(0.0, color=line_colour(), alpha=FAINT, linewidth=0.8)
        ax.set_xlim(min(0.0, 1.25 * float(np.nanmin(scores))), 1.15)
        ax.set_xticks([0, 0.5, 1])
        ax.set_yticks(places, map(plain, names))
        ax.tick_params(axis="y", length=0)
        margin = 0.5 if len(names) > 1 else 0.9
        ax.set_ylim(len(names) - 1 + margin, -margin)
        ax.set_xlabel("0: nothing, or no more than chance; 1: most, or all")
        ax.set_title("What every view gave", pad=20)
        ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 0.98), ncols=2, borderaxespad=0.1)
    return ax


def written_bars(
    ax: Axes, places: AnyArray, lengths: Array, values: Array, name: str, colour: str
) -> None:
    ax.barh(places, lengths, height=0.36, color=colour, label=name)
    for place, length, value in zip(places, lengths, values, strict=True):
        write_at(
            ax,
            f"{round(float(value), 2) + 0.0:.2f}",
            max(float(length), 0.0),
            float(place),
            small(),
        )


def subspace_dimensions(model: Any, *, ax: Axes | None = None) -> Axes:
    """The dimension of every cluster's subspace in every view.

    How to read it: a number says how many directions the samples of a cluster need in a view; few mean that they are
    much alike there.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    table = np.array([[subspace.dimension for subspace in cluster] for cluster in model.subspaces_])
    with canvas(
        ax, 1.8 + 0.9 * table.shape[1], float(np.clip(1.0 + 0.26 * len(table), 2.0, 9.0))
    ) as ax:
        heat_map(
            ax, table, [str(number) for number in range(len(table))], names_of_views(model), "{:d}"
        )
        ax.set_ylabel("cluster")
        ax.set_title("Dimensions of subspaces")
    return ax
