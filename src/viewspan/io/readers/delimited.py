"""Reader of text tables."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewspan.io.readers.columns import as_table, check_no_key, describe_columns
from viewspan.io.readers.layout import SEPARATORS, UNNAMED, TextLayout, check_lines, not_utf8
from viewspan.io.readers.source import Source
from viewspan.io.readers.table import InputError, Part, Reading, Table, pandas

if TYPE_CHECKING:
    import pandas as pd


ID_PREFIX = "\x02"
"""Prefix of ids while a file is read. Without it, pandas 3 reads the id NA as a missing value."""


def read_text(source: Source, reading: Reading) -> list[Table]:
    """Return the view of a .csv, .tsv or .txt file."""
    check_no_key(source)
    return [as_table(source, load_text(source.path, reading), reading)]


def load_text(path: Path, reading: Reading) -> "pd.DataFrame":
    """Return the table as it is in the file. Ids are kept as text, such as 007 and NA."""
    pd = pandas()
    layout = TextLayout.of(path, reading)
    check_lines(path, len(layout.names))
    ids = reading.id_column if reading.id_column is not None else UNNAMED
    try:
        with warnings.catch_warnings():
            # Without this, values beyond the last column are lost.
            warnings.simplefilter("error", pd.errors.ParserWarning)
            frame: Any = pd.read_csv(
                path,
                sep=layout.separator,
                header=0 if layout.header else None,
                names=layout.names,
                index_col=False,
                converters={ids: add_prefix} if ids in layout.names else {},
                encoding="utf-8-sig",
                decimal=reading.decimal,
                # The faster parsers crash on an exponent such as 5555555555.
                float_precision="round_trip",
                skipinitialspace=True,
                skip_blank_lines=len(layout.names) > 1,
            )
    except UnicodeDecodeError as error:
        raise InputError(not_utf8(path)) from error
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        message = str(error).strip().splitlines()[0].rstrip(".")
        separator = SEPARATORS[layout.separator]
        raise InputError(
            f"{path} is not a table of {len(layout.names)} columns separated by {separator}: "
            f"{message}."
        ) from error
    if ids in frame.columns:
        frame[ids] = frame[ids].astype(object).str.removeprefix(ID_PREFIX)
    return frame  # type: ignore[no-any-return]


def add_prefix(cell: str) -> str:
    return ID_PREFIX + cell.strip()


def contents_of_text(path: Path) -> list[Part]:
    """Return the columns of a text table."""
    return describe_columns(load_text(path, Reading()))
