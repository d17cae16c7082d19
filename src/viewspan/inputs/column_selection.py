"""Select columns of a table of any kind, in the ways of scikit-learn's ColumnTransformer."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.text import listed
from viewspan._utils.typing import AnyArray
from viewspan.inputs.checks import is_one_view
from viewspan.inputs.frames import check_not_lazy, feature_names, is_arrow, is_pandas, is_polars

Selection = Sequence[str] | Sequence[int] | Sequence[bool] | slice | AnyArray | Callable[[Any], Any]
"""Columns of a view: names, positions, a slice of either, a mask, or a function of the table."""
MAX_LISTED_COLUMNS = 5
"""Largest number of column names in a message."""


def check_one_table(X: Any) -> tuple[Any, AnyArray | None]:
    """Return one non-empty table and its feature names; raise TypeError for several tables."""
    check_not_lazy(X)
    if not is_one_view(X):
        raise TypeError(
            f"Expected one table to split into views. Got a {type(X).__name__} of several tables; "
            "pass them to the estimator directly."
        )
    table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(table.shape)}D array instead. Reshape your data to one "
            "row per sample, for example with array.reshape(len(array), -1)."
        )
    if 0 in table.shape:
        what = "sample(s)" if table.shape[0] == 0 else "feature(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={tuple(table.shape)}) while a minimum of 1 is "
            "required."
        )
    return table, feature_names(table, "X")


def find_columns(table: Any, names: AnyArray | None, selection: Selection, view: str) -> AnyArray:
    """Return the positions of the columns that are selected for a view.

    Raises ValueError if there are no such columns, and TypeError for selections of another type.
    """
    selected: Any = selection(table) if callable(selection) else selection
    if isinstance(selected, str | Integral):
        raise TypeError(
            "columns must have a list, slice, mask or callable for every view. "
            f"Got {selected!r} for {view}; write [{selected!r}] to select this one column, or "
            "make_column_selector(pattern=...) to select columns by a pattern of their names."
        )
    if is_by_name(selected):
        selected = positions_of_names(selected, names, view)
    all_positions = np.arange(table.shape[1])
    try:
        found = all_positions[selected if isinstance(selected, slice) else as_indexer(selected)]
    except IndexError as error:
        raise ValueError(
            f"columns of {view} do not fit a table of {table.shape[1]} columns: {error}."
        ) from None
    if len(found) == 0:
        raise ValueError(f"columns of {view} are empty: {selection!r} selects no column.")
    return found


def as_indexer(selected: Any) -> AnyArray:
    """Return positions or a mask as an array; raise TypeError for anything else."""
    indexer = np.asarray(selected)
    if indexer.size == 0:
        return indexer.astype(int)
    if indexer.ndim != 1 or indexer.dtype.kind not in "iub":
        raise TypeError(
            "columns must be names, positions or a mask, all of one kind. "
            f"Got {selected!r} instead."
        )
    return indexer


def is_by_name(selected: Any) -> bool:
    """Return whether this is a list of strings, or a slice whose ends are strings."""
    parts = [selected.start, selected.stop] if isinstance(selected, slice) else list(selected)
    return (
        len(parts) > 0
        and all(isinstance(part, str) or part is None for part in parts)
        and parts != [None, None]
    )


def positions_of_names(selected: Any, names: AnyArray | None, view: str) -> Any:
    """Return the positions of named columns; a slice of names includes both ends."""
    if names is None:
        raise ValueError(
            f"columns of {view} are selected by name, but this table has no column names; select "
            "them by position, or make the previous step keep names with "
            ".set_output(transform='pandas')."
        )

    def position(name: str) -> int:
        (found,) = np.nonzero(names == name)
        if len(found) == 1:
            return int(found[0])
        problem = f"occurs {len(found)} times" if len(found) else "is not"
        raise ValueError(f"columns of {view}: {name!r} {problem} in the table.")

    if isinstance(selected, slice):
        stop = None if selected.stop is None else position(selected.stop) + 1
        start = None if selected.start is None else position(selected.start)
        return slice(start, stop, selected.step)
    return [position(name) for name in selected]


def check_partition(
    n_columns: int,
    names: AnyArray | None,
    found: Sequence[AnyArray],
    views: Sequence[str],
    *,
    allow_remainder: bool,
) -> None:
    """Raise ValueError if a column is in two views or, unless allowed, in none.

    Parameters
    ----------
    n_columns : int
        Number of columns of the table.
    names : array of str or None
        Names of the columns.
    found : list of arrays of int
        Positions of the columns of every view.
    views : list of str
        Names of the views.
    allow_remainder : bool
        Whether columns may be in no view.
    """
    counts = np.bincount(np.concatenate(found), minlength=n_columns)
    if (counts > 1).any():
        column = int(np.argmax(counts > 1))
        pairs = zip(views, found, strict=True)
        holders = [view for view, columns in pairs for each in columns if each == column]
        where = " and in ".join(holders) if holders[0] != holders[1] else f"{holders[0]} twice"
        raise ValueError(
            f"Column {column_label(column, names)} is in {where}; a column may be in one view only."
        )
    (left,) = np.nonzero(counts == 0)
    if len(left) and not allow_remainder:
        unused = listed((column_label(int(column), names) for column in left), MAX_LISTED_COLUMNS)
        raise ValueError(
            f"{len(left)} of {n_columns} columns are in no view: {unused}. Add them to a view, or "
            "set remainder='drop'."
        )


def column_label(column: int, names: AnyArray | None) -> str:
    """Return the name of a column in quotes, or its position if there are no names."""
    return str(column) if names is None else repr(names[column])


def select_columns(table: Any, columns: AnyArray) -> Any:
    """Return some columns of a table of any kind, without copying them if possible."""
    if is_polars(table):
        return table.select([table.columns[column] for column in columns])
    if is_arrow(table):
        return table.select(columns.tolist())
    if is_pandas(table):
        return table.iloc[:, as_slice(columns)]
    sparse = scipy.sparse.issparse(table)
    # other sparse formats cannot be indexed
    indexable: Any = table.tocsr() if sparse and table.format not in {"csr", "csc"} else table
    return indexable[:, as_slice(columns)]


def as_slice(columns: AnyArray) -> Any:
    """Return equally spaced positions as a slice, which copies nothing; others unchanged."""
    steps = {int(after - before) for before, after in pairwise(columns)} or {1}
    if len(steps) > 1 or min(steps) < 1:
        return columns
    return slice(int(columns[0]), int(columns[-1]) + 1, steps.pop())
