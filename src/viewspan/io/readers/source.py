"""Arguments of the command line that name views in files, such as ``file.mat::X``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan.io.readers.table import InputError, Table

KEY, TRANSPOSED, NAME = "::", ".T", "="
"""Syntax of an argument: ``[name=]file[::key[.T]]``."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""Extensions of compressed text tables."""


@dataclass(frozen=True)
class Source:
    """The argument ``[name=]file[::key[.T]]`` and its parts."""

    text: str
    path: Path
    key: str | None
    name: str | None
    transposed: bool

    @classmethod
    def parse(cls, text: str) -> "Source":
        """Split an argument. The name of an existing file may contain any characters."""
        if exists(text):
            return cls(text, Path(text), None, None, transposed=False)
        place, separator, key = text.partition(KEY)
        name, equals, rest = place.partition(NAME)
        if equals and not exists(place) and name:
            place = rest
        else:
            name = ""
        transposed = key.endswith(TRANSPOSED)
        key = key.removesuffix(TRANSPOSED) if transposed else key
        if separator and not key and not transposed:
            raise InputError(f"{text} has no key after {KEY}; write, for example, {place}{KEY}X.")
        return cls(text, Path(place), key or None, name or None, transposed)

    @property
    def stem(self) -> str:
        """File name without its extension, and without that of a compressed file."""
        path = self.path.with_suffix("") if self.path.suffix.lower() in COMPRESSED else self.path
        return path.stem

    def table(
        self, values: Any, ids: Any = None, *, part: str | None = None, columns: Any = None
    ) -> Table:
        """Return a view that was read from this source.

        Parameters
        ----------
        values : array, sparse array or data frame
        ids : sequence, optional
            Ids of the rows.
        part : str, optional
            Name of the view within a file that holds several.
        columns : sequence, optional
            Names of the features. By default, the columns of a data frame.
        """
        inner = part or (None if self.name else self.key)
        if columns is None and hasattr(values, "columns"):
            columns = values.columns
        return Table(
            name=replace_undecodable((self.name or self.stem) + (f"{KEY}{inner}" if inner else "")),
            source=replace_undecodable(self.text),
            path=self.path,
            values=values,
            ids=None if ids is None else checked_ids(self.path, ids),
            columns=None if columns is None else np.asarray(columns, dtype=str),
            named=self.name is not None,
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


def replace_undecodable(text: str) -> str:
    """Replace bytes of a file name that are not valid text by question marks."""
    return text.encode("utf-8", "replace").decode()


def exists(path: str | Path) -> bool:
    """Return whether a file exists, and False for names that no file can have."""
    try:
        return Path(path).exists()
    except OSError:
        return False
