"""Tables of text, and Parquet: columns with names, one of which may tell the samples apart."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewspan._optional import require
from viewspan.tables.table import InputError, Part, Reading, Table, closest, listed

if TYPE_CHECKING:
    import pandas as pd

    from viewspan.tables.read import Source

SEPARATORS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
UNNAMED = re.compile(r"Unnamed: 0$")
COMMA = re.compile(r"\s*-?\d+,\d+\s*$")
WITH_KEY = "{path} is one table and has no keys; give it without ::{key}."


def pandas() -> Any:
    return require("pandas", "cli", purpose="Reading tables")


def read_text(source: "Source", reading: Reading) -> list[Table]:
    """A view of a .csv or .tsv file."""
    refuse_key(source)
    return [from_frame(source, load_text(source.path, reading), reading)]


def read_parquet(source: "Source", reading: Reading) -> list[Table]:
    """A view of a .parquet file; its index, if it was kept, is the ids."""
    refuse_key(source)
    require("pyarrow", "cli", purpose="Reading Parquet")
    frame = pandas().read_parquet(source.path)
    if reading.id_column is not None and frame.index.name == reading.id_column:
        frame = frame.reset_index()
    return [from_frame(source, frame, reading)]


def refuse_key(source: "Source") -> None:
    if source.key is not None:
        raise InputError(WITH_KEY.format(path=source.path, key=source.key))


def load_text(path: Path, reading: Reading) -> "pd.DataFrame":
    pd = pandas()
    first = first_line(path)
    separator = separator_of(path, first)
    fields = next(csv.reader(io.StringIO(first), delimiter=separator))
    header = has_header(path, fields, reading) if reading.header is None else reading.header
    known = {} if reading.id_column is None else {reading.id_column: str}
    try:
        frame = pd.read_csv(
            path,
            sep=separator,
            header=0 if header else None,
            dtype=known,
            encoding="utf-8-sig",
            decimal=reading.decimal,
            skipinitialspace=True,
        )
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8; save it in that encoding.") from error
    except pd.errors.EmptyDataError as error:
        raise InputError(f"{path} is empty.") from error
    except pd.errors.ParserError as error:
        raise InputError(
            f"{path} is not a table with columns separated by {SEPARATORS[separator]}: {str(error).strip()}."
        ) from error
    if not header:
        frame.columns = pd.Index([f"column {position + 1}" for position in range(frame.shape[1])])
    return frame  # type: ignore[no-any-return]


def first_line(path: Path) -> str:
    """Also of a compressed file."""
    pd = pandas()
    try:
        with pd.io.common.get_handle(path, "r", encoding="utf-8-sig", compression="infer") as handles:
            line = handles.handle.readline()
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8; save it in that encoding.") from error
    if "\x00" in line:
        raise InputError(f"{path} is not text.")
    if not line.strip():
        raise InputError(f"{path} is empty, or begins with an empty line.")
    return str(line)


def separator_of(path: Path, line: str) -> str:
    """The one that the first line has most of; a file with none has one column."""
    if ".tsv" in path.suffixes:
        return "\t"
    return max(SEPARATORS, key=line.count)


def has_header(path: Path, fields: Sequence[str], reading: Reading) -> bool:
    """A first line of numbers alone is a sample, unless they count the columns as pandas does."""
    numbers = [field for field in fields if field.strip()]
    if not all(is_number(field) for field in numbers):
        return True
    counted = [field.strip() for field in numbers] == [str(position) for position in range(len(numbers))]
    if counted and len(numbers) > 1:
        reading.note(f"{path}: the first line counts the columns and is taken as their names (--no-header if not).")
        return True
    reading.note(f"{path}: the first line is numbers and is taken as the first sample (--header if not).")
    return False


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def from_frame(source: "Source", frame: "pd.DataFrame", reading: Reading) -> Table:
    ids = None
    frame = frame.drop(columns=[name for name in reading.ignored if name in frame.columns])
    frame.columns = frame.columns.astype(str)
    if reading.id_column is not None:
        ids = take_ids(source.path, frame, reading.id_column)
        frame = frame.drop(columns=reading.id_column)
    elif type(frame.index).__name__ != "RangeIndex":
        ids = frame.index
        reading.note(f"{source.path}: the first column has no name and is taken as the ids of the samples.")
    elif frame.shape[1] > 1 and UNNAMED.match(str(frame.columns[0])):
        ids = frame.iloc[:, 0].astype(str)
        reading.note(f"{source.path}: the first column has no name and is taken as the ids of the samples.")
        frame = frame.iloc[:, 1:]
    frame = frame.reset_index(drop=True)
    if len(frame) == 0:
        raise InputError(f"{source.path} has no rows.")
    if ids is not None:
        check_ids(source.path, ids)
    check_numbers(source.path, frame, unknown=ids is None)
    return source.table(frame.apply(pandas().to_numeric), ids)


def take_ids(path: Path, frame: "pd.DataFrame", column: str) -> Any:
    if column not in frame.columns:
        hint = closest(column, frame.columns)
        raise InputError(f"{path} has no column {column!r} for --id; it has {listed(frame.columns)}.{hint}")
    ids = frame[column]
    if ids.isna().any():
        row = int(np.flatnonzero(ids.isna())[0])
        raise InputError(
            f"{path}: {int(ids.isna().sum())} of its rows have no id in column {column!r}, first row {row + 1}."
        )
    return ids.astype(str)


def check_ids(path: Path, ids: Any) -> None:
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        again = values[counts > 1]
        raise InputError(
            f"{path} has the id {again[0]!r} in {counts[counts > 1][0]} rows"
            + (f", and {len(again) - 1} other ids more than once" if len(again) > 1 else "")
            + "; each sample must be there once."
        )


def check_numbers(path: Path, frame: "pd.DataFrame", *, unknown: bool) -> None:
    """Text is not guessed into numbers; where ids are unknown, it may be them."""
    pd = pandas()
    for column in frame.columns:
        values = frame[column]
        if pd.api.types.is_datetime64_any_dtype(values) or pd.api.types.is_timedelta64_dtype(values):
            raise InputError(f"{path}: column {column!r} holds dates; turn them into numbers, or --ignore {column!r}.")
        if pd.api.types.is_numeric_dtype(values) or pd.api.types.is_bool_dtype(values):
            continue
        given = values.dropna().astype(str)
        numbers = pd.to_numeric(given, errors="coerce")
        wrong = given[numbers.isna()]
        if len(wrong) == 0 and len(given):
            continue
        if len(given) and given.map(lambda text: bool(COMMA.match(text)) or is_number(text)).all():
            raise InputError(
                f"{path}: column {column!r} holds numbers with a decimal comma ({wrong.iloc[0]}); give --decimal ','."
            )
        raise InputError(text_message(path, str(column), given, wrong, unknown=unknown))


def text_message(path: Path, column: str, given: Any, wrong: Any, *, unknown: bool) -> str:
    if len(given) == 0:
        return f"{path}: column {column!r} is empty; leave it out with --ignore {column!r}."
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


def contents_of_text(path: Path) -> list[Part]:
    """The columns of a table of text."""
    return columns_of(load_text(path, Reading()))


def contents_of_parquet(path: Path) -> list[Part]:
    """The columns of a Parquet table."""
    require("pyarrow", "cli", purpose="Reading Parquet")
    return columns_of(pandas().read_parquet(path))


def columns_of(frame: "pd.DataFrame") -> list[Part]:
    return [Part(str(name), (len(values),), kind_of(values)) for name, values in frame.items()]


def kind_of(values: Any) -> str:
    """What a column holds, with what will matter to a clustering."""
    pd = pandas()
    missing = int(values.isna().sum())
    left = f", {missing} missing" if missing else ""
    if not pd.api.types.is_numeric_dtype(values):
        unique = ", all different" if values.nunique() == len(values) else f", {values.nunique()} different"
        return f"text{unique}{left}"
    constant = ", constant" if values.nunique() <= 1 else ""
    return f"{values.min():.4g} to {values.max():.4g}{constant}{left}"
