"""The paper's figures: SCA in four panels, and how far the coefficients are apart."""

import io
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn.isotonic import isotonic_regression

from viewspan._utils.files import write_together
from viewspan._utils.optional import require
from viewspan._utils.typing import Array
from viewspan.studies.tables import count_trials, decibels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class Look(NamedTuple):
    """How a method is drawn."""

    color: str
    marker: str
    line: str


# Okabe and Ito's colours, which colour-blind readers can tell apart, without the yellow that is lost on white.
LOOKS = (
    Look("#D55E00", "o", "-"),
    Look("#0072B2", "s", "-"),
    Look("#009E73", "^", "-"),
    Look("#CC79A7", "D", "-"),
    Look("#E69F00", "v", "-"),
    Look("#56B4E9", "P", "--"),
    Look("#000000", "X", ":"),
    Look("#7F7F7F", "*", ":"),
)
PREFERRED = (
    "cLRSC",
    "MLAP",
    "LRR late",
    "SSC",
    "LRR concat",
    "cLRSC strict",
    "LRR view 1",
    "LRR view 2",
)
"""The paper's methods keep their look in every figure; others take what is free."""

PANELS = {
    "mean": "Mean SCA (bars: ± one standard deviation)",
    "median": "Median SCA (bars: quartiles)",
    "max": "Maximum SCA",
    "min": "Minimum SCA",
}
LONGEST_NAME = 28
DODGE = 0.055
"""Methods stand side by side within a noise level, so that bars and equal values do not hide one another."""
LABEL_GAP = 0.052
"""Least distance of two labels, as a share of the axis."""
DIFFERENCE = "coefficient_difference"
SETTINGS = {
    "authors": "authors' parameters and algorithm",
    "optimum": "authors' parameters, certified optimum",
    "auto": "weights from the data (auto)",
    "tuned": "best of a grid, chosen with the labels (tuned)",
}
PSNR_LABEL = "PSNR in dB (in brackets with ln for log₁₀, as the paper prints it)"


def plot_accuracy(summary: pd.DataFrame, title: str = "") -> "Figure":
    """Mean, median, maximum and minimum SCA against PSNR, every line named where it ends.

    Parameters
    ----------
    summary : DataFrame
        Rows of one study and setting of :func:`summarise`'s table.
    title : str
    """
    figure = new_figure(13, 9)
    axes = figure.subplots(2, 2, sharey=True)
    for ax, (statistic, name) in zip(axes.flat, PANELS.items(), strict=True):
        ax.set_ylim(0, 104)
        draw_lines(ax, summary, statistic)
        ax.set_title(name, loc="left", fontsize=11)
    for ax in axes[:, 0]:
        ax.set_ylabel("SCA in percent")
    for ax in axes[-1]:
        ax.set_xlabel(PSNR_LABEL)
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", parse_math=False)
    return figure


def plot_difference(summary: pd.DataFrame, title: str = "") -> "Figure":
    """Mean ‖Z_1 − Z_2‖_F against PSNR, one panel per setting of one study, every line named where it ends.

    Parameters
    ----------
    summary : DataFrame
        Rows of one study of :func:`summarise`'s table.
    title : str
    """
    coupled = summary[summary[DIFFERENCE].notna()]
    settings = list(dict.fromkeys(coupled["setting"]))
    figure = new_figure(6.5 * len(settings), 5)
    axes = figure.subplots(1, len(settings), sharey=True, squeeze=False)
    highest = float((coupled[DIFFERENCE] + coupled[f"{DIFFERENCE}_std"]).max()) or 1.0
    for ax, setting in zip(axes.flat, settings, strict=True):
        ax.set_ylim(-0.03 * highest, 1.05 * highest)
        draw_lines(ax, coupled[coupled["setting"] == setting], DIFFERENCE)
        ax.set_title(SETTINGS.get(setting, setting), loc="left", fontsize=11)
        ax.set_xlabel(PSNR_LABEL)
    axes[0, 0].set_ylabel("mean ‖Z₁ − Z₂‖ (Frobenius), ± one standard deviation")
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", parse_math=False)
    return figure


def new_figure(width: float, height: float) -> "Figure":
    """Without pyplot, so that neither a screen nor a global state is touched."""
    figure: Figure = require("matplotlib.figure", "studies", purpose="Drawing figures").Figure(
        figsize=(width, height), layout="constrained"
    )
    return figure


def bar_ends(
    part: pd.DataFrame, statistic: str
) -> "tuple[pd.Series[float], pd.Series[float]] | None":
    """Lower and upper ends of the bars that show the spread; None for an extreme, which has none."""
    if statistic == "median":
        return part["quarter"], part["three_quarters"]
    if statistic not in {"mean", DIFFERENCE}:
        return None
    deviation = part["std" if statistic == "mean" else f"{DIFFERENCE}_std"]
    low, high = (part[statistic] - deviation).clip(lower=0), part[statistic] + deviation
    return low, high.clip(upper=100) if statistic == "mean" else high


def draw_lines(ax: "Axes", summary: pd.DataFrame, statistic: str) -> None:
    """One line per method over the noise levels, from little noise to much."""
    levels = summary.drop_duplicates("noise").sort_values("noise")
    places = np.arange(len(levels))
    methods = list(dict.fromkeys(summary["method"]))
    ends = []
    for (method, look), shift in zip(looks(methods).items(), offsets(len(methods)), strict=True):
        part = summary[summary["method"] == method].sort_values("noise")
        emphasis = 2.4 if method == PREFERRED[0] else 1.4
        values = part[statistic].to_numpy()
        ax.plot(
            places + shift,
            values,
            color=look.color,
            marker=look.marker,
            ls=look.line,
            lw=emphasis,
            ms=6,
        )
        if (bars := bar_ends(part, statistic)) is not None:
            ax.vlines(places + shift, *bars, color=look.color, lw=emphasis, alpha=0.45)
        if np.isfinite(values[-1]):
            ends.append((float(values[-1]), places[-1] + shift, method, look.color))
    ax.set_xticks(places, [tick(row) for _, row in levels.iterrows()])
    ax.set_xlim(-0.5, len(levels) - 1 + 0.5)
    ax.grid(axis="y", color="0.9")
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    name_lines(ax, ends)


def looks(methods: Sequence[str]) -> dict[str, Look]:
    """The paper's methods as always; others what is free, and when nothing is, all from the start."""
    known = dict(zip(PREFERRED, LOOKS, strict=True))
    free = cycle([look for name, look in known.items() if name not in methods] or LOOKS)
    return {name: known[name] if name in known else next(free) for name in methods}


def offsets(count: int) -> Array:
    """Where the methods stand beside a noise level's middle."""
    reach = (count - 1) / 2 * min(DODGE, 0.6 / count)
    return np.linspace(-reach, reach, count)


def tick(level: "pd.Series[Any]") -> str:
    noise, psnr = float(level["noise"]), float(level["psnr"])
    if not np.isfinite(psnr):
        return f"{decibels(psnr)}\nσ = {noise:g}"
    return f"{psnr:z.1f} ({level['psnr_ln']:z.0f})\nσ = {noise:g}"


def name_lines(ax: "Axes", ends: list[tuple[float, float, str, str]]) -> None:
    """Write every method's name beside the end of its line; where ends are close, names move apart."""
    if not ends:
        return
    ends = sorted(ends)
    low, high = ax.get_ylim()
    heights = apart([value for value, *_ in ends], LABEL_GAP * (high - low), low, high)
    for (value, place, method, color), height in zip(ends, heights, strict=True):
        ax.annotate(
            shorten(method, LONGEST_NAME, placeholder="…"),
            parse_math=False,
            xy=(place, value),
            xytext=(1.015, (height - low) / (high - low)),
            textcoords="axes fraction",
            va="center",
            color=color,
            fontsize=9,
            fontweight="bold" if method == PREFERRED[0] else "normal",
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "lw": 0.5,
                "alpha": 0.6,
                "shrinkA": 0,
                "shrinkB": 3,
            },
        )


def apart(values: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The values, in rising order, moved as little as needed to be at least ``gap`` apart and within the limits.

    Least squares under "each at least gap above the one before" is isotonic regression of the values less j·gap.
    """
    gap = min(gap, (high - low) / len(values))  # with very many, as far apart as there is room
    steps = gap * np.arange(len(values))
    shifted = isotonic_regression(np.asarray(values) - steps, y_min=low, y_max=high - steps[-1])
    return list(shifted + steps)


def write_figures(
    summary: pd.DataFrame, out: str | Path, titles: dict[str, str] | None = None
) -> list[Path]:
    """Write every figure as PNG and SVG: ``STUDY-SETTING`` and ``STUDY-difference``."""
    contents = figures_in_files(summary, Path(out), titles)
    write_together(contents)
    return list(contents)


def figures_in_files(
    summary: pd.DataFrame, folder: Path, titles: dict[str, str] | None = None
) -> dict[Path, bytes]:
    """What is to be written where."""
    contents: dict[Path, bytes] = {}
    for study, rows in summary.groupby("study", sort=False):
        title = (titles or {}).get(str(study)) or str(study)
        trials = count_trials(rows)
        for setting, part in rows.groupby("setting", sort=False):
            words = SETTINGS.get(str(setting), str(setting))
            heading = f"{title} · {trials}" if words == "main" else f"{title} · {words} · {trials}"
            contents |= pictures_of(plot_accuracy(part, heading), folder / f"{study}-{setting}")
        if rows[DIFFERENCE].notna().any():
            heading = f"{title} · how far apart the coefficients are · {trials}"
            contents |= pictures_of(plot_difference(rows, heading), folder / f"{study}-difference")
    return contents


def pictures_of(figure: "Figure", stem: Path) -> dict[Path, bytes]:
    """As PNG and SVG, the same bytes for the same figure."""
    matplotlib = require("matplotlib", "studies", purpose="Drawing figures")
    png, svg = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "viewspan", "svg.fonttype": "none"}):
        figure.savefig(png, format="png", dpi=110)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return {
        stem.with_name(f"{stem.name}.png"): few_colors(png),
        stem.with_name(f"{stem.name}.svg"): svg.getvalue(),
    }


def few_colors(png: io.BytesIO) -> bytes:
    """The picture with a palette of 256 colours, a third of the size and not to be told apart."""
    image = require("PIL.Image", "studies", purpose="Drawing figures")
    smaller = io.BytesIO()
    with image.open(png) as picture:
        picture.convert("RGB").quantize(256).save(smaller, "PNG", optimize=True)
    return smaller.getvalue()
