"""Atomic writes of files, and locks on folders."""

import contextlib
import os
import platform
import re
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from viewspan._utils.signals import signals_deferred

try:
    import fcntl
except ModuleNotFoundError:  # Windows: folders are not locked
    fcntl = None  # type: ignore[assignment]

TEMPORARY_NAME = re.compile(r"\.(?P<host>[\w-]*)\.(?P<process>\d{1,9})\.[0-9a-f]{8}\.tmp$")


def write_atomically(path: Path, content: bytes) -> None:
    """Write one file atomically, see :func:`write_all_atomically`."""
    write_all_atomically({path: content})


def write_all_atomically(contents: Mapping[Path, bytes], removed: Collection[Path] = ()) -> None:
    """Write all files and remove those in ``removed``, or change nothing if one step fails.

    The contents are written to temporary files in the same folders first. Then all files are
    renamed while signals are deferred. Devices and pipes are written to directly.
    """
    temporaries: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            with path_in_errors(path):
                if is_device_or_pipe(path):
                    path.write_bytes(content)
                    continue
                target = path.resolve()  # a symbolic link stays, and its target is replaced
                temporaries[target] = temporary_path(target)
                write_and_sync(temporaries[target], content)
        with signals_deferred():
            replace_all(temporaries, [path for path in removed if path.exists()])
    finally:
        remove_all(temporaries.values())


def replace_all(temporaries: Mapping[Path, Path], removed: Collection[Path]) -> None:
    """Rename the temporary files and remove others; undo everything if a step fails.

    Hard links keep the former files until all steps are done. On a file system without hard links,
    files that were already replaced stay replaced.
    """
    new = [path for path in temporaries if not path.exists()]
    backups = {path: temporary_path(path) for path in (*temporaries, *removed) if path not in new}
    try:
        for path, backup in backups.items():
            with contextlib.suppress(OSError):
                os.link(path, backup)
        for path, temporary in temporaries.items():
            with path_in_errors(path):
                temporary.replace(path)
        for path in removed:
            with path_in_errors(path):
                path.unlink(missing_ok=True)
    except BaseException:
        remove_all(new)
        for path, backup in backups.items():
            with contextlib.suppress(FileNotFoundError):
                backup.replace(path)
        raise
    finally:
        remove_all(backups.values())


def remove_all(paths: Iterable[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def write_and_sync(path: Path, content: bytes) -> None:
    with path.open("xb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def temporary_path(path: Path) -> Path:
    """Return a new path in the same folder that names this machine and process."""
    return path.with_name(f"viewspan.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.tmp")


def is_device_or_pipe(path: Path) -> bool:
    return path.exists() and not path.is_file() and not path.is_dir()


@contextlib.contextmanager
def path_in_errors(path: Path) -> Iterator[None]:
    """Put this path into any OSError.

    The error of a full disk has no path, and others have the path of a temporary file.
    """
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextlib.contextmanager
def created_folder(path: Path) -> Iterator[None]:
    """Create a folder and its parents; if the block fails, remove those that are new and empty."""
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
def locked_folder(folder: Path, *, wait: bool) -> Iterator[bool]:
    """Lock a folder and yield True, or yield False if another process holds the lock.

    With ``wait``, wait until the other process releases it. The folder itself is locked, so there
    is no lock file, and the operating system releases the lock when the process ends. On Windows
    and on file systems without locks, nothing is locked and True is yielded.
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


def remove_stale_temporaries(folder: Path) -> None:
    """Remove temporary files that a killed process of this machine has left in a folder."""
    for path in folder.glob("*.tmp"):
        name = TEMPORARY_NAME.search(path.name)
        if name and name["host"] == _host() and not _is_running(int(name["process"])):
            path.unlink(missing_ok=True)


def _host() -> str:
    return re.sub(r"[^\w-]", "-", platform.node())


def _is_running(process: int) -> bool:
    if os.name != "posix":  # on Windows, os.kill would end the process
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # a process of another user
        return True
    return True
