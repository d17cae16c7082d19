"""Alignment of views by sample id. Samples are dropped only if the user asks for it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

import numpy as np

from viewspan._utils.sparse import full
from viewspan._utils.text import listed
from viewspan._utils.typing import AnyArray
from viewspan.io.readers.table import InputError, Missing, Reading, Table

MISSING_ADVICE = (
    "Add them, or give --missing drop to leave them out, or --missing allow to cluster them by the "
    "views that they have."
)


@dataclass(frozen=True)
class Aligned:
    """Views with the same samples in the same rows.

    Attributes
    ----------
    tables : list of Table
    ids : array of str, optional
        Ids of the rows. None if no file has ids.
    """

    tables: list[Table]
    ids: AnyArray | None

    @property
    def n_samples(self) -> int:
        return self.tables[0].shape[0]

    @property
    def views(self) -> dict[str, Any]:
        return {table.name: table.values for table in self.tables}

    @property
    def sample_ids(self) -> AnyArray:
        """Ids, or the row numbers from 0 if there are no ids."""
        return np.arange(self.n_samples).astype(str) if self.ids is None else self.ids


def align(tables: Sequence[Table], reading: Reading, missing: Missing = "forbid") -> Aligned:
    """Sort the rows of all tables in the order of the first table that has ids.

    Parameters
    ----------
    tables : list of Table
    reading : Reading
        Receives a note about missing samples.
    missing : {"forbid", "allow", "drop"}
        What to do with an id that is not in every file: raise InputError, insert a row of NaN, or
        leave the sample out.
    """
    named = unique_names(tables)
    with_ids = [table for table in named if table.ids is not None]
    if not with_ids:
        check_permuted_columns(named)
        check_row_counts(named)
        return Aligned(named, None)
    if len(with_ids) < len(named):
        return align_by_position(named, with_ids, reading)
    ids = all_ids(with_ids)
    everywhere = np.logical_and.reduce([np.isin(ids, ids_of(table)) for table in with_ids])
    if not everywhere.any():
        examples = "; ".join(f"{table.source} has {listed(ids_of(table), 2)}" for table in with_ids)
        raise InputError(
            f"No id is in every file: {examples}; check that ids are written in the same way, "
            "including leading zeros and decimals."
        )
    if not everywhere.all():
        if missing == "forbid":
            raise InputError(f"{missing_samples(ids, everywhere, with_ids)} {MISSING_ADVICE}")
        what = "Left out" if missing == "drop" else "Missing samples"
        reading.note(f"{what}: {missing_samples(ids, everywhere, with_ids)}")
        ids = ids[everywhere] if missing == "drop" else ids
    return Aligned([reorder(table, ids) for table in with_ids], ids)


def unique_names(tables: Sequence[Table]) -> list[Table]:
    """Append a number to view names that occur more than once."""
    names = [table.name for table in tables]
    taken = {name for name in names if names.count(name) == 1}
    renamed = []
    for table in tables:
        name = table.name
        if names.count(name) > 1:
            numbered = (f"{name} {number}" for number in count(1))
            name = next(free for free in numbered if free not in taken)
        taken.add(name)
        renamed.append(replace(table, name=name))
    return renamed


def check_permuted_columns(tables: Sequence[Table]) -> None:
    """Raise InputError if two tables hold the same distinct integers in one column, reordered.

    Such a column probably holds sample ids, and the rows would not match without --id.
    """
    seen: dict[str, tuple[Table, AnyArray]] = {}
    for table in tables:
        for name in map(str, getattr(table.values, "columns", ())):
            numbers = np.asarray(table.values[name], dtype=float)
            if (
                len(np.unique(numbers)) < len(numbers)
                or (numbers % 1 != 0).any()
                or len(numbers) < 2
            ):
                continue
            first, others = seen.setdefault(name, (table, numbers))
            if not np.array_equal(others, numbers) and np.array_equal(
                np.sort(others), np.sort(numbers)
            ):
                raise InputError(
                    f"{first.source} and {table.source} have the same numbers in column {name!r}, "
                    f"but in another order; give --id {name!r} if they are the ids of the samples, "
                    f"or --ignore {name!r}."
                )


def check_row_counts(tables: Sequence[Table]) -> None:
    if len({table.shape[0] for table in tables}) > 1:
        counts = ", ".join(f"{table.source} has {table.shape[0]}" for table in tables)
        raise InputError(
            "Without ids, all files must have the same samples in the same order, one per row, but "
            f"{counts} rows; give --id COLUMN if a column holds ids, or file::key.T or file::.T if "
            "the samples are in columns."
        )


def align_by_position(tables: list[Table], with_ids: Sequence[Table], reading: Reading) -> Aligned:
    """Align tables without ids by row number, if the ids of all others are in the same order."""
    first = with_ids[0]
    for table in with_ids[1:]:
        if not np.array_equal(ids_of(table), ids_of(first)):
            other = next(other for other in tables if other.ids is None)
            raise InputError(
                f"{other.source} has no ids, and {first.source} and {table.source} do not have the "
                "same ids in the same order, so its rows cannot be matched; give all files with "
                "ids, or all without."
            )
    check_row_counts(tables)
    without = listed(table.source for table in tables if table.ids is None)
    reading.note(
        f"{without}: without ids; the rows are assumed to be in the order of {first.source}."
    )
    return Aligned(tables, first.ids)


def ids_of(table: Table) -> AnyArray:
    assert table.ids is not None  # tables without ids are aligned by position
    return table.ids


def all_ids(tables: Sequence[Table]) -> AnyArray:
    """Return the union of all ids in the order of their first occurrence."""
    return np.array(
        list(dict.fromkeys(name for table in tables for name in ids_of(table))), dtype=str
    )


def missing_samples(ids: AnyArray, everywhere: AnyArray, tables: Sequence[Table]) -> str:
    """Return a sentence with the number of ids that are not in every file, and examples."""
    gaps = []
    for table in tables:
        missing = ids[~np.isin(ids, ids_of(table))]
        if len(missing):
            examples = listed((f"{name!s:.60}" for name in missing), 3)
            gaps.append(f"{table.source} has no {examples}")
    return f"{(~everywhere).sum()} of {len(ids)} ids are not in every file: {'; '.join(gaps)}."


def reorder(table: Table, ids: AnyArray) -> Table:
    """Return the table with one row per id, filled with NaN for missing samples."""
    own = ids_of(table)
    order = np.argsort(own)
    rows = order[np.searchsorted(own, ids, sorter=order).clip(max=len(order) - 1)]
    return replace(table, values=take_rows(table.values, rows, own[rows] != ids), ids=ids)


def take_rows(values: Any, rows: AnyArray, missing: AnyArray) -> Any:
    """Return the rows, with NaN where missing. Values in order are not copied from disk."""
    if (
        len(rows) == values.shape[0]
        and np.array_equal(rows, np.arange(len(rows)))
        and not missing.any()
    ):
        return values
    if hasattr(values, "iloc"):
        taken = values.iloc[rows].reset_index(drop=True)
        if missing.any():
            taken = taken.astype(float)
            taken.loc[missing] = np.nan
        return taken
    taken = values[rows]
    if missing.any():
        taken = np.where(missing[:, None], np.nan, full(taken))
    return taken
