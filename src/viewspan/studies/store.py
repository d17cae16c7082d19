"""Finished trials on disk, one JSON file each.

A file is written under a temporary name and then renamed, so it is complete or does not exist. A
run that was interrupted, killed or ran out of disk space therefore continues where it stopped.

Trials are not locked. Two runs with the same folder may compute the same trial twice; both write
the same rows, and the later file replaces the earlier one. Tables and figures are written under a
lock (:mod:`viewspan.studies.reproduce`).
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from viewspan._utils.files import write_atomically
from viewspan.studies.settings import drop_versioned_code, settings_key
from viewspan.studies.trial import SOLUTION_COLUMNS, Row

TEXT_COLUMNS = ("study", "setting", "method", "warning", "estimator", "versions")
"""Columns of a row that hold text."""
NUMBER_COLUMNS = (
    *("trial", "seed", "noise", "psnr", "psnr_ln", "point", "sca"),
    *SOLUTION_COLUMNS,
    "seconds",
)
"""Columns of a row that hold numbers."""
MAX_FILE_BYTES = 100_000_000
"""Size of the largest file that is read, a thousand times that of the paper's largest trial."""


class TrialStore:
    """The trials of one study with one set of settings, in ``folder/trials/STUDY-KEY``."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = find_folder(folder / "trials", settings)
        self.folder.mkdir(parents=True, exist_ok=True)
        if read_json(description := self.folder / "settings.json") != settings:
            write_atomically(
                description, json.dumps(settings, indent=1, ensure_ascii=False).encode()
            )

    def read(self, trial: int) -> list[Row] | None:
        """Return the rows of a finished trial, or None if it has to be run."""
        return read_rows(self.folder, trial)

    def write(self, trial: int, rows: list[Row]) -> None:
        write_atomically(
            trial_path(self.folder, trial), json.dumps(rows, ensure_ascii=False).encode()
        )


def find_folder(parent: Path, settings: Mapping[str, Any]) -> Path:
    """Return the folder of these settings.

    If it does not exist, an earlier folder is used whose settings differ only in hashes of code
    that the version number stands for.
    """
    folder = parent / f"{settings['study']}-{settings_key(settings)}"
    if folder.exists():
        return folder
    wanted = json.loads(json.dumps(settings), object_hook=drop_versioned_code)
    for path in sorted(parent.glob(f"{settings['study']}-*/settings.json")):
        if read_json(path, drop_versioned_code) == wanted:
            return path.parent
    return folder


def trial_path(folder: Path, trial: int) -> Path:
    return folder / f"{trial:05d}.json"


def read_rows(folder: Path, trial: int) -> list[Row] | None:
    """Return the rows of a trial, or None if its file is missing or damaged."""
    rows = read_json(trial_path(folder, trial))
    return rows if isinstance(rows, list) and rows and all(is_row(row) for row in rows) else None


def is_row(row: Any) -> bool:
    """Return whether all columns are there and have the right type."""
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in TEXT_COLUMNS)
        and all(isinstance(row.get(name), int | float) for name in NUMBER_COLUMNS)
    )


def read_json(path: Path, object_hook: Callable[[dict[str, Any]], Any] | None = None) -> Any:
    """Return the content of a JSON file, or None if the file is missing, damaged or too large.

    A path that is not a regular file, such as a pipe, is not opened, because reading could block.
    """
    try:
        if not path.is_file() or path.stat().st_size > MAX_FILE_BYTES:
            return None
        return json.loads(path.read_bytes(), object_hook=object_hook)
    except (FileNotFoundError, ValueError, RecursionError):
        return None
