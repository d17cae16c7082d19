"""Files that are there whole or not at all."""

import contextlib
import errno
import os
import platform
import re
import secrets
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from viewspan._utils.signals import undisturbed

try:
    import fcntl
except ModuleNotFoundError:  # Windows: two runs into one folder are not told of each other there
    fcntl = None  # type: ignore[assignment]

TEMPORARY = re.compile(r"\.(?P<host>[\w-]*)\.(?P<process>\d+)\.[0-9a-f]{8}\.tmp$")
LONGEST = 32
"""Letters of a file's name that its temporary name begins with, so that this is not too long where that is not."""


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it, not even after a crash."""
    write_together({path: content})


def write_together(contents: Mapping[Path, bytes], without: Collection[Path] = ()) -> None:
    """Write all of these files and remove the others; or, if that fails or is interrupted, leave everything as it was.

    What takes time or room is done beside the files that are there; then all of them are renamed at once.
    """
    waiting: dict[Path, Path] = {}
    aside: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            with naming(path):
                if is_stream(path):
                    path.write_bytes(content)
                    continue
                target = path.resolve()  # a link stays one
                waiting[target] = temporary = beside(target)
                write_and_sync(temporary, content)
        with undisturbed():
            replace_all(waiting, [path for path in without if path.exists()], aside)
    finally:
        for temporary in (*waiting.values(), *aside.values()):
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)


def replace_all(
    waiting: Mapping[Path, Path], unwanted: Collection[Path], aside: dict[Path, Path]
) -> None:
    """Rename; if one fails, bring back those that were there, which ``aside`` holds meanwhile."""
    every = (*waiting, *unwanted)
    new = [path for path in waiting if not path.exists()]
    for path in every:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if len(every) > 1 and path not in new:
            aside[path] = beside(path)
            with contextlib.suppress(OSError):  # a file system without a second name for a file
                os.link(path, aside[path])
    try:
        for path, temporary in waiting.items():
            with naming(path):
                temporary.replace(path)
        for path in unwanted:
            with naming(path):
                path.unlink(missing_ok=True)
    except BaseException:
        for path in new:
            path.unlink(missing_ok=True)
        for path, former in aside.items():
            with contextlib.suppress(FileNotFoundError):
                former.replace(path)
        raise


def write_and_sync(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def beside(path: Path) -> Path:
    """A name in the same folder that nobody else has."""
    return path.with_name(
        f"{path.name[:LONGEST]}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.tmp"
    )


def is_stream(path: Path) -> bool:
    """A device or a pipe, such as /dev/null, which must not be replaced by a file."""
    return path.exists() and not path.is_file() and not path.is_dir()


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """A full disk does not say which file it could not take, and others name the temporary one."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextlib.contextmanager
def folder_for(path: Path) -> Iterator[None]:
    """Make a folder, and those that it is in; take away again what is empty if what it is for fails."""
    path = path.absolute()
    missing = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            with contextlib.suppress(OSError):
                folder.rmdir()
        raise


@contextlib.contextmanager
def alone_in(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a folder, and tell whether that was possible; ``wait`` for whoever has it, or not.

    The folder itself is locked, so that no file is left, and the system opens the lock when its owner dies. Where a
    file system has no locks, nobody is told.
    """
    if fcntl is None:
        yield True
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        free = True
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            free = not isinstance(error, BlockingIOError)
        yield free
    finally:
        os.close(handle)


def sweep(folder: Path) -> None:
    """Remove temporary files in this folder whose process, on this machine, was killed."""
    for path in folder.glob("*.tmp"):
        name = TEMPORARY.search(path.name)
        if name and name["host"] == _host() and not _runs(int(name["process"])):
            path.unlink(missing_ok=True)


def _host() -> str:
    return re.sub(r"[^\w-]", "-", platform.node())


def _runs(process: int) -> bool:
    if os.name != "posix":  # there, asking is killing
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
