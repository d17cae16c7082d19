"""Detection of the separator, header and column names of a text table from its first lines."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from viewspan.io.readers.limits import (
    BYTES_PER_CELL,
    check_column_count,
    check_memory,
    check_unique_columns,
)
from viewspan.io.readers.table import InputError, Reading, pandas

SPACES = r"\s+"
SEPARATORS = {"\t": "tabs", ";": "semicolons", "|": "bars", ",": "commas", SPACES: "spaces"}
"""Separators in the order in which they are tried.

Semicolons come before commas, because files with decimal commas are separated by semicolons.
"""
UNNAMED = "Unnamed: 0"
"""Name that pandas gives to a first column without a name."""
QUOTED = re.compile(r'"[^"]*"')
MISSING_VALUES = {"", "na", "nan", "n/a", "null", "none", "<na>"}
N_LINES = 6
"""Number of lines that are inspected."""
MAX_LINE_LENGTH = 2**24
"""Longest line in characters: enough for the largest number of columns."""
BLOCK_SIZE = 2**20
"""Bytes that are read at once."""

FieldKind = Literal["number", "missing", "text"]


@dataclass(frozen=True)
class TextLayout:
    """Layout of a text table.

    Attributes
    ----------
    separator : str
        A character, or a regular expression for spaces.
    header : bool
        Whether the first line holds column names.
    names : list of str
        Names of all columns.
    """

    separator: str
    header: bool
    names: list[str]

    @classmethod
    def of(cls, path: Path, reading: Reading) -> "TextLayout":
        """Detect the layout of a file."""
        lines = first_lines(path)
        separator = detect_separator(path, lines)
        rows = split_lines(lines, separator)
        header = has_header(path, rows, reading) if reading.header is None else reading.header
        names = column_names(path, rows, reading) if header else numbered_columns(len(rows[0]))
        check_column_count(path, len(names))
        check_unique_columns(path, names)
        return cls(separator, header, names)


def first_lines(path: Path) -> list[str]:
    """Return the first lines of a file that may be compressed, without empty lines."""
    handle = pandas().io.common.get_handle
    try:
        with handle(path, "r", encoding="utf-8-sig", compression="infer") as handles:
            lines = [str(handles.handle.readline(MAX_LINE_LENGTH + 1)) for _ in range(N_LINES)]
    except UnicodeDecodeError as error:
        raise InputError(not_utf8(path)) from error
    if any(len(line) > MAX_LINE_LENGTH for line in lines):
        raise InputError(line_too_long(path))
    if any("\x00" in line for line in lines):
        raise InputError(f"{path} is not a text file.")
    if not lines[0].strip():
        raise InputError(f"{path} is empty, or starts with an empty line.")
    return [line for line in lines if line.strip()]


def check_lines(path: Path, n_columns: int) -> None:
    """Raise InputError if the uncompressed text would need too much memory as a table.

    Every line counts as a full row, because pandas fills short lines up to the full width.
    """
    handle = pandas().io.common.get_handle
    size, n_lines, line_length = 0, 1, 0
    with handle(path, "rb", is_text=False, compression="infer") as handles:
        while block := handles.handle.read(BLOCK_SIZE):
            if b"\x00" in block:
                raise InputError(f"{path} is not a text file.")
            size += len(block)
            n_lines += max(block.count(b"\n"), block.count(b"\r"))
            check_memory(path, size + BYTES_PER_CELL * n_lines * n_columns)
            end = max(block.rfind(b"\n"), block.rfind(b"\r"))
            line_length = len(block) - 1 - end if end >= 0 else line_length + len(block)
            if line_length > MAX_LINE_LENGTH:
                raise InputError(line_too_long(path))


def not_utf8(path: Path) -> str:
    return f"{path} is not text in UTF-8; save it in UTF-8."


def line_too_long(path: Path) -> str:
    return f"{path} has a line of more than {MAX_LINE_LENGTH} characters; save it as .npy."


def detect_separator(path: Path, lines: Sequence[str]) -> str:
    """Return the separator that occurs equally often in all lines.

    It may occur once less in the first line, as in files that R wrote. If no separator fits, return
    spaces, or else the most frequent one.
    """
    if ".tsv" in [suffix.lower() for suffix in path.suffixes]:
        return "\t"
    unquoted = [QUOTED.sub("", line) for line in lines]
    for separator in ("\t", ";", "|", ","):
        counts = [line.count(separator) for line in unquoted]
        if (
            min(counts[1:] or counts) > 0
            and len(set(counts[1:])) <= 1
            and counts[0] in (counts[-1], counts[-1] - 1)
        ):
            return separator
    has_commas = any("," in line for line in unquoted)
    if not has_commas and min(len(line.split()) for line in unquoted) > 1:
        return SPACES
    return max((",", ";", "\t", "|"), key=unquoted[0].count)


def split_lines(lines: Sequence[str], separator: str) -> list[list[str]]:
    if separator == SPACES:
        return [line.split() for line in lines]
    rows = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [[field.strip() for field in row] for row in rows]


def has_header(path: Path, rows: Sequence[Sequence[str]], reading: Reading) -> bool:
    """Return whether the first line holds column names.

    A line of numbers is a sample unless it numbers the columns. Text above numbers is a name. If
    both are possible, raise InputError.
    """
    first, second = rows[0], rows[1] if len(rows) > 1 else []
    if reading.id_column in first:
        return True
    kinds = [field_kind(field, reading.decimal) for field in first]
    numbers = [field for field, kind in zip(first, kinds, strict=True) if kind == "number"]
    counts_columns = len(numbers) > 1 and numbers == consecutive(0, len(numbers))
    if "text" not in kinds:
        if counts_columns:
            reading.note(
                f"{path}: the first line numbers the columns and is used as their names; give "
                "--no-header if it is a sample."
            )
        elif numbers:
            reading.note(
                f"{path}: the first line holds numbers and is used as the first sample; give "
                "--header if it holds column names."
            )
        return counts_columns or not numbers
    above_text = all(
        field_kind(below, reading.decimal) == "text"
        for kind, below in zip(kinds, second, strict=False)
        if kind == "text"
    )
    counts_features = counts_columns or numbers == consecutive(1, len(numbers))
    if numbers and second and above_text and not counts_features:
        raise InputError(
            f"{path}: the first line could hold column names or the first sample; give --header or "
            "--no-header."
        )
    return True


def consecutive(start: int, count: int) -> list[str]:
    return [str(number) for number in range(start, start + count)]


def numbered_columns(count: int) -> list[str]:
    """Return the names of the columns of a table without a header."""
    return [f"column {number + 1}" for number in range(count)]


def field_kind(field: str, decimal: str) -> FieldKind:
    text = field.strip()
    if text.lower() in MISSING_VALUES:
        return "missing"
    return "number" if is_number(text, decimal) else "text"


def is_number(text: str, decimal: str = ".") -> bool:
    """Return whether the text is a number or a boolean."""
    if text.lower() in {"true", "false"}:
        return True
    try:
        float(text.replace(decimal, "."))
    except ValueError:
        return False
    return True


def column_names(path: Path, rows: Sequence[Sequence[str]], reading: Reading) -> list[str]:
    """Return the names in the first line. R writes no name above the row names."""
    names = [name or f"Unnamed: {position}" for position, name in enumerate(rows[0])]
    if len(rows) == 1 or len(rows[1]) <= len(names):
        return names
    from_r = len(rows[1]) == len(names) + 1 and rows[1][-1] != "" and reading.id_column is None
    if not from_r:
        raise InputError(
            f"{path} has {len(names)} column names in its first line, but {len(rows[1])} values in "
            "its second line."
        )
    return [UNNAMED, *names]
