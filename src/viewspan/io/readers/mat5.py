"""MATLAB's files of versions 5 to 7.

scipy's reader believes what a file says of itself: matrices in matrices, letters that are not there and indices that
point outside end the process. So a variable is unpacked here, within the limit, and only numbers, letters, and cells of
those are read, as far as all of it is there.
"""

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import scipy.sparse

from viewspan.io.readers.limits import check_memory, check_parts, check_there
from viewspan.io.readers.sparse import check_compressed
from viewspan.io.readers.table import InputError

HEAD = 128
MATRIX, COMPRESSED = 14, 15
ITEMS: dict[int, np.dtype[Any]] = {
    **{
        1: np.dtype("i1"),
        2: np.dtype("u1"),
        3: np.dtype("i2"),
        4: np.dtype("u2"),
        5: np.dtype("i4"),
    },
    **{
        6: np.dtype("u4"),
        7: np.dtype("f4"),
        9: np.dtype("f8"),
        12: np.dtype("i8"),
        13: np.dtype("u8"),
    },
}
LETTERS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
"""What an element's numbers, or letters, are."""
CLASSES = ("", "cell", "struct", "object", "char", "sparse", "double", "single")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
NAMES = dict(enumerate((*CLASSES, *INTEGERS, "function", "opaque")))
NUMBERS = {"double", "single", *INTEGERS}
COMPLEX = 0x800
BEGINNING = 4096
"""Bytes in which the names of a variable and of its kind must be."""
MOST_SIDES = 32


class Variable(NamedTuple):
    """One, and where it lies in the file."""

    name: str
    shape: tuple[int, ...]
    kind: str
    start: int
    size: int
    packed: bool


@dataclass
class Parts:
    """A variable's bytes, gone through from part to part."""

    content: memoryview
    order: str
    place: int = 0

    def numbers(self, count: int, what: str) -> tuple[int, ...]:
        """Whole ones of four bytes."""
        form = f"{self.order}{count}{what}"
        if self.place + 4 * count > len(self.content):
            raise ValueError("a variable ends too early")
        found = struct.unpack_from(form, self.content, self.place)
        self.place += 4 * count
        return found

    def element(self) -> tuple[int, memoryview]:
        """The next one's kind and bytes."""
        (first,) = self.numbers(1, "I")
        if first >> 16:  # a small one, with its bytes beside its kind
            kind, size = first & 0xFFFF, first >> 16
            start, self.place = self.place, self.place + 4
            fits = size <= 4
        else:
            kind, (size,) = first, self.numbers(1, "I")
            start, self.place = self.place, self.place + size + (-size) % 8
            fits = start + size <= len(self.content)
        if not fits:
            raise ValueError("a variable ends too early")
        return kind, self.content[start : start + size]

    def header(self) -> tuple[str, bool, tuple[int, ...], str]:
        """Kind, whether complex, sides and name of a matrix."""
        _, _, flags, _ = self.numbers(4, "I")
        kind = NAMES.get(flags & 0xFF, "unknown")
        sides: tuple[int, ...] = ()
        if kind != "opaque":
            what, found = self.element()
            if what not in (5, 6) or len(found) > 4 * MOST_SIDES:
                raise ValueError("the sides of a matrix are not whole numbers")
            sides = struct.unpack(f"{self.order}{len(found) // 4}i", found[: len(found) // 4 * 4])
            if min(sides, default=0) < 0:
                raise ValueError("a matrix has a negative side")
        _, name = self.element()
        return kind, bool(flags & COMPLEX), sides, bytes(name).decode("latin-1").rstrip("\x00")


def is_version_4(head: bytes) -> bool:
    """Version 4 begins with numbers, later ones with a sentence."""
    return 0 in head[:4]


def byte_order(head: bytes) -> str:
    orders = {b"IM": "<", b"MI": ">"}
    if len(head) < HEAD or head[126:128] not in orders or 1 not in head[124:126]:
        raise ValueError("it is no file of MATLAB's")
    return orders[head[126:128]]


def variables_of(path: Path) -> list[Variable]:
    """Names, shapes and kinds, without what is in them."""
    with path.open("rb") as file:
        order = byte_order(file.read(HEAD))
        found = list(each_variable(file, path, order))
    return [variable for variable in found if variable.name]  # MATLAB's own has none


def each_variable(file: IO[bytes], path: Path, order: str) -> Iterator[Variable]:
    end, count = path.stat().st_size, 0
    while tag := file.read(8):
        if len(tag) < 8:
            raise ValueError("it ends within a variable")
        kind, size = struct.unpack(f"{order}II", tag)
        start = file.tell()
        if kind not in (MATRIX, COMPRESSED) or size == 0:
            raise ValueError("it holds something that is no variable")
        check_there(path, "a variable", size, end - start)
        check_parts(path, count := count + 1)
        begin = file.read(min(size, BEGINNING))
        if kind == COMPRESSED:
            begin = zlib.decompressobj().decompress(begin, BEGINNING)[8:]
        what, _, shape, name = Parts(memoryview(begin), order).header()
        yield Variable(name, shape, what, start, size, kind == COMPRESSED)
        file.seek(start + size)


def load_variable(path: Path, key: str) -> Any:
    """One of them."""
    with path.open("rb") as file:
        head = file.read(HEAD)
        order = byte_order(head)
        chosen = [
            variable for variable in each_variable(file, path, order) if variable.name == key
        ][-1]
        file.seek(chosen.start)
        packed = file.read(chosen.size)
    content = unpacked(path, packed, order) if chosen.packed else packed
    check_memory(path, 2 * len(content))
    return matrix(path, key, Parts(memoryview(content), order))


def unpacked(path: Path, packed: bytes, order: str) -> bytes:
    """As many bytes as they say they are."""
    stream = zlib.decompressobj()
    tag = stream.decompress(packed, 8)
    if len(tag) < 8:
        raise ValueError("it ends within a variable")
    kind, size = struct.unpack(f"{order}II", tag)
    if kind != MATRIX:
        raise ValueError("it holds something that is no variable")
    check_memory(path, 2 * size)
    content = stream.decompress(stream.unconsumed_tail, size) if size else b""
    check_there(path, "a variable", size, len(content))
    return content


def matrix(path: Path, key: str, parts: Parts, *, cells: bool = True) -> Any:
    """What the header promises, if it is there; cells hold matrices, and no more cells."""
    kind, is_complex, sides, _ = parts.header()
    if kind == "cell" and cells:
        return cell(path, key, parts, sides)
    if kind == "sparse" and len(sides) == 2:
        return sparse(path, parts, is_complex, sides)
    if kind == "char":
        return words(parts, sides)
    if kind in NUMBERS:
        found = [
            values.reshape(sides, order="F")
            for values in values_of(parts, is_complex, math.prod(sides))
        ]
        return found[0] + 1j * found[1] if is_complex else found[0]
    inside = "" if cells else " in a cell"
    raise InputError(f"{path}::{key} holds a {kind}{inside}, and a view must be real numbers.")


def values_of(parts: Parts, is_complex: bool, count: int | None = None) -> list[Any]:
    """Real parts, and imaginary ones; so many, if that is known."""
    found = []
    for _ in range(1 + is_complex):
        kind, content = parts.element()
        if kind not in ITEMS or (len(content) % ITEMS[kind].itemsize):
            raise ValueError("a matrix has values that are no numbers")
        values = np.frombuffer(content, np.dtype(parts.order + ITEMS[kind].str[1:])).astype(
            ITEMS[kind]
        )
        if count is not None and len(values) != count:
            raise ValueError(f"a matrix of {count} values has {len(values)}")
        found.append(values)
    return found


def cell(path: Path, key: str, parts: Parts, sides: tuple[int, ...]) -> Any:
    found = []
    for _ in range(math.prod(sides)):
        kind, content = parts.element()
        if kind != MATRIX:
            raise ValueError("a cell holds something that is no matrix")
        inner = Parts(content, parts.order)
        found.append(matrix(path, key, inner, cells=False) if len(content) else np.zeros((0, 0)))
    every = np.empty(len(found), dtype=object)
    for place, one in enumerate(found):
        every[place] = one
    return every.reshape(sides, order="F")


def sparse(path: Path, parts: Parts, is_complex: bool, sides: tuple[int, ...]) -> Any:
    """Rows of every value, where columns start, and the values."""
    (rows,), (starts,), values = (
        values_of(parts, False),
        values_of(parts, False),
        values_of(parts, is_complex),
    )
    stored = int(starts[-1]) if len(starts) else 0
    data = [part[: max(stored, 0)] for part in values]
    places = rows[: len(data[0])]
    check_compressed(path, starts, places, len(data[0]), (sides[1], sides[0]))
    numbers = data[0] + 1j * data[1] if is_complex else data[0]
    return scipy.sparse.csc_array((numbers, places, starts), shape=(sides[0], sides[1]))


def words(parts: Parts, sides: tuple[int, ...]) -> Any:
    """Rows of letters."""
    kind, content = parts.element()
    if kind not in LETTERS:
        raise ValueError("text has no letters")
    order = {"<": "-le", ">": "-be"}[parts.order] if LETTERS[kind] in ("utf-16", "utf-32") else ""
    text = bytes(content).decode(LETTERS[kind] + order, "replace")
    if sides[:-1] == (1,):
        return np.array([text])
    if len(text) != math.prod(sides) or len(sides) != 2:
        raise ValueError("text has another number of letters than its sides tell")
    return np.array([text[row :: sides[0]] for row in range(sides[0])], dtype=str)


def check_version_4(path: Path) -> None:
    """Every matrix lies within the file; scipy goes on from where the former says that it ends, backwards too."""
    sizes = {0: 8, 1: 4, 2: 4, 3: 2, 4: 2, 5: 1}
    with path.open("rb") as file:
        end, head, count = path.stat().st_size, file.read(4), 0
        order = "<" if 0 <= struct.unpack("<i", head.ljust(4))[0] <= 5000 else ">"
        while len(head) == 4:
            rest = file.read(16)
            if len(rest) < 16:
                raise ValueError("it ends within a variable")
            kind, rows, columns, imaginary, letters = struct.unpack(f"{order}5i", head + rest)
            item = sizes.get(kind // 10 % 10, 0)
            if min(kind, rows, columns, letters) < 0 or imaginary not in (0, 1) or item == 0:
                raise ValueError("it is no file of MATLAB's")
            size = letters + rows * columns * item * (1 + imaginary)
            check_there(path, "a variable", size, end - file.tell())
            check_memory(path, 2 * size)
            check_parts(path, count := count + 1)
            file.seek(size, 1)
            head = file.read(4)
