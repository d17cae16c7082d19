"""Parquet. A few bytes of it can stand for any number of rows, so what it says of itself is reckoned up first."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewspan._utils.optional import require
from viewspan.io.readers.columns import as_table, columns_of, refuse_key
from viewspan.io.readers.layout import UNNAMED
from viewspan.io.readers.limits import CELL, check_columns, check_memory
from viewspan.io.readers.table import InputError, Part, Reading, Table

if TYPE_CHECKING:
    import pandas as pd

    from viewspan.io.readers.read import Source


def read_parquet(source: "Source", reading: Reading) -> list[Table]:
    """A view of a .parquet file; its index, if it was kept, is the ids."""
    refuse_key(source)
    return [as_table(source, load_parquet(source.path, reading), reading)]


def load_parquet(path: Path, reading: Reading) -> "pd.DataFrame":
    """With the index, if it says who is who, as a column."""
    require("pandas", "cli", purpose="Reading tables")
    with opened(path) as file:
        check_table(path, file)
        nested = nested_columns(file.schema_arrow)
        ignored = reading.leave_out(nested)
        for name, kind in nested.items():
            if name not in ignored:
                raise InputError(
                    f"{path}: column {name!r} holds {kind}, and a view must be numbers; leave it out with "
                    f"--ignore {name!r}."
                )
        return with_ids(path, flat_columns(path, file), reading)


def opened(path: Path) -> Any:
    """Text as numbers of its distinct words, because one of them may be there a million times."""
    parquet = require("pyarrow.parquet", "cli", purpose="Reading Parquet")
    with parquet.ParquetFile(path) as file:
        words = [field.name for field in file.schema_arrow if is_text(field.type)]
    return parquet.ParquetFile(path, read_dictionary=words)


def check_table(path: Path, file: Any) -> None:
    facts = file.metadata
    check_columns(path, facts.num_columns)
    names = Counter(file.schema_arrow.names)
    again = [name for name, times in names.items() if times > 1]
    if again:
        raise InputError(f"{path} has more than one column {again[0]!r}; names must be different.")
    if facts.num_rows < 0:
        raise InputError(f"{path} is damaged: it says that it has {facts.num_rows} rows.")
    check_memory(path, facts.num_rows * sum(width_of(field.type) for field in file.schema_arrow))
    check_memory(
        path, sum(facts.row_group(place).total_byte_size for place in range(facts.num_row_groups))
    )


def width_of(kind: Any) -> int:
    """Bytes of a value while it is read; text is measured later."""
    try:
        return max(CELL, int(kind.bit_width) // 4)
    except ValueError:
        return CELL


def flat_columns(path: Path, file: Any) -> "pd.DataFrame":
    """Those that hold one value in a row."""
    nested = nested_columns(file.schema_arrow)
    names = [name for name in file.schema_arrow.names if name not in nested]
    table = file.read(columns=names if nested else None, use_pandas_metadata=True)
    check_memory(path, 2 * sum(letters_in(column) for column in table.columns))
    for place, field in enumerate(table.schema):
        if is_words(field.type):
            plain = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, plain)
    frame: pd.DataFrame = table.to_pandas()
    frame.columns = frame.columns.astype(str)
    return frame


def letters_in(column: Any) -> int:
    """Bytes of text, each time that it is there."""
    if not is_words(column.type):
        return 0
    compute = require("pyarrow.compute", "cli", purpose="Reading Parquet")
    total = 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary)
        total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def nested_columns(schema: Any) -> dict[str, str]:
    """Lists and records, with what they are."""
    types = require("pyarrow", "cli", purpose="Reading Parquet").types
    return {field.name: str(field.type) for field in schema if types.is_nested(field.type)}


def is_text(kind: Any) -> bool:
    types = require("pyarrow", "cli", purpose="Reading Parquet").types
    return bool(types.is_string(kind) or types.is_binary(kind) or types.is_large_string(kind))


def is_words(kind: Any) -> bool:
    types = require("pyarrow", "cli", purpose="Reading Parquet").types
    return bool(types.is_dictionary(kind)) and is_text(kind.value_type)


def with_ids(path: Path, frame: "pd.DataFrame", reading: Reading) -> "pd.DataFrame":
    """The index, if it says who is who, as a column."""
    index: Any = frame.index
    if index.nlevels > 1:
        raise InputError(
            f"{path} has an index of {index.nlevels} columns; keep one, or none (frame.reset_index())."
        )
    numbered = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    if not numbered:
        name = str(index.name) if index.name is not None else UNNAMED
        frame = frame.rename_axis(name).reset_index().astype({name: str})
        if reading.id_column is None and index.name is not None:
            frame = frame.rename(columns={name: UNNAMED})
    return frame


def contents_of_parquet(path: Path) -> list[Part]:
    """The columns of a Parquet table."""
    with opened(path) as file:
        check_table(path, file)
        nested = nested_columns(file.schema_arrow)
    every: Sequence[str] = list(nested)
    frame = load_parquet(
        path, Reading(id_column="", ignored=every)
    )  # so that an index keeps its name
    return columns_of(frame) + [Part(name, (len(frame),), kind) for name, kind in nested.items()]
