"""Reader of MATLAB files: matrices, sparse matrices, and cells of matrices.

A file of version 7.3 is HDF5. A child process opens it first (:mod:`viewspan.io.readers.hdf5`),
then this process reads it. A file of version 4 to 7 is read by scipy in the child process only, and
the child passes the arrays on. scipy can read outside of its buffers if a file is damaged. This
does not always crash, so a successful trial does not prove that this process could read the file
safely.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from viewspan.io.readers import hdf5
from viewspan.io.readers.arrays import check_kind, missing_key, only_table
from viewspan.io.readers.source import Source
from viewspan.io.readers.sparse import check_compressed, dense_or_csr
from viewspan.io.readers.table import InputError, Part, Reading, Table
from viewspan.io.readers.trial import run_trial
from viewspan.io.readers.views import view_of

HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"


def read_mat(source: Source, _: Reading) -> list[Table]:
    """Return the matrix with the key, or the only one. A cell of matrices gives several views."""
    key = source.key if source.key is not None else only_matrix(source.path)
    kind, values = load(source.path, key)
    if kind == "char":
        raise InputError(f"{source.path}::{key} holds text, but a view must hold real numbers.")
    if values.dtype != object:
        return [view_of(source, check_kind(dense_or_csr(source.path, values), source.text))]
    tables = []
    for number, cell in enumerate(values.ravel(), start=1):
        name = f"{key}{{{number}}}"  # as MATLAB writes it
        cell_values = check_kind(dense_or_csr(source.path, cell), f"{source.path}::{name}")
        tables.append(view_of(source, cell_values, part=name))
    return tables


def only_matrix(path: Path) -> str:
    """Return the name of the only matrix, or of the only cell if there is no matrix.

    Vectors are ignored if there are matrices, because files often contain labels.
    """
    parts = {part.key: part for part in contents_of_mat(path)}
    wide = {key: part for key, part in parts.items() if min(part.shape, default=0) > 1}
    cells = [key for key, part in parts.items() if part.kind == "cell"]
    if len(cells) == 1 and not wide.keys() - set(cells):
        return cells[0]
    matrices = {key: part for key, part in wide.items() if len(part.shape) == 2}
    return only_table(path, matrices or parts)


def contents_of_mat(path: Path) -> list[Part]:
    """Return the names, shapes and classes of the variables."""
    if is_hdf5(path):
        hdf5.check_structure(path)
        with hdf5.h5py().File(path) as file:
            return parts_of_hdf5(file)
    report, _ = run_trial(path, "matlab")
    return parts_of_report(report)


def load(path: Path, key: str) -> tuple[str, Any]:
    """Return the class and the values of one variable. The values of a cell are objects."""
    return load_hdf5(path, key) if is_hdf5(path) else load_in_child(path, key)


def is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(512 + len(HDF5_SIGNATURE))
    return head.startswith(HDF5_SIGNATURE) or head[512:] == HDF5_SIGNATURE


def load_in_child(path: Path, key: str) -> tuple[str, Any]:
    """Read a variable of a file of version 4 to 7 in a child process."""
    report, data = run_trial(path, "matlab", key)
    kind = kind_of(path, key, parts_of_report(report))
    if "parts" not in report:
        raise InputError(
            f"{path}::{key} has the MATLAB class {kind!r}, but a view must hold real numbers."
        )
    arrays = arrays_of(report, data)
    parts = [value_of(path, part["sparse_shape"], arrays) for part in report["parts"]]
    if report["cell_shape"] is None:
        return kind, parts[0]
    return kind, np.fromiter(parts, dtype=object).reshape(report["cell_shape"])


def parts_of_report(report: dict[str, Any]) -> list[Part]:
    return [Part(name, tuple(shape), kind) for name, shape, kind in report["variables"]]


def kind_of(path: Path, key: str, parts: list[Part]) -> str:
    """Return the class of a variable, or raise InputError if it does not exist."""
    found = {part.key: part for part in parts}
    if key not in found:
        raise InputError(missing_key(path, key, found))
    return found[key].kind


def arrays_of(report: dict[str, Any], data: memoryview) -> Iterator[Any]:
    """Yield the arrays that the child wrote one after the other."""
    offset = 0
    for dtype, shape in (array for part in report["parts"] for array in part["arrays"]):
        array = np.ndarray(shape, dtype, buffer=data, offset=offset, order="F").copy(order="F")
        offset += array.nbytes
        yield array


def value_of(path: Path, sparse_shape: list[int] | None, arrays: Iterator[Any]) -> Any:
    if sparse_shape is None:
        return next(arrays)
    data, indices, indptr = next(arrays), next(arrays), next(arrays)
    n_rows, n_columns = sparse_shape
    check_compressed(path, indptr, indices, len(data), (n_columns, n_rows))
    return scipy.sparse.csc_array((data, indices, indptr), shape=(n_rows, n_columns))


def load_hdf5(path: Path, key: str) -> tuple[str, Any]:
    """Read a variable of a file of version 7.3, where matrices are stored transposed."""
    hdf5.check_dataset(path, key)
    with hdf5.h5py().File(path) as file:
        kind = kind_of(path, key, parts_of_hdf5(file))
        if kind != "cell":
            return kind, file[key][()].T
        cells = [file[reference] for reference in file[key][()].T.ravel()]
        if not all(hasattr(cell, "shape") for cell in cells):
            raise InputError(f"{path} holds more than matrices and text in {key!r}.")
        if any(matlab_class(cell) == "char" for cell in cells):
            raise InputError(f"{path}::{key} holds text, but a view must hold real numbers.")
        return kind, np.fromiter((cell[()].T for cell in cells), dtype=object, count=len(cells))


def parts_of_hdf5(file: Any) -> list[Part]:
    return [
        Part(key, value.shape[::-1], matlab_class(value))
        for key, value in file.items()
        if hasattr(value, "shape")
    ]


def matlab_class(dataset: Any) -> str:
    """Return cell or char if MATLAB wrote one, else the numpy type. Text is stored as numbers."""
    name = dataset.attrs.get("MATLAB_class", b"")
    name = name.decode("latin-1") if isinstance(name, bytes) else str(name)
    return name if name in {"cell", "char"} else str(dataset.dtype)
