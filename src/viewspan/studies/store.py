"""Finished trials on disk: one file each, written under a temporary name and then renamed.

A file is there whole or not at all, so a run that was interrupted, killed or ran out of disk goes on where it stopped.
No trial is locked: two runs into one folder do some work twice, and the later file, which says the same, stays. Tables
and figures are written by one run after the other (:mod:`viewspan.studies.reproduce`).
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viewspan._utils.files import write_whole
from viewspan.studies.settings import key
from viewspan.studies.trial import Row

WORDS = ("study", "setting", "method", "warning", "estimator", "versions")
NUMBERS = (
    *(
        "trial",
        "seed",
        "noise",
        "psnr",
        "psnr_ln",
        "point",
        "sca",
        "coefficient_difference",
        "coefficient_norm",
    ),
    *("objective", "gap", "n_iter", "lam", "tau", "seconds"),
)
"""What a row says."""
LARGEST = 100_000_000
"""Bytes; the largest trial of the paper's studies has less than a thousandth."""


class TrialStore:
    """The trials of one study with one set of settings, in ``folder/trials/STUDY-KEY``."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.folder = folder / "trials" / f"{settings['study']}-{key(settings)}"
        self.folder.mkdir(parents=True, exist_ok=True)
        if read_json(description := self.folder / "settings.json") != settings:
            write_whole(description, json.dumps(settings, indent=1, ensure_ascii=False).encode())

    def read(self, trial: int) -> list[Row] | None:
        """The rows of a finished trial, None if it has to be run."""
        return read_rows(self.folder, trial)

    def write(self, trial: int, rows: list[Row]) -> None:
        write_whole(trial_path(self.folder, trial), json.dumps(rows, ensure_ascii=False).encode())


def trial_path(folder: Path, trial: int) -> Path:
    return folder / f"{trial:05d}.json"


def read_rows(folder: Path, trial: int) -> list[Row] | None:
    rows = read_json(trial_path(folder, trial))
    return rows if isinstance(rows, list) and rows and all(is_row(row) for row in rows) else None


def is_row(row: Any) -> bool:
    """Whether everything that the tables are made of is there, as what it should be."""
    return (
        isinstance(row, dict)
        and all(isinstance(row.get(name), str) for name in WORDS)
        and all(isinstance(row.get(name), int | float) for name in NUMBERS)
    )


def read_json(path: Path) -> Any:
    """The content; None if there is none, or if it was damaged by what even a rename does not survive, such as a power
    failure. What is no file, such as a pipe, is never waited for.
    """
    try:
        if not path.is_file() or path.stat().st_size > LARGEST:
            return None
        return json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError, RecursionError):
        return None
