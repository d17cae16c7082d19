"""Tables of text."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewspan._utils.optional import require
from viewspan.io.readers.columns import as_table, columns_of, refuse_key
from viewspan.io.readers.layout import SEPARATORS, UNNAMED, Layout, check_text
from viewspan.io.readers.table import InputError, Part, Reading, Table

if TYPE_CHECKING:
    import pandas as pd

    from viewspan.io.readers.read import Source

NAME = "\x02"
"""Stands before a name while it is read."""


def read_text(source: "Source", reading: Reading) -> list[Table]:
    """A view of a .csv or .tsv file."""
    refuse_key(source)
    return [as_table(source, load_text(source.path, reading), reading)]


def load_text(path: Path, reading: Reading) -> "pd.DataFrame":
    """As it is; ids are text."""
    pd = require("pandas", "cli", purpose="Reading tables")
    layout = Layout.of(path, reading)
    check_text(path, len(layout.names))
    ids = reading.id_column if reading.id_column is not None else UNNAMED
    try:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "error", pd.errors.ParserWarning
            )  # values that no column has would be lost
            frame: Any = pd.read_csv(
                path,
                sep=layout.separator,
                header=0 if layout.header else None,
                names=layout.names,
                index_col=False,
                converters={ids: as_name}
                if ids in layout.names
                else {},  # 007, and NA, are names as they are
                encoding="utf-8-sig",
                decimal=reading.decimal,
                float_precision="round_trip",  # the faster ones die of an exponent such as 5555555555
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
    if ids in frame.columns:
        frame[ids] = frame[ids].astype(object).str.removeprefix(NAME)
    return frame  # type: ignore[no-any-return]


def as_name(cell: str) -> str:
    """Marked, because pandas 3 takes NA for nothing even after a converter."""
    return NAME + cell.strip()


def contents_of_text(path: Path) -> list[Part]:
    """The columns of a table of text."""
    return columns_of(load_text(path, Reading()))
