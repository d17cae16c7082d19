"""MATLAB's files: matrices, sparse ones too, and cells of matrices, as multi-view data often comes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.io

from viewspan.io.readers import hdf5, mat5
from viewspan.io.readers.arrays import check_kind, no_key, only_table
from viewspan.io.readers.sparse import dense_or_by_rows
from viewspan.io.readers.table import InputError, Part, Reading, Table

if TYPE_CHECKING:
    from viewspan.io.readers.read import Source

HDF5 = b"\x89HDF\r\n\x1a\n"


def read_mat(source: "Source", _: Reading) -> list[Table]:
    """The matrix with the key, or the only one; a cell of matrices is several views."""
    parts = {part.key: part for part in contents_of_mat(source.path)}
    key = source.key
    if key is None:
        cells = [part.key for part in parts.values() if part.kind == "cell"]
        others = [
            key for key in plain(parts) if key not in cells and min(parts[key].shape, default=0) > 1
        ]
        key = cells[0] if len(cells) == 1 and not others else only_table(source.path, plain(parts))
    if key not in parts:
        raise InputError(no_key(source.path, key, parts))
    if parts[key].kind == "char":
        raise InputError(f"{source.path}::{key} holds text, and a view must be real numbers.")
    values = load(source.path, key)
    if parts[key].kind == "cell":
        found = [dense_or_by_rows(source.path, cell) for cell in np.ravel(values)]
        cells = [check_kind(cell, f"{source.text}{{{n + 1}}}") for n, cell in enumerate(found)]
        return [source.table(cell, part=f"{key}{{{n + 1}}}") for n, cell in enumerate(cells)]
    return [source.table(check_kind(dense_or_by_rows(source.path, values), source.text))]


def load(path: Path, key: str) -> Any:
    """One variable."""
    head = beginning(path)
    if is_hdf5(head):
        return load_hdf5(path, key)
    if mat5.is_version_4(head):
        mat5.check_version_4(path)
        return scipy.io.loadmat(path)[key]
    return mat5.load_variable(path, key)


def plain(parts: dict[str, Part]) -> dict[str, Part]:
    """Matrices that are no columns: labels often stand beside the data."""
    return {
        key: part for key, part in parts.items() if len(part.shape) == 2 and min(part.shape) > 1
    } or parts


def beginning(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(520)


def is_hdf5(head: bytes) -> bool:
    return head.startswith(HDF5) or head[512:520] == HDF5


def contents_of_mat(path: Path) -> list[Part]:
    """Names, shapes and kinds of the variables."""
    head = beginning(path)
    if is_hdf5(head):
        hdf5.check_some(path)
        with hdf5.h5py().File(path) as file:
            found = {key: value for key, value in file.items() if hasattr(value, "shape")}
            return [
                Part(key, value.shape[::-1], matlab_kind(value)) for key, value in found.items()
            ]
    if mat5.is_version_4(head):
        mat5.check_version_4(path)
        return [Part(name, shape, kind) for name, shape, kind in scipy.io.whosmat(path)]
    return [Part(name, shape, kind) for name, shape, kind, *_ in mat5.variables_of(path)]


def is_cell(dataset: Any) -> bool:
    return matlab_kind(dataset) == "cell"


def matlab_kind(dataset: Any) -> str:
    """As MATLAB calls it, which keeps letters as numbers."""
    kind = dataset.attrs.get("MATLAB_class", b"")
    name = kind.decode("latin-1") if isinstance(kind, bytes) else str(kind)
    return name if name in {"cell", "char"} else str(dataset.dtype)


def load_hdf5(path: Path, key: str) -> Any:
    """MATLAB keeps columns together, so its matrices lie transposed in the file."""
    hdf5.check_named(path, key)
    with hdf5.h5py().File(path) as file:
        if not is_cell(file[key]):
            return file[key][()].T
        found = [file[reference] for reference in file[key][()].T.ravel()]
        if any(matlab_kind(cell) == "char" for cell in found):
            raise InputError(f"{path}::{key} has text in it, and a view must be real numbers.")
        if not all(hasattr(cell, "shape") for cell in found):
            raise InputError(
                f"{path}::{key} holds more than matrices, and a view must be real numbers."
            )
        cells = np.empty(len(found), dtype=object)
        for position, cell in enumerate(found):
            cells[position] = cell[()].T
        return cells
