"""Sparse matrices of strangers: compiled code goes wherever their indices point, so they are looked at first."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.sparse import is_sparse, points_inside
from viewspan.io.readers.limits import check_memory
from viewspan.io.readers.table import InputError

COMPRESSED = {"csr": 0, "csc": 1}
"""Formats with a pointer for every row, or every column."""
PARTS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "bsr": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
    "dia": ("data", "offsets"),
}


def sparse_of_parts(path: Path, arrays: dict[str, Any]) -> Any:
    """What :func:`scipy.sparse.save_npz` wrote, by rows."""
    kind = arrays["format"].item() if arrays["format"].size == 1 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    lacking = [name for name in PARTS.get(kind, ()) if name not in arrays]
    shape = np.ravel(arrays["shape"])
    if kind not in PARTS or lacking or len(shape) != 2 or shape.dtype.kind not in "iu":
        raise InputError(
            f"{path} is no sparse matrix that scipy wrote: {lacking or kind!r} is not as it should be."
        )
    parts = [arrays[name] for name in PARTS[kind]]
    for name, part in zip(PARTS[kind][1:], parts[1:], strict=True):
        if part.dtype.kind not in "iu" or part.ndim != 1:
            raise InputError(
                f"{path} is damaged: {name!r} of its sparse matrix must be whole numbers."
            )
    data, places = parts[0], tuple(parts[1:])
    if (
        kind == "dia"
        and len(places[0])
        and not (-shape[0] < places[0].min() and places[0].max() < shape[1])
    ):
        raise InputError(f"{path} is damaged: its sparse matrix points outside of itself.")
    size = (int(shape[0]), int(shape[1]))
    check_lengths(path, size, data.size)
    make = getattr(scipy.sparse, f"{kind}_array")
    return by_rows(path, make((data, places) if kind == "coo" else (data, *places), shape=size))


def by_rows(path: Path, array: Any) -> Any:
    """As csr, after a look at where its indices point."""
    if array.format == "bsr":
        check_compressed(path, array.indptr, array.indices, len(array.data), blocks_of(array))
    elif array.format in COMPRESSED:
        axis = COMPRESSED[array.format]
        check_compressed(
            path,
            array.indptr,
            array.indices,
            len(array.data),
            (array.shape[axis], array.shape[1 - axis]),
        )
    check_lengths(path, array.shape, array.data.size)
    return scipy.sparse.csr_array(array)


def blocks_of(array: Any) -> tuple[int, int]:
    height, width = array.blocksize
    return array.shape[0] // height, array.shape[1] // width


def check_lengths(path: Path, shape: tuple[int, ...], stored: int) -> None:
    """Rows cost memory also where they are empty."""
    if min(shape) < 0:
        raise InputError(f"{path} is damaged: its sparse matrix has {min(shape)} rows or columns.")
    check_memory(path, 16 * (shape[0] + shape[1] + stored))


def check_compressed(
    path: Path, starts: Any, places: Any, stored: int, shape: tuple[int, int]
) -> None:
    if not points_inside(starts, places, stored, shape):
        raise InputError(f"{path} is damaged: its sparse matrix points outside of itself.")


def dense_or_by_rows(path: Path, values: Any) -> Any:
    """An array, or a sparse one by rows."""
    return by_rows(path, values) if is_sparse(values) else np.asarray(values)
