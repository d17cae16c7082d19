"""Tables of text, and Parquet."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewspan._optional import require
from viewspan.tables.columns import as_table, columns_of
from viewspan.tables.layout import SEPARATORS, UNNAMED, Layout
from viewspan.tables.table import InputError, Part, Reading, Table

if TYPE_CHECKING:
    import pandas as pd

    from viewspan.tables.read import Source


def read_text(source: "Source", reading: Reading) -> list[Table]:
    """A view of a .csv or .tsv file."""
    refuse_key(source)
    return [as_table(source, load_text(source.path, reading), reading)]


def read_parquet(source: "Source", reading: Reading) -> list[Table]:
    """A view of a .parquet file; its index, if it was kept, is the ids."""
    refuse_key(source)
    return [as_table(source, load_parquet(source.path, reading), reading)]


def refuse_key(source: "Source") -> None:
    if source.key is not None:
        raise InputError(f"{source.path} is one table and has no keys; give it without ::{source.key}.")


def load_text(path: Path, reading: Reading) -> "pd.DataFrame":
    """As it is; ids are text."""
    pd = require("pandas", "cli", purpose="Reading tables")
    layout = Layout.of(path, reading)
    ids = reading.id_column if reading.id_column is not None else UNNAMED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # values that no column has would be lost
            frame: Any = pd.read_csv(
                path,
                sep=layout.separator,
                header=0 if layout.header else None,
                names=layout.names,
                index_col=False,
                converters={ids: str.strip} if ids in layout.names else {},  # 007, and NA, are names as they are
                encoding="utf-8-sig",
                decimal=reading.decimal,
                skipinitialspace=True,
                skip_blank_lines=len(layout.names) > 1,
            )
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8; save it in that encoding.") from error
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        what = str(error).strip().splitlines()[0].rstrip(".")
        raise InputError(
            f"{path} is not a table of {len(layout.names)} columns separated by {SEPARATORS[layout.separator]}: {what}."
        ) from error
    return frame  # type: ignore[no-any-return]


def load_parquet(path: Path, reading: Reading) -> "pd.DataFrame":
    """With the index, if it says who is who, as a column."""
    require("pyarrow", "cli", purpose="Reading Parquet")
    frame: pd.DataFrame = require("pandas", "cli", purpose="Reading tables").read_parquet(path)
    frame.columns = frame.columns.astype(str)
    index: Any = frame.index
    if index.nlevels > 1:
        raise InputError(f"{path} has an index of {index.nlevels} columns; keep one, or none (frame.reset_index()).")
    numbered = type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1
    if not numbered:
        name = str(index.name) if index.name is not None else UNNAMED
        frame = frame.rename_axis(name).reset_index().astype({name: str})
        if reading.id_column is None and index.name is not None:
            frame = frame.rename(columns={name: UNNAMED})
    return frame


def contents_of_text(path: Path) -> list[Part]:
    """The columns of a table of text."""
    return columns_of(load_text(path, Reading()))


def contents_of_parquet(path: Path) -> list[Part]:
    """The columns of a Parquet table."""
    return columns_of(load_parquet(path, Reading(id_column="")))  # so that an index keeps its name
