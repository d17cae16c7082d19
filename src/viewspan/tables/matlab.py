"""MATLAB's files: matrices, sparse ones too, and cells of matrices, as multi-view data often comes."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.io
import scipy.sparse

from viewspan._optional import require
from viewspan._sparse import is_sparse
from viewspan.tables.arrays import check_kind, no_key, only_table
from viewspan.tables.table import InputError, Part, Reading, Table

if TYPE_CHECKING:
    from viewspan.tables.read import Source

HDF5 = b"\x89HDF\r\n\x1a\n"
NEW = "MATLAB 7.3"


def read_mat(source: "Source", _: Reading) -> list[Table]:
    """The matrix with the key, or the only one; a cell of matrices is several views."""
    parts = {part.key: part for part in contents_of_mat(source.path)}
    key = source.key
    if key is None:
        cells = [part.key for part in parts.values() if part.kind == "cell"]
        others = [key for key in plain(parts) if key not in cells and min(parts[key].shape, default=0) > 1]
        key = cells[0] if len(cells) == 1 and not others else only_table(source.path, plain(parts))
    if key not in parts:
        raise InputError(no_key(source.path, key, parts))
    if parts[key].kind == "char":
        raise InputError(f"{source.path}::{key} holds text, and a view must be real numbers.")
    values = load(source.path, key)
    if parts[key].kind == "cell":
        cells = [check_kind(as_array(cell), f"{source.text}{{{n + 1}}}") for n, cell in enumerate(np.ravel(values))]
        return [source.table(cell, part=f"{key}{{{n + 1}}}") for n, cell in enumerate(cells)]
    return [source.table(check_kind(as_array(values), source.text))]


def load(path: Path, key: str) -> Any:
    return load_hdf5(path, key) if is_hdf5(path) else scipy.io.loadmat(path)[key]


def plain(parts: dict[str, Part]) -> dict[str, Part]:
    """Matrices that are no columns: labels often stand beside the data."""
    return {key: part for key, part in parts.items() if len(part.shape) == 2 and min(part.shape) > 1} or parts


def as_array(values: Any) -> Any:
    return scipy.sparse.csr_array(values) if is_sparse(values) else np.asarray(values)


def is_hdf5(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(520)
    return head.startswith(HDF5) or head[512:520] == HDF5


def contents_of_mat(path: Path) -> list[Part]:
    """Names, shapes and kinds of the variables."""
    if is_hdf5(path):
        h5py = require("h5py", "omics", purpose=f"Reading {NEW} files")
        with h5py.File(path) as file:
            found = {key: value for key, value in file.items() if hasattr(value, "shape")}
            return [Part(key, value.shape[::-1], matlab_kind(value)) for key, value in found.items()]
    return [Part(name, shape, kind) for name, shape, kind in scipy.io.whosmat(path)]


def is_cell(dataset: Any) -> bool:
    return matlab_kind(dataset) == "cell"


def matlab_kind(dataset: Any) -> str:
    """As MATLAB calls it, which keeps letters as numbers."""
    kind = dataset.attrs.get("MATLAB_class", b"")
    name = kind.decode() if isinstance(kind, bytes) else str(kind)
    return name if name in {"cell", "char"} else str(dataset.dtype)


def load_hdf5(path: Path, key: str) -> Any:
    """MATLAB keeps columns together, so its matrices lie transposed in the file."""
    h5py = require("h5py", "omics", purpose=f"Reading {NEW} files")
    with h5py.File(path) as file:
        if not is_cell(file[key]):
            return file[key][()].T
        references = file[key][()].T.ravel()
        cells = np.empty(len(references), dtype=object)
        for position, reference in enumerate(references):
            if matlab_kind(file[reference]) == "char":
                raise InputError(f"{path}::{key} has text in it, and a view must be real numbers.")
            cells[position] = file[reference][()].T
        return cells
