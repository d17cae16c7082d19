"""Checks of sparse matrices from files. Indices out of range would crash compiled code."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.sparse import has_valid_structure, is_sparse
from viewspan.io.readers.limits import check_memory
from viewspan.io.readers.table import InputError

ARRAY_NAMES = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}
"""Arrays that :func:`scipy.sparse.save_npz` writes for each format."""
REQUIRED_KEYS = {"data", "shape", "format"}
"""Keys of every .npz file that holds a sparse matrix."""
ALL_KEYS = REQUIRED_KEYS.union(*ARRAY_NAMES.values())
"""Keys that are read from such a file."""


def sparse_from_arrays(path: Path, arrays: dict[str, Any]) -> Any:
    """Return the matrix that :func:`scipy.sparse.save_npz` wrote as a csr array."""
    kind = arrays["format"].item() if arrays["format"].size == 1 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    missing = [name for name in ARRAY_NAMES.get(kind, ()) if name not in arrays]
    shape = np.ravel(arrays["shape"])
    if kind not in ARRAY_NAMES or missing or len(shape) != 2 or shape.dtype.kind not in "iu":
        raise InputError(
            f"{path} is not a sparse matrix written by scipy.sparse.save_npz: "
            + (f"it has no {missing[0]!r}." if missing else "its 'format' or 'shape' is invalid.")
        )
    data, *indices = [arrays[name] for name in ARRAY_NAMES[kind]]
    for name, part in zip(ARRAY_NAMES[kind][1:], indices, strict=True):
        if part.dtype.kind not in "iu" or part.ndim != 1:
            raise InputError(
                f"{path} is damaged: {name!r} of its sparse matrix must be a vector of integers."
            )
    n_rows, n_columns = int(shape[0]), int(shape[1])
    if kind == "dia" and not ((-n_rows < indices[0]) & (indices[0] < n_columns)).all():
        raise InputError(out_of_range(path))
    check_shape(path, (n_rows, n_columns), data.size)
    make = getattr(scipy.sparse, f"{kind}_array")
    content = (data, tuple(indices)) if kind == "coo" else (data, *indices)
    return checked_csr(path, make(content, shape=(n_rows, n_columns)))


def checked_csr(path: Path, array: Any) -> Any:
    """Return a sparse array as csr, or raise InputError if an index is out of range."""
    lines, width = array.shape
    if array.format == "csc":
        lines, width = width, lines
    if array.format == "bsr":
        lines, width = lines // array.blocksize[0], width // array.blocksize[1]
    if array.format in {"csr", "csc", "bsr"}:
        check_compressed(path, array.indptr, array.indices, len(array.data), (lines, width))
    check_shape(path, array.shape, array.data.size)
    return scipy.sparse.csr_array(array)


def check_shape(path: Path, shape: tuple[int, ...], n_stored: int) -> None:
    """Raise InputError if a sparse matrix is too large. Empty rows need memory, too."""
    if min(shape) < 0:
        raise InputError(f"{path} is damaged: its sparse matrix has {min(shape)} rows or columns.")
    check_memory(path, 16 * (shape[0] + shape[1] + n_stored))


def check_compressed(
    path: Path, indptr: Any, indices: Any, n_stored: int, shape: tuple[int, int]
) -> None:
    if not has_valid_structure(indptr, indices, n_stored, shape):
        raise InputError(out_of_range(path))


def out_of_range(path: Path) -> str:
    return f"{path} is damaged: its sparse matrix has indices out of range."


def dense_or_csr(path: Path, values: Any) -> Any:
    """Return a dense array as it is, and a sparse one as csr."""
    return checked_csr(path, values) if is_sparse(values) else np.asarray(values)
