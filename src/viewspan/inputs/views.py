"""A list of views, checked once at the door: same samples, finite numbers, one message that says what is wrong
and where.
"""

import mmap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
import scipy.sparse.csgraph
from sklearn.utils.validation import check_array

from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Array, Block
from viewspan._utils.warnings import warn
from viewspan.inputs.frames import as_array, check_kind, is_dask, refuse_lazy, with_nan
from viewspan.inputs.sample_ids import check_frames_aligned

MIN_SAMPLES = 2
WHOLE_ROWS = ", or take missing='allow' where it is offered: whole rows of NaN are samples that the view does not have"
IN_PART = ": a sample is absent from a view as a whole row of NaN, or not at all"


@dataclass(frozen=True)
class Views:
    """Checked views.

    Attributes
    ----------
    arrays : list of arrays (n_samples, n_features_i)
        As they were given where they are arrays of real numbers: in memory, on disk, sparse (CSR), or Dask's. Whether
        they are finite is seen when they are read.
    names : list of str
        What messages call them: the keys of a dict, else "view 0", "view 1", …
    single : bool
        Whether one array was given instead of a collection.
    dtype : dtype
        float32 if every view was float32, else float64.
    missing : bool
        Whether samples may be absent from views, as rows of NaN.
    observed : array (n_views, n_samples) of bool, optional
        Which samples every view has; None if all, or if nobody has looked yet. Absent ones are read as zeros.
    """

    arrays: list[Any]
    names: list[str]
    single: bool
    dtype: np.dtype[Any]
    missing: bool = False
    observed: AnyArray | None = None

    @property
    def n_samples(self) -> int:
        return int(self.arrays[0].shape[0])

    @property
    def n_features(self) -> tuple[int, ...]:
        return tuple(int(array.shape[1]) for array in self.arrays)

    def rows(self, start: int, stop: int) -> "Views":
        """Some of the samples, without copying them."""
        return replace(self, arrays=[array[start:stop] for array in self.arrays])

    def read(self, *, first: int | None = None) -> "Views":
        """In memory, as float64, finite; sparse views stay sparse where that is smaller.

        Parameters
        ----------
        first : int, optional
            Which of all samples the first one is, if these are some of them; for messages.
        """
        arrays = [read_view(array, first) for array in self.arrays]
        observed = observed_in(arrays, self.names, first) if self.missing else None
        if observed is not None:
            arrays = [
                with_zeros(array, present) for array, present in zip(arrays, observed, strict=True)
            ]
        for array, name in zip(arrays, self.names, strict=True):
            check_finite(array, name, first, missing=self.missing)
        return replace(self, arrays=arrays, observed=observed)


def read_view(array: Any, first: int | None) -> Block:
    """One view in memory."""
    if is_dask(array):
        array = array.compute()
    check_still_whole(array)
    block: Block
    if is_sparse(array):
        block = scipy.sparse.csr_array(array, dtype=np.float64)
        if (
            block.shape[1] <= block.shape[0] and first is None
        ):  # the square arrays to come are larger than this
            block = block.toarray()
    else:
        block = np.asarray(array, dtype=np.float64)
    return block


def check_still_whole(array: Any) -> None:
    """A file that was mapped and has become shorter since: reading beyond its end would kill the process (SIGBUS). What
    is cut while a block is being read can still do that.
    """
    while array is not None and not hasattr(array, "_mmap"):
        array = getattr(array, "base", None)
    mapped = getattr(array, "_mmap", None)
    if array is None or mapped is None:
        return
    begin = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY
    if mapped.size() < begin + len(mapped):
        raise OSError(
            f"{array.filename} has become shorter while it was read: {mapped.size()} bytes are left of "
            f"{begin + len(mapped)}. Write it anew, under another name, and begin again."
        )


def observed_in(
    arrays: Sequence[Block], names: Sequence[str], first: int | None
) -> AnyArray | None:
    """Which samples every view has; None if all have all."""
    observed = np.array([~absent_rows(array) for array in arrays])
    if observed.all():
        return None
    nowhere = np.flatnonzero(~observed.any(axis=0))
    if len(nowhere):
        raise ValueError(
            f"Of the samples, {len(nowhere)} are absent from every view, the first in row {nowhere[0] + (first or 0)}; "
            "each must be in one at least. Remove them."
        )
    for name, present in zip(names, observed, strict=True):
        if first is None and not present.any() and observed.shape[1] >= MIN_SAMPLES:
            warn(f"{name} has no sample at all and no say in the result.")
    return observed


def report_unlinked(views: Views) -> None:
    """Say where nothing tells which clusters of some views are those of others."""
    if views.observed is None:
        return
    used = np.flatnonzero(views.observed.any(axis=1))
    present = views.observed[used].astype(float)
    n_parts, parts = scipy.sparse.csgraph.connected_components(present @ present.T)
    if n_parts > 1:
        first, other = (views.names[used[np.flatnonzero(parts == part)[0]]] for part in (0, 1))
        warn(
            f"No sample links {first} with {other}, directly or through other views: nothing tells which clusters of "
            "one are those of the other."
        )


def absent_rows(block: Block) -> AnyArray:
    """Rows of NaN; of sparse rows, what is stored."""
    if not is_sparse(block):
        return np.asarray(np.isnan(block).all(axis=1))
    stored = np.diff(block.indptr)
    rows = np.repeat(np.arange(len(stored)), stored)
    unknown: AnyArray = np.bincount(rows, np.isnan(block.data), minlength=len(stored))
    return np.asarray((stored > 0) & (unknown == stored))


def with_zeros(block: Block, present: AnyArray) -> Block:
    """In place of rows that are absent."""
    if not is_sparse(block):
        return np.where(present[:, None], block, 0.0)
    kept = scipy.sparse.csr_array(block, copy=True)  # or the caller's own indices would move
    kept.data = np.where(np.repeat(present, np.diff(block.indptr)), block.data, 0.0)
    kept.eliminate_zeros()
    return kept


def check_views(
    views: Any, *, caller: str, min_samples: int = MIN_SAMPLES, missing: bool = False
) -> Views:
    """Turn what the user gave into arrays of the same samples.

    Parameters
    ----------
    views : list, tuple or dict of two-dimensional arrays or data frames, or one of these
    caller : str
        The method to name in messages.
    min_samples : int
    missing : bool
        Whether rows of NaN stand for absent samples.
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
    counts = [array.shape[0] for array in arrays]
    if len(set(counts)) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(
            f"All views must have the same samples, one per row, in the same order: {listed}. "
            "Keep the samples that all of them have; or, where it is offered, take missing='allow' with rows of NaN "
            "for absent ones, as frame.reindex(ids) makes them."
        )
    dtype = (
        np.dtype(np.float32)
        if all(array.dtype == np.float32 for array in arrays)
        else np.dtype(np.float64)
    )
    return Views(arrays, names, single, dtype, missing)


def is_one_view(views: Any) -> bool:
    """One table rather than a collection of tables: anything that is not a list, tuple or dict, or a list of
    rows of numbers.
    """
    if isinstance(views, Mapping):
        return scipy.sparse.issparse(views)  # a DOK matrix is a dict
    if isinstance(views, list | tuple):
        return len(views) > 0 and all(is_row(item) for item in views)
    return True


def is_row(item: Any) -> bool:
    return (
        isinstance(item, list | tuple)
        and len(item) > 0
        and all(isinstance(value, Number | str) for value in item)
    )


def name_views(views: Any, single: bool) -> tuple[list[str], list[Any]]:
    if isinstance(views, Iterator):
        raise TypeError(
            f"Views must be given as a list, tuple or dict of arrays. Got a {type(views).__name__}; write list(views)."
        )
    if single:
        return ["X"], [views]
    if isinstance(views, Mapping):
        return [str(key) for key in views], list(views.values())
    return [f"view {position}" for position in range(len(views))], list(views)


def check_view(view: Any, name: str, caller: str, min_samples: int, missing: bool) -> Any:
    """One view as an array of real numbers; nothing is read or copied that is one already."""
    if not is_dask(view):
        refuse_unsuitable(view, name, missing)
    try:
        if is_dask(view):
            return check_dask(view, caller, min_samples)
        refuse_lazy(view)
        view, sparse = as_array(view), scipy.sparse.issparse(view)
        table = (
            view
            if sparse or hasattr(view, "dtypes") or isinstance(view, np.matrix)
            else np.asarray(view)
        )
        check_kind(table)
        if missing and hasattr(table, "isna"):
            table = with_nan(table)
        array = check_array(
            table,
            accept_sparse="csr",
            ensure_all_finite=False,
            ensure_min_samples=min_samples,
            estimator=caller,
        )
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
    if sparse and not array.has_canonical_format:  # entries given twice are sums
        array = array.copy()
        array.sum_duplicates()
    return array


def check_dask(view: Any, caller: str, min_samples: int) -> Any:
    """What can be seen of a Dask array without computing it."""
    if not hasattr(view, "chunks"):
        raise TypeError(
            f"{caller} takes Dask arrays, not {type(view).__name__}; convert it with .to_dask_array(lengths=True)."
        )
    if isinstance(getattr(view, "_meta", None), np.ma.MaskedArray):
        raise ValueError(
            "it is a masked array; fill it first, for example with dask.array.ma.filled(array, value)."
        )
    if np.isnan(view.shape[0]):
        raise ValueError(
            "the number of samples is not known yet; call .compute_chunk_sizes() on the Dask array first."
        )
    check_kind(view)
    empty = np.broadcast_to(
        np.empty((), dtype=view.dtype), view.shape
    )  # has the shape and the type, and no values
    check_array(empty, ensure_all_finite=False, ensure_min_samples=min_samples, estimator=caller)
    return view.rechunk({1: -1})


def refuse_unsuitable(view: Any, name: str, missing: bool) -> None:
    if hasattr(view, "isna") and not missing:
        unknown = np.asarray(view.isna())
        whole = unknown.ndim == 2 and bool(unknown.all(axis=1).any())
        report_unusable(name, int(unknown.sum()), 0, int(np.size(view)), hint=WHOLE_ROWS * whole)
    if isinstance(view, np.ma.MaskedArray) and np.ma.getmaskarray(view).any():
        raise ValueError(
            f"{name} is a masked array with masked entries; fill them first, for example with .filled(value)."
        )


def check_finite(
    block: Block, name: str, first: int | None = None, *, missing: bool = False
) -> None:
    values: AnyArray = block.data if is_sparse(block) else block
    if np.isfinite(values).all():
        return
    where = "" if first is None else f" from sample {first} to {first + block.shape[0] - 1}"
    hint = IN_PART if missing else WHOLE_ROWS * bool(absent_rows(block).any())
    counts = int(np.isnan(values).sum()), int(np.isinf(values).sum()), int(np.prod(block.shape))
    report_unusable(name, *counts, where, hint)


def report_unusable(
    name: str, n_missing: int, n_infinite: int, size: int, where: str = "", hint: str = ""
) -> None:
    found = [f"NaN in {n_missing}"] if n_missing else []
    found += [f"infinity in {n_infinite}"] if n_infinite else []
    if found:
        raise ValueError(
            f"{name} contains {' and '.join(found)} of its {size} values{where}; impute or remove them first{hint}."
        )


def as_numbers(values: Any, name: str) -> Array:
    """Real numbers; a text that looks like one is a mistake somewhere else."""
    try:
        array = np.asarray(values)
        kind = array.dtype.kind
        if kind in "biuf" or (
            kind == "O" and all(isinstance(value, Number) for value in array.flat)
        ):
            return np.asarray(array, dtype=float)
    except (TypeError, ValueError):  # ragged lists, objects that are none
        pass
    raise ValueError(
        f"{name} must be a number, or numbers in an array. Got {values!r:.80} instead."
    )


def check_view_weights(weights: npt.ArrayLike | None, n_views: int) -> Array:
    """One non-negative number for every view, the largest being 1; all 1 if none are given."""
    if weights is None:
        return np.ones(n_views)
    array = as_numbers(weights, "view_weights")
    if array.shape != (n_views,):
        raise ValueError(
            f"view_weights must have one number per view, {n_views}. Got shape {array.shape} instead."
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and array.any()):
        raise ValueError(
            f"view_weights must be finite and at least 0, one of them above. Got {array.tolist()} instead."
        )
    scaled: Array = array / array.max()
    return scaled
