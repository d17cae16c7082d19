"""What a file gives: tables with the ids of their rows; and what can be wrong with it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from viewspan._utils.text import visible
from viewspan._utils.typing import AnyArray

MOST_LISTED = 8


class InputError(ValueError):
    """A file that cannot be used, with a sentence for the one who gave it."""


@dataclass(frozen=True)
class Table:
    """One view.

    Attributes
    ----------
    name : str
        What it is called: ``radar`` of ``radar.csv``.
    source : str
        As it was asked for.
    path : Path
    values : array, sparse array or data frame (n_samples, n_features)
        A frame where columns have names.
    ids : array of str, optional
        Of the rows.
    columns : array of str, optional
        Names of the features, if they have any.
    named : bool
        Whether the name was given, not taken from the file.
    """

    name: str
    source: str
    path: Path
    values: Any = field(repr=False)
    ids: AnyArray | None = None
    columns: AnyArray | None = None
    named: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.values.shape
        return int(n_rows), int(n_columns)


@dataclass(frozen=True)
class Part:
    """One thing in a file, for those who ask what is in it."""

    key: str
    shape: tuple[int, ...]
    kind: str

    def __str__(self) -> str:
        return f"{visible(self.key)} ({' × '.join(map(str, self.shape)) or 'a single value'})"


@dataclass
class Reading:
    """How files are to be read, and what is noticed while they are.

    Attributes
    ----------
    id_column : str, optional
        The column that tells the samples apart.
    ignored : list of str
        Columns that are left out.
    header : bool, optional
        Whether delimited files begin with the names of their columns; None to look.
    decimal : str
    notes : list of str
        Sentences for the user: whatever was decided without being asked.
    left_out : set of str
        Columns of those that were ignored which were found.
    """

    id_column: str | None = None
    ignored: Sequence[str] = ()
    header: bool | None = None
    decimal: str = "."
    notes: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def leave_out(self, columns: Iterable[object]) -> list[str]:
        """Which of these columns are to be ignored."""
        found = [str(name) for name in columns if str(name) in self.ignored]
        self.left_out.update(found)
        return found

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def listed(names: Iterable[object], most: int = MOST_LISTED) -> str:
    """Some names, and how many more there are."""
    every = [str(name) for name in names]
    rest = len(every) - most
    return ", ".join(every[:most]) + (f" and {rest} more" if rest > 0 else "")


def closest(name: str, names: Iterable[object]) -> str:
    """A question, if there is a name that may have been meant."""
    found = get_close_matches(name, [str(other) for other in names], n=1)
    return f" Did you mean {found[0]}?" if found else ""
