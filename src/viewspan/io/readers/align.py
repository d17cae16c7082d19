"""The same samples in the same rows of every view, by their ids; nothing is dropped without being asked for."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal

import numpy as np

from viewspan._utils.sparse import full
from viewspan._utils.typing import AnyArray
from viewspan.io.readers.table import InputError, Reading, Table, listed

Missing = Literal["forbid", "allow", "drop"]


@dataclass(frozen=True)
class Aligned:
    """Views whose rows are the same samples.

    Attributes
    ----------
    tables : list of Table
    ids : array of str, optional
        Of the rows; None if no file has any.
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
        """Ids, or the numbers of the rows from 0."""
        return np.arange(self.n_samples).astype(str) if self.ids is None else self.ids


def align(tables: Sequence[Table], reading: Reading, missing: Missing = "forbid") -> Aligned:
    """Bring tables into the order of the first one that has ids.

    Parameters
    ----------
    tables : list of Table
    reading : Reading
        Gets a note for what is left out.
    missing : {"forbid", "allow", "drop"}
        Of an id that is not in every file: an error; an absent sample, as a row of NaN; or leave it out and say so.
    """
    named = unique_names(tables)
    with_ids = [table for table in named if table.ids is not None]
    if not with_ids:
        check_forgotten_ids(named)
        check_counts(named)
        return Aligned(named, None)
    if len(with_ids) < len(named):
        return by_position(named, with_ids, reading)
    ids = union(with_ids)
    everywhere = np.logical_and.reduce([np.isin(ids, ids_of(table)) for table in with_ids])
    if not everywhere.any():
        examples = "; ".join(f"{table.source} has {listed(ids_of(table), 2)}" for table in with_ids)
        raise InputError(
            f"No id is in every file: {examples}. Are they written alike, zeros and decimals included?"
        )
    if not everywhere.all():
        if missing == "forbid":
            raise InputError(what_is_missing(ids, everywhere, with_ids))
        what = "Left out" if missing == "drop" else "Absent"
        reading.note(f"{what}: {what_is_missing(ids, everywhere, with_ids, advice=False)}")
        ids = ids[everywhere] if missing == "drop" else ids
    return Aligned([in_order(table, ids) for table in with_ids], ids)


def unique_names(tables: Sequence[Table]) -> list[Table]:
    """Files of the same name are told apart by a number."""
    names = [table.name for table in tables]
    taken = {name for name in names if names.count(name) == 1}
    found = []
    for table in tables:
        name = table.name
        if names.count(name) > 1:
            name = next(
                free for free in (f"{name} {number}" for number in count(1)) if free not in taken
            )
        taken.add(name)
        found.append(replace(table, name=name))
    return found


def check_forgotten_ids(tables: Sequence[Table]) -> None:
    """Two files with the same different whole numbers under one name, in another order: those are samples' names."""
    seen: dict[str, tuple[Table, AnyArray]] = {}
    for table in tables:
        for name in (
            map(str, table.columns)
            if hasattr(table.values, "columns") and table.columns is not None
            else ()
        ):
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
                    f"{first.source} and {table.source} have the same numbers in column {name!r}, in another order; "
                    f"give --id {name!r} if they name the samples, or --ignore {name!r}."
                )


def check_counts(tables: Sequence[Table]) -> None:
    if len({table.shape[0] for table in tables}) > 1:
        counts = ", ".join(f"{table.source} has {table.shape[0]}" for table in tables)
        raise InputError(
            f"Without ids all files must have the same samples in the same order, one per row: {counts} rows. "
            "If a column tells the samples apart, give --id COLUMN; for samples in columns, file::key.T or file::.T."
        )


def by_position(tables: list[Table], with_ids: Sequence[Table], reading: Reading) -> Aligned:
    """Some files carry no ids: their rows can only be in the order that the others agree on."""
    first = with_ids[0]
    for table in with_ids[1:]:
        if not np.array_equal(ids_of(table), ids_of(first)):
            bare = next(other for other in tables if other.ids is None)
            raise InputError(
                f"{bare.source} has no ids, and {first.source} and {table.source} do not have the same ones in the "
                "same order, so nothing tells which of its rows is which sample; give it with ids, or all without."
            )
    check_counts(tables)
    bare_ones = listed(table.source for table in tables if table.ids is None)
    reading.note(
        f"{bare_ones}: without ids; the rows are taken to be in the order of {first.source}."
    )
    return Aligned(tables, first.ids)


def ids_of(table: Table) -> AnyArray:
    assert table.ids is not None  # tables without any have gone another way
    return table.ids


def union(tables: Sequence[Table]) -> AnyArray:
    """All ids, in the order in which they first come."""
    return np.array(
        list(dict.fromkeys(name for table in tables for name in ids_of(table))), dtype=str
    )


def what_is_missing(
    ids: AnyArray, everywhere: AnyArray, tables: Sequence[Table], *, advice: bool = True
) -> str:
    """One sentence: how many, which, and where."""
    gaps = []
    for table in tables:
        lost = ids[~np.isin(ids, ids_of(table))]
        if len(lost):
            gaps.append(f"{table.source} has no {listed((f'{name!s:.60}' for name in lost), 3)}")
    way = (
        " Add them, or give --missing drop to leave them out, or --missing allow to cluster them by the views that "
        "they have."
    )
    return (
        f"{(~everywhere).sum()} of {len(ids)} ids are not in every file: {'; '.join(gaps)}."
        + way * advice
    )


def in_order(table: Table, ids: AnyArray) -> Table:
    """The rows of these ids; NaN where there are none."""
    own = ids_of(table)
    order = np.argsort(own)
    rows = order[np.searchsorted(own, ids, sorter=order).clip(max=len(order) - 1)]
    absent = own[rows] != ids
    return replace(table, values=rows_of(table.values, rows, absent), ids=ids)


def rows_of(values: Any, rows: AnyArray, absent: AnyArray) -> Any:
    if (
        len(rows) == values.shape[0]
        and np.array_equal(rows, np.arange(len(rows)))
        and not absent.any()
    ):
        return values  # a file on disk stays there
    if hasattr(values, "iloc"):
        taken = values.iloc[rows].reset_index(drop=True)
        if absent.any():
            taken = taken.astype(float)
            taken.loc[absent] = np.nan
        return taken
    taken = values[rows]
    if absent.any():
        taken = np.where(absent[:, None], np.nan, full(taken))
    return taken
