"""Reader of Parquet files. A few bytes can encode many rows, so metadata is checked first."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewspan._utils.optional import require
from viewspan.io.readers.columns import as_table, check_no_key, describe_columns
from viewspan.io.readers.layout import UNNAMED
from viewspan.io.readers.limits import (
    BYTES_PER_CELL,
    check_column_count,
    check_memory,
    check_unique_columns,
)
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import InputError, Part, Reading, Table, pandas

if TYPE_CHECKING:
    import pandas as pd


def pyarrow(module: str) -> Any:
    return require(f"pyarrow.{module}", "cli", purpose="Reading Parquet")


def read_parquet(source: Source, reading: Reading) -> list[Table]:
    """Return the view of a .parquet file. If it has an index, the index holds the ids."""
    check_no_key(source)
    return [as_table(source, load_parquet(source.path, reading), reading)]


def load_parquet(path: Path, reading: Reading) -> "pd.DataFrame":
    """Return the table with its index as a column. Raise InputError if a column is nested."""
    with open_parquet(path) as file:
        nested = nested_columns(file.schema_arrow)
        ignored = reading.leave_out(nested)
        for name, kind in nested.items():
            if name not in ignored:
                raise InputError(
                    f"{path}: column {name!r} holds {kind}, but a view must hold numbers; leave it "
                    f"out with --ignore {name!r}."
                )
        return flat_columns(path, file, reading)


def open_parquet(path: Path) -> Any:
    """Open a file after a check of its metadata, with text columns as dictionaries.

    A dictionary stores a text once that occurs a million times.
    """
    pandas()
    parquet = pyarrow("parquet")
    with parquet.ParquetFile(path) as file:
        check_metadata(path, file)
        text = [field.name for field in file.schema_arrow if is_text(field.type)]
    return parquet.ParquetFile(path, read_dictionary=text)


def check_metadata(path: Path, file: Any) -> None:
    metadata = file.metadata
    check_column_count(path, metadata.num_columns)
    check_unique_columns(path, file.schema_arrow.names)
    if metadata.num_rows < 0:
        raise InputError(f"{path} is damaged: its number of rows is {metadata.num_rows}.")
    row_size = sum(memory_per_value(field.type) for field in file.schema_arrow)
    check_memory(path, metadata.num_rows * row_size)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    check_memory(path, sum(group.total_byte_size for group in groups))


def memory_per_value(kind: Any) -> int:
    """Return the bytes that a value needs while it is read. Text is checked later."""
    try:
        return max(BYTES_PER_CELL, int(kind.bit_width) // 4)
    except ValueError:
        return BYTES_PER_CELL


def flat_columns(path: Path, file: Any, reading: Reading) -> "pd.DataFrame":
    """Return the columns that are not nested, and the index as a column."""
    nested = nested_columns(file.schema_arrow)
    names = [name for name in file.schema_arrow.names if name not in nested]
    table = file.read(columns=names if nested else None, use_pandas_metadata=True)
    check_memory(path, 2 * sum(text_size(column) for column in table.columns))
    for position, field in enumerate(table.schema):
        if is_text_dictionary(field.type):
            plain = table.column(position).cast(field.type.value_type)
            table = table.set_column(position, field.name, plain)
    frame: pd.DataFrame = table.to_pandas()
    frame.columns = frame.columns.astype(str)
    return index_to_column(path, frame, reading)


def text_size(column: Any) -> int:
    """Return the bytes of all texts in a column, repeated ones included."""
    if not is_text_dictionary(column.type):
        return 0
    compute = pyarrow("compute")
    total = 0
    for chunk in column.chunks:
        lengths = compute.binary_length(chunk.dictionary)
        total += compute.sum(lengths.take(chunk.indices)).as_py() or 0
    return total


def nested_columns(schema: Any) -> dict[str, str]:
    """Return the names and types of the columns that hold lists or records."""
    types = pyarrow("types")
    return {field.name: str(field.type) for field in schema if types.is_nested(field.type)}


def is_text(kind: Any) -> bool:
    types = pyarrow("types")
    return bool(types.is_string(kind) or types.is_binary(kind) or types.is_large_string(kind))


def is_text_dictionary(kind: Any) -> bool:
    return bool(pyarrow("types").is_dictionary(kind)) and is_text(kind.value_type)


def index_to_column(path: Path, frame: "pd.DataFrame", reading: Reading) -> "pd.DataFrame":
    """Turn the index into a column, unless it only numbers the rows."""
    index: Any = frame.index
    if index.nlevels > 1:
        raise InputError(
            f"{path} has an index of {index.nlevels} columns; keep one, or remove it with "
            "frame.reset_index()."
        )
    if type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1:
        return frame
    name = str(index.name) if index.name is not None else UNNAMED
    frame = frame.rename_axis(name).reset_index().astype({name: str})
    if reading.id_column is None and index.name is not None:
        frame = frame.rename(columns={name: UNNAMED})
    return frame


def contents_of_parquet(path: Path) -> list[Part]:
    """Return the columns of a Parquet table."""
    with open_parquet(path) as file:
        nested = nested_columns(file.schema_arrow)
        # An id column keeps index_to_column from renaming the index.
        frame = flat_columns(path, file, Reading(id_column=""))
    return describe_columns(frame) + [
        Part(name, (len(frame),), kind) for name, kind in nested.items()
    ]
