"""Trials of HDF5 files: MATLAB 7.3, AnnData and MuData.

The parent process reads the file itself after a successful trial, because anndata and mudata return
objects that cannot be passed between processes as plain arrays.
"""

from pathlib import Path
from typing import Any

from viewspan._utils.optional import require
from viewspan.io.readers.trial import run_trial


def h5py() -> Any:
    return require("h5py", "omics", purpose="Reading HDF5 files, including MATLAB 7.3 files,")


def check_whole_file(path: Path) -> None:
    """Raise InputError if the file cannot be read completely."""
    h5py()
    run_trial(path, "hdf5")


def check_structure(path: Path) -> None:
    """Raise InputError if the groups, attributes and small datasets cannot be read."""
    h5py()
    run_trial(path, "hdf5-small")


def check_dataset(path: Path, name: str) -> None:
    """Raise InputError if the structure or the named dataset cannot be read."""
    h5py()
    run_trial(path, "hdf5-small", name)
