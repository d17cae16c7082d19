"""Rows of results in a file that grows, so that a long benchmark can be stopped and go on."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def append(path: Path, fields: Sequence[str], row: dict[str, Any]) -> None:
    """One more row, also printed; a new file gets its header first."""
    new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, fields)
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(row, flush=True)


def read(path: Path) -> list[dict[str, str]]:
    """All that are there."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))
