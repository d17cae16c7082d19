"""Checks of the views that a user passes: types, shapes and matching samples."""

from collections.abc import Iterator, Mapping
from numbers import Number
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array

from viewspan.inputs.frames import (
    as_array,
    check_not_lazy,
    check_shape_and_dtype,
    is_dask,
    replace_na_by_nan,
)
from viewspan.inputs.missing import ALLOW_HINT, raise_if_unusable
from viewspan.inputs.sample_ids import check_frames_aligned
from viewspan.inputs.views import MIN_SAMPLES, Views


def check_views(
    views: Any, *, caller: str, min_samples: int = MIN_SAMPLES, missing: bool = False
) -> Views:
    """Return the views of a user as a record; raise ValueError or TypeError if they are unusable.

    Parameters
    ----------
    views : list, tuple or dict of two-dimensional arrays or data frames, or one of these
    caller : str
        Name of the method, for messages.
    min_samples : int
        Smallest number of samples.
    missing : bool
        Whether rows of NaN mark missing samples.

    Returns
    -------
    Views
        They have not been read: values that are not finite are found by :meth:`Views.read`.
    """
    single = is_one_view(views)
    names, parts = name_views(views, single)
    if not parts:
        raise ValueError(
            f"{caller} needs at least one view, an array of shape (n_samples, n_features). "
            f"Got an empty {type(views).__name__}."
        )
    check_frames_aligned(names, parts)
    arrays = [
        check_view(part, name, caller, min_samples, missing)
        for name, part in zip(names, parts, strict=True)
    ]
    check_same_n_samples(names, [array.shape[0] for array in arrays])
    all_single_precision = all(array.dtype == np.float32 for array in arrays)
    dtype = np.dtype(np.float32 if all_single_precision else np.float64)
    return Views(arrays, names, single, dtype, missing)


def check_same_n_samples(names: list[str], counts: list[int]) -> None:
    """Raise ValueError unless all views have the same number of samples."""
    if len(set(counts)) == 1:
        return
    listed = ", ".join(f"{name} has {count}" for name, count in zip(names, counts, strict=True))
    raise ValueError(
        "All views must have the same samples, one per row, in the same order. Their numbers of "
        f"samples differ: {listed}. Keep the samples that all views have; or insert rows of NaN "
        "for missing samples, for example with frame.reindex(ids), and set missing='allow', a "
        "parameter of CLRSC."
    )


def is_one_view(views: Any) -> bool:
    """Return whether this is one table instead of a collection of tables.

    A list, tuple or dict is a collection, unless it is a list of rows of numbers.
    """
    if isinstance(views, Mapping):
        return scipy.sparse.issparse(views)  # a DOK matrix is a dict
    if isinstance(views, list | tuple):
        return len(views) > 0 and all(is_row(item) for item in views)
    return True


def is_row(item: Any) -> bool:
    """Return whether this is a list or tuple of numbers or strings."""
    return (
        isinstance(item, list | tuple)
        and len(item) > 0
        and all(isinstance(value, Number | str) for value in item)
    )


def name_views(views: Any, single: bool) -> tuple[list[str], list[Any]]:
    """Return the names of the views for messages, and the views in a list."""
    if isinstance(views, Iterator):
        raise TypeError(
            "Views must be given as a list, tuple or dict of arrays. "
            f"Got a {type(views).__name__}; pass list(views) instead."
        )
    if single:
        return ["X"], [views]
    if isinstance(views, Mapping):
        return [str(key) for key in views], list(views.values())
    return [f"view {position}" for position in range(len(views))], list(views)


def check_view(view: Any, name: str, caller: str, min_samples: int, missing: bool) -> Any:
    """Return one view as an array of real numbers, without reading or copying it if it is one."""
    if not is_dask(view):
        check_no_masked_values(view, name, missing)
    try:
        if is_dask(view):
            return check_dask_array(view, caller, min_samples)
        return check_table(view, caller, min_samples, missing)
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error


def check_no_masked_values(view: Any, name: str, missing: bool) -> None:
    """Raise ValueError for missing values of a data frame and masked values of an array."""
    if hasattr(view, "isna") and not missing:
        unknown = np.asarray(view.isna())
        has_missing_rows = unknown.ndim == 2 and bool(unknown.all(axis=1).any())
        hint = ALLOW_HINT if has_missing_rows else ""
        raise_if_unusable(name, int(unknown.sum()), 0, int(np.size(view)), hint=hint)
    if isinstance(view, np.ma.MaskedArray) and np.ma.getmaskarray(view).any():
        raise ValueError(
            f"{name} is a masked array with masked values; fill them first, for example with "
            ".filled(value)."
        )


def check_table(view: Any, caller: str, min_samples: int, missing: bool) -> Any:
    """Return a table of any kind, except Dask's, as an array of real numbers."""
    check_not_lazy(view)
    view, sparse = as_array(view), scipy.sparse.issparse(view)
    keeps_type = sparse or hasattr(view, "dtypes") or isinstance(view, np.matrix)
    table = view if keeps_type else np.asarray(view)
    check_shape_and_dtype(table)
    if missing and hasattr(table, "isna"):
        table = replace_na_by_nan(table)
    array = check_array(
        table,
        accept_sparse="csr",
        ensure_all_finite=False,
        ensure_min_samples=min_samples,
        estimator=caller,
    )
    if sparse and not array.has_canonical_format:
        # duplicate entries of a sparse matrix stand for their sum
        array = array.copy()
        array.sum_duplicates()
    return array


def check_dask_array(view: Any, caller: str, min_samples: int) -> Any:
    """Return a Dask array with whole rows in every chunk, checked without computing it."""
    if not hasattr(view, "chunks"):
        raise TypeError(
            f"{caller} takes Dask arrays. Got a Dask {type(view).__name__}; convert it with "
            ".to_dask_array(lengths=True)."
        )
    if isinstance(getattr(view, "_meta", None), np.ma.MaskedArray):
        raise ValueError(
            "it is a masked array; fill it first, for example with "
            "dask.array.ma.filled(array, value)."
        )
    if np.isnan(view.shape[0]):
        raise ValueError(
            "the number of samples is not known yet; call .compute_chunk_sizes() on the Dask array "
            "first."
        )
    check_shape_and_dtype(view)
    # an array of the same shape and type that takes no memory
    empty = np.broadcast_to(np.empty((), dtype=view.dtype), view.shape)
    check_array(empty, ensure_all_finite=False, ensure_min_samples=min_samples, estimator=caller)
    return view.rechunk({1: -1})
