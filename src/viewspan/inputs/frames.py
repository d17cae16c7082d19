"""Tables of any kind: what their columns hold, what they are called, and how those that are not pandas' become arrays.

Kinds are told by what they can do, so that neither pandas nor polars nor Arrow need be installed.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.typing import AnyArray


def is_dask(array: Any) -> bool:
    """Told by name, so that Dask need not be installed."""
    return type(array).__module__.partition(".")[0] == "dask"


def is_pandas(view: Any) -> bool:
    """Frames and series with an index."""
    return hasattr(view, "loc") and hasattr(view, "index")


def is_polars(view: Any) -> bool:
    return hasattr(view, "get_columns") and not is_pandas(view)


def is_arrow(view: Any) -> bool:
    return hasattr(view, "num_columns") and hasattr(view, "schema") and not is_pandas(view)


def refuse_lazy(view: Any) -> None:
    if hasattr(view, "collect") and hasattr(view, "collect_schema") and not hasattr(view, "shape"):
        raise TypeError(f"a {type(view).__name__} has no rows yet; call .collect() on it first.")


def feature_names(view: Any, name: str) -> AnyArray | None:
    """What the columns are called, if they are called by strings; None for arrays and for numbers."""
    if is_arrow(view):
        names = list(view.schema.names)
    elif is_polars(view) or (is_pandas(view) and hasattr(view, "columns")):
        names = list(view.columns)
    else:
        return None
    by_string = [isinstance(column, str) for column in names]
    if any(by_string) and not all(by_string):
        raise TypeError(
            f"{name} has columns some of which are called by strings and others are not, such as "
            f"{names[by_string.index(False)]!r}; call all by strings with frame.columns = frame.columns.astype(str)."
        )
    return np.array(names, dtype=object) if any(by_string) else None


def as_array(table: Any) -> Any:
    """Numbers of a frame of polars or a table of Arrow, with NaN for null; anything else as it is."""
    if is_polars(table):
        columns = [(column.name, column) for column in table.get_columns()]
    elif is_arrow(table):
        columns = list(zip(table.schema.names, table.columns, strict=True))
    else:
        return table
    arrays = [numbers_of(column, name) for name, column in columns]
    return np.column_stack(arrays) if arrays else np.empty((len(table), 0))


def numbers_of(column: Any, name: str) -> AnyArray:
    values = np.asarray(column)
    check_dtype(values, f"column {name!r}", hint="Encode or drop it.")
    if values.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            values = np.array(values.tolist(), dtype=float)  # None becomes NaN
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        kind = getattr(column, "dtype", getattr(column, "type", values.dtype))
        raise ValueError(
            f"column {name!r} holds {kind}, and a view must be numbers; encode or drop it."
        )
    return values


def with_nan(frame: Any) -> Any:
    """In place of what pandas writes for missing values, which numpy cannot convert."""
    unknown = np.asarray(frame.isna())
    plain = all(isinstance(kind, np.dtype) and kind.kind == "f" for kind in frame.dtypes)
    if plain or not unknown.any():
        return frame
    values = np.where(unknown, np.nan, frame.to_numpy(dtype=object)).astype(float)
    return type(frame)(values, index=frame.index, columns=frame.columns)


def check_kind(table: Any) -> None:
    """Two dimensions and numbers; said before the general checks because these messages can say what to do."""
    shape = np.shape(table)
    if len(shape) == 0:
        raise ValueError(
            f"Expected 2D array, got {table.dtype} scalar instead. Load the file first and give its table."
        )
    if len(shape) == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array of shape {shape} instead. A view has one row per sample. Reshape your "
            "data: one feature with array.reshape(-1, 1) or series.to_frame(), one sample with array.reshape(1, -1)."
        )
    if len(shape) > 2:
        raise ValueError(
            f"Expected 2D array, got {len(shape)}D array of shape {shape} instead. "
            "Flatten every sample to one row with array.reshape(len(array), -1)."
        )
    if hasattr(table, "items") and not scipy.sparse.issparse(table):
        for column, values in table.items():
            check_dtype(np.asarray(values), f"column {column!r}")
    else:
        check_dtype(table, "the array")


def check_dtype(
    values: Any,
    what: str,
    *,
    hint: str = "Encode or drop it; if it identifies the samples, make it the index (index_col= when reading, or "
    "frame.set_index).",
) -> None:
    """Real numbers, as far as the type tells; ``hint`` is what to do with text."""
    if values.dtype.kind == "c":
        raise ValueError(
            f"Complex data not supported, and {what} is complex; take real and imaginary parts as features."
        )
    if values.dtype.kind == "O" and is_dask(values):
        raise ValueError(f"{what} holds Python objects; convert it to numbers with .astype(float).")
    if values.dtype.kind in "mM":
        raise ValueError(
            f"{what} holds dates or durations ({values.dtype}); turn them into numbers first."
        )
    if values.dtype.kind in "UST" or (
        values.dtype.kind == "O" and any(isinstance(v, str) for v in values.flat)
    ):
        raise ValueError(
            f"{what} holds text, and a view must be numbers (could not convert string to float). {hint}"
        )
