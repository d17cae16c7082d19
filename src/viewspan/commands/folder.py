"""The folder that a command writes into: looked at before the work, and held while it lasts."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from viewspan._files import alone_in, folder_for, sweep, write_together
from viewspan.tables import InputError

WRITTEN = ("labels.csv", "model", "run.json", "report.html")


class WritingError(OSError):
    """The work is done, and there is no room for what came of it."""


@contextmanager
def claimed(out: Path, *, force: bool) -> Iterator[None]:
    """Make the folder and hold it, so that the files in it are all of one run; if that fails, nothing is left of it."""
    check_folder(out, force=force)
    with ExitStack() as stack:
        try:
            stack.enter_context(folder_for(out))
        except OSError as error:
            raise InputError(f"{out} cannot be made: {error.strerror}.") from error
        if not stack.enter_context(alone_in(out, wait=False)):
            raise InputError(f"Another viewspan is at work in {out}; wait for its end, or name another folder.")
        check_folder(out, force=force)  # it may have ended since
        sweep(out)
        yield


def check_folder(out: Path, *, force: bool) -> None:
    """Before the work, not after it."""
    if out.exists() and not out.is_dir():
        raise InputError(f"{out} is a file; --out names a folder.")
    there = [name for name in WRITTEN if (out / name).exists()]
    if there and not force:
        raise InputError(f"{out} already has {there[0]}; name another folder, or --force to replace what is there.")
    folders = [name for name in there if (out / name).is_dir()]
    if folders:
        raise InputError(f"{out / folders[0]} is a folder, where a file is to be written; name another --out.")
    parent = next(parent for parent in (out.absolute(), *out.absolute().parents) if parent.exists())
    if not parent.is_dir() or not os.access(parent, os.W_OK):
        raise InputError(f"{out} cannot be made: {parent} is no folder that you may write into.")


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
