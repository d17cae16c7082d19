"""Tables and picture of the results of ``speed.py``, which imports this module."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from timing import print_table

OURS, UNCOUPLED = "CLRSC", "LRR late"
QUICK = 0.3
"""Seconds under which a fit of ours counts as being as fast as another package's."""
MADE = "made "
"""How the names of made data begin."""
STYLES = {
    "CLRSC": ("o", "#d7301f"),
    "LRR late": ("o", "#fdae6b"),
    "iMML IMSR": ("s", "#08519c"),
    "iMML NEMO": ("^", "#3182bd"),
    "SNF": ("D", "#238b45"),
    "mvlearn spectral": ("v", "#756bb1"),
    "kNN spectral": ("x", "#666666"),
}
"""Marker and colour of every method."""
Rows = Sequence[dict[str, str]]
Cells = dict[tuple[str, str], dict[str, str]]
"""Rows of the CSV file, by set and method."""


def report(rows: Rows, folder: Path) -> None:
    """Print times, ratios, memory and accuracies, and draw the times."""
    cells = {(row["set"], row["method"]): row for row in rows}
    methods = [name for name in STYLES if any(row["method"] == name for row in rows)]
    sizes = {row["set"]: int(row["samples"]) for row in rows}
    names = sorted(sizes, key=lambda name: sizes[name])
    real = [name for name in names if not name.startswith(MADE)]
    made = [name for name in names if name.startswith(MADE)]
    for title, field, show in (
        ("processor time, s", "cpu", seconds),
        ("peak memory over the data, MB", "megabytes", "{:.0f}".format),
        ("accuracy, %", "accuracy", "{:.1f}".format),
    ):
        for part in filter(None, (real, made)):
            print()
            print_table([title, *methods], [row_of(cells, n, methods, field, show) for n in part])
    print()
    header = ["time of CLRSC / time of", "real sets", "mean", "worst", "made sets", "mean", "worst"]
    print_table(
        header,
        [[m, *summary(cells, real, m), *summary(cells, made, m)] for m in methods if m != OURS],
    )
    draw(cells, real, made, methods, folder / "speed.svg")


def seconds(time: float) -> str:
    return f"{time:.2f}" if time < 10 else f"{time:.0f}"


def row_of(
    cells: Cells, name: str, methods: Sequence[str], field: str, show: Callable[[float], str]
) -> list[str]:
    sizes = cells[name, OURS]
    shape = f": {sizes['samples']} × {sizes['features']}"
    row = [name.removeprefix(MADE) if name.startswith(MADE) else name + shape]
    for method in methods:
        value = number(cells, name, method, field)
        row.append(show(value) if value is not None else reason(cells, name, method, field))
    return row


def reason(cells: Cells, name: str, method: str, field: str) -> str:
    """Return why there is no figure, in a few characters."""
    detail = cells.get((name, method), {}).get("detail", "")
    if detail.startswith("over") and field == "cpu":
        return f"> {detail.split()[1]}"
    return "–" if not detail or detail.startswith(("over", "not run")) else "error"


def number(cells: Cells, name: str, method: str, field: str) -> float | None:
    text = cells.get((name, method), {}).get(field, "")
    return float(text) if text else None


def summary(cells: Cells, names: Sequence[str], method: str) -> list[str]:
    """Return the number of sets that both finish, and geometric mean and worst of the ratios."""
    ratios = []
    for name in names:
        ours, other = (number(cells, name, m, "cpu") for m in (OURS, method))
        if ours is not None and other is not None:
            counts_as_equal = ours < QUICK and method != UNCOUPLED
            ratios.append(min(ours / other, 1.0) if counts_as_equal else ours / other)
    if not ratios:
        return ["0", "", ""]
    mean = float(np.exp(np.mean(np.log(ratios))))
    return [str(len(ratios)), f"{mean:.2f}", f"{max(ratios):.1f}"]


def draw(
    cells: Cells, real: Sequence[str], made: Sequence[str], methods: Sequence[str], path: Path
) -> None:
    """Draw the seconds of every method on every set, real sets left and made data right."""
    import matplotlib.pyplot as plt

    panels = [names for names in (real, made) if names]
    figure, all_axes = plt.subplots(
        1,
        len(panels),
        figsize=(5.4 * len(panels), 0.3 * max(map(len, panels)) + 1.6),
        layout="constrained",
        squeeze=False,
    )
    for axes, names in zip(all_axes[0], panels, strict=True):
        for method in methods:
            marker, color = STYLES[method]
            found = [
                (time, height)
                for height, name in enumerate(reversed(names))
                if (time := number(cells, name, method, "cpu")) is not None
            ]
            axes.plot(*zip(*found, strict=True), marker, color=color, ms=6, label=method)
        axes.set_xscale("log")
        axes.set_xlabel("seconds for a whole fit, one thread")
        axes.set_yticks(range(len(names)), [name.removeprefix(MADE) for name in reversed(names)])
        axes.grid(color="#e5e5e5")
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    all_axes[0][0].set_title("real sets", loc="left")
    if made:
        all_axes[0][-1].set_title("made data: samples × features of each view", loc="left")
    handles, labels = all_axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False)
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)
