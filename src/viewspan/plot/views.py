"""Plots of the views: similarities, weights, scores and subspace dimensions."""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from viewspan._utils.typing import AnyArray, Array
from viewspan.inputs.fitted_inputs import view_names
from viewspan.plot.colors import ACCENT, ALERT, INK
from viewspan.plot.style import (
    FAINT_ALPHA,
    axes_or_new,
    hide_frame,
    label_text,
    line_color,
    small_font,
    text_color,
    write_message,
    write_right_of,
)

MAX_CELL_ALPHA = 0.75
"""Opacity of the darkest cell, on which a number must be readable."""
MAX_NUMBERED_COLUMNS = 12
"""Largest number of columns whose cells have room for numbers."""
MAX_NUMBERED_ROWS = 36
"""Largest number of rows whose cells have room for numbers."""
MAX_UPRIGHT_CHARACTERS = 36
"""Largest total length of column labels that are not rotated."""


def view_similarity(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the cosine similarities between the coefficients of the views.

    How to read it: 1 means that two views explain every sample by the same other samples; 0 means
    that the two views have nothing in common.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    cosines, names = np.asarray(model.view_similarity_, dtype=float), view_names(model)
    side = float(np.clip(1.6 + 0.6 * len(cosines), 2.6, 7.0))
    with axes_or_new(ax, side + 0.6, side) as ax:
        if len(names) == 1:
            write_message(ax, "There is only one view, so there is nothing to compare.")
        elif len(cosines) == 1:
            write_message(ax, "The views were solved as one, so there is nothing to compare.")
        else:
            draw_heat_map(ax, cosines, names, names, "{:.2f}")
        ax.set_title("Similarity of the views")
    return ax


def draw_heat_map(
    ax: Axes, values: Array, rows: list[str], columns: list[str], number_format: str
) -> None:
    """Draw a matrix as cells whose opacity is proportional to the absolute value."""
    image = np.empty((*values.shape, 4))
    image[..., :3] = np.where((values < 0)[..., None], to_rgb(ALERT), to_rgb(INK))
    largest = max(float(np.abs(values).max()), np.finfo(float).tiny)
    image[..., 3] = MAX_CELL_ALPHA * np.abs(values) / largest
    n_rows, n_columns = values.shape
    ax.imshow(image, aspect="equal" if n_rows == n_columns else "auto")
    hide_frame(ax)
    rotated = sum(map(len, columns)) >= MAX_UPRIGHT_CHARACTERS
    ax.set_xticks(range(n_columns), map(label_text, columns), rotation=35 if rotated else 0)
    if rotated:
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
    ax.set_yticks(range(n_rows), map(label_text, rows))
    ax.tick_params(length=0)
    if n_columns <= MAX_NUMBERED_COLUMNS and n_rows <= MAX_NUMBERED_ROWS:
        write_cells(ax, values, number_format)


def write_cells(ax: Axes, values: Array, number_format: str) -> None:
    for (row, column), value in np.ndenumerate(values):
        ax.text(
            column,
            row,
            number_format.format(value),
            ha="center",
            va="center",
            color=text_color(),
            fontsize=small_font(),
        )


def view_contributions(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the weight of every view in the graph, and its score.

    How to read it: the first bar of a view is its weight in the graph, as a share of the largest
    weight. The second bar is its score, which measures how well the clusters can be seen in this
    view alone: 1 is perfect, and 0 is no better than chance.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    names, scores = view_names(model), np.asarray(model.view_scores_, dtype=float)
    weights = np.asarray(model.view_weights_, dtype=float)
    bar_positions = np.arange(len(names))
    with axes_or_new(ax, 5.0, float(np.clip(1.2 + 0.5 * len(names), 1.9, 7.0))) as ax:
        if len(weights) == len(names):
            shares = weights / (weights.max() or 1.0)
            draw_bars(ax, bar_positions - 0.2, shares, weights, "view weight", INK)
        draw_bars(ax, bar_positions + 0.2, scores, scores, "view score", ACCENT)
        ax.axvline(0.0, color=line_color(), alpha=FAINT_ALPHA, linewidth=0.8)
        ax.set_xlim(min(0.0, 1.25 * float(np.nanmin(scores))), 1.15)
        ax.set_xticks([0, 0.5, 1])
        ax.set_yticks(bar_positions, map(label_text, names))
        ax.tick_params(axis="y", length=0)
        margin = 0.5 if len(names) > 1 else 0.9
        ax.set_ylim(len(names) - 1 + margin, -margin)
        ax.set_xlabel("weight: share of the largest; score: 0 chance, 1 perfect")
        ax.set_title("View weights and scores", pad=20)
        ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 0.98), ncols=2, borderaxespad=0.1)
    return ax


def draw_bars(
    ax: Axes, bar_positions: AnyArray, lengths: Array, values: Array, name: str, colour: str
) -> None:
    """Draw horizontal bars with their values written at the ends."""
    ax.barh(bar_positions, lengths, height=0.36, color=colour, label=name)
    for position, length, value in zip(bar_positions, lengths, values, strict=True):
        # adding 0.0 turns -0.0 into 0.0
        text = f"{round(float(value), 2) + 0.0:.2f}"
        write_right_of(ax, text, max(float(length), 0.0), float(position), small_font())


def subspace_dimensions(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the dimension of every cluster's subspace in every view.

    How to read it: each number is the number of directions needed to describe the samples of a
    cluster in a view. A small number means that the samples vary in few ways.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    table = np.array([[subspace.dimension for subspace in cluster] for cluster in model.subspaces_])
    n_clusters, n_views = table.shape
    height = float(np.clip(1.0 + 0.26 * n_clusters, 2.0, 9.0))
    with axes_or_new(ax, 1.8 + 0.9 * n_views, height) as ax:
        clusters = [str(number) for number in range(n_clusters)]
        draw_heat_map(ax, table, clusters, view_names(model), "{:d}")
        ax.set_ylabel("cluster")
        ax.set_title("Subspace dimensions")
    return ax
