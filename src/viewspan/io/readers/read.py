"""From ``file.csv`` or ``file.mat::X`` to views, by the ending of the file's name."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from viewspan._utils.optional import require
from viewspan._utils.typing import AnyArray
from viewspan.io.readers import arrays, delimited, matlab, omics, parquet
from viewspan.io.readers.table import InputError, Part, Reading, Table, closest

KEY, TRANSPOSED, NAME = "::", ".T", "="


@dataclass(frozen=True)
class Format:
    """How files with an ending are read, and how they are looked into."""

    read: Callable[["Source", Reading], list[Table]]
    contents: Callable[[Path], list[Part]]


FORMATS = {
    ".csv": Format(delimited.read_text, delimited.contents_of_text),
    ".tsv": Format(delimited.read_text, delimited.contents_of_text),
    ".txt": Format(delimited.read_text, delimited.contents_of_text),
    ".parquet": Format(parquet.read_parquet, parquet.contents_of_parquet),
    ".npy": Format(arrays.read_npy, arrays.contents_of_npy),
    ".npz": Format(arrays.read_npz, arrays.contents_of_npz),
    ".mat": Format(matlab.read_mat, matlab.contents_of_mat),
    ".h5ad": Format(omics.read_h5ad, omics.contents_of_h5ad),
    ".h5mu": Format(omics.read_h5mu, omics.contents_of_h5mu),
}
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


@dataclass(frozen=True)
class Source:
    """What was asked for: ``[name=]file[::key[.T]]``."""

    text: str
    path: Path
    key: str | None
    name: str | None
    transposed: bool

    @classmethod
    def parse(cls, text: str) -> "Source":
        if is_there(text):  # whatever signs are in its name
            return cls(text, Path(text), None, None, transposed=False)
        place, separator, key = text.partition(KEY)
        name, equals, rest = place.partition(NAME)
        if equals and not is_there(place) and name:
            place = rest
        else:
            name = ""
        transposed = key.endswith(TRANSPOSED)
        key = key.removesuffix(TRANSPOSED) if transposed else key
        if separator and not key and not transposed:
            raise InputError(
                f"{text} has {KEY} and no key after it; write for example {place}{KEY}X."
            )
        return cls(text, Path(place), key or None, name or None, transposed)

    @property
    def stem(self) -> str:
        """The file's name without its ending."""
        stem = self.path.name
        for suffix in reversed(self.path.suffixes[-2:]):
            if suffix.lower() in COMPRESSED or suffix.lower() in FORMATS:
                stem = stem.removesuffix(suffix)
        return stem

    def table(
        self, values: Any, ids: Any = None, *, part: str | None = None, columns: Any = None
    ) -> Table:
        """One that was found there; a part of several, if it has a name of its own."""
        inner = part or (None if self.name else self.key)
        name = (self.name or self.stem) + (f"{KEY}{inner}" if inner else "")
        known = None if ids is None else checked_ids(self.path, ids)
        if columns is None and hasattr(values, "columns"):
            columns = values.columns
        named = None if columns is None else np.asarray(columns, dtype=str)
        return Table(
            legible(name),
            legible(self.text),
            self.path,
            values,
            known,
            named,
            self.name is not None,
        )


def read(text: str, reading: Reading) -> list[Table]:
    """The views that ``[name=]file[::key[.T]]`` names: one, or several where a file holds several.

    Parameters
    ----------
    text : str
        ``.T`` for samples in columns.
    reading : Reading

    Raises
    ------
    InputError
        With one sentence for the user.
    """
    source = Source.parse(text)
    chosen = format_of(source.path)
    with told_of(source.path):
        tables = chosen.read(source, reading)
    if source.transposed:
        tables = [turned(table) for table in tables]
    for table in tables:
        check_shape(table)
    return tables


def contents(path: Path) -> list[Part]:
    """What is in a file."""
    chosen = format_of(path)
    with told_of(path):
        return chosen.contents(path)


def turned(table: Table) -> Table:
    """Samples in columns: what named the rows names the features, and the other way round."""
    values = table.values
    if not hasattr(values, "columns"):
        ids = None if table.columns is None else checked_ids(table.path, table.columns)
        return replace(table, values=values.T, ids=ids, columns=table.ids)
    pd: Any = require("pandas", "cli", purpose="Reading tables")
    features = pd.RangeIndex(len(values)).astype(str) if table.ids is None else table.ids
    generated = list(values.columns) == [f"column {place + 1}" for place in range(values.shape[1])]
    ids = None if generated else np.asarray(values.columns, dtype=str)
    frame = pd.DataFrame(values.to_numpy().T, columns=features)
    return replace(table, values=frame, ids=ids, columns=np.asarray(features, dtype=str))


def checked_ids(path: Path, ids: Any) -> AnyArray:
    """Each sample once, under a name that a file can hold."""
    names = [str(name) for name in ids]
    if any("\x00" in name for name in names):
        raise InputError(f"{path} has an id with a zero byte in it.")
    if (wrong := next((name for name in names if name != legible(name)), None)) is not None:
        raise InputError(
            f"{path} has the id {wrong!r}, which is not text in UTF-8; save it in that encoding."
        )
    values, counts = np.unique(np.array(names, dtype=str), return_counts=True)
    if (counts > 1).any():
        again = values[counts > 1]
        others = f", and {len(again) - 1} other ids more than once" if len(again) > 1 else ""
        raise InputError(
            f"{path} has the id {str(again[0])!r} in {counts[counts > 1][0]} rows{others}; each must be there once."
        )
    return np.array(names, dtype=str)


def legible(text: str) -> str:
    """Names of files may hold bytes that are no letters."""
    return text.encode("utf-8", "replace").decode()


def is_there(name: str | Path) -> bool:
    """Also of names that no file can have."""
    try:
        return Path(name).exists()
    except OSError:
        return False


def format_of(path: Path) -> Format:
    if not is_there(path):
        if path.name in (others := beside(path)):
            raise InputError(f"{path} is a link that leads nowhere.")
        raise InputError(f"{path} does not exist.{closest(path.name, others)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file.")
    if not path.is_file():
        raise InputError(f"{path} is not a file that can be read twice; save it as one.")
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
    if not suffixes or suffixes[-1] not in FORMATS:
        endings = ", ".join(FORMATS)
        raise InputError(
            f"{path} is of no kind that can be read: {endings}. Save it as .csv, for example."
        )
    if path.suffix.lower() in COMPRESSED and FORMATS[suffixes[-1]].read is not delimited.read_text:
        raise InputError(
            f"{path} is compressed; unpack it first. Compressed tables of text are read as they are."
        )
    return FORMATS[suffixes[-1]]


def beside(path: Path) -> list[str]:
    """Names in its folder, if they may be seen."""
    try:
        return [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return []


@contextlib.contextmanager
def told_of(path: Path) -> Iterator[None]:
    """Whatever a reader says, with the name of the file before it."""
    try:
        yield
    except (InputError, ModuleNotFoundError):
        raise
    except MemoryError as error:
        raise InputError(
            f"{path} takes more memory than there is; save it as .npy, which is read in blocks."
        ) from error
    except PermissionError as error:
        raise InputError(f"{path} may not be read by you.") from error
    except Exception as error:  # readers of other people's formats raise whatever they like
        lines = str(error).strip().splitlines() or [type(error).__name__]
        raise InputError(
            f"{path} cannot be read as its name says: {lines[0].rstrip('.')}."
        ) from error


def check_shape(table: Table) -> None:
    shape = tuple(np.shape(table.values))
    if len(shape) != 2:
        sizes = " × ".join(map(str, shape)) or "a single value"
        raise InputError(
            f"{table.source} has the shape {sizes}, and a view has rows and columns: one row per sample."
        )
    for size, what in zip(shape, ("rows", "columns of numbers"), strict=True):
        if size == 0:
            raise InputError(f"{table.source} has no {what}.")
