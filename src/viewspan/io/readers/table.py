"""Tables that readers return, options of reading, and errors of input files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from viewspan._utils.optional import require
from viewspan._utils.text import visible

if TYPE_CHECKING:
    from viewspan._utils.typing import AnyArray

Missing = Literal["forbid", "allow", "drop"]
"""Treatment of ids that are not in every file."""


class InputError(ValueError):
    """Error of an input file. The message is one sentence for the user."""


@dataclass(frozen=True)
class Table:
    """One view.

    Attributes
    ----------
    name : str
        Name of the view: ``radar`` for ``radar.csv``.
    source : str
        The argument that the view was read from.
    path : Path
    values : array, sparse array or data frame (n_samples, n_features)
        A data frame if columns have names.
    ids : array of str, optional
        Ids of the rows.
    columns : array of str, optional
        Names of the features.
    named : bool
        Whether the user gave the name. Otherwise it comes from the file name.
    """

    name: str
    source: str
    path: Path
    values: Any = field(repr=False)
    ids: "AnyArray | None" = None
    columns: "AnyArray | None" = None
    named: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        n_rows, n_columns = self.values.shape
        return int(n_rows), int(n_columns)


@dataclass(frozen=True)
class Part:
    """Key, shape and kind of one array or column in a file."""

    key: str
    shape: tuple[int, ...]
    kind: str

    def __str__(self) -> str:
        return f"{visible(self.key)} ({' × '.join(map(str, self.shape)) or 'a single value'})"


@dataclass
class Reading:
    """Options of reading files, and notes for the user.

    Attributes
    ----------
    id_column : str, optional
        Column with the ids of the samples.
    ignored : list of str
        Columns that are not read.
    header : bool, optional
        Whether text tables start with column names. None detects it.
    decimal : str
    notes : list of str
        Sentences for the user about decisions that the readers made.
    left_out : set of str
        Columns in ``ignored`` that were found in a file.
    """

    id_column: str | None = None
    ignored: Sequence[str] = ()
    header: bool | None = None
    decimal: str = "."
    notes: list[str] = field(default_factory=list)
    left_out: set[str] = field(default_factory=set)

    def leave_out(self, columns: Iterable[object]) -> list[str]:
        """Return the columns to ignore, and record that they were found."""
        found = [str(name) for name in columns if str(name) in self.ignored]
        self.left_out.update(found)
        return found

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


def pandas() -> Any:
    return require("pandas", "cli", purpose="Reading tables")


def suggestion(name: str, names: Iterable[object]) -> str:
    """Return the question "Did you mean ...?" if one of the names is similar, else ""."""
    found = get_close_matches(name, [str(other) for other in names], n=1)
    return f" Did you mean {found[0]}?" if found else ""
