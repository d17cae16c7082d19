"""Memory that this process may still take, and sizes as text."""

from pathlib import Path
from typing import Any

import psutil

CGROUP_ROOT = Path("/sys/fs/cgroup")
CGROUP_FILES = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)
"""Files with limit and usage, in the second and in the first version of Linux's control groups."""
CACHE_FIELDS = ("inactive_file", "active_file")
"""Fields of ``memory.stat`` that count cached files, which are given back when memory is short."""
UNITS = ("bytes", "kB", "MB", "GB", "TB")


def available() -> int:
    """Return the bytes that this process may still take: the smallest of all limits."""
    limits = (free_in_system(), free_in_cgroup(), free_in_process())
    return max(min(limit for limit in limits if limit is not None), 0)


def free_in_system() -> int:
    """Return the memory that the system can give without swapping."""
    return int(psutil.virtual_memory().available)


def free_in_cgroup() -> int | None:
    """Return the memory that a container leaves, or None without a limit."""
    left = [free for folder in cgroup_folders() if (free := free_in_folder(folder)) is not None]
    return min(left) if left else None


def cgroup_folders() -> list[Path]:
    """Return the control groups of the container, which is its root, and of this process."""
    folders = [CGROUP_ROOT, CGROUP_ROOT / "memory"]
    for line in lines_of("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            folders.append(CGROUP_ROOT / path.strip("/"))
        elif "memory" in controllers.split(","):
            folders.append(CGROUP_ROOT / "memory" / path.strip("/"))
    return folders


def free_in_folder(folder: Path) -> int | None:
    """Return what the limit of one control group leaves, or None without a limit."""
    for names in CGROUP_FILES:
        limit, usage = (next(iter(lines_of(folder / name)), "") for name in names)
        if limit.isdigit() and usage.isdigit():
            counts = dict(line.split()[:2] for line in lines_of(folder / "memory.stat"))
            return int(limit) - int(usage) + sum(int(counts.get(name, 0)) for name in CACHE_FIELDS)
    return None


def free_in_process() -> int | None:
    """Return what the limits of the process (``ulimit``) leave, or None without limits."""
    if not psutil.LINUX:
        return None
    process = psutil.Process()
    used = process.memory_info()
    limits = ((psutil.RLIMIT_AS, used.vms), (psutil.RLIMIT_DATA, used.data))
    left = [process.rlimit(kind)[0] - size for kind, size in limits if is_limited(process, kind)]
    return min(left) if left else None


def is_limited(process: psutil.Process, kind: int) -> bool:
    """Return whether the process has a limit of this kind."""
    return bool(process.rlimit(kind)[0] != psutil.RLIM_INFINITY)


def lines_of(name: Any) -> list[str]:
    """Return the lines of a text file, none if it does not exist."""
    try:
        return Path(name).read_text().splitlines()
    except OSError:
        return []


def readable(n_bytes: float) -> str:
    """Return a size as text, such as "3.2 GB"."""
    power = 0
    while n_bytes >= 1000 and power < len(UNITS) - 1:
        n_bytes, power = n_bytes / 1000, power + 1
    return f"{n_bytes:.{1 if power else 0}f} {UNITS[power]}"
