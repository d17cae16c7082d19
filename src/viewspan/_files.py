"""Files that are there whole or not at all."""

import contextlib
import os
import platform
import re
import secrets
from pathlib import Path

TEMPORARY = re.compile(r"\.(?P<host>[\w-]*)\.(?P<process>\d+)\.[0-9a-f]{8}\.tmp$")


def write_whole(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it, not even after a crash."""
    temporary = path.with_name(f"{path.name}.{_host()}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:  # a full disk does not say which file it could not take
        raise OSError(error.errno, error.strerror, str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)


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
