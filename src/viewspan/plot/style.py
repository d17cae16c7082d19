"""Style, axes and text helpers that all plots share."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

from viewspan._utils.text import shortened, visible

STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.linewidth": 0.8,
    "font.size": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
}
"""Style for ``plt.rc_context(plot.STYLE)``. It sets no colours, so a dark style keeps its own."""
MAX_NAME_LENGTH = 28
"""Largest number of characters of a user's name that a plot shows."""
FAINT_ALPHA = 0.45
"""Opacity of auxiliary lines."""


@contextmanager
def axes_or_new(ax: Axes | None, width: float = 5.0, height: float = 4.0) -> Iterator[Axes]:
    """Yield the given axes unchanged, or new ones in ``STYLE`` if ``ax`` is None.

    A new figure is closed if drawing on it raises.
    """
    if ax is not None:
        yield ax
        return
    with plt.rc_context(STYLE):
        figure, new_axes = plt.subplots(figsize=(width, height), layout="constrained")
        try:
            yield new_axes
        except BaseException:
            plt.close(figure)
            raise


def text_color() -> Any:
    """Return the current text colour."""
    return mpl.rcParams["text.color"]


def line_color() -> Any:
    """Return the current colour of the axes' lines."""
    return mpl.rcParams["axes.edgecolor"]


def background_color() -> Any:
    """Return the current colour of the figure's background."""
    return mpl.rcParams["figure.facecolor"]


def small_font(scale: float = 0.88) -> float:
    """Return the font size for text inside a plot."""
    return scale * float(mpl.rcParams["font.size"])


def label_text(text: str) -> str:
    """Return a user's text as a label.

    Control characters are shown as symbols, dollar signs start no formula, and long texts are
    shortened in the middle.
    """
    return shortened(visible(text), MAX_NAME_LENGTH).replace("$", r"\$")


def write_message(ax: Axes, sentence: str) -> None:
    """Write a sentence on axes that have nothing to plot."""
    ax.set_axis_off()
    ax.text(
        0.5,
        0.5,
        sentence,
        ha="center",
        va="center",
        wrap=True,
        transform=ax.transAxes,
        color=text_color(),
    )


def write_right_of(ax: Axes, text: str, x: float, y: float, size: float) -> None:
    """Write a text immediately to the right of a point."""
    ax.annotate(
        text,
        (x, y),
        xytext=(3, 0),
        textcoords="offset points",
        va="center_baseline",
        fontsize=size,
        color=text_color(),
    )


def hide_frame(ax: Axes) -> None:
    """Remove ticks and spines."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
