"""Program that opens an untrusted file in a child process (see :mod:`viewspan.io.readers.trial`).

    python -P trial_child.py TASK FILE MAX_BYTES [NAME...]

It imports nothing from the package, so that it starts quickly. It prints one line of JSON:
``refused`` holds the rest of a sentence that starts with the file name, ``n_bytes`` the memory that
the file would need if that is too much, ``failed`` the error message of the library, and
``out_of_memory`` is true if memory ran out. The ``matlab`` task prints the variables and the layout
of the arrays instead, followed by the bytes of the arrays.
"""

import json
import math
import os
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

MAX_EXPANSION = 1000
"""Largest allowed ratio of uncompressed to stored bytes (see :mod:`viewspan.io.readers.limits`)."""
SMALL_DATASET = 1_000_000
"""Size in bytes up to which datasets are read without comparing it with their stored size."""
MAX_GROUP_DEPTH, MAX_PARTS = 32, 10_000
"""Largest depth of nested groups and largest number of arrays and groups in a file."""
BLOCK_SIZE = 2**24
"""Bytes of a dataset that are read at once."""
MEMORY_RESERVE = 2**30
"""Bytes that the process may use in addition to the content of the file."""
MIN_SECONDS, SECONDS_PER_PART, BYTES_PER_SECOND = 3, 0.005, 20_000_000
"""Computing time for any file, for each of its parts, and bytes that add one more second."""
BYTES_PER_OBJECT, BYTES_PER_ARRAY = 16, 200
"""Memory of a Python object and of an array, in addition to its values."""
MATLAB_DENSE = {"double", "single", "char"}.union(
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
)
"""MATLAB classes that have at least one byte per value."""
MATLAB_CLASSES = MATLAB_DENSE | {"logical", "sparse", "cell"}
"""MATLAB classes that are read. Structs, objects and functions are not."""
MATLAB_WORKSPACE = "__function_workspace__"
"""Name under which scipy returns MATLAB's function workspace, which is not the user's data."""
ARRAY_KINDS = "biufcU"
"""Kinds of numpy arrays that are passed on: numbers and text."""


class RefusedError(Exception):
    """A file that is not read. The message is the rest of a sentence that starts with its name."""


class TooLargeError(Exception):
    """A file that needs too much memory. The argument is the number of bytes."""


class Budget:
    """Memory and computing time that a file may use."""

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.n_bytes = 0
        self.n_parts = 0
        self.seconds_before = time.process_time()  # CPU time of imports
        self.allow(0)

    def add(self, n_bytes: int) -> None:
        """Count bytes that are read, and allow computing time for them."""
        self.n_bytes += n_bytes
        self.allow(self.n_bytes)

    def allow(self, n_bytes: int) -> None:
        """Allow computing time for so many bytes, or raise TooLargeError."""
        if n_bytes > self.max_bytes:
            raise TooLargeError(n_bytes)
        seconds = SECONDS_PER_PART * self.n_parts + n_bytes / BYTES_PER_SECOND
        limit_seconds(self.seconds_before + MIN_SECONDS + seconds)


def main(task: str, path: str, max_bytes: str, *names: str) -> None:
    limit_memory(int(max_bytes) + MEMORY_RESERVE)
    if task == "matlab":
        read_matlab(path, int(max_bytes), names)
    else:
        read_hdf5(path, int(max_bytes), names, only_small=task == "hdf5-small")


def read_matlab(path: str, max_bytes: int, names: Sequence[str]) -> None:
    """Print the variables of a MATLAB file, and the arrays of one variable if a name is given."""
    import scipy.io

    budget = Budget(max_bytes)
    variables = [
        (name, [int(size) for size in shape], kind)
        for name, shape, kind in scipy.io.whosmat(path, appendmat=False, chars_as_strings=False)
        if name != MATLAB_WORKSPACE
    ]
    if len(variables) > MAX_PARTS:
        raise RefusedError(f"has more than {MAX_PARTS} variables; save fewer in one file")
    report: dict[str, Any] = {"variables": variables}
    arrays: list[Any] = []
    for name, shape, kind in variables:
        if name in names and kind in MATLAB_CLASSES:
            budget.allow(2 * math.prod(shape) if kind in MATLAB_DENSE else 0)
            budget.allow(max_bytes)  # the number of bytes is not known before reading
            value = scipy.io.loadmat(path, appendmat=False, variable_names=[name])[name]
            report["cell_shape"], report["parts"], arrays = describe(name, value, budget)
            break
    print_report(report)
    for array in arrays:
        sys.stdout.buffer.write(array.tobytes(order="F"))


def describe(
    name: str, value: Any, budget: Budget
) -> tuple[list[int] | None, list[Any], list[Any]]:
    """Return the shape of a cell or None, a description of its parts, and the arrays of all."""
    import scipy.sparse

    if isinstance(value, str):  # scipy returns the message of some errors instead of a value
        raise ValueError(value)
    is_cell = value.dtype.kind == "O"
    parts: list[Any] = []
    arrays: list[Any] = []
    for part in value.ravel() if is_cell else [value]:
        if getattr(part, "dtype", value.dtype).kind not in ARRAY_KINDS:
            raise RefusedError(f"holds more than matrices and text in {name!r}")
        is_sparse = scipy.sparse.issparse(part)
        if is_sparse:
            part = part.tocsc()
        found = [part.data, part.indices, part.indptr] if is_sparse else [part]
        # The parent holds the bytes and the arrays made of them at the same time.
        budget.add(sum(2 * array.nbytes + BYTES_PER_ARRAY for array in found))
        parts.append(
            {
                "sparse_shape": part.shape if is_sparse else None,
                "arrays": [(array.dtype.str, array.shape) for array in found],
            }
        )
        arrays += found
    return (list(value.shape) if is_cell else None), parts, arrays


def read_hdf5(path: str, max_bytes: int, names: Sequence[str], *, only_small: bool) -> None:
    """Read all datasets, the small ones, or the named ones, and check how all are stored."""
    import h5py

    budget = Budget(max_bytes)
    with h5py.File(path, "r") as file:
        for item in walk(file):
            read_attributes(item, budget)
            if hasattr(item, "shape"):
                check_storage(item)
                if not names and (not only_small or size_of(item) <= SMALL_DATASET):
                    read_dataset(item, budget)
        for name in names:
            if hasattr(dataset := file.get(name), "shape"):
                for part in with_cells(file, dataset):
                    read_dataset(part, budget)
    print_report({})


def walk(file: Any) -> Iterator[Any]:
    """Yield every group and dataset once. Groups may contain themselves."""
    import h5py

    seen = {address_of(file)}
    waiting = [(file, 0)]
    while waiting:
        group, depth = waiting.pop()
        yield group
        if depth > MAX_GROUP_DEPTH:
            raise RefusedError(f"has groups nested more than {MAX_GROUP_DEPTH} levels deep")
        for name in group:
            if isinstance(group.get(name, getlink=True), h5py.ExternalLink):
                raise RefusedError(
                    f"links to another file in {name!r}, and such links are not followed"
                )
            item = group.get(name)  # None if the target of the link does not exist
            if item is None or address_of(item) in seen:
                continue
            seen.add(address_of(item))
            if len(seen) > MAX_PARTS:
                raise RefusedError(
                    f"has more than {MAX_PARTS} arrays and groups; save fewer in one file"
                )
            if hasattr(item, "shape"):
                yield item
            elif hasattr(item, "keys"):
                waiting.append((item, depth + 1))


def address_of(item: Any) -> tuple[int, int]:
    import h5py

    info = h5py.h5o.get_info(item.id)
    return info.fileno, info.addr


def with_cells(file: Any, dataset: Any) -> Iterator[Any]:
    """Yield the dataset and, if it is a MATLAB cell, the datasets that it refers to."""
    import h5py

    yield dataset
    if h5py.check_ref_dtype(dataset.dtype):
        if size_of(dataset) > SMALL_DATASET:
            raise RefusedError("has a cell with too many parts")
        for reference in dataset[()].ravel():
            if reference and hasattr(cell := file[reference], "shape"):
                yield cell


def check_storage(dataset: Any) -> None:
    """Raise RefusedError unless the values are in this file and their stored size is plausible."""
    if dataset.is_virtual or dataset.external:
        raise RefusedError(
            f"stores the values of {dataset.name!r} in another file; save everything in one file"
        )
    stored = dataset.id.get_storage_size()
    max_size = stored if dataset.chunks is None else max(stored * MAX_EXPANSION, SMALL_DATASET)
    if size_of(dataset) > max_size:
        raise RefusedError(
            f"is truncated or damaged: {dataset.name!r} should have {size_of(dataset)} bytes, but "
            f"{stored} are stored"
        )


def read_attributes(item: Any, budget: Budget) -> None:
    budget.n_parts += 1
    for name in item.attrs:
        value = item.attrs[name]
        budget.add(memory_of(value.tolist() if hasattr(value, "tolist") else value))


def read_dataset(dataset: Any, budget: Budget) -> None:
    """Read all values in blocks."""
    budget.add(size_of(dataset))
    if dataset.shape is None:
        return
    chunk_size = math.prod(dataset.chunks or ()) * dataset.id.get_type().get_size()
    if chunk_size > budget.max_bytes:
        raise TooLargeError(chunk_size)
    if not dataset.shape:
        budget.add(memory_of(dataset[()]))
        return
    row_size = max(1, size_of(dataset) // max(1, dataset.shape[0]))
    step = max(1, BLOCK_SIZE // row_size, (dataset.chunks or (1,))[0])
    if dataset.dtype.hasobject:
        step = max(1, min(step, 1000))
    for start in range(0, dataset.shape[0], step):
        values = dataset[start : start + step]
        if dataset.dtype.hasobject:
            budget.add(sum(memory_of(value) for value in values.ravel().tolist()))


def size_of(dataset: Any) -> int:
    if dataset.shape is None:
        return 0
    return int(math.prod(dataset.shape) * dataset.id.get_type().get_size())


def memory_of(value: Any) -> int:
    """Return the bytes that a value takes as a Python object, including its parts."""
    if isinstance(value, tuple | list):
        return BYTES_PER_OBJECT + sum(memory_of(part) for part in value)
    if isinstance(value, str | bytes):
        return BYTES_PER_OBJECT + 2 * len(value)  # the bytes and the decoded text
    return BYTES_PER_OBJECT + int(getattr(value, "nbytes", 0))


def limit_memory(n_bytes: int) -> None:
    set_limit("RLIMIT_AS", n_bytes)


def limit_seconds(seconds: float) -> None:
    """Limit computing time. Waiting for a slow disk does not count."""
    set_limit("RLIMIT_CPU", math.ceil(max(seconds, time.process_time() + 1)))


def set_limit(kind: str, value: int) -> None:
    """Set a soft limit, but not above the hard limit. Windows has no such limits."""
    if os.name == "posix":
        import resource

        _, hard = resource.getrlimit(getattr(resource, kind))
        resource.setrlimit(getattr(resource, kind), (value if hard < 0 else min(value, hard), hard))


def print_report(report: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(report).encode() + b"\n")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except RefusedError as problem:
        print_report({"refused": str(problem)})
    except TooLargeError as problem:
        print_report({"n_bytes": problem.args[0]})
    except MemoryError:
        print_report({"out_of_memory": True})
    except Exception as problem:  # libraries raise errors of any type
        words = str(problem) or type(problem).__name__
        if isinstance(problem, KeyError) and problem.args:  # its message is only the key
            words = f"unexpected value {problem.args[0]}"
        print_report({"failed": words})
