"""The look that all pictures share, and where they are drawn."""

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
"""For ``plt.rc_context(plot.STYLE)``; without colours, so that those of a dark style stay."""
LONGEST = 28
"""Letters of a name that there is room for."""
FAINT = 0.45
"""The opacity of lines that are beside the point."""


@contextmanager
def canvas(ax: Axes | None, width: float = 5.0, height: float = 4.0) -> Iterator[Axes]:
    """The axes that were given, as they are; or new ones in the house style."""
    if ax is not None:
        yield ax
        return
    with plt.rc_context(STYLE):
        figure, fresh = plt.subplots(figsize=(width, height), layout="constrained")
        try:
            yield fresh
        except BaseException:
            plt.close(figure)
            raise


def text_colour() -> Any:
    """Of what is written."""
    return mpl.rcParams["text.color"]


def line_colour() -> Any:
    """Of lines that belong to the axes."""
    return mpl.rcParams["axes.edgecolor"]


def small(scale: float = 0.88) -> float:
    """A size for what is written inside a picture."""
    return scale * float(mpl.rcParams["font.size"])


def page_colour() -> Any:
    """Of what is behind the picture."""
    return mpl.rcParams["figure.facecolor"]


def plain(text: str) -> str:
    """Words of the user's as they are: a dollar sign begins no formula. Only long ones are cut in the middle."""
    return shortened(visible(text), LONGEST).replace("$", r"\$")


def say(ax: Axes, sentence: str) -> None:
    """A sentence where there is nothing to draw."""
    ax.set_axis_off()
    ax.text(
        0.5,
        0.5,
        sentence,
        ha="center",
        va="center",
        wrap=True,
        transform=ax.transAxes,
        color=text_colour(),
    )


def without_frame(ax: Axes) -> None:
    """No ticks and no spines."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)
