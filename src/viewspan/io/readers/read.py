"""Read views from files of any supported format."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils.text import shortened
from viewspan.io.readers import arrays, delimited, matlab, omics, parquet
from viewspan.io.readers.layout import numbered_columns
from viewspan.io.readers.source import Source, extension_of
from viewspan.io.readers.table import InputError, Part, Reading, Table, pandas
from viewspan.io.readers.views import checked_ids


@dataclass(frozen=True)
class Format:
    """Functions that read a file, list its contents and, for tables, load it as a data frame."""

    read: Callable[[Source, Reading], list[Table]]
    contents: Callable[[Path], list[Part]]
    load_frame: Callable[[Path, Reading], Any] | None = None


TEXT = Format(delimited.read_text, delimited.contents_of_text, delimited.load_text)
FORMATS = {
    ".csv": TEXT,
    ".tsv": TEXT,
    ".txt": TEXT,
    ".parquet": Format(parquet.read_parquet, parquet.contents_of_parquet, parquet.load_parquet),
    ".npy": Format(arrays.read_npy, arrays.contents_of_npy),
    ".npz": Format(arrays.read_npz, arrays.contents_of_npz),
    ".mat": Format(matlab.read_mat, matlab.contents_of_mat),
    ".h5ad": Format(omics.read_h5ad, omics.contents_of_h5ad),
    ".h5mu": Format(omics.read_h5mu, omics.contents_of_h5mu),
}
"""Formats by file extension."""
MAX_DETAIL = 300
"""Longest part of a library's error message that is shown, in characters."""


def read(text: str, reading: Reading) -> list[Table]:
    """Read the views that an argument names: one, or several if the file holds several.

    Parameters
    ----------
    text : str
        ``[name=]file[::key[.T]]``. With ``.T``, the samples are the columns of the file.
    reading : Reading

    Raises
    ------
    InputError
        If the file cannot be read. The message is one sentence for the user.
    """
    source = Source.parse(text)
    file_format = format_of(source.path)
    with input_errors(source.path):
        tables = file_format.read(source, reading)
    if source.transposed:
        tables = [transpose(table) for table in tables]
    for table in tables:
        check_shape(table)
    return tables


def contents(path: Path) -> list[Part]:
    """List the arrays or columns of a file."""
    file_format = format_of(path)
    with input_errors(path):
        return file_format.contents(path)


def transpose(table: Table) -> Table:
    """Swap rows and columns, and also ids and column names."""
    values = table.values
    if not hasattr(values, "columns"):
        ids = None if table.columns is None else checked_ids(table.path, table.columns)
        return replace(table, values=values.T, ids=ids, columns=table.ids)
    pd = pandas()
    features = pd.RangeIndex(len(values)).astype(str) if table.ids is None else table.ids
    has_names = list(values.columns) != numbered_columns(values.shape[1])
    ids = np.asarray(values.columns, dtype=str) if has_names else None
    frame = pd.DataFrame(values.to_numpy().T, columns=features)
    return replace(table, values=frame, ids=ids, columns=np.asarray(features, dtype=str))


def format_of(path: Path) -> Format:
    """Return the format of an existing file by its extension."""
    return FORMATS[extension_of(path)]


@contextlib.contextmanager
def input_errors(path: Path) -> Iterator[None]:
    """Turn every error of a reader into an InputError that names the file."""
    try:
        yield
    except (InputError, ModuleNotFoundError):
        raise
    except MemoryError as error:
        raise InputError(
            f"{path} needs more memory than is available; save it as .npy, which is read in blocks."
        ) from error
    except PermissionError as error:
        raise InputError(f"{path} cannot be read: you do not have permission.") from error
    except Exception as error:  # libraries raise errors of any type
        lines = str(error).strip().splitlines() or [type(error).__name__]
        detail = shortened(lines[0].rstrip("."), MAX_DETAIL)
        raise InputError(
            f"{path} cannot be read as a {path.suffix.lower()} file: {detail}."
        ) from error


def check_shape(table: Table) -> None:
    """Raise InputError unless the values have two dimensions and are not empty."""
    shape = tuple(np.shape(table.values))
    if len(shape) != 2:
        found = f"has the shape {' × '.join(map(str, shape))}" if shape else "is a single value"
        raise InputError(
            f"{table.source} {found}, but a view must have two dimensions, with one row per sample."
        )
    for size, name in zip(shape, ("rows", "numeric columns"), strict=True):
        if size == 0:
            raise InputError(f"{table.source} has no {name}.")
