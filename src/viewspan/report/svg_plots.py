"""Plots of :mod:`viewspan.plot` as SVG in the colours of the page."""

import io
import re
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure

from viewspan import plot

TEXT_PLACEHOLDER, LINE_PLACEHOLDER, CARD_PLACEHOLDER = "#0a0b0c", "#0c0b0a", "#0b0c0a"
"""Colours that are replaced by CSS variables, because the reader's colour scheme is unknown."""
CSS_COLOURS = {
    TEXT_PLACEHOLDER: "var(--ink)",
    LINE_PLACEHOLDER: "var(--line)",
    CARD_PLACEHOLDER: "var(--card)",
}
"""CSS variables by the placeholders that they replace."""
SVG_STYLE: dict[Any, Any] = {
    **plot.STYLE,
    "svg.fonttype": "none",
    "svg.hashsalt": "viewspan",
    "text.color": TEXT_PLACEHOLDER,
    "axes.labelcolor": TEXT_PLACEHOLDER,
    "axes.titlecolor": TEXT_PLACEHOLDER,
    "xtick.labelcolor": TEXT_PLACEHOLDER,
    "ytick.labelcolor": TEXT_PLACEHOLDER,
    "legend.labelcolor": TEXT_PLACEHOLDER,
    "axes.edgecolor": LINE_PLACEHOLDER,
    "xtick.color": LINE_PLACEHOLDER,
    "ytick.color": LINE_PLACEHOLDER,
    "axes.facecolor": "none",
    "figure.facecolor": CARD_PLACEHOLDER,
    "savefig.facecolor": "none",
}
"""Style of all plots on the page."""
MAX_DPI, MIN_DPI = 144.0, 36.0
"""Resolutions of images inside a plot, in dots per inch."""
MAX_PLOT_BYTES = 700_000
"""Default size limit of a plot, which keeps the page below three megabytes."""
PIXELS_PER_INCH = 120
"""Pixels of the page per inch of the figure, which limits the width of small plots."""
COORDINATE_DECIMALS = 1
"""Decimals of point coordinates; a tenth of a point is too small to see."""
TAG_PATTERN = re.compile(r"<[^>]*>")
ID_PATTERN = re.compile(r'(\bid="|xlink:href="#|href="#|url\(#)')
NO_METADATA = {"Date": None, "Creator": None, "Format": None, "Type": None}


class SvgPlot(NamedTuple):
    """A plot for the page.

    Attributes
    ----------
    name : str
        Name of the function in :mod:`viewspan.plot`.
    element_id : str
        Unique id of the plot, and prefix of the ids of its elements.
    title : str
    svg : str
    width : int
        Largest width in pixels.
    how_to_read : str
    points : list of (x, y)
        Coordinates of the samples in the SVG; empty if the plot does not show samples as points.
    """

    name: str
    element_id: str
    title: str
    svg: str
    width: int
    how_to_read: str
    points: list[tuple[float, float]]


def draw_svg(
    name: str,
    function: Callable[[], Axes],
    *,
    element_id: str | None = None,
    max_bytes: int = MAX_PLOT_BYTES,
) -> SvgPlot:
    """Draw a plot and return it as SVG.

    The title is removed from the drawing, because the page shows it as a heading.
    """
    element_id = element_id or name
    with svg_style():
        ax = function()
        figure = ax.figure
        assert isinstance(figure, Figure)
        title = ax.get_title(loc="left").replace(r"\$", "$")
        ax.set_title("", loc="left")
        # at 72 dots per inch, a dot is one unit of the SVG
        figure.set_dpi(72)
        figure.draw_without_rendering()
        # freeze the layout, so that the point coordinates stay valid
        figure.set_layout_engine("none")
        figure.patch.set_visible(False)  # the page has its own background
        points = point_coordinates(ax, float(figure.bbox.height))
        try:
            svg = render_within(figure, max_bytes)
        finally:
            plt.close(figure)
    width = round(PIXELS_PER_INCH * float(figure.get_figwidth()))
    svg = adapt_to_page(svg, element_id)
    return SvgPlot(name, element_id, title, svg, width, plot.HOW_TO_READ[name], points)


def point_coordinates(ax: Axes, height: float) -> list[tuple[float, float]]:
    """Return the SVG coordinates of the points in collections with the gid "points"."""
    offsets = [
        np.asarray(collection.get_offsets())
        for collection in ax.collections
        if collection.get_gid() == "points"
    ]
    x, y = ax.transData.transform(np.vstack([np.empty((0, 2)), *offsets])).T
    # the y axis of SVG points down
    rounded = np.round(np.column_stack([x, height - y]), COORDINATE_DECIMALS)
    return [(float(x), float(y)) for x, y in rounded]


@contextmanager
def svg_style() -> Iterator[None]:
    """Set the style of the page and open no windows, whatever the user's settings."""
    with plt.ioff(), plt.rc_context(SVG_STYLE), warnings.catch_warnings():
        # the browser has its own fonts, so missing glyphs do not matter
        warnings.filterwarnings("ignore", message="Glyph")
        yield


def render_within(figure: Figure, max_bytes: int) -> str:
    """Return the SVG, with images reduced to at most ``max_bytes`` or to ``MIN_DPI``."""
    dpi = MAX_DPI
    while True:
        svg = render(figure, dpi)
        if len(svg) <= max_bytes or dpi <= MIN_DPI:
            return svg
        dpi = max(MIN_DPI, 0.9 * dpi * float(np.sqrt(max_bytes / len(svg))))


def render(figure: Figure, dpi: float) -> str:
    """Return the SVG of a figure whose layout is final.

    ``savefig`` would draw everything once more to find the layout.
    """
    buffer = io.StringIO()
    figure.set_dpi(dpi)  # the resolution of images inside the figure
    canvas: Any = FigureCanvasSVG(figure)
    canvas.print_svg(buffer, metadata=NO_METADATA)
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def adapt_to_page(svg: str, prefix: str) -> str:
    """Make ids unique and replace placeholder colours, in tags but not in text."""
    return TAG_PATTERN.sub(lambda match: adapt_tag(match[0], prefix), svg)


def adapt_tag(tag: str, prefix: str) -> str:
    tag = ID_PATTERN.sub(lambda match: f"{match[0]}{prefix}-", tag)
    for placeholder, colour in CSS_COLOURS.items():
        tag = tag.replace(placeholder, colour)
    return tag
