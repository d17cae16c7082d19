"""Rows of results in a CSV file, so that a long benchmark can be stopped and continued."""

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def append(path: Path, fields: Sequence[str], row: dict[str, Any]) -> None:
    """Append one row to the file, with a header if the file is new, and print the row."""
    new = not path.exists()
    with path.open("a", newline="") as stream:
        writer = csv.DictWriter(stream, fields)
        if new:
            writer.writeheader()
        writer.writerow(row)
    print(row, flush=True)


def read(path: Path) -> list[dict[str, str]]:
    """Return all rows of the file, or none if it does not exist."""
    if not path.exists():
        return []
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))
