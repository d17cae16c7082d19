"""Readers of NumPy files. Arrays of Python objects are refused, because they can run code."""

import math
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import numpy as np

from viewspan._utils.text import listed
from viewspan.io.readers.limits import check_array_count, check_complete, check_memory
from viewspan.io.readers.source import Source
from viewspan.io.readers.sparse import ALL_KEYS, REQUIRED_KEYS, sparse_from_arrays
from viewspan.io.readers.table import InputError, Part, Reading, Table, suggestion
from viewspan.io.readers.views import view_of

MAGIC = b"\x93NUMPY"
NPY = ".npy"
COMPRESSION_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""Compression methods that NumPy uses. Others need memory before they return any data."""
MAX_HEADER_SIZE = 10_000
"""Largest header in bytes. NumPy has the same limit, but reads the whole header first."""
LENGTH_SIZES = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
"""Bytes that hold the length of the header, by version of the format."""
VALUE_KINDS = {
    **{"c": "complex numbers", "U": "text", "S": "text"},
    **{"M": "dates", "m": "durations", "O": "objects"},
}
"""Names of the kinds of values that a view cannot hold."""


class Header(NamedTuple):
    """Shape and type of an array, and the number of bytes of its values."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    n_bytes: int


def read_npy(source: Source, _: Reading) -> list[Table]:
    """Return the view of a .npy file. Its values stay on disk until they are used."""
    if source.key is not None:
        raise InputError(f"{source.path} holds one array and has no keys; remove ::{source.key}.")
    return [view_of(source, check_kind(load_npy(source.path), source.text))]


def load_npy(path: Path) -> Any:
    """Return a memory-mapped array."""
    with path.open("rb") as file:
        header = header_of(file, str(path))
        check_no_objects(header, str(path))
        check_complete(path, "its array", header.n_bytes, path.stat().st_size - file.tell())
    return np.load(path, mmap_mode="r", allow_pickle=False)


def header_of(file: IO[bytes], name: str) -> Header:
    """Return the header, which NumPy reads after a check of its length."""
    start = file.read(len(MAGIC) + 2 + 4)
    if not start.startswith(MAGIC):
        raise ValueError("it is not a NumPy file")
    version = tuple(start[len(MAGIC) :][:2])
    if version not in LENGTH_SIZES:
        raise InputError(f"{name} is truncated, or has an unknown version of the NumPy format.")
    if int.from_bytes(start[8 : 8 + LENGTH_SIZES[version]], "little") > MAX_HEADER_SIZE:
        raise InputError(
            f"{name} is damaged: the header of its array is longer than {MAX_HEADER_SIZE} bytes."
        )
    file.seek(len(MAGIC) + 2)
    formats = np.lib.format
    read = formats.read_array_header_1_0 if version == (1, 0) else formats.read_array_header_2_0
    try:
        shape, _, dtype = read(file, max_header_size=MAX_HEADER_SIZE)
    except (MemoryError, RecursionError) as error:  # Python's parser raises these
        raise ValueError("the header of its array cannot be parsed") from error
    if min(shape, default=0) < 0:
        raise InputError(f"{name} is damaged: its array has a dimension of {min(shape)}.")
    return Header(shape, dtype, math.prod(shape) * dtype.itemsize)


def check_no_objects(header: Header, name: str) -> None:
    if header.dtype.hasobject:
        raise InputError(
            f"{name} holds Python objects, which are not read because they can run code; save "
            "plain numbers."
        )


def read_npz(source: Source, _: Reading) -> list[Table]:
    """Return the array with the key, the only array, or a sparse matrix that scipy wrote."""
    parts = {part.key: part for part in contents_of_npz(source.path)}
    if parts.keys() >= REQUIRED_KEYS and source.key is None:
        arrays = {key: load_npz(source.path, key) for key in parts if key in ALL_KEYS}
        return [view_of(source, check_kind(sparse_from_arrays(source.path, arrays), source.text))]
    key = source.key if source.key is not None else only_table(source.path, parts)
    return [view_of(source, check_kind(load_npz(source.path, key), source.text))]


def load_npz(path: Path, key: str) -> Any:
    """Return one array, or raise InputError if it is missing, incomplete or too large."""
    name = f"{path}::{key}"
    with zipfile.ZipFile(path) as archive:
        members = {member.filename: member for member in members_of(path, archive.infolist())}
        member = members.get(f"{key}{NPY}")
        if member is None:
            parts = {part.key: part for part in contents_of_npz(path)}
            raise InputError(missing_key(path, key, parts))
        with archive.open(member) as file:
            header = header_of(file, name)
            check_no_objects(header, name)
            check_complete(path, repr(key), header.n_bytes, member.file_size - file.tell())
            check_memory(path, header.n_bytes)
            file.seek(0)
            return np.lib.format.read_array(
                file, allow_pickle=False, max_header_size=MAX_HEADER_SIZE
            )


def only_table(path: Path, parts: dict[str, Part]) -> str:
    """Return the key of the only two-dimensional array."""
    tables = [part for part in parts.values() if len(part.shape) == 2]
    if len(tables) == 1:
        return tables[0].key
    found = listed(parts.values()) or "nothing"
    example = tables[0].key if tables else "KEY"
    raise InputError(f"{path} holds {found}; say which with {path.name}::{example}.")


def missing_key(path: Path, key: str, parts: dict[str, Part]) -> str:
    """Return the message that a file does not have a key."""
    found = listed(parts.values()) or "nothing"
    return f"{path} has no {key!r}; it holds {found}.{suggestion(key, parts)}"


def check_kind(values: Any, source: str) -> Any:
    """Return the values, or raise InputError if they are not real numbers."""
    if values.dtype.names or values.dtype.kind not in "biuf":
        kind = VALUE_KINDS.get(values.dtype.kind, "records")
        raise InputError(f"{source} holds {kind}, but a view must hold real numbers.")
    return values


def contents_of_npy(path: Path) -> list[Part]:
    """Return the shape and type of the array."""
    values = load_npy(path)
    return [Part(path.stem, values.shape, str(values.dtype))]


def contents_of_npz(path: Path) -> list[Part]:
    """Return keys, shapes and types without reading the arrays."""
    parts = []
    with zipfile.ZipFile(path) as archive:
        for member in members_of(path, archive.infolist()):
            key = member.filename.removesuffix(NPY)
            with archive.open(member) as file:
                header = header_of(file, f"{path}::{key}")
            parts.append(Part(key, header.shape, str(header.dtype)))
    return parts


def members_of(path: Path, members: Iterable[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Return the arrays of an archive, or raise InputError if NumPy did not write it.

    Archives are not extracted to disk. Names that point outside are refused nevertheless.
    """
    found = [member for member in members if member.filename.endswith(NPY)]
    check_array_count(path, len(found))
    for member in found:
        name = PurePosixPath(member.filename.replace("\\", "/"))
        if name.is_absolute() or ".." in name.parts or stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(
                f"{path} has a part named {member.filename!r}, which points outside of the file."
            )
        if member.compress_type not in COMPRESSION_METHODS:
            raise InputError(
                f"{path} has a compression method that NumPy does not use; save it with "
                "numpy.savez_compressed."
            )
    return found
