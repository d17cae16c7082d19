"""The pictures of :mod:`viewspan.plot` as SVG that takes the colours of the page around it."""

import io
import re
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from viewspan import plot
from viewspan._typing import AnyArray

TEXT, LINE = "#0a0b0c", "#0c0b0a"
"""Stand for the page's colours, which are not known when a picture is drawn."""
STYLE: dict[Any, Any] = {
    **plot.STYLE,
    "svg.fonttype": "none",
    "svg.hashsalt": "viewspan",
    "text.color": TEXT,
    "axes.labelcolor": TEXT,
    "axes.titlecolor": TEXT,
    "xtick.labelcolor": TEXT,
    "ytick.labelcolor": TEXT,
    "legend.labelcolor": TEXT,
    "axes.edgecolor": LINE,
    "xtick.color": LINE,
    "ytick.color": LINE,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "none",
}
RESOLUTION = 144
"""Dots per inch of images inside pictures."""
IDS = re.compile(r'(\bid="|xlink:href="#|href="#|url\(#)')
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
PLACES = 1
"""Digits after the point of coordinates: a tenth of a point is less than can be seen."""


class Picture(NamedTuple):
    """One, with a sentence that says how to read it."""

    name: str
    svg: str
    how_to_read: str


class Hover(NamedTuple):
    """Points of a picture, in its own coordinates."""

    x: list[float]
    y: list[float]


def draw(name: str, function: Callable[[], Axes]) -> Picture:
    """A function of :mod:`viewspan.plot`, drawn for the page."""
    with page_style():
        figure = function().figure
        assert isinstance(figure, Figure)
        return Picture(name, as_svg(figure, name), plot.HOW_TO_READ[name])


def draw_points(name: str, function: Callable[[], Axes]) -> tuple[Picture, Hover]:
    """With the places of its points."""
    with page_style():
        ax = function()
        figure = ax.figure
        assert isinstance(figure, Figure)
        figure.set_dpi(72)  # a point is a unit of SVG
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # as it is now it stays
        (points,) = [part for part in ax.collections if part.get_gid() == "points"]
        x, y = ax.transData.transform(np.asarray(points.get_offsets())).T
        hover = Hover(rounded(x), rounded(figure.bbox.height - y))
        return Picture(name, as_svg(figure, name), plot.HOW_TO_READ[name]), hover


def rounded(values: AnyArray) -> list[float]:
    return [float(value) for value in np.round(values, PLACES)]


class page_style:  # noqa: N801 (used like a function)
    """The look of the page; and no windows, whatever the user's settings."""

    def __enter__(self) -> None:
        self.context = plt.rc_context(STYLE)
        self.quiet = warnings.catch_warnings()
        self.interactive = plt.isinteractive()
        plt.ioff()
        self.context.__enter__()
        self.quiet.__enter__()
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has its own fonts

    def __exit__(self, *error: Any) -> None:
        self.quiet.__exit__(*error)
        self.context.__exit__(*error)
        if self.interactive:
            plt.ion()


def as_svg(figure: Figure, name: str) -> str:
    """The picture alone, with ids of its own and the page's colours."""
    buffer = io.StringIO()
    try:
        figure.savefig(buffer, format="svg", dpi=RESOLUTION, transparent=True, metadata=NO_METADATA)
    finally:
        plt.close(figure)
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = IDS.sub(lambda found: f"{found[0]}{name}-", text)
    return text.replace(TEXT, "var(--ink)").replace(LINE, "var(--line)")
