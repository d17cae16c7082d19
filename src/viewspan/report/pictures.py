"""The pictures of :mod:`viewspan.plot` as SVG that takes the colours of the page around it."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from viewspan import plot
from viewspan._utils.typing import AnyArray

TEXT, LINE, PAGE = "#0a0b0c", "#0c0b0a", "#0b0c0a"
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
    "figure.facecolor": PAGE,
    "savefig.facecolor": "none",
}
FINEST, COARSEST = 144.0, 36.0
"""Dots per inch of images inside pictures."""
MOST_BYTES = 700_000
"""Of one picture; the page shall stay below three million."""
TAG = re.compile(r"<[^>]*>")
IDS = re.compile(r'(\bid="|xlink:href="#|href="#|url\(#)')
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}
LARGEST = 120
"""Pixels per inch of a picture, so that small ones are not blown up."""
PLACES = 1
"""Digits after the point of coordinates: a tenth of a point is less than can be seen."""


class Picture(NamedTuple):
    """One, with its title, how many pixels wide it may be, and a sentence that says how to read it."""

    name: str
    title: str
    svg: str
    width: int
    how_to_read: str


class Hover(NamedTuple):
    """Points of a picture, in its own coordinates."""

    x: list[float]
    y: list[float]


def draw(name: str, function: Callable[[], Axes], most: int = MOST_BYTES) -> Picture:
    """A function of :mod:`viewspan.plot`, drawn for the page in so many bytes at most."""
    with page_style():
        return picture_of(function(), name, most)[0]


def draw_points(name: str, function: Callable[[], Axes]) -> tuple[Picture, Hover]:
    """With the places of its points."""
    with page_style():
        return picture_of(function(), name, MOST_BYTES)


def picture_of(ax: Axes, name: str, most: int) -> tuple[Picture, Hover]:
    """The title moves to the page, so that it is not there twice."""
    figure = ax.figure
    assert isinstance(figure, Figure)
    title = ax.get_title(loc="left").replace(r"\$", "$")
    ax.set_title("", loc="left")
    figure.set_dpi(72)  # a point is a unit of SVG
    figure.draw_without_rendering()
    figure.set_layout_engine("none")  # as it is now it stays
    hover = points_of(ax, float(figure.bbox.height))
    width = round(LARGEST * float(figure.get_figwidth()))
    try:
        text = in_few_bytes(figure, most)
    finally:
        plt.close(figure)
    return Picture(name, title, of_the_page(text, name), width, plot.HOW_TO_READ[name]), hover


def points_of(ax: Axes, height: float) -> Hover:
    """Where they are in the picture, whose y goes down."""
    found = [
        np.asarray(part.get_offsets()) for part in ax.collections if part.get_gid() == "points"
    ]
    x, y = ax.transData.transform(np.vstack([np.empty((0, 2)), *found])).T
    return Hover(rounded(x), rounded(height - y))


def rounded(values: AnyArray) -> list[float]:
    return [float(value) for value in np.round(values, PLACES)]


@contextmanager
def page_style() -> Iterator[None]:
    """The look of the page; and no windows, whatever the user's settings."""
    with plt.ioff(), plt.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph")  # the browser has its own fonts
        yield


def in_few_bytes(figure: Figure, most: int) -> str:
    """As SVG, with images as fine as there is room for."""
    resolution = FINEST
    while True:
        text = as_svg(figure, resolution)
        if len(text) <= most or resolution <= COARSEST:
            return text
        resolution = max(COARSEST, 0.9 * resolution * float(np.sqrt(most / len(text))))


def as_svg(figure: Figure, resolution: float) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", dpi=resolution, transparent=True, metadata=NO_METADATA)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def of_the_page(text: str, name: str) -> str:
    """With ids of its own and the page's colours; what is written in it stays."""
    return TAG.sub(lambda tag: tag_of_the_page(tag[0], name), text)


def tag_of_the_page(tag: str, name: str) -> str:
    tag = IDS.sub(lambda found: f"{found[0]}{name}-", tag)
    for standing, colour in ((TEXT, "var(--ink)"), (LINE, "var(--line)"), (PAGE, "var(--card)")):
        tag = tag.replace(standing, colour)
    return tag
