"""The output folder of a command: checked before the work, locked while it lasts, never an input of the run."""

import hashlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from viewspan._utils.files import alone_in, folder_for, sweep, write_together
from viewspan.io.readers import InputError

RECORD = "run.json"
WRITTEN = ("labels.csv", "model", RECORD, "report.html")


class WritingError(OSError):
    """The work is done, and there is no room for what came of it."""


@contextmanager
def claimed(out: Path, *, force: bool, inputs: Sequence[Path] = ()) -> Iterator[None]:
    """Create the output folder and lock it; remove it again if the run fails and leaves it empty."""
    check_folder(out, force=force, inputs=inputs)
    with ExitStack() as stack:
        try:
            stack.enter_context(folder_for(out))
        except OSError as error:
            raise InputError(f"{out} cannot be made: {error.strerror}.") from error
        if not stack.enter_context(alone_in(out, wait=False)):
            raise InputError(
                f"Another viewspan is at work in {out}; wait for its end, or name another folder."
            )
        check_folder(out, force=force, inputs=inputs)  # another run may have ended in between
        sweep(out)
        yield


def check_folder(out: Path, *, force: bool, inputs: Sequence[Path] = ()) -> None:
    """Raise InputError, before the work, if the run may not write its files into this folder."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out names a folder.")
    present = [name for name in WRITTEN if (out / name).exists()]
    folders = [name for name in present if (out / name).is_dir()]
    if folders:
        raise InputError(
            f"{out / folders[0]} is a folder, where a file is to be written; name another --out."
        )
    check_no_input((out / name for name in present), inputs)
    if present and not force:
        raise InputError(
            f"{out} already has {present[0]}; name another folder, or --force to replace what is there."
        )
    if present:
        check_from_earlier_run(out, present)
    parent = next(parent for parent in (out.absolute(), *out.absolute().parents) if parent.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{out} cannot be made: {parent} is no folder that you may write into.")


def check_no_input(outputs: Iterable[Path], inputs: Sequence[Path]) -> None:
    """Raise InputError if an existing output file is one of the files that the run reads."""
    for output in outputs:
        if any(path.exists() and output.samefile(path) for path in inputs):
            raise InputError(
                f"{output} is an input of this run and would be overwritten by its result; name another --out."
            )


def check_from_earlier_run(out: Path, present: Sequence[str]) -> None:
    """Raise InputError unless the ``run.json`` of an earlier run lists these files with the content they have."""
    listed = files_of_earlier_run(out / RECORD)
    for name in present:
        if name == RECORD and listed:
            continue
        if name not in listed:
            raise InputError(
                f"{out / name} was not written by viewspan, so --force does not replace it; name another --out."
            )
        if hashlib.sha256((out / name).read_bytes()).hexdigest() != listed[name]:
            raise InputError(
                f"{out / name} has changed since viewspan wrote it, so --force does not replace it; move it away or "
                "name another --out."
            )


def files_of_earlier_run(record: Path) -> dict[str, str]:
    """Return the SHA-256 of every file that a ``run.json`` lists; an empty dict if it is not one of ours."""
    try:
        listed = json.loads(record.read_bytes())["written"]
        return {str(name): str(digest) for name, digest in listed.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def write_all(contents: dict[Path, bytes], without: tuple[Path, ...] = ()) -> list[Path]:
    """All of them, and nothing of an earlier run beside them; or everything stays as it was, and they are elsewhere."""
    try:
        for folder in {path.parent for path in contents}:
            folder.mkdir(parents=True, exist_ok=True)  # also if it has vanished since
        write_together(contents, without)
    except OSError as error:
        raise WritingError(
            f"{error.filename} could not be written: {error.strerror}. What was there before is as it was; "
            f"{rescued(contents)}."
        ) from error
    return list(contents)


def rescued(contents: dict[Path, bytes]) -> str:
    """Where the work of hours is now, if not where it was to be: among the system's temporary files."""
    common = Path(tempfile.gettempdir())
    try:
        folder = Path(tempfile.mkdtemp(prefix="viewspan-"))
        try:
            write_together({folder / path.name: content for path, content in contents.items()})
        except OSError:
            folder.rmdir()
            raise
    except OSError as error:
        return f"the result is lost, because {common} did not take it either ({error.strerror})"
    return f"the result is in {folder}, move it from there"
