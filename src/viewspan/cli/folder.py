"""Output folder of a command: created, locked and checked before the work, written after it."""

import hashlib
import json
import os
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from viewspan._utils.files import (
    created_folder,
    locked_folder,
    remove_stale_temporaries,
    write_all_atomically,
)
from viewspan.io.readers.source import exists
from viewspan.io.readers.table import InputError

RECORD_NAME = "run.json"
OUTPUT_NAMES = ("labels.csv", "model", RECORD_NAME, "report.html")


class WritingError(OSError):
    """The results are computed but cannot be written."""


@contextmanager
def locked_output_folder(out: Path, *, force: bool, inputs: Sequence[Path] = ()) -> Iterator[None]:
    """Create, lock and check the output folder; remove it if the run fails and leaves it empty."""
    with ExitStack() as stack:
        try:
            stack.enter_context(created_folder(out))
        except OSError as error:
            raise InputError(f"The folder {out} cannot be created: {error.strerror}.") from error
        check_writable(out)
        if not stack.enter_context(locked_folder(out, wait=False)):
            raise InputError(
                f"Another viewspan command is writing to {out}; wait until it ends, or choose "
                "another --out."
            )
        check_outputs(out, force=force, inputs=inputs)
        remove_stale_temporaries(out)
        yield


def check_output_folder(out: Path, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Raise InputError if the run cannot write to this folder. Nothing is created.

    Commands call this before they import numpy and others, and the folder is checked again when it
    is locked.
    """
    check_not_a_file(out)
    if out.is_dir():
        check_writable(out)
        check_outputs(out, force=force, inputs=inputs)


def check_not_a_file(out: Path) -> None:
    """Raise InputError if the output folder or one of its parents is a file."""
    found = next((path for path in (out, *out.parents) if exists(path)), None)
    if found is not None and not found.is_dir():
        raise InputError(f"{found} is a file, but --out needs a folder.")


def check_writable(out: Path) -> None:
    if not os.access(out, os.W_OK):
        raise InputError(f"You have no permission to write to {out}; choose another --out.")


def check_outputs(out: Path, *, force: bool, inputs: Sequence[Path]) -> None:
    """Raise InputError if the run may not write its files into this folder."""
    present = [out / name for name in OUTPUT_NAMES if (out / name).exists()]
    check_not_inputs(present, inputs)
    if present and not force:
        raise InputError(
            f"{out} already contains {present[0].name}; choose another --out, or add --force to "
            "replace the files of an earlier run."
        )
    checksums = recorded_checksums(out / RECORD_NAME)
    for path in present:
        if path.name not in checksums or not path.is_file():
            raise InputError(
                f"{path} was not written by viewspan, so --force does not replace it; choose "
                "another --out."
            )
        if sha256(path.read_bytes()) != checksums[path.name]:
            raise InputError(
                f"{path} has changed since viewspan wrote it, so --force does not replace it; move "
                "it elsewhere, or choose another --out."
            )


def check_not_inputs(outputs: Iterable[Path], inputs: Sequence[Path]) -> None:
    """Raise InputError if an existing output file is one of the files that the run reads."""
    for output in outputs:
        if any(path.exists() and output.samefile(path) for path in inputs):
            raise InputError(
                f"{output} is an input of this run and would be overwritten; choose another --out."
            )


def recorded_checksums(record: Path) -> dict[str, str]:
    """Return the SHA-256 of every output file of an earlier run, or {} if there was none."""
    try:
        content = record.read_bytes()
        written = json.loads(content)["written"]
        return {record.name: sha256(content), **{name: str(written[name]) for name in written}}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def write_files(
    folder: Path, contents: Mapping[str, bytes], *, obsolete: Collection[str] = ()
) -> list[Path]:
    """Write all files into a folder, remove the obsolete ones, and return the written paths.

    If that fails, leave the folder as it was and write the files to a temporary folder instead.
    """
    written = {folder / name: content for name, content in contents.items()}
    try:
        with created_folder(folder):
            write_all_atomically(written, [folder / name for name in obsolete])
    except OSError as error:
        raise WritingError(
            f"{error.filename} could not be written: {error.strerror}. Earlier files are "
            f"unchanged. {rescue(contents)}"
        ) from error
    return list(written)


def rescue(contents: Mapping[str, bytes]) -> str:
    """Write the files to a new temporary folder, and return a sentence that says where they are."""
    try:
        folder = Path(tempfile.mkdtemp(prefix="viewspan-"))
        try:
            write_all_atomically({folder / name: content for name, content in contents.items()})
        except OSError:
            folder.rmdir()
            raise
    except OSError as error:
        return (
            f"The result is lost, because it could not be written to {tempfile.gettempdir()} "
            f"either: {error.strerror}."
        )
    return f"The result was saved to {folder}; move it from there."


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
