"""Lines of the studies' figures: one per method over the noise levels, labelled at its end."""

from collections.abc import Sequence
from itertools import cycle
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.isotonic import isotonic_regression

from viewspan._utils.typing import Array
from viewspan.studies.tables import format_psnr

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DIFFERENCE = "coefficient_difference"
"""Column of the summary with the mean ‖Z_1 − Z_2‖_F."""
MAX_LABEL_LENGTH = 28
"""Number of letters after which the name of a method is cut off."""
METHOD_OFFSET = 0.055
"""Horizontal distance between methods at one noise level, so that they do not hide each other."""
LABEL_GAP = 0.052
"""Smallest vertical distance between two labels, as a share of the axis."""


class LineStyle(NamedTuple):
    """Colour, marker and dash style of a method's line."""

    color: str
    marker: str
    line: str


# The colours of Okabe and Ito, which colour-blind readers can distinguish, without the yellow,
# which is hard to see on white.
LINE_STYLES = (
    LineStyle("#D55E00", "o", "-"),
    LineStyle("#0072B2", "s", "-"),
    LineStyle("#009E73", "^", "-"),
    LineStyle("#CC79A7", "D", "-"),
    LineStyle("#E69F00", "v", "-"),
    LineStyle("#000000", "X", ":"),
    LineStyle("#7F7F7F", "*", ":"),
    LineStyle("#56B4E9", "P", "--"),
)
PAPER_METHODS = ("cLRSC", "MLAP", "LRR late", "SSC", "LRR concat", "LRR view 1", "LRR view 2")
"""Methods with a fixed line style, in the order of the styles; the first one is emphasised."""


def draw_lines(ax: "Axes", summary: pd.DataFrame, statistic: str) -> None:
    """Draw one line per method over the noise levels, with the least noise on the left."""
    levels = summary.drop_duplicates("noise").sort_values("noise")
    positions = np.arange(len(levels))
    methods = list(dict.fromkeys(summary["method"]))
    styles, offsets = assign_styles(methods), method_offsets(len(methods))
    ends = []
    for (method, style), offset in zip(styles.items(), offsets, strict=True):
        part = summary[summary["method"] == method].sort_values("noise")
        x, values = positions + offset, part[statistic].to_numpy()
        width = 2.4 if method == PAPER_METHODS[0] else 1.4
        ax.plot(x, values, color=style.color, marker=style.marker, ls=style.line, lw=width, ms=6)
        if (bars := bar_ends(part, statistic)) is not None:
            ax.vlines(x, *bars, color=style.color, lw=width, alpha=0.45)
        if np.isfinite(values[-1]):
            ends.append((float(values[-1]), x[-1], method, style.color))
    ax.set_xticks(positions, [tick_label(row) for _, row in levels.iterrows()])
    ax.set_xlim(-0.5, len(levels) - 1 + 0.5)
    ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    label_lines(ax, ends)


def bar_ends(
    part: pd.DataFrame, statistic: str
) -> "tuple[pd.Series[float], pd.Series[float]] | None":
    """Return the ends of the bars that show the spread, or None for the maximum and minimum."""
    if statistic == "median":
        return part["quarter"], part["three_quarters"]
    if statistic not in {"mean", DIFFERENCE}:
        return None
    deviation = part["std" if statistic == "mean" else f"{DIFFERENCE}_std"]
    low, high = (part[statistic] - deviation).clip(lower=0), part[statistic] + deviation
    return low, high.clip(upper=100) if statistic == "mean" else high


def assign_styles(methods: Sequence[str]) -> dict[str, LineStyle]:
    """Return the line style of every method.

    The paper's methods keep their style in every figure. Other methods get the remaining styles in
    turn.
    """
    fixed = dict(zip(PAPER_METHODS, LINE_STYLES, strict=False))
    used = {fixed[name] for name in methods if name in fixed}
    unused = cycle([style for style in LINE_STYLES if style not in used])
    return {name: fixed[name] if name in fixed else next(unused) for name in methods}


def method_offsets(count: int) -> Array:
    """Return the horizontal position of every method relative to the noise level."""
    reach = (count - 1) / 2 * min(METHOD_OFFSET, 0.6 / count)
    return np.linspace(-reach, reach, count)


def tick_label(level: "pd.Series[Any]") -> str:
    noise, psnr = float(level["noise"]), float(level["psnr"])
    if not np.isfinite(psnr):
        return f"{format_psnr(psnr)}\nσ = {noise:g}"
    return f"{psnr:z.1f} ({level['psnr_ln']:z.0f})\nσ = {noise:g}"


def label_lines(ax: "Axes", ends: list[tuple[float, float, str, str]]) -> None:
    """Write every method's name beside the end of its line, without overlaps."""
    if not ends:
        return
    ends = sorted(ends)
    low, high = ax.get_ylim()
    heights = spread_labels([value for value, *_ in ends], LABEL_GAP * (high - low), low, high)
    for (value, x, method, color), height in zip(ends, heights, strict=True):
        arrow = {"arrowstyle": "-", "color": color, "lw": 0.5, "alpha": 0.6}
        ax.annotate(
            shorten(method, MAX_LABEL_LENGTH, placeholder="…"),
            parse_math=False,
            xy=(x, value),
            xytext=(1.015, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            color=color,
            fontsize=9,
            fontweight="bold" if method == PAPER_METHODS[0] else "normal",
            arrowprops={**arrow, "shrinkA": 0, "shrinkB": 3},
        )


def spread_labels(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """Return the heights nearest to the values that are at least ``gap`` apart and in the limits.

    The values must be sorted. Least squares under the constraint that label j is at least ``gap``
    above label j − 1 is isotonic regression of the values minus j · gap.
    """
    # With very many labels, the gap is as large as the axis allows.
    gap = min(gap, (high - low) / len(values))
    steps = gap * np.arange(len(values))
    shifted = isotonic_regression(np.asarray(values) - steps, y_min=low, y_max=high - steps[-1])
    return list(shifted + steps)
