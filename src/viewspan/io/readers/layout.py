"""How a table of text is laid out, told by its first lines: what separates columns, and what they are called."""

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from viewspan._utils.optional import require
from viewspan.io.readers.limits import CELL, check_columns, check_memory
from viewspan.io.readers.table import InputError, Reading

SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", r"\s+": "spaces"}
"""In the order in which they are tried: decimal commas stand between semicolons, not the other way round."""
SPACES = r"\s+"
UNNAMED = "Unnamed: 0"
"""What pandas calls a first column without a name."""
QUOTED = re.compile(r'"[^"]*"')
MISSING = {"", "na", "nan", "n/a", "null", "none", "<na>"}
LOOKED_AT = 6
"""Lines."""
LONGEST_LINE = 2**24
"""Letters: enough for as many columns as a table may have."""
BLOCK = 2**20

Kind = Literal["number", "missing", "text"]


@dataclass(frozen=True)
class Layout:
    """Of one file.

    Attributes
    ----------
    separator : str
        A regular expression for spaces.
    header : bool
        Whether the first line has names.
    names : list of str
        Of all columns.
    """

    separator: str
    header: bool
    names: list[str]

    @classmethod
    def of(cls, path: Path, reading: Reading) -> "Layout":
        lines = first_lines(path)
        separator = separator_of(path, lines)
        rows = records(lines, separator)
        header = has_header(path, rows, reading) if reading.header is None else reading.header
        names = (
            names_of(path, rows, reading)
            if header
            else [f"column {place + 1}" for place in range(len(rows[0]))]
        )
        again = [name for name, times in Counter(names).items() if times > 1]
        if again:
            raise InputError(
                f"{path} has more than one column {again[0]!r}; names must be different."
            )
        return cls(separator, header, names)


def first_lines(path: Path) -> list[str]:
    """Also of a compressed file."""
    pd: Any = require("pandas", "cli", purpose="Reading tables")
    try:
        with pd.io.common.get_handle(
            path, "r", encoding="utf-8-sig", compression="infer"
        ) as handles:
            lines = [str(handles.handle.readline(LONGEST_LINE + 1)) for _ in range(LOOKED_AT)]
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not text in UTF-8; save it in that encoding.") from error
    if any(len(line) > LONGEST_LINE for line in lines):
        raise InputError(f"{path} has a line of more than {LONGEST_LINE} letters; save it as .npy.")
    if any("\x00" in line for line in lines):
        raise InputError(f"{path} is not text.")
    if not lines[0].strip():
        raise InputError(f"{path} is empty, or begins with an empty line.")
    return [line for line in lines if line.strip()]


def check_text(path: Path, n_columns: int) -> None:
    """Go over all of it, unpacked, before it is parsed: short lines, too, are as wide in memory as the first one."""
    pd: Any = require("pandas", "cli", purpose="Reading tables")
    check_columns(path, n_columns)
    size, lines, without = 0, 1, 0
    with pd.io.common.get_handle(path, "rb", is_text=False, compression="infer") as handles:
        while block := handles.handle.read(BLOCK):
            if b"\x00" in block:
                raise InputError(f"{path} is not text.")
            size += len(block)
            lines += max(block.count(b"\n"), block.count(b"\r"))
            check_memory(path, size + CELL * lines * n_columns)
            end = max(block.rfind(b"\n"), block.rfind(b"\r"))
            without = len(block) - 1 - end if end >= 0 else without + len(block)
            if without > LONGEST_LINE:
                raise InputError(
                    f"{path} has a line of more than {LONGEST_LINE} letters; save it as .npy."
                )


def separator_of(path: Path, lines: Sequence[str]) -> str:
    """The one that is equally often in all lines, or once less in the first; a file with none has one column."""
    if ".tsv" in [suffix.lower() for suffix in path.suffixes]:
        return "\t"
    bare = [QUOTED.sub("", line) for line in lines]
    for separator in ("\t", ";", "|", ","):
        counts = [line.count(separator) for line in bare]
        if (
            min(counts[1:] or counts) > 0
            and len(set(counts[1:])) <= 1
            and counts[0] in (counts[-1], counts[-1] - 1)
        ):
            return separator
    if max(line.count(",") for line in bare) == 0 and min(len(line.split()) for line in bare) > 1:
        return SPACES
    return max((",", ";", "\t", "|"), key=bare[0].count)


def records(lines: Sequence[str], separator: str) -> list[list[str]]:
    if separator == SPACES:
        return [line.split() for line in lines]
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[field.strip() for field in row] for row in rows]


def has_header(path: Path, rows: Sequence[Sequence[str]], reading: Reading) -> bool:
    """A first line of numbers alone is a sample, unless they count the columns; text above numbers is a name; and what
    could be either is asked about.
    """
    first, second = rows[0], rows[1] if len(rows) > 1 else []
    if reading.id_column in first:
        return True
    kinds = [kind_of(field, reading.decimal) for field in first]
    numbers = [field for field, kind in zip(first, kinds, strict=True) if kind == "number"]
    counted = len(numbers) > 1 and numbers == steps(0, len(numbers))
    if "text" not in kinds:
        if counted:
            reading.note(
                f"{path}: the first line counts the columns and is taken as their names (--no-header if not)."
            )
        elif numbers:
            reading.note(
                f"{path}: the first line is numbers and is taken as the first sample (--header if not)."
            )
        return counted or not numbers
    above_text = all(
        kind_of(below, reading.decimal) == "text"
        for kind, below in zip(kinds, second, strict=False)
        if kind == "text"
    )
    if numbers and second and above_text and not counted and numbers != steps(1, len(numbers)):
        raise InputError(
            f"{path}: the first line could be names of columns or the first sample; give --header or --no-header."
        )
    return True


def steps(start: int, count: int) -> list[str]:
    return [str(number) for number in range(start, start + count)]


def kind_of(field: str, decimal: str) -> Kind:
    text = field.strip()
    if text.lower() in MISSING:
        return "missing"
    return "number" if is_number(text, decimal) else "text"


def is_number(text: str, decimal: str = ".") -> bool:
    """Also a truth."""
    if text.lower() in {"true", "false"}:
        return True
    try:
        float(text.replace(decimal, "."))
    except ValueError:
        return False
    return True


def names_of(path: Path, rows: Sequence[Sequence[str]], reading: Reading) -> list[str]:
    """Those of the first line; R leaves out the one above the names of its rows."""
    names = [name or f"Unnamed: {place}" for place, name in enumerate(rows[0])]
    if len(rows) == 1 or len(rows[1]) <= len(names):
        return names
    is_of_r = len(rows[1]) == len(names) + 1 and rows[1][-1] != "" and reading.id_column is None
    if not is_of_r:
        raise InputError(
            f"{path} has {len(names)} names in its first line and {len(rows[1])} values in the next."
        )
    return [UNNAMED, *names]
