"""Tables and figures of a folder of studies, which never replace a file of the user."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from viewspan._utils.files import write_all_atomically, write_atomically
from viewspan.io.readers.table import InputError

RECORD_NAME = "reproduce.json"
"""Record of the files that earlier runs wrote into the folder, with their SHA-256."""


def check_replaceable(folder: Path, names: Iterable[str]) -> None:
    """Raise InputError if a file with one of these names is not as an earlier run wrote it."""
    recorded = recorded_checksums(folder)
    for path in (folder / name for name in names):
        if path.exists() and (
            not path.is_file() or checksum(path) not in recorded.get(path.name, ())
        ):
            raise InputError(
                f"{path} was not written by viewspan, or has changed since, and is not replaced; "
                "move it elsewhere, or choose another folder."
            )


def write_outputs(folder: Path, contents: Mapping[Path, bytes]) -> None:
    """Write files of a folder, all or none, and record them; raise InputError if one is foreign.

    A process may be killed while the files are replaced. So the record first names both the former
    and the new content of every file.
    """
    check_replaceable(folder, [path.name for path in contents])
    new = {path.name: hashlib.sha256(content).hexdigest() for path, content in contents.items()}
    former = recorded_checksums(folder)
    both = {name: [*former.get(name, ()), value] for name, value in new.items()}
    write_record(folder, former | both)
    write_all_atomically(contents)
    write_record(folder, former | {name: [value] for name, value in new.items()})


def recorded_checksums(folder: Path) -> dict[str, list[str]]:
    """Return the recorded SHA-256 of every file, or {} if there is no record."""
    try:
        written = json.loads((folder / RECORD_NAME).read_bytes())["written"]
        return {str(name): [str(value) for value in written[name]] for name in written}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_record(folder: Path, checksums: Mapping[str, list[str]]) -> None:
    content = json.dumps({"written": dict(sorted(checksums.items()))}, indent=1)
    write_atomically(folder / RECORD_NAME, content.encode() + b"\n")


def checksum(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
