"""Finished trials on disk: one file each, written under a temporary name and then renamed.

A file is there whole or not at all, so a run that was interrupted, killed or ran out of disk goes on where it stopped.
"""

import contextlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from viewspan.experiments.settings import key
from viewspan.experiments.trial import Row


class TrialStore:
    """The trials of one study with one set of settings, in ``folder/trials/STUDY-KEY``."""

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        self.key = key(settings)
        self.folder = folder / "trials" / f"{settings['study']}-{self.key}"
        self.folder.mkdir(parents=True, exist_ok=True)
        if not (description := self.folder / "settings.json").exists():
            write_whole(description, json.dumps(settings, indent=1, ensure_ascii=False).encode())

    def read(self, trial: int) -> list[Row] | None:
        """The rows of a finished trial, None if it has to be run."""
        return read_rows(self.folder, trial)

    def write(self, trial: int, rows: list[Row]) -> None:
        write_whole(trial_path(self.folder, trial), json.dumps(rows, ensure_ascii=False).encode())


def trial_path(folder: Path, trial: int) -> Path:
    return folder / f"{trial:05d}.json"


def read_rows(folder: Path, trial: int) -> list[Row] | None:
    try:
        rows: list[Row] = json.loads(trial_path(folder, trial).read_bytes())
    except FileNotFoundError:
        return None
    except ValueError:  # cut short by something that even a rename does not survive, such as a power failure
        return None
    return rows


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it, not even after a crash."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:  # a full disk does not say which file it could not take
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


def sweep(folder: Path) -> None:
    """Remove what killed runs left behind. Only after a complete run: until then it may be another run's."""
    for leftover in folder.rglob("*.tmp"):
        leftover.unlink(missing_ok=True)
