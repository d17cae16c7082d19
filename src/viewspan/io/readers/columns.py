"""Conversion of data frames into views: sample ids, features, and checks of the values."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewspan._utils.text import listed
from viewspan.io.readers.layout import UNNAMED, is_number
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import (
    InputError,
    Part,
    Reading,
    Table,
    pandas,
    suggestion,
)
from viewspan.io.readers.views import view_of

if TYPE_CHECKING:
    import pandas as pd


DECIMAL_COMMA = re.compile(r"\s*-?\d+,\d+\s*$")
ID_NAME = re.compile(r"(.*[ _-])?(id|ids|index|key|nr|no)$", flags=re.I)
"""Column names that suggest ids."""
BOOLEANS = {"true": 1.0, "false": 0.0}


def check_no_key(source: Source) -> None:
    if source.key is not None:
        raise InputError(f"{source.path} holds one table and has no keys; remove ::{source.key}.")


def as_table(source: Source, frame: "pd.DataFrame", reading: Reading) -> Table:
    """Return the view of all columns that are features."""
    path = source.path
    if len(frame) == 0:
        raise InputError(f"{path} has no rows.")
    ids = None
    frame = frame.drop(columns=reading.leave_out(frame.columns))
    if reading.id_column is not None:
        ids = sample_ids(path, frame, reading)
        frame = frame.drop(columns=reading.id_column)
        if UNNAMED in frame.columns:
            frame = frame.drop(columns=UNNAMED)
            reading.note(
                f"{path}: the first column has no name and is ignored; the ids are in column "
                f"{reading.id_column!r}."
            )
    elif str(frame.columns[0]) == UNNAMED and frame.shape[1] > 1:
        ids = frame[UNNAMED].astype(str)
        frame = frame.drop(columns=UNNAMED)
        reading.note(f"{path}: the first column has no name and is used as the ids of the samples.")
    check_numbers(path, frame, may_be_ids=reading.id_column is None)
    frame = as_numbers(frame)
    if ids is None:
        note_possible_ids(path, frame, reading)
    return view_of(source, frame, ids)


def sample_ids(path: Path, frame: "pd.DataFrame", reading: Reading) -> Any:
    """Return the id column, or raise InputError if it does not exist or has empty cells."""
    column = reading.id_column
    if column not in frame.columns:
        hint = suggestion(str(column), frame.columns)
        raise InputError(
            f"{path} has no column {column!r} for --id; it has {listed(frame.columns)}.{hint}"
        )
    ids = frame[column]
    empty = np.asarray(ids.isna() | (ids.astype(str).str.strip() == ""))
    if empty.any():
        row = int(np.flatnonzero(empty)[0]) + 1
        raise InputError(
            f"{path}: column {column!r} has no id in row {row} (rows without an id: "
            f"{empty.sum()}); every sample needs one."
        )
    return ids.astype(str)


def note_possible_ids(path: Path, frame: "pd.DataFrame", reading: Reading) -> None:
    """Add a note if a feature has the name and the values of an id column."""
    for column in [column for column in frame.columns if ID_NAME.match(str(column))]:
        values = frame[column]
        if len(values) > 1 and values.is_unique and (values % 1 == 0).all():
            reading.note(
                f"{path}: column {column!r} is used as a feature; give --id {column!r} if it holds "
                f"the ids of the samples, or --ignore {column!r}."
            )


def check_numbers(path: Path, frame: "pd.DataFrame", *, may_be_ids: bool) -> None:
    """Raise InputError if a column does not hold numbers, or text that represents numbers."""
    types = pandas().api.types
    for column, dtype, empty in zip(frame.columns, frame.dtypes, frame.isna().all(), strict=True):
        if empty:
            raise InputError(
                f"{path}: column {column!r} is empty; leave it out with --ignore {column!r}."
            )
        if types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype):
            raise InputError(
                f"{path}: column {column!r} holds dates; convert them to numbers, or leave them "
                f"out with --ignore {column!r}."
            )
        if is_numeric(dtype):
            continue
        values = frame[column].dropna()
        if not values.map(lambda value: isinstance(value, str | int | float)).all():
            raise InputError(
                f"{path}: column {column!r} holds values of type {type(values.iloc[0]).__name__}, "
                "but a view must hold numbers."
            )
        check_text_column(path, str(column), values.astype(str), may_be_ids=may_be_ids)


def check_text_column(path: Path, column: str, values: Any, *, may_be_ids: bool) -> None:
    wrong = values[~values.map(is_number).astype(bool)]
    if len(wrong) == 0:
        return
    if values.map(lambda text: bool(DECIMAL_COMMA.match(text)) or is_number(text)).all():
        raise InputError(
            f"{path}: column {column!r} holds numbers with a comma ({wrong.iloc[0]}); if it is the "
            "decimal sign, give --decimal ','."
        )
    raise InputError(text_message(path, column, values, wrong, may_be_ids=may_be_ids))


def text_message(path: Path, column: str, values: Any, wrong: Any, *, may_be_ids: bool) -> str:
    """Return the message for a column with some or only text."""
    if len(wrong) < len(values) / 2:
        return (
            f"{path}: column {column!r} holds {wrong.iloc[0]!r} in row {wrong.index[0] + 1} "
            f"(values that are not numbers: {len(wrong)}); correct them, leave the cells empty, or "
            f"leave the column out with --ignore {column!r}."
        )
    unique = len(values.unique()) == len(values)
    hint = f"give --id {column!r} if it holds the ids of the samples, or "
    return (
        f"{path}: column {column!r} holds text ({values.iloc[0]!r}), but a view must hold numbers; "
        f"{hint if may_be_ids and unique else ''}leave it out with --ignore {column!r}."
    )


def as_numbers(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Convert text columns to numbers with Python's float; some exponents crash pandas."""
    converted = {
        name: frame[name].map(as_number).astype(float)
        for name, dtype in zip(frame.columns, frame.dtypes, strict=True)
        if not is_numeric(dtype)
    }
    return frame.assign(**converted) if converted else frame


def as_number(value: Any) -> float:
    if isinstance(value, str):
        return BOOLEANS[value.lower()] if value.lower() in BOOLEANS else float(value)
    return float("nan") if value is None or value != value else float(value)


def is_numeric(dtype: Any) -> bool:
    types = pandas().api.types
    return bool(types.is_numeric_dtype(dtype) or types.is_bool_dtype(dtype))


def describe_columns(frame: "pd.DataFrame") -> list[Part]:
    return [Part(str(name), (len(values),), describe(values)) for name, values in frame.items()]


def describe(values: Any) -> str:
    """Return the range of numbers or the number of different texts, and the missing values."""
    n_missing = int(values.isna().sum())
    missing = f", {n_missing} missing" if n_missing else ""
    try:
        n_different = values.nunique()
    except TypeError:
        return f"{type(values.dropna().iloc[0]).__name__}{missing}"
    if not pandas().api.types.is_numeric_dtype(values):
        return f"text, {'all' if n_different == len(values) else n_different} different{missing}"
    constant = ", constant" if n_different <= 1 else ""
    return f"{values.min():.4g} to {values.max():.4g}{constant}{missing}"
