"""Limits on the content of files, so that no small file can fill the memory."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from viewspan._utils import memory
from viewspan._utils.memory import readable
from viewspan.io.readers.table import InputError

MIN_MEMORY_LIMIT = 256_000_000
"""Bytes of memory that the content of any file may use."""
MAX_EXPANSION = 1000
"""Largest allowed ratio of the memory of the content to the size of the file.

Deflate reaches 1032 for zeros only. A matrix with one nonzero value in a thousand reaches 740.
"""
MAX_FREE_SHARE = 0.5
"""Share of the free memory that one file may use."""
BYTES_PER_CELL = 32
"""Bytes of memory per cell while a table is read: 8 bytes in up to four copies."""
MAX_COLUMNS = 100_000
"""Largest number of named columns. Such a table takes seconds to read, a larger one minutes."""
MAX_ARRAYS = 10_000
"""Largest number of arrays in one file."""


def max_memory(path: Path) -> int:
    """Return the number of bytes that the content of this file may use."""
    limit = max(MIN_MEMORY_LIMIT, MAX_EXPANSION * path.stat().st_size)
    return min(limit, int(memory.available() * MAX_FREE_SHARE))


def check_memory(path: Path, n_bytes: int) -> None:
    """Raise InputError if the content of the file needs more memory than it may use."""
    size = path.stat().st_size
    if n_bytes > max(MIN_MEMORY_LIMIT, MAX_EXPANSION * size):
        raise InputError(
            f"{path} has {readable(size)} and would need {readable(n_bytes)} of memory, which is "
            f"more than {MAX_EXPANSION} times its size; if this is correct, save the data as .npy, "
            "or a sparse matrix as .npz."
        )
    free = memory.available()
    if n_bytes > free * MAX_FREE_SHARE:
        raise InputError(
            f"{path} would need {readable(n_bytes)} of memory, but one file may use at most half "
            f"of the {readable(free)} that are free; save the data as .npy, which is read in "
            "blocks, or a sparse matrix as .npz."
        )


def check_column_count(path: Path, count: int) -> None:
    if count > MAX_COLUMNS:
        raise InputError(
            f"{path} has {count} columns, but a table may have at most {MAX_COLUMNS}; save it as "
            ".npy."
        )


def check_unique_columns(path: Path, names: Sequence[str]) -> None:
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise InputError(
            f"{path} has more than one column {repeated[0]!r}; column names must be unique."
        )


def check_array_count(path: Path, count: int) -> None:
    if count > MAX_ARRAYS:
        raise InputError(
            f"{path} holds {count} arrays, but a file may hold at most {MAX_ARRAYS}; save fewer "
            "in one file."
        )


def check_complete(path: Path, name: str, expected: int, available: int) -> None:
    """Raise InputError if the file has fewer bytes than its header says."""
    if expected > available:
        raise InputError(
            f"{path} is truncated or damaged: {name} should have {readable(expected)}, but the "
            f"file has only {readable(available)}."
        )
