"""Arguments of the command line that name views in files, such as ``file.mat::X``."""

from dataclasses import dataclass
from pathlib import Path

from viewspan.io.readers.table import InputError, suggestion

KEY, TRANSPOSED, NAME = "::", ".T", "="
"""Syntax of an argument: ``[name=]file[::key[.T]]``."""
COMPRESSED = (".gz", ".bz2", ".xz", ".zst")
"""Extensions of compressed text tables."""
TEXT_EXTENSIONS = (".csv", ".tsv", ".txt")
EXTENSIONS = (*TEXT_EXTENSIONS, ".parquet", ".npy", ".npz", ".mat", ".h5ad", ".h5mu")
"""Extensions of all files that can be read."""


@dataclass(frozen=True)
class Source:
    """The argument ``[name=]file[::key[.T]]`` and its parts."""

    text: str
    path: Path
    key: str | None
    name: str | None
    transposed: bool

    @classmethod
    def parse(cls, text: str) -> "Source":
        """Split an argument. The name of an existing file may contain any characters."""
        if exists(text):
            return cls(text, Path(text), None, None, transposed=False)
        place, separator, key = text.partition(KEY)
        name, equals, rest = place.partition(NAME)
        if equals and not exists(place) and name:
            place = rest
        else:
            name = ""
        transposed = key.endswith(TRANSPOSED)
        key = key.removesuffix(TRANSPOSED) if transposed else key
        if separator and not key and not transposed:
            raise InputError(f"{text} has no key after {KEY}; write, for example, {place}{KEY}X.")
        return cls(text, Path(place), key or None, name or None, transposed)

    @property
    def stem(self) -> str:
        """File name without its extension, and without that of a compressed file."""
        path = self.path.with_suffix("") if self.path.suffix.lower() in COMPRESSED else self.path
        return path.stem


def replace_undecodable(text: str) -> str:
    """Replace bytes of a file name that are not valid text by question marks."""
    return text.encode("utf-8", "replace").decode()


def exists(path: str | Path) -> bool:
    """Return whether a file exists, and False for names that no file can have."""
    try:
        return Path(path).exists()
    except OSError:
        return False


def extension_of(path: Path) -> str:
    """Return the extension of an existing file; raise InputError if it cannot be read."""
    if not exists(path):
        if path.name in (others := names_in_folder(path)):
            raise InputError(f"{path} is a broken symbolic link.")
        raise InputError(f"{path} does not exist.{suggestion(path.name, others)}")
    if path.is_dir():
        raise InputError(f"{path} is a folder; give a file.")
    if not path.is_file():
        raise InputError(f"{path} is not a regular file; save the data in one.")
    suffixes = [suffix.lower() for suffix in path.suffixes if suffix.lower() not in COMPRESSED]
    if not suffixes or suffixes[-1] not in EXTENSIONS:
        raise InputError(
            f"{path} has none of the supported extensions: {', '.join(EXTENSIONS)}; save the data "
            "as .csv, for example."
        )
    if path.suffix.lower() in COMPRESSED and suffixes[-1] not in TEXT_EXTENSIONS:
        raise InputError(
            f"{path} is compressed, which is supported for text tables only; unpack it first."
        )
    return suffixes[-1]


def names_in_folder(path: Path) -> list[str]:
    """Return the names of the files beside a path, or nothing if the folder is not readable."""
    try:
        return [entry.name for entry in path.parent.iterdir()]
    except OSError:
        return []
