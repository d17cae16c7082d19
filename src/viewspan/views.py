"""A list of views, checked once at the door: same samples, finite numbers, one message that says what is wrong
and where.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse
from sklearn.utils.validation import check_array

from viewspan._typing import AnyArray, Array

MIN_SAMPLES = 2


@dataclass(frozen=True)
class Views:
    """Checked views.

    Attributes
    ----------
    arrays : list of float64 arrays (n_samples, n_features_i)
    names : list of str
        What messages call them: the keys of a dict, else "view 0", "view 1", …
    single : bool
        Whether one array was given instead of a collection.
    dtype : dtype
        float32 if every view was float32, else float64.
    """

    arrays: list[Array]
    names: list[str]
    single: bool
    dtype: np.dtype[Any]

    @property
    def n_samples(self) -> int:
        return len(self.arrays[0])

    @property
    def n_features(self) -> tuple[int, ...]:
        return tuple(array.shape[1] for array in self.arrays)

    @property
    def n_features_used(self) -> tuple[int, ...]:
        """Without features that are zero for every sample, which hold no noise either."""
        return tuple(int(array.any(axis=0).sum()) for array in self.arrays)


def check_views(views: Any, *, caller: str) -> Views:
    """Turn what the user gave into arrays of the same samples.

    Parameters
    ----------
    views : list, tuple or dict of two-dimensional arrays or data frames, or one of these
    caller : str
        The method to name in messages.
    """
    single = is_one_view(views)
    names, parts = name_views(views, single)
    if not parts:
        raise ValueError(
            f"{caller} needs at least one view, an array of shape (n_samples, n_features). "
            f"Got an empty {type(views).__name__}."
        )
    check_frames_aligned(names, parts)
    arrays = [check_view(part, name, caller) for name, part in zip(names, parts, strict=True)]
    counts = [len(array) for array in arrays]
    if len(set(counts)) > 1:
        listed = ", ".join(f"{name} has {count}" for name, count in zip(names, counts, strict=True))
        raise ValueError(
            f"All views must have the same samples, one per row, in the same order: {listed}. "
            "Keep the samples that all of them have."
        )
    dtype = np.dtype(np.float32) if all(array.dtype == np.float32 for array in arrays) else np.dtype(np.float64)
    return Views([np.asarray(array, dtype=np.float64) for array in arrays], names, single, dtype)


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
    return isinstance(item, list | tuple) and len(item) > 0 and all(isinstance(value, Number | str) for value in item)


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


def check_view(view: Any, name: str, caller: str) -> AnyArray:
    """One view as a finite float array; float32 stays float32."""
    refuse_unsuitable(view, name, caller)
    try:
        table = view if hasattr(view, "dtypes") or isinstance(view, np.matrix) else np.asarray(view)
        check_kind(table)
        dtypes = set(getattr(table, "dtypes", [getattr(table, "dtype", None)]))
        dtype = np.float32 if dtypes == {np.dtype(np.float32)} else np.float64
        array: AnyArray = check_array(
            table, dtype=dtype, ensure_all_finite=False, ensure_min_samples=MIN_SAMPLES, estimator=caller
        )
    except (TypeError, ValueError) as error:
        raise type(error)(f"{name}: {error}") from error
    check_finite(array, name)
    return array


def refuse_unsuitable(view: Any, name: str, caller: str) -> None:
    if scipy.sparse.issparse(view):
        raise TypeError(
            f"{caller} does not take sparse data yet, and {name} is a sparse matrix; convert it with .toarray()."
        )
    if hasattr(view, "isna"):  # pandas marks missing values in ways that numpy cannot convert
        report_unusable(name, int(np.asarray(view.isna()).sum()), 0, int(np.size(view)))
    if isinstance(view, np.ma.MaskedArray) and np.ma.getmaskarray(view).any():
        raise ValueError(
            f"{name} is a masked array with masked entries; fill them first, for example with .filled(value)."
        )


def check_kind(table: Any) -> None:
    """Two dimensions and numbers; said before the general checks because these messages can say what to do."""
    shape = np.shape(table)
    if len(shape) == 0:
        raise ValueError(
            f"Expected 2D array, got {table.dtype} scalar instead. Load the file first and give its table."
        )
    if len(shape) == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array of shape {shape} instead. A view has one row per sample: make a single "
            "feature a column with array.reshape(-1, 1), or series.to_frame()."
        )
    if len(shape) > 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array of shape {shape} instead. "
            "Flatten every sample to one row with array.reshape(len(array), -1)."
        )
    if hasattr(table, "items"):
        for column, values in table.items():
            check_dtype(np.asarray(values), f"column {column!r}")
    else:
        check_dtype(table, "the array")


def check_dtype(values: AnyArray, what: str) -> None:
    if values.dtype.kind in "mM":
        raise ValueError(f"{what} holds dates or durations ({values.dtype}); turn them into numbers first.")
    if values.dtype.kind in "UST" or (values.dtype.kind == "O" and any(isinstance(v, str) for v in values.flat)):
        raise ValueError(
            f"{what} holds text, and a view must be numbers (could not convert string to float). Encode or drop it; "
            "if it identifies the samples, make it the index (index_col= when reading, or frame.set_index)."
        )


def check_finite(array: AnyArray, name: str) -> None:
    if np.isfinite(array).all():
        return
    report_unusable(name, int(np.isnan(array).sum()), int(np.isinf(array).sum()), array.size)


def report_unusable(name: str, n_missing: int, n_infinite: int, size: int) -> None:
    found = [f"NaN in {n_missing}"] if n_missing else []
    found += [f"infinity in {n_infinite}"] if n_infinite else []
    if found:
        raise ValueError(f"{name} contains {' and '.join(found)} of its {size} values; impute or remove them first.")


def check_frames_aligned(names: Sequence[str], parts: Sequence[Any]) -> None:
    """Data frames carry their sample ids: rows that stand in another order are an error, not a guess."""
    frames = [(name, part.index) for name, part in zip(names, parts, strict=True) if hasattr(part, "loc")]
    for name, index in frames[1:]:
        first_name, first = frames[0]
        if len(index) != len(first) or index.equals(first):
            continue
        if sorted(map(str, index)) == sorted(map(str, first)):
            raise ValueError(
                f"{name} has the same index in another order than {first_name}, so their rows are not the same "
                f"samples; align it with view.loc[first.index], where view is {name} and first is {first_name}."
            )
        if not (is_default(index) or is_default(first)):
            strange = next((label for label in index if label not in first), None)
            example = f"{strange!r} is not in {first_name}" if strange is not None else "some ids are repeated"
            raise ValueError(
                f"{name} has another index than {first_name} ({example}), so their rows are not the same samples; "
                "keep the ids that all views share. If the rows do correspond, drop the index with "
                ".reset_index(drop=True)."
            )


def is_default(index: Any) -> bool:
    return type(index).__name__ == "RangeIndex"


def count_distinct(views: Views, enough: int) -> int:
    """How many different samples there are, counted no further than ``enough``."""
    seen: set[bytes] = set()
    for rows in zip(*views.arrays, strict=True):
        seen.add(b"".join(row.tobytes() for row in rows))
        if len(seen) == enough:
            break
    return len(seen)


def check_view_weights(weights: npt.ArrayLike | None, n_views: int) -> Array:
    """One non-negative number for every view, the largest being 1; all 1 if none are given."""
    if weights is None:
        return np.ones(n_views)
    array = np.asarray(weights, dtype=float)
    if array.shape != (n_views,):
        raise ValueError(f"view_weights must have one number per view, {n_views}. Got shape {array.shape} instead.")
    if not (np.isfinite(array).all() and (array >= 0).all() and array.any()):
        raise ValueError(
            f"view_weights must be finite and at least 0, one of them above. Got {array.tolist()} instead."
        )
    scaled: Array = array / array.max()
    return scaled
