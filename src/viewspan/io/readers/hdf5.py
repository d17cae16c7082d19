"""HDF5 files are read by another process first, because its library dies of some, and of some never comes back."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from viewspan._utils.optional import require
from viewspan.io.readers.limits import check_memory, most_memory
from viewspan.io.readers.table import InputError

TRIAL = Path(__file__).with_name("hdf5_trial.py")
PATIENCE, PER_SECOND = 600, 1_000_000
"""Seconds for a file however slow the disk is, and bytes for each further one."""


def h5py() -> Any:
    return require("h5py", "omics", purpose="Reading HDF5 files, MATLAB 7.3 among them,")


def check_all(path: Path) -> None:
    """For readers that read everything."""
    check(path, "all")


def check_some(path: Path) -> None:
    """For those who ask what is in it."""
    check(path, "some")


def check_named(path: Path, name: str) -> None:
    """For those who read one array."""
    check(path, "some", [name])


def check(path: Path, mode: str, names: Sequence[str] = ()) -> None:
    """Refuse a file that cannot be gone through in a process of its own."""
    h5py()
    command = [sys.executable, "-P", str(TRIAL), str(path), str(most_memory(path)), mode, *names]
    patience = PATIENCE + path.stat().st_size / PER_SECOND
    try:
        trial = subprocess.run(
            command, capture_output=True, timeout=patience, check=False, stdin=subprocess.DEVNULL
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{path} is damaged: reading it does not come to an end.") from error
    if trial.returncode != 0:
        raise InputError(
            f"{path} is damaged: a process that tried to read it died, so it is not read."
        )
    told = json.loads(trial.stdout or b"{}")
    if "bytes" in told:
        check_memory(path, told["bytes"])
    if "refused" in told:
        raise InputError(f"{path} {told['refused']}.")
    if "failed" in told:
        raise ValueError(told["failed"])
