"""Columns with names: which one tells the samples apart, and which ones are no numbers."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewspan._utils.optional import require
from viewspan.io.readers.layout import UNNAMED, is_number
from viewspan.io.readers.table import InputError, Part, Reading, Table, closest, listed

if TYPE_CHECKING:
    import pandas as pd

    from viewspan.io.readers.read import Source

COMMA = re.compile(r"\s*-?\d+,\d+\s*$")
LIKE_IDS = re.compile(r"(.*[ _-])?(id|ids|index|key|nr|no)$", flags=re.I)


def pandas() -> Any:
    return require("pandas", "cli", purpose="Reading tables")


def refuse_key(source: "Source") -> None:
    if source.key is not None:
        raise InputError(
            f"{source.path} is one table and has no keys; give it without ::{source.key}."
        )


def as_table(source: "Source", frame: "pd.DataFrame", reading: Reading) -> Table:
    """A view of the columns that are features."""
    path = source.path
    if len(frame) == 0:
        raise InputError(f"{path} has no rows.")
    ids = None
    frame = frame.drop(columns=reading.leave_out(frame.columns))
    if reading.id_column is not None:
        ids = take_ids(path, frame, reading)
        frame = frame.drop(columns=reading.id_column)
        if UNNAMED in frame.columns:
            frame = frame.drop(columns=UNNAMED)
            reading.note(
                f"{path}: the first column has no name and is left out; the ids are in {reading.id_column!r}."
            )
    elif str(frame.columns[0]) == UNNAMED and frame.shape[1] > 1:
        ids = frame[UNNAMED].astype(str)
        frame = frame.drop(columns=UNNAMED)
        reading.note(f"{path}: the first column has no name and is taken as the names of its rows.")
    check_numbers(path, frame, unknown=reading.id_column is None)
    frame = in_numbers(frame)
    if ids is None:
        note_numbers_like_ids(path, frame, reading)
    return source.table(frame, ids)


def take_ids(path: Path, frame: "pd.DataFrame", reading: Reading) -> Any:
    column = reading.id_column
    if column not in frame.columns:
        hint = closest(str(column), frame.columns)
        raise InputError(
            f"{path} has no column {column!r} for --id; it has {listed(frame.columns)}.{hint}"
        )
    ids = frame[column]
    absent = np.asarray(ids.isna() | (ids.astype(str).str.strip() == ""))
    if absent.any():
        row = int(np.flatnonzero(absent)[0])
        raise InputError(
            f"{path}: {int(absent.sum())} of its rows have no id in column {column!r}, first row {row + 1}."
        )
    return ids.astype(str)


def note_numbers_like_ids(path: Path, frame: "pd.DataFrame", reading: Reading) -> None:
    """A column of different whole numbers with such a name is taken as it was asked, but not in silence."""
    for column in [column for column in frame.columns if LIKE_IDS.match(str(column))]:
        values = frame[column]
        if len(values) > 1 and values.is_unique and (values % 1 == 0).all():
            reading.note(
                f"{path}: column {column!r} is taken as a feature; give --id {column!r} if it names the samples, or "
                f"--ignore {column!r}."
            )


def check_numbers(path: Path, frame: "pd.DataFrame", *, unknown: bool) -> None:
    """Text is not guessed into numbers; where ids are unknown, it may be them."""
    types = pandas().api.types
    for column, kind, empty in zip(frame.columns, frame.dtypes, frame.isna().all(), strict=True):
        if empty:
            raise InputError(
                f"{path}: column {column!r} is empty; leave it out with --ignore {column!r}."
            )
        if types.is_datetime64_any_dtype(kind) or types.is_timedelta64_dtype(kind):
            raise InputError(
                f"{path}: column {column!r} holds dates; turn them into numbers, or --ignore {column!r}."
            )
        if is_number_kind(kind):
            continue
        given = frame[column].dropna()
        if not given.map(lambda value: isinstance(value, str | int | float)).all():
            raise InputError(
                f"{path}: column {column!r} holds {type(given.iloc[0]).__name__}, and a view must be numbers."
            )
        check_text(path, str(column), given.astype(str), unknown=unknown)


def check_text(path: Path, column: str, given: Any, *, unknown: bool) -> None:
    wrong = given[~given.map(is_number).astype(bool)]
    if len(wrong) == 0:
        return
    if given.map(lambda text: bool(COMMA.match(text)) or is_number(text)).all():
        raise InputError(
            f"{path}: column {column!r} holds numbers with a comma in them ({wrong.iloc[0]}); if it is the decimal "
            "sign, give --decimal ','."
        )
    raise InputError(text_message(path, column, given, wrong, unknown=unknown))


def text_message(path: Path, column: str, given: Any, wrong: Any, *, unknown: bool) -> str:
    if len(wrong) < len(given) / 2:  # a number here and there that is none
        return (
            f"{path}: column {column!r} holds {wrong.iloc[0]!r} in row {wrong.index[0] + 1}"
            + (f", and {len(wrong) - 1} other values that are no numbers" if len(wrong) > 1 else "")
            + f"; correct it, leave the cell empty, or leave the column out with --ignore {column!r}."
        )
    maybe_ids = unknown and len(given.unique()) == len(given)
    meant = f"give --id {column!r} if it names the samples, or " if maybe_ids else ""
    return (
        f"{path}: column {column!r} holds text ({given.iloc[0]!r}), and a view must be numbers; "
        f"{meant}leave it out with --ignore {column!r}."
    )


def in_numbers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Text that says numbers, as numbers; by Python, since pandas dies of some exponents."""
    kinds = zip(frame.columns, frame.dtypes, strict=True)
    words = {
        name: frame[name].map(as_number).astype(float)
        for name, kind in kinds
        if not is_number_kind(kind)
    }
    return frame.assign(**words) if words else frame


def as_number(value: Any) -> float:
    truths = {"true": 1.0, "false": 0.0}
    if isinstance(value, str):
        return truths[value.lower()] if value.lower() in truths else float(value)
    return float("nan") if value is None or value != value else float(value)


def is_number_kind(kind: Any) -> bool:
    types = pandas().api.types
    return bool(types.is_numeric_dtype(kind) or types.is_bool_dtype(kind))


def columns_of(frame: "pd.DataFrame") -> list[Part]:
    """What is in a table."""
    return [Part(str(name), (len(values),), kind_of(values)) for name, values in frame.items()]


def kind_of(values: Any) -> str:
    """What a column holds, with what will matter to a clustering."""
    missing = int(values.isna().sum())
    left = f", {missing} missing" if missing else ""
    try:
        different = values.nunique()
    except TypeError:
        return f"{type(values.dropna().iloc[0]).__name__}{left}"
    if not pandas().api.types.is_numeric_dtype(values):
        return f"text, {'all' if different == len(values) else different} different{left}"
    constant = ", constant" if different <= 1 else ""
    return f"{values.min():.4g} to {values.max():.4g}{constant}{left}"
