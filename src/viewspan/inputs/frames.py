"""Tables of all kinds: feature names, types of columns, and conversion to arrays.

The kind of a table is recognised by its methods and attributes, so that pandas, polars and Arrow
need not be installed.
"""

from contextlib import suppress
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.typing import AnyArray

ENCODE_HINT = "Encode or drop it."
ENCODE_OR_INDEX_HINT = (
    "Encode or drop it; if it identifies the samples, make it the index (index_col= when reading, "
    "or frame.set_index)."
)


def is_dask(array: Any) -> bool:
    """Return whether this is a Dask collection, by the name of its module."""
    return type(array).__module__.partition(".")[0] == "dask"


def is_pandas(view: Any) -> bool:
    """Return whether this is a data frame or series of pandas."""
    return hasattr(view, "loc") and hasattr(view, "index")


def is_polars(view: Any) -> bool:
    """Return whether this is a data frame of polars."""
    return hasattr(view, "get_columns") and not is_pandas(view)


def is_arrow(view: Any) -> bool:
    """Return whether this is a table or record batch of Arrow."""
    return hasattr(view, "num_columns") and hasattr(view, "schema") and not is_pandas(view)


def check_not_lazy(view: Any) -> None:
    """Raise TypeError for a lazy frame of polars."""
    if hasattr(view, "collect") and hasattr(view, "collect_schema") and not hasattr(view, "shape"):
        raise TypeError(f"a {type(view).__name__} has no rows yet; call .collect() on it first.")


def feature_names(view: Any, name: str) -> AnyArray | None:
    """Return the column names of a frame if they are strings, else None.

    Raises TypeError if some of them are strings and others are not.
    """
    if is_arrow(view):
        names = list(view.schema.names)
    elif is_polars(view) or (is_pandas(view) and hasattr(view, "columns")):
        names = list(view.columns)
    else:
        return None
    are_strings = [isinstance(column, str) for column in names]
    if any(are_strings) and not all(are_strings):
        raise TypeError(
            f"{name} has column names of mixed types: some are strings and others are not, such as "
            f"{names[are_strings.index(False)]!r}. Convert all names to strings with "
            "frame.columns = frame.columns.astype(str)."
        )
    return np.array(names, dtype=object) if any(are_strings) else None


def as_array(table: Any) -> Any:
    """Return a polars or Arrow table as an array with NaN for null; return others unchanged."""
    if is_polars(table):
        columns = [(column.name, column) for column in table.get_columns()]
    elif is_arrow(table):
        columns = list(zip(table.schema.names, table.columns, strict=True))
    else:
        return table
    arrays = [column_values(column, name) for name, column in columns]
    return np.column_stack(arrays) if arrays else np.empty((len(table), 0))


def column_values(column: Any, name: str) -> AnyArray:
    """Return a column of polars or Arrow as an array of numbers; raise ValueError for others."""
    values = np.asarray(column)
    check_dtype(values, f"column {name!r}", hint=ENCODE_HINT)
    if values.dtype.kind == "O":
        with suppress(TypeError, ValueError):
            values = np.array(values.tolist(), dtype=float)  # None becomes NaN
    if values.ndim != 1 or values.dtype.kind not in "fiub":
        kind = getattr(column, "dtype", getattr(column, "type", values.dtype))
        raise ValueError(
            f"column {name!r} holds {kind}, but a view must hold numbers; encode or drop it."
        )
    return values


def replace_na_by_nan(frame: Any) -> Any:
    """Return a pandas frame with NaN for missing values; numpy cannot convert pandas.NA."""
    unknown = np.asarray(frame.isna())
    all_floats = all(isinstance(kind, np.dtype) and kind.kind == "f" for kind in frame.dtypes)
    if all_floats or not unknown.any():
        return frame
    values = np.where(unknown, np.nan, frame.to_numpy(dtype=object)).astype(float)
    return type(frame)(values, index=frame.index, columns=frame.columns)


def check_shape_and_dtype(table: Any) -> None:
    """Raise ValueError unless a table has two dimensions and numbers.

    scikit-learn's check_array would raise, too, but its messages do not say what to do.
    """
    shape = np.shape(table)
    if len(shape) == 0:
        raise ValueError(
            f"Expected 2D array, got {table.dtype} scalar instead. Pass a table; if this is the "
            "name of a file, load the file first."
        )
    if len(shape) == 1:
        raise ValueError(
            f"Expected 2D array, got 1D array of shape {shape} instead. A view has one row per "
            "sample. Reshape your data with array.reshape(-1, 1) or series.to_frame() if it has "
            "one feature, or with array.reshape(1, -1) if it is one sample."
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


def check_dtype(values: Any, what: str, *, hint: str = ENCODE_OR_INDEX_HINT) -> None:
    """Raise ValueError if the type of an array shows that it does not hold real numbers.

    Parameters
    ----------
    values : array
    what : str
        Description of the array, for messages.
    hint : str
        What to do with text.
    """
    kind = values.dtype.kind
    if kind == "c":
        raise ValueError(
            f"Complex data not supported, but {what} is complex; use the real and imaginary parts "
            "as separate features."
        )
    if kind == "O" and is_dask(values):
        raise ValueError(f"{what} holds Python objects; convert it to numbers with .astype(float).")
    if kind in "mM":
        raise ValueError(
            f"{what} holds dates or durations ({values.dtype}); convert them to numbers first."
        )
    if kind in "UST" or (kind == "O" and any(isinstance(value, str) for value in values.flat)):
        raise ValueError(
            f"{what} holds text, but a view must hold numbers (could not convert string to float). "
            f"{hint}"
        )
