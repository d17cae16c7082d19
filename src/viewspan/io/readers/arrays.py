"""numpy's own files. Nothing that could hold code is read from them."""

import math
import stat
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath
from typing import IO, TYPE_CHECKING, Any, NamedTuple

import numpy as np

from viewspan.io.readers.limits import check_memory, check_parts, check_there
from viewspan.io.readers.sparse import sparse_of_parts
from viewspan.io.readers.table import InputError, Part, Reading, Table, closest, listed

if TYPE_CHECKING:
    from viewspan.io.readers.read import Source

MAGIC = b"\x93NUMPY"
SPARSE = {"data", "shape", "format"}
ENDING = ".npy"
PACKED = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}
"""Ways in which numpy packs; others take memory before they give any."""
LONGEST_HEADER = 10_000
"""Bytes, as numpy has it; but numpy reads all of them before it looks."""
LENGTHS = {(1, 0): 2, (2, 0): 4, (3, 0): 4}
"""Bytes that tell a header's length, by the format's version."""
NO_OBJECTS = "{path} holds Python objects, which are not read, because such a file can run code; save plain numbers."


class Header(NamedTuple):
    """What stands before the values, and how many bytes they must have."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    n_bytes: int


def read_npy(source: "Source", _: Reading) -> list[Table]:
    """A view of a .npy file, read from disk as it is needed."""
    if source.key is not None:
        raise InputError(
            f"{source.path} is one array and has no keys; give it without ::{source.key}."
        )
    return [source.table(check_kind(load_npy(source.path), source.text))]


def load_npy(path: Path) -> Any:
    """On disk."""
    with path.open("rb") as file:
        header = header_of(file, str(path))
        refuse_objects(header, str(path))
        check_there(path, "its array", header.n_bytes, path.stat().st_size - file.tell())
    return np.load(path, mmap_mode="r", allow_pickle=False)


def header_of(file: IO[bytes], name: str) -> Header:
    """Read by numpy, after a look at its length."""
    begin = file.read(len(MAGIC) + 2 + 4)
    if not begin.startswith(MAGIC):
        raise ValueError("it is no file of numpy's")
    version = tuple(begin[len(MAGIC) :][:2])
    if version not in LENGTHS:
        raise InputError(
            f"{name} is cut short, or of a version of numpy's format that is not known."
        )
    if int.from_bytes(begin[8 : 8 + LENGTHS[version]], "little") > LONGEST_HEADER:
        raise InputError(
            f"{name} is damaged: what describes its array is longer than {LONGEST_HEADER} bytes."
        )
    file.seek(len(MAGIC) + 2)
    header = (
        np.lib.format.read_array_header_1_0
        if version == (1, 0)
        else np.lib.format.read_array_header_2_0
    )
    try:
        shape, _, dtype = header(file, max_header_size=LONGEST_HEADER)
    except (MemoryError, RecursionError) as error:  # of a parser, for brackets in brackets
        raise ValueError("what describes its array cannot be understood") from error
    if min(shape, default=0) < 0:
        raise InputError(
            f"{name} is damaged: it says that its array has {min(shape)} values on one side."
        )
    return Header(shape, dtype, math.prod(shape) * dtype.itemsize)


def refuse_objects(header: Header, name: str) -> None:
    if header.dtype.hasobject:
        raise InputError(NO_OBJECTS.format(path=name))


def read_npz(source: "Source", _: Reading) -> list[Table]:
    """A view of a .npz file: the array with the key, the only one, or a sparse matrix that scipy wrote."""
    parts = {part.key: part for part in contents_of_npz(source.path)}
    if parts.keys() >= SPARSE and source.key is None:
        arrays = {key: load_npz(source.path, key) for key in parts}
        return [source.table(check_kind(sparse_of_parts(source.path, arrays), source.text))]
    key = source.key if source.key is not None else only_table(source.path, parts)
    if key not in parts:
        raise InputError(no_key(source.path, key, parts))
    return [source.table(check_kind(load_npz(source.path, key), source.text))]


def load_npz(path: Path, key: str) -> Any:
    """One array, if the archive has it in full and there is memory for it."""
    name = f"{path}::{key}"
    with zipfile.ZipFile(path) as archive:
        member = archive.getinfo(f"{key}{ENDING}")
        with archive.open(member) as file:
            header = header_of(file, name)
            refuse_objects(header, name)
            check_there(path, f"{key!r}", header.n_bytes, member.file_size - file.tell())
            check_memory(path, header.n_bytes)
            file.seek(0)
            return np.lib.format.read_array(
                file, allow_pickle=False, max_header_size=LONGEST_HEADER
            )


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
        what = {
            "c": "complex numbers",
            "U": "text",
            "S": "text",
            "M": "dates",
            "m": "durations",
            "O": "objects",
        }
        raise InputError(
            f"{source} holds {what.get(values.dtype.kind, 'records')}, and a view must be real numbers."
        )
    return values


def contents_of_npy(path: Path) -> list[Part]:
    """The one array."""
    values = load_npy(path)
    return [Part(path.stem, values.shape, str(values.dtype))]


def contents_of_npz(path: Path) -> list[Part]:
    """Keys, shapes and types, without reading the arrays."""
    parts = []
    with zipfile.ZipFile(path) as archive:
        for member in arrays_in(path, archive.infolist()):
            key = member.filename.removesuffix(ENDING)
            with archive.open(member) as file:
                header = header_of(file, f"{path}::{key}")
            parts.append(Part(key, header.shape, str(header.dtype)))
    return parts


def arrays_in(path: Path, members: Iterable[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    """Those that numpy writes. Nothing is unpacked into a folder, and still no name may lead out of one."""
    found = [member for member in members if member.filename.endswith(ENDING)]
    check_parts(path, len(found))
    for member in found:
        place = PurePosixPath(member.filename.replace("\\", "/"))
        if place.is_absolute() or ".." in place.parts or stat.S_ISLNK(member.external_attr >> 16):
            raise InputError(
                f"{path} has a part called {member.filename!r}, which leads out of the file; not read."
            )
        if member.compress_type not in PACKED:
            raise InputError(
                f"{path} is packed in a way that numpy does not use; save it with numpy.savez_compressed."
            )
    return found
