"""How the solver came to its answer."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from viewspan.plot.colours import ALERT, INK
from viewspan.plot.style import canvas, say, small, text_colour


def convergence(model: Any, *, ax: Axes | None = None) -> Axes:
    """The proven gap between the objective and the optimum at every check of the iteration.

    Hollow points are of a part of the problem, which the solver looked at first. A strict rank one is not convex, and
    its gap is to views without coupling: it stays at what strictness costs at most.

    How to read it: the line falls as the solver comes nearer to the best answer there is; once it is below the dashed
    line, the answer is proven to be as good as was asked for.

    Parameters
    ----------
    model : a fitted estimator
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    checks = model.history_
    with canvas(ax, 5.0, 3.2) as ax:
        ax.set_title("How near the optimum is")
        if model.n_iter_ <= 1:
            say(
                ax,
                f"The solution is a closed form:\nnothing was iterated, and the gap is {model.dual_gap_:.1g}.",
            )
            return ax
        steps = np.array([check.n_iter for check in checks])
        gaps = np.array([check.gap for check in checks], dtype=float)
        drawn = np.where(np.isfinite(gaps) & (gaps > 0), gaps, np.nan)
        sizes = np.array([check.n_directions for check in checks])
        strict = model.result_.status == "stationary"
        ax.set_yscale("log", nonpositive="mask")
        ax.set_ylim(*limits(drawn if strict else [*drawn, model.tol]))
        ax.plot(steps, drawn, color=INK, gid="gaps")
        draw_checks(ax, steps, drawn, sizes < sizes.max(initial=0))
        if strict:
            write(ax, "not convex: the gap is what strictness costs at most", 1.0, 1.0, va="top")
        else:
            ax.axhline(model.tol, color=ALERT, linestyle="--", linewidth=1.0)
            ax.annotate(
                f"asked for: {model.tol:.0e}",
                (0.0, model.tol),
                xycoords=("axes fraction", "data"),
                xytext=(4, -3),
                textcoords="offset points",
                va="top",
                color=text_colour(),
                fontsize=small(),
            )
        ax.set_xlim(0, 1.05 * steps.max(initial=1))
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_xlabel(f"iteration (the last one has a gap of {model.dual_gap_:.1e})")
        ax.set_ylabel("proven relative gap")
    return ax


def draw_checks(ax: Axes, steps: Any, gaps: Any, partial: Any) -> None:
    """Points; hollow where they are of a part of the problem."""
    look: dict[str, Any] = {"linestyle": "none", "marker": "o", "markersize": 4, "color": INK}
    if partial.any():
        ax.plot(
            steps[partial],
            gaps[partial],
            **look,
            markerfacecolor=ax.get_facecolor(),
            label="a part of the problem",
        )
    ax.plot(steps[~partial], gaps[~partial], **look, label="the whole problem")
    if partial.any():
        ax.legend(loc="upper right")


def write(ax: Axes, text: str, x: float, y: float, **options: Any) -> None:
    ax.text(
        x,
        y,
        text,
        ha="right",
        transform=ax.transAxes,
        color=text_colour(),
        fontsize=small(),
        **options,
    )


def limits(values: Iterable[float]) -> tuple[float, float]:
    """Of a logarithmic axis that holds them, with some room."""
    finite = [float(value) for value in values if np.isfinite(value)] or [1.0]
    return min(finite) / 3, max(finite) * 3
