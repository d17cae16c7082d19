"""Plot of the solver's convergence."""

import re
from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import LogFormatterSciNotation, MaxNLocator

from viewspan._utils.typing import AnyArray, Array
from viewspan.plot.colors import ALERT, INK
from viewspan.plot.style import axes_or_new, small_font, text_color, write_message

FORMULA = re.compile(r"\$\\mathdefault\{(?P<factor>.*?)10\^\{(?P<power>[-−]?\d+)\}\}\$")
"""A power of ten as matplotlib writes it, with or without a factor."""
SUPERSCRIPTS = str.maketrans("-−0123456789", "⁻⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def convergence(model: Any, *, ax: Axes | None = None) -> Axes:
    """Plot the certified relative gap at every check of the solver.

    Hollow points are checks on a working set of directions, which the solver starts with; filled
    points are checks on the whole problem. With ``coupling="rank_one"`` the problem is not convex.
    The gap is then the distance from the optimum without coupling, and it does not go to zero.

    How to read it: the gap is an upper bound on the relative distance between the objective and its
    optimum. Below the dashed line it is smaller than the requested tolerance.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    checks = model.history_
    with axes_or_new(ax, 5.0, 3.2) as ax:
        ax.set_title("Certified gap of the solver")
        if has_closed_form(model):
            write_message(
                ax,
                f"The solution has a closed form, without iterations.\n"
                f"Its certified gap is {model.dual_gap_:.1g}.",
            )
            return ax
        steps = np.array([check.n_iter for check in checks])
        gaps = np.array([check.gap for check in checks], dtype=float)
        drawn_gaps = np.where(np.isfinite(gaps) & (gaps > 0), gaps, np.nan)
        n_directions = np.array([check.n_directions for check in checks])
        not_convex = model.result_.status == "stationary"
        ax.set_yscale("log", nonpositive="mask")
        ax.yaxis.set_major_formatter(PowerFormatter())
        ax.yaxis.set_minor_formatter(PowerFormatter())
        ax.set_ylim(*log_limits(drawn_gaps if not_convex else [*drawn_gaps, model.tol]))
        ax.plot(steps, drawn_gaps, color=INK, gid="gaps")
        draw_checks(ax, steps, drawn_gaps, n_directions < n_directions.max(initial=0))
        if not_convex:
            write_top_right(ax, "not convex: gap to the optimum without coupling")
        else:
            draw_tolerance(ax, model.tol)
        ax.set_xlim(0, 1.05 * steps.max(initial=1))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel(f"iteration (final gap: {model.dual_gap_:.1e})")
        ax.set_ylabel("certified relative gap")
    return ax


def has_closed_form(model: Any) -> bool:
    """Return whether the solution was computed without iterations."""
    return bool(model.n_iter_ <= 1 and model.result_.status != "max_iter")


def draw_checks(ax: Axes, steps: AnyArray, gaps: Array, partial: AnyArray) -> None:
    """Draw the checks as points, hollow where ``partial`` is true."""
    marker: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4, "color": INK}
    if partial.any():
        ax.plot(
            steps[partial],
            gaps[partial],
            **marker,
            markerfacecolor=ax.get_facecolor(),
            label="working set",
        )
    ax.plot(steps[~partial], gaps[~partial], **marker, label="whole problem")
    if partial.any():
        ax.legend(loc="upper right")


def draw_tolerance(ax: Axes, tol: float) -> None:
    ax.axhline(tol, color=ALERT, linestyle="--", linewidth=1.0)
    ax.annotate(
        f"tolerance: {tol:.0e}",
        (0.0, tol),
        xycoords=("axes fraction", "data"),
        xytext=(4, -3),
        textcoords="offset points",
        va="top",
        color=text_color(),
        fontsize=small_font(),
    )


def write_top_right(ax: Axes, text: str) -> None:
    ax.text(
        1.0,
        1.0,
        text,
        ha="right",
        va="top",
        transform=ax.transAxes,
        color=text_color(),
        fontsize=small_font(),
    )


def log_limits(values: Iterable[float]) -> tuple[float, float]:
    """Return limits of a logarithmic axis with a margin around all finite values."""
    finite = [float(value) for value in values if np.isfinite(value)] or [1.0]
    return min(finite) / 3, max(finite) * 3


class PowerFormatter(LogFormatterSciNotation):
    """Ticks such as 2×10⁻⁵ as plain text; matplotlib takes long to parse its formulas."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        formula = super().__call__(x, pos)
        found = FORMULA.fullmatch(formula)
        if found is None:
            return formula
        return (
            found["factor"].replace(r"\times", "×") + "10" + found["power"].translate(SUPERSCRIPTS)
        )
