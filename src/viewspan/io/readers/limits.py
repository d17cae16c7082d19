"""How much a file may hold: one rule for all readers, so that no small file fills the memory."""

from pathlib import Path

from viewspan._utils import memory
from viewspan._utils.memory import readable
from viewspan.io.readers.table import InputError

SMALL = 256_000_000
"""Bytes that any file may take in memory, however small it is."""
TIMES = 1000
"""A larger one may take so many times its own size. Deflate ends at 1032, with zeros alone; a matrix of which a
thousandth is not zero reaches 740."""
SHARE = 2
"""Of the memory that is free, a file may take one part in so many."""
CELL = 32
"""Bytes that a cell of a table takes at most while it is read: 8, in a few copies."""
MOST_COLUMNS = 100_000
"""With names: a table of so many takes seconds to read, and ten times as many take minutes."""
MOST_PARTS = 10_000
"""Arrays in one file."""


def most_memory(path: Path) -> int:
    """Bytes that the content of this file may take."""
    most = max(SMALL, TIMES * path.stat().st_size)
    free = memory.available()
    return most if free is None else min(most, free // SHARE)


def check_memory(path: Path, n_bytes: int) -> None:
    """Refuse what would take more than the rule allows, before it is read."""
    size = path.stat().st_size
    if n_bytes > max(SMALL, TIMES * size):
        raise InputError(
            f"{path} has {readable(size)} and would take {readable(n_bytes)} of memory, more than {TIMES} times as "
            "much, as files do that are made to fill it; if it is meant, save it as .npy, or a sparse matrix as .npz."
        )
    free = memory.available()
    if free is not None and n_bytes > free // SHARE:
        raise InputError(
            f"{path} would take {readable(n_bytes)} of memory, and one file may take half of the {readable(free)} "
            "that are free; save it as .npy, which is read in blocks, or a sparse matrix as .npz."
        )


def check_columns(path: Path, count: int) -> None:
    """Of a table whose columns have names."""
    if count > MOST_COLUMNS:
        raise InputError(
            f"{path} has {count} columns, and tables may have {MOST_COLUMNS}; save it as .npy."
        )


def check_parts(path: Path, count: int) -> None:
    if count > MOST_PARTS:
        raise InputError(
            f"{path} holds {count} arrays, and a file may hold {MOST_PARTS}; save fewer in it."
        )


def check_there(path: Path, what: str, wanted: int, there: int) -> None:
    """Refuse a description that says more than the file has."""
    if wanted > there:
        raise InputError(
            f"{path} is cut short or damaged: it says that {what} has {readable(wanted)}, and there are "
            f"{readable(there)}."
        )
