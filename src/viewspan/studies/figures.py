"""Figures of a study: the SCA in four panels, and the distance between the coefficients."""

import io
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from viewspan._utils.files import write_all_atomically
from viewspan._utils.optional import require
from viewspan.studies.lines import DIFFERENCE, draw_lines
from viewspan.studies.tables import format_trials

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS = {
    "mean": "Mean SCA (bars: ± one standard deviation)",
    "median": "Median SCA (bars: quartiles)",
    "max": "Maximum SCA",
    "min": "Minimum SCA",
}
"""Titles of the panels of the accuracy figure, by column of the summary."""
SETTING_TITLES = {
    "authors": "authors' parameters and algorithm",
    "optimum": "authors' parameters, certified optimum",
    "auto": "weights from the data (auto)",
    "tuned": "best of a grid, chosen with the labels (tuned)",
}
"""Titles of the settings of the paper's studies; other settings are shown by their name."""
PSNR_LABEL = "PSNR in dB (in brackets: with ln instead of log₁₀, as printed in the paper)"


def plot_accuracy(summary: pd.DataFrame, title: str = "") -> "Figure":
    """Plot mean, median, maximum and minimum SCA over the PSNR, one line per method.

    Parameters
    ----------
    summary : DataFrame
        Rows of one study and one setting of the table of :func:`summarize`.
    title : str
        Title of the figure.
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
    """Plot the mean ‖Z_1 − Z_2‖_F over the PSNR, one line per method and one panel per setting.

    Parameters
    ----------
    summary : DataFrame
        Rows of one study of the table of :func:`summarize`.
    title : str
        Title of the figure.
    """
    with_difference = summary[summary[DIFFERENCE].notna()]
    settings = list(dict.fromkeys(with_difference["setting"]))
    figure = new_figure(6.5 * len(settings), 5)
    axes = figure.subplots(1, len(settings), sharey=True, squeeze=False)
    highest = (
        float((with_difference[DIFFERENCE] + with_difference[f"{DIFFERENCE}_std"]).max()) or 1.0
    )
    for ax, setting in zip(axes.flat, settings, strict=True):
        ax.set_ylim(-0.03 * highest, 1.05 * highest)
        draw_lines(ax, with_difference[with_difference["setting"] == setting], DIFFERENCE)
        ax.set_title(SETTING_TITLES.get(setting, setting), loc="left", fontsize=11)
        ax.set_xlabel(PSNR_LABEL)
    axes[0, 0].set_ylabel("mean ‖Z₁ − Z₂‖ (Frobenius), ± one standard deviation")
    figure.suptitle(title, x=0.01, ha="left", fontsize=13, fontweight="bold", parse_math=False)
    return figure


def new_figure(width: float, height: float) -> "Figure":
    """Return an empty figure, made without pyplot: no display and no global state is needed."""
    matplotlib = require("matplotlib.figure", "studies", purpose="Drawing figures")
    figure: Figure = matplotlib.Figure(figsize=(width, height), layout="constrained")
    return figure


def write_figures(
    summary: pd.DataFrame, out: str | Path, titles: dict[str, str] | None = None
) -> list[Path]:
    """Write all figures of a summary as PNG and SVG, and return their paths.

    The files are named ``STUDY-SETTING`` and ``STUDY-difference``.

    Parameters
    ----------
    summary : DataFrame
        Table of :func:`summarize`.
    out : path
        Folder for the files.
    titles : dict of str, optional
        Titles of the studies, by name of the study.
    """
    contents = figure_files(summary, Path(out), titles)
    write_all_atomically(contents)
    return list(contents)


def figure_files(
    summary: pd.DataFrame, folder: Path, titles: dict[str, str] | None = None
) -> dict[Path, bytes]:
    """Return the content of every figure file, by path."""
    contents: dict[Path, bytes] = {}
    for study, rows in summary.groupby("study", sort=False):
        title = (titles or {}).get(str(study)) or str(study)
        trials = format_trials(rows)
        for setting, part in rows.groupby("setting", sort=False):
            name = SETTING_TITLES.get(str(setting), str(setting))
            heading = f"{title} · {trials}" if name == "main" else f"{title} · {name} · {trials}"
            contents |= render(plot_accuracy(part, heading), folder / f"{study}-{setting}")
        if rows[DIFFERENCE].notna().any():
            heading = f"{title} · how far apart the coefficients are · {trials}"
            contents |= render(plot_difference(rows, heading), folder / f"{study}-difference")
    return contents


def render(figure: "Figure", stem: Path) -> dict[Path, bytes]:
    """Return the figure as PNG and SVG, with the same bytes for the same figure."""
    matplotlib = require("matplotlib", "studies", purpose="Drawing figures")
    png, svg = io.BytesIO(), io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "viewspan", "svg.fonttype": "none"}):
        figure.savefig(png, format="png", dpi=110)
        figure.savefig(svg, format="svg", metadata={"Date": None})
    return {
        stem.with_name(f"{stem.name}.png"): reduce_colors(png),
        stem.with_name(f"{stem.name}.svg"): svg.getvalue(),
    }


def reduce_colors(png: io.BytesIO) -> bytes:
    """Return the picture with a palette of 256 colours, which takes a third of the space."""
    image = require("PIL.Image", "studies", purpose="Drawing figures")
    smaller = io.BytesIO()
    with image.open(png) as picture:
        picture.convert("RGB").quantize(256).save(smaller, "PNG", optimize=True)
    return smaller.getvalue()
