"""numpy's own files. Nothing that could hold code is read from them."""

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse

from viewspan.tables.table import InputError, Part, Reading, Table, closest, listed

if TYPE_CHECKING:
    from viewspan.tables.read import Source

MAGIC = b"\x93NUMPY"
SPARSE = {"data", "shape", "format"}
NO_OBJECTS = "{path} holds Python objects, which are not read, because such a file can run code; save plain numbers."


def read_npy(source: "Source", _: Reading) -> list[Table]:
    """A view of a .npy file, read from disk as it is needed."""
    if source.key is not None:
        raise InputError(f"{source.path} is one array and has no keys; give it without ::{source.key}.")
    return [source.table(check_kind(load_npy(source.path), source.text))]


def load_npy(path: Path) -> Any:
    with path.open("rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise ValueError("it is no file of numpy's")
    try:
        return np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        if "object" in str(error).lower():
            raise InputError(NO_OBJECTS.format(path=path)) from error
        raise


def read_npz(source: "Source", _: Reading) -> list[Table]:
    """A view of a .npz file: the array with the key, the only one, or a sparse matrix that scipy wrote."""
    parts = {part.key: part for part in contents_of_npz(source.path)}
    if parts.keys() >= SPARSE and source.key is None:
        return [source.table(check_kind(scipy.sparse.csr_array(scipy.sparse.load_npz(source.path)), source.text))]
    key = source.key if source.key is not None else only_table(source.path, parts)
    if key not in parts:
        raise InputError(no_key(source.path, key, parts))
    if parts[key].kind == "object":
        raise InputError(NO_OBJECTS.format(path=f"{source.path}::{key}"))
    return [source.table(check_kind(load_npz(source.path, key), source.text))]


def load_npz(path: Path, key: str) -> Any:
    with np.load(path, allow_pickle=False) as archive:
        return archive[key]


def only_table(path: Path, parts: dict[str, Part]) -> str:
    """The key of the one array that can be a view."""
    tables = [part for part in parts.values() if len(part.shape) == 2]
    if len(tables) == 1:
        return tables[0].key
    found = listed(parts.values()) or "nothing"
    example = tables[0].key if tables else "KEY"
    raise InputError(f"{path} holds {found}; say which with {path.name}::{example}.")


def no_key(path: Path, key: str, parts: dict[str, Part]) -> str:
    return f"{path} has no {key!r}; it holds {listed(parts.values()) or 'nothing'}.{closest(key, parts)}"


def check_kind(values: Any, source: str) -> Any:
    """Numbers only."""
    if values.dtype.names or values.dtype.kind not in "biuf":
        what = {"c": "complex numbers", "U": "text", "S": "text", "M": "dates", "m": "durations", "O": "objects"}
        raise InputError(f"{source} holds {what.get(values.dtype.kind, 'records')}, and a view must be real numbers.")
    return values


def contents_of_npy(path: Path) -> list[Part]:
    """The one array."""
    values = load_npy(path)
    return [Part(path.stem, values.shape, str(values.dtype))]


def contents_of_npz(path: Path) -> list[Part]:
    """Keys, shapes and types, without reading the arrays."""
    parts = []
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if not name.endswith(".npy"):
                continue
            with archive.open(name) as member:
                version = np.lib.format.read_magic(member)
                header = (
                    np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                )
                shape, _, dtype = header(member)
            parts.append(Part(name.removesuffix(".npy"), shape, str(dtype)))
    return parts
