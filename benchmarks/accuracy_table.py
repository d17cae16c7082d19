"""Table and picture of the results of ``accuracy.py``, which imports this module."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from timing import print_table

PUBLISHED = {
    "3sources": (79.7, "BIGMC"),
    "yaleA_3v": (91.5, "COMVSC"),
    "webkb_cornell": (59.5, "COMVSC"),
    "msrc_v1_5v": (81.9, "JMVFG"),
    "msrc_v1_6v": (95.7, "COMVSC"),
    "bbcsport": (96.6, "spectral concat"),
    "bbc4": (69.3, "GBS"),
    "wikipedia693": (60.6, "COMVSC"),
    "webkb_course": (95.8, "co-reg"),
    "reuters1200": (52.6, "RMSC"),
    "leaves100": (92.1, "BIGMC"),
    "handwritten": (98.6, "JMVFG"),
    "uci_digit_3v": (89.5, "FMVACC"),
    "citeseer": (54.5, "MSGL"),
    "ccv": (24.0, "FPMVS"),
}
"""Best published accuracy and its method; the publications tune with the true labels."""
PUBLISHED_NMI = {"scene15_lowdim": (46.6, "COMIC")}
"""Best published NMI of sets for which no accuracy is published."""
ORACLE, OURS = "oracle", "viewspan auto"
Cells = dict[tuple[str, str], dict[str, str]]
"""Rows of the CSV file, by set and method."""
COLORS = {OURS: "#d7301f", ORACLE: "#888888", "published": "#1b7837"}


def report(rows: Sequence[dict[str, str]], folder: Path) -> None:
    """Print tables of accuracy, NMI, ARI and time, and draw the accuracies."""
    cells = {(row["set"], row["method"]): row for row in rows}
    sets = list(dict.fromkeys(row["set"] for row in rows))
    methods = [
        m
        for m in dict.fromkeys(row["method"] for row in rows)
        if any(accuracy_of(cells, s, m) is not None for s in sets)
    ]
    print_table(
        ["accuracy in percent", *methods, "published", "k found - k"],
        [set_row(cells, name, methods) for name in sets] + [mean_row(cells, sets, methods)],
    )
    for measure in ("nmi", "ari", "seconds"):
        print()
        print_table(
            [measure, *methods],
            [[s, *[cells.get((s, m), {}).get(measure, "") for m in methods]] for s in sets],
        )
    draw(cells, sets, methods, folder / "accuracy.svg")


def accuracy_of(cells: Cells, name: str, method: str) -> float | None:
    text = cells.get((name, method), {}).get("accuracy", "")
    return float(text) if text else None


def set_row(cells: Cells, name: str, methods: Sequence[str]) -> list[str]:
    row = [name]
    for method in methods:
        found = accuracy_of(cells, name, method)
        row.append(
            cells.get((name, method), {}).get("detail", "") if found is None else f"{found:.1f}"
        )
    published = PUBLISHED.get(name) or PUBLISHED_NMI.get(name)
    text = f"{published[0]:.1f} {published[1]}" if published else ""
    row.append(f"NMI {text}" if name in PUBLISHED_NMI else text)
    return [*row, cells.get((name, "k estimated"), {}).get("detail", "")]


def mean_row(cells: Cells, sets: Sequence[str], methods: Sequence[str]) -> list[str]:
    """Return the mean accuracies over the sets that each method finished.

    If a method did not finish all sets, the mean of the defaults over the same sets is added.
    """
    row = ["mean"]
    for method in methods:
        done = [name for name in sets if accuracy_of(cells, name, method) is not None]
        mean = np.mean([accuracy_of(cells, name, method) for name in done])
        ours = np.mean([accuracy_of(cells, name, OURS) or np.nan for name in done])
        note = "" if len(done) == len(sets) else f" (ours {ours:.1f} on these {len(done)})"
        row.append(f"{mean:.1f}{note}")
    return [*row, "", ""]


def draw(
    cells: Cells,
    sets: Sequence[str],
    methods: Sequence[str],
    path: Path,
) -> None:
    """Draw one row per set: the defaults, the oracle, the best published, others in grey."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 0.34 * len(sets) + 1.4), layout="constrained")
    order = sorted(sets, key=lambda name: accuracy_of(cells, name, OURS) or 0.0)
    for height, name in enumerate(order):
        others = [accuracy_of(cells, name, m) for m in methods if m not in (OURS, ORACLE)]
        axes.plot(
            [v for v in others if v is not None],
            [height] * sum(v is not None for v in others),
            "|",
            color="#999999",
            ms=9,
        )
        if name in PUBLISHED:
            axes.plot(PUBLISHED[name][0], height, "D", mfc="none", color=COLORS["published"], ms=6)
        if accuracy_of(cells, name, ORACLE) is not None:
            axes.plot(
                accuracy_of(cells, name, ORACLE),
                height,
                "o",
                mfc="none",
                color=COLORS[ORACLE],
                ms=8,
            )
        if accuracy_of(cells, name, OURS) is not None:
            axes.plot(accuracy_of(cells, name, OURS), height, "o", color=COLORS[OURS], ms=6)
    axes.set_yticks(range(len(order)), order)
    axes.set(xlabel="accuracy in percent", xlim=(0, 101))
    axes.grid(axis="x", color="#eeeeee")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    styles = {
        "viewspan, untuned": {"marker": "o", "color": COLORS[OURS]},
        "best of a grid, with labels": {"marker": "o", "color": COLORS[ORACLE], "mfc": "none"},
        "best published, with labels": {"marker": "D", "color": COLORS["published"], "mfc": "none"},
        "other methods": {"marker": "|", "color": "#999999"},
    }
    handles = [plt.Line2D([], [], ls="", label=label, **style) for label, style in styles.items()]
    figure.legend(handles=handles, loc="outside upper center", ncols=4, frameon=False, fontsize=9)
    figure.savefig(path)
    plt.close(figure)
