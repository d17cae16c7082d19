"""A first reading of an HDF5 file, by a process of its own that may die of it.

HDF5's library believes what a file says: damaged ones end the process or never come back, links and storage lead to
other files, and a few bytes stand for any number of values. This program is run before a file is read
(:mod:`viewspan.io.readers.hdf5`), and needs nothing of the package, so that it starts quickly.

    python -P hdf5_trial.py FILE MOST_BYTES all|some [NAME...]

``all`` reads everything, ``some`` the small parts, and with names only those are read in full. What is wrong is
printed as JSON: ``refused``, a sentence that goes on from the file's name; ``bytes``, if that is too many;
``failed``, what the library says.
"""

import json
import math
import os
import sys
import time
from collections.abc import Iterator
from typing import Any

import h5py

TIMES = 1000
"""As for all files: what is stored may unfold to so many times as much."""
ALWAYS = 1_000_000
"""Bytes that are not worth a look at how they are stored."""
DEEPEST, MOST_PARTS = 32, 10_000
"""Groups in groups, and things in a file."""
BLOCK = 2**24
RESERVE = 2**30
"""Bytes that the process may take beside what it reads."""
PATIENCE, PER_PART, PER_SECOND = 3, 0.005, 20_000_000
"""Seconds of computing for a file, and for each thing in it; and bytes for each further one."""
POINTER = 16


class RefusedError(Exception):
    """With the rest of a sentence."""


class TooLargeError(Exception):
    """With the bytes."""


class Trial:
    """Goes through a file and adds up what it would take."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.total = 0
        self.parts = 0

    def add(self, n_bytes: int) -> None:
        self.total += n_bytes
        if self.total > self.most:
            raise TooLargeError(self.total)
        allow_seconds(PATIENCE + PER_PART * self.parts + self.total / PER_SECOND)

    def read(self, dataset: Any) -> None:
        """Every value of it, in blocks."""
        self.add(size_of(dataset))
        if dataset.shape is None:
            return
        chunk = math.prod(dataset.chunks or ()) * dataset.id.get_type().get_size()
        if chunk > self.most:
            raise TooLargeError(chunk)
        if not dataset.shape:
            self.add(length_of(dataset[()]))
            return
        row = max(1, size_of(dataset) // max(1, dataset.shape[0]))
        step = max(1, BLOCK // row, (dataset.chunks or (1,))[0])
        if dataset.dtype.hasobject:
            step = max(1, min(step, 1000))
        for start in range(0, dataset.shape[0], step):
            values = dataset[start : start + step]
            if dataset.dtype.hasobject:
                self.add(sum(length_of(value) for value in values.ravel().tolist()))

    def read_attributes(self, thing: Any) -> None:
        self.parts += 1
        for name in thing.attrs:
            value = thing.attrs[name]
            self.add(length_of(value.tolist() if hasattr(value, "tolist") else value))


def main(path: str, most: str, mode: str, *names: str) -> None:
    trial = Trial(int(most))
    allow_memory(trial.most + RESERVE)
    allow_seconds(PATIENCE)
    with h5py.File(path, "r") as file:
        for thing in walk(file):
            trial.read_attributes(thing)
            if hasattr(thing, "shape"):
                check_storage(thing)
                if not names and (mode == "all" or size_of(thing) <= ALWAYS):
                    trial.read(thing)
        for name in names:
            for dataset in with_cells(file, file[name]):
                trial.read(dataset)


def walk(file: Any) -> Iterator[Any]:
    """Everything, each once; groups may contain themselves."""
    seen = {address_of(file)}
    waiting = [(file, 0)]
    while waiting:
        group, depth = waiting.pop()
        yield group
        if depth > DEEPEST:
            raise RefusedError(f"has groups in groups, more than {DEEPEST} deep, and is not read")
        for name in group:
            link = group.get(name, getlink=True)
            if isinstance(link, h5py.ExternalLink):
                raise RefusedError(
                    f"has a link to another file in {name!r}, and links are not followed"
                )
            found = group.get(name)  # None for a link to what is not there
            if found is None or address_of(found) in seen:
                continue
            seen.add(address_of(found))
            if len(seen) > MOST_PARTS:
                raise RefusedError(
                    f"holds more than {MOST_PARTS} arrays and groups; save fewer in it"
                )
            if hasattr(found, "shape"):
                yield found
            elif hasattr(found, "keys"):
                waiting.append((found, depth + 1))


def address_of(thing: Any) -> tuple[int, int]:
    info = h5py.h5o.get_info(thing.id)
    return info.fileno, info.addr


def with_cells(file: Any, dataset: Any) -> Iterator[Any]:
    """And what it refers to, which MATLAB calls cells."""
    yield dataset
    if h5py.check_ref_dtype(dataset.dtype):
        if size_of(dataset) > ALWAYS:
            raise RefusedError("has a cell of too many parts")
        for reference in dataset[()].ravel():
            if reference and hasattr(cell := file[reference], "shape"):
                yield cell


def check_storage(dataset: Any) -> None:
    """Its values are in this file, as many as its shape tells, or as few as compression can make of them."""
    if dataset.is_virtual or dataset.external:
        raise RefusedError(
            f"keeps {dataset.name!r} in another file, which is not read; save everything in one"
        )
    stored = dataset.id.get_storage_size()
    most = stored if dataset.chunks is None else max(stored * TIMES, ALWAYS)
    if size_of(dataset) > most:
        raise RefusedError(
            f"is cut short or damaged: {dataset.name!r} should have {size_of(dataset)} bytes, and {stored} are stored"
        )


def size_of(dataset: Any) -> int:
    return (
        math.prod(dataset.shape or ()) * int(dataset.id.get_type().get_size())
        if dataset.shape is not None
        else 0
    )


def length_of(value: Any) -> int:
    """Of a string or a list of numbers; of all of them, in a record."""
    if isinstance(value, tuple | list):
        return POINTER + sum(length_of(part) for part in value)
    if isinstance(value, str | bytes):
        return POINTER + 2 * len(value)  # bytes of the file, and letters made of them
    return POINTER + int(getattr(value, "nbytes", 0))


def allow_memory(n_bytes: int) -> None:
    limit("RLIMIT_AS", n_bytes)


def allow_seconds(seconds: float) -> None:
    """Of computing: a slow disk is no reason to give up."""
    limit("RLIMIT_CPU", math.ceil(max(seconds, time.process_time() + 1)))


def limit(kind: str, value: int) -> None:
    """As far as whoever started this process allows."""
    if os.name == "posix":
        import resource

        _, hard = resource.getrlimit(getattr(resource, kind))
        resource.setrlimit(getattr(resource, kind), (value if hard < 0 else min(value, hard), hard))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RefusedError as problem:
        print(json.dumps({"refused": str(problem)}))  # noqa: T201
    except TooLargeError as problem:
        print(json.dumps({"bytes": problem.args[0]}))  # noqa: T201
    except Exception as problem:  # the library raises whatever it likes
        print(json.dumps({"failed": str(problem) or type(problem).__name__}))  # noqa: T201
