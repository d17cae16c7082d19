"""Timing of functions and tables of results, shared by the benchmarks."""

import time
from collections.abc import Callable, Sequence
from typing import Any


def best_of(function: Callable[[], Any], repeats: int = 5) -> tuple[float, Any]:
    """Return the shortest time of several runs in seconds, and the last result.

    Other processes can only make a run slower, so the shortest time is the least disturbed one.
    """
    shortest, result = float("inf"), None
    for _ in range(repeats):
        start = time.perf_counter()
        result = function()
        shortest = min(shortest, time.perf_counter() - start)
    return shortest, result


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table with aligned columns."""
    widths = [max(len(str(row[i])) for row in [header, *rows]) for i in range(len(header))]

    def line(cells: Sequence[str]) -> str:
        padded = (str(cell).ljust(width) for cell, width in zip(cells, widths, strict=True))
        return "| " + " | ".join(padded) + " |"

    print(line(header))
    print("|" + "|".join("-" * (width + 2) for width in widths) + "|")
    for row in rows:
        print(line(row))
