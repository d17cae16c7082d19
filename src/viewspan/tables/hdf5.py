"""HDF5 can point at other files, and at numbers that nobody stored; both are looked for before anything is read."""

import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from viewspan._optional import require
from viewspan.tables.limits import SMALL, check_memory, check_parts
from viewspan.tables.table import InputError

DEEPEST = 32
"""Groups in groups."""
FEWEST = 64
"""Entries of any length that are read together."""
POINTER = 16
"""Bytes for an entry of a length of its own, beside that length."""


def h5py() -> Any:
    return require("h5py", "omics", purpose="Reading HDF5 files")


def check_file(path: Path) -> None:
    """Everything in it, for readers that read everything."""
    with h5py().File(path, "r") as file:
        check_datasets(path, walk(path, file))


def check_links(path: Path) -> None:
    """That nothing in it leads to another file, or nowhere."""
    with h5py().File(path, "r") as file:
        for dataset in walk(path, file):
            check_storage(path, dataset)


def walk(path: Path, file: Any) -> Iterator[Any]:
    """All datasets, each once; groups may contain themselves."""
    seen = {address_of(file)}
    waiting = [(file, 0)]
    while waiting:
        group, depth = waiting.pop()
        if depth > DEEPEST:
            raise InputError(f"{path} has groups in groups, more than {DEEPEST} deep, and is not read.")
        for name in group:
            refuse_links_away(path, group, name)
            found = group.get(name)  # None for a link to what is not there
            if found is None or address_of(found) in seen:
                continue
            seen.add(address_of(found))
            check_parts(path, len(seen))
            if hasattr(found, "shape"):
                yield found
            elif hasattr(found, "keys"):
                waiting.append((found, depth + 1))


def address_of(thing: Any) -> Any:
    info = h5py().h5o.get_info(thing.id)
    return info.fileno, info.addr


def refuse_links_away(path: Path, group: Any, name: str) -> None:
    kind = group.get(name, getlink=True)
    if isinstance(kind, h5py().ExternalLink):
        raise InputError(f"{path} has a link to another file, {kind.filename!r}, in {name!r}; links are not followed.")


def check_storage(path: Path, dataset: Any) -> None:
    """Its numbers are in this file."""
    if dataset.is_virtual or dataset.external:
        raise InputError(f"{path} keeps {dataset.name!r} in another file, which is not read; save it in one file.")


def check_datasets(path: Path, datasets: Iterable[Any]) -> None:
    """All of them together fit into memory."""
    total = 0
    for dataset in datasets:
        check_storage(path, dataset)
        total += math.prod(dataset.shape or ()) * max(dataset.dtype.itemsize, 1)
        check_memory(path, total)
        if dataset.dtype.hasobject:
            total += lengths_in(path, dataset, total)


def lengths_in(path: Path, dataset: Any, total: int) -> int:
    """Bytes of entries that have a length of their own: many may point at the same one, so they are counted in
    blocks that cannot take more than the limit each.
    """
    if h5py().check_ref_dtype(dataset.dtype) or not dataset.shape:
        return 0
    rows, row = dataset.shape[0], max(1, math.prod(dataset.shape[1:]))
    block = max(1, max(FEWEST, SMALL // path.stat().st_size) // row)
    found = 0
    for start in range(0, rows, block):
        found += sum(POINTER + size_of(value) for value in dataset[start : start + block].ravel().tolist())
        check_memory(path, total + found)
    return found


def size_of(value: Any) -> int:
    """Of a string or a list of numbers; of all of them, in a record."""
    if isinstance(value, tuple):
        return sum(size_of(part) for part in value)
    return int(value.nbytes) if hasattr(value, "nbytes") else len(value) if hasattr(value, "__len__") else POINTER
