"""Columns of a table of any kind, chosen as scikit-learn's ColumnTransformer chooses them."""

from collections.abc import Callable, Sequence
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.typing import AnyArray
from viewspan.inputs.frames import feature_names, is_arrow, is_pandas, is_polars, refuse_lazy
from viewspan.inputs.views import is_one_view

Selection = Sequence[str] | Sequence[int] | Sequence[bool] | slice | AnyArray | Callable[[Any], Any]
LISTED = 5
"""Names in a message, at most."""


def as_table(X: Any) -> tuple[Any, AnyArray | None]:
    """One table, whatever its columns hold, and their names."""
    refuse_lazy(X)
    if not is_one_view(X):
        raise TypeError(
            f"Expected one table that is to be cut into views. Got a {type(X).__name__} of several; they need no "
            "cutting, give them to the estimator as they are."
        )
    table = X if hasattr(X, "shape") else np.asarray(X)
    if len(table.shape) != 2:
        raise ValueError(
            f"Expected 2D array, got {len(table.shape)}D array instead. Reshape your data: a table has one row per "
            "sample, as array.reshape(len(array), -1) makes them."
        )
    if 0 in table.shape:
        what = "sample(s)" if table.shape[0] == 0 else "feature(s)"
        raise ValueError(
            f"Found array with 0 {what} (shape={tuple(table.shape)}) while a minimum of 1 is required."
        )
    return table, feature_names(table, "X")


def positions(table: Any, names: AnyArray | None, chosen: Selection, view: str) -> AnyArray:
    """Of the columns that are chosen for a view."""
    asked: Any = chosen(table) if callable(chosen) else chosen
    if isinstance(asked, str | Integral):
        raise TypeError(
            f"columns must have a list, slice, mask or callable for every view. Got {asked!r} for {view}; write "
            f"[{asked!r}] for this one column, or make_column_selector(pattern=...) for all whose names are alike."
        )
    by_name = names_in(asked)
    if by_name:
        asked = named(asked, names, view)
    everything = np.arange(table.shape[1])
    try:
        found = everything[asked if isinstance(asked, slice) else as_key(asked)]
    except IndexError as error:
        raise ValueError(
            f"columns of {view} are not all in a table of {table.shape[1]} columns: {error}."
        ) from None
    if len(found) == 0:
        raise ValueError(f"columns of {view} are none: {chosen!r} chooses nothing of this table.")
    return found


def as_key(asked: Any) -> AnyArray:
    key = np.asarray(asked)
    if key.size == 0:
        return key.astype(int)
    if key.ndim != 1 or key.dtype.kind not in "iub":
        raise TypeError(
            f"columns must be names, positions or a mask, all of one kind. Got {asked!r} instead."
        )
    return key


def names_in(asked: Any) -> bool:
    parts = [asked.start, asked.stop] if isinstance(asked, slice) else list(asked)
    return (
        len(parts) > 0
        and all(isinstance(part, str) or part is None for part in parts)
        and parts != [None, None]
    )


def named(asked: Any, names: AnyArray | None, view: str) -> Any:
    """Positions of names, or the slice of positions from one name to another, both included."""
    if names is None:
        raise ValueError(
            f"columns of {view} are chosen by name, and this table has no names; choose them by position, or let the "
            "step before keep names with .set_output(transform='pandas')."
        )

    def position(name: str) -> int:
        (found,) = np.nonzero(names == name)
        if len(found) != 1:
            problem = (
                "is not in the table"
                if len(found) == 0
                else f"stands {len(found)} times in the table"
            )
            raise ValueError(f"columns of {view}: {name!r} {problem}.")
        return int(found[0])

    if isinstance(asked, slice):
        stop = None if asked.stop is None else position(asked.stop) + 1
        return slice(None if asked.start is None else position(asked.start), stop, asked.step)
    return [position(name) for name in asked]


def check_partition(
    n_columns: int,
    names: AnyArray | None,
    found: Sequence[AnyArray],
    views: Sequence[str],
    *,
    dropped: bool,
) -> None:
    """No column in two views; and in none only if the others are to be dropped."""
    counts = np.bincount(np.concatenate(found), minlength=n_columns)
    if (counts > 1).any():
        column = int(np.argmax(counts > 1))
        holders = [
            view
            for view, chosen in zip(views, found, strict=True)
            for each in chosen
            if each == column
        ]
        where = " and in ".join(holders) if holders[0] != holders[1] else f"{holders[0]} twice"
        raise ValueError(
            f"Column {called(column, names)} is in {where}; a column belongs to one view."
        )
    (left,) = np.nonzero(counts == 0)
    if len(left) and not dropped:
        listed = ", ".join(called(column, names) for column in left[:LISTED])
        more = f" and {len(left) - LISTED} more" if len(left) > LISTED else ""
        raise ValueError(
            f"{len(left)} of {n_columns} columns are in no view: {listed}{more}. Give them to a view, or take "
            "remainder='drop'."
        )


def called(column: int, names: AnyArray | None) -> str:
    return str(column) if names is None else repr(names[column])


def cut(table: Any, chosen: AnyArray) -> Any:
    """Some columns of a table of any kind; without copying where that is possible."""
    if is_polars(table):
        return table.select([table.columns[column] for column in chosen])
    if is_arrow(table):
        return table.select(chosen.tolist())
    if is_pandas(table):
        return table.iloc[:, as_slice(chosen)]
    sparse = scipy.sparse.issparse(table)
    cuttable: Any = table.tocsr() if sparse and table.format not in {"csr", "csc"} else table
    return cuttable[:, as_slice(chosen)]


def as_slice(chosen: AnyArray) -> Any:
    """Columns at equal distances, which need not be copied; others as they are."""
    steps = {int(after - before) for before, after in pairwise(chosen)} or {1}
    if len(steps) > 1 or min(steps) < 1:
        return chosen
    return slice(int(chosen[0]), int(chosen[-1]) + 1, steps.pop())
