"""Views that were read from a file, and the ids of their samples."""

from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan.io.readers.source import KEY, Source, replace_undecodable
from viewspan.io.readers.table import InputError, Table


def view_of(
    source: Source, values: Any, ids: Any = None, *, part: str | None = None, columns: Any = None
) -> Table:
    """Return a view that was read from a source.

    Parameters
    ----------
    source : Source
    values : array, sparse array or data frame
    ids : sequence, optional
        Ids of the rows.
    part : str, optional
        Name of the view within a file that holds several.
    columns : sequence, optional
        Names of the features. By default, the columns of a data frame.
    """
    inner = part or (None if source.name else source.key)
    if columns is None and hasattr(values, "columns"):
        columns = values.columns
    return Table(
        name=replace_undecodable((source.name or source.stem) + (f"{KEY}{inner}" if inner else "")),
        source=replace_undecodable(source.text),
        path=source.path,
        values=values,
        ids=None if ids is None else checked_ids(source.path, ids),
        columns=None if columns is None else np.asarray(columns, dtype=str),
        named=source.name is not None,
    )


def checked_ids(path: Path, ids: Any) -> AnyArray:
    """Return ids as text, or raise InputError if they are not unique or cannot be written."""
    names = [str(name) for name in ids]
    if any("\x00" in name for name in names):
        raise InputError(f"{path} has an id that contains a zero byte; remove it.")
    invalid = next((name for name in names if name != replace_undecodable(name)), None)
    if invalid is not None:
        raise InputError(f"{path} has the id {invalid!r}, which is not UTF-8; save it in UTF-8.")
    values, counts = np.unique(np.array(names, dtype=str), return_counts=True)
    repeated = values[counts > 1]
    if len(repeated):
        raise InputError(
            f"{path} has the id {str(repeated[0])!r} in {counts[counts > 1][0]} rows (repeated "
            f"ids: {len(repeated)}); each id must occur once."
        )
    return np.array(names, dtype=str)
