"""How much memory a fit will need and how much there is, to refuse before the work and not to be killed in it."""

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

SOLVER = 12
"""Arrays of the size of the coefficients that the solver holds, for every view."""
PATTERNS, COEFFICIENTS = 32, 40
"""Bytes for every pair of samples, of the graph of patterns and of the paper's."""
ABSENT, MUTUAL = 20, 8
"""More of them, where samples are absent from views, and where patterns are those of Z + Zᵀ."""
BLOCKS = 500_000_000
"""Bytes of the blocks that are worked on."""
CACHES = ("inactive_file", "active_file")
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
CGROUPS = Path("/sys/fs/cgroup")
LIMITS = (("memory.max", "memory.current"), ("memory.limit_in_bytes", "memory.usage_in_bytes"))
"""Files of the second and of the first version of Linux's control groups."""


def of_all_samples(
    n_samples: int,
    rank: int,
    n_views: int,
    n_solutions: int,
    *,
    by_patterns: bool,
    one_sided: bool = False,
    more: int = 0,
) -> int:
    """What a graph of all samples takes at its peak, about.

    Parameters
    ----------
    n_samples, n_views, n_solutions : int
    rank : int
        Of the reduction, at most.
    by_patterns : bool
    one_sided : bool
        Whether only the rows of coefficients are reduced.
    more : int
        Bytes for every pair of samples, beyond the usual.
    """
    squares = n_samples**2
    size = min(rank, n_samples)
    entries = n_views * size * (n_samples if one_sided else size)
    solver = SOLVER * 8 * entries + 8 * n_solutions * (entries + 2 * n_samples * size)
    graph = ((PATTERNS if by_patterns else COEFFICIENTS) + more) * squares
    return solver + graph


def of_landmarks(
    n_samples: int,
    widths: Sequence[int],
    n_rows: int,
    n_landmarks: int,
    n_solutions: int,
    n_neighbors: int,
    *,
    by_patterns: bool,
) -> int:
    """What a graph of landmarks takes beside the data, about.

    Parameters
    ----------
    n_samples : int
    widths : sequence of int
        Features of every view.
    n_rows, n_landmarks : int
        Samples in the graph, and landmarks among them.
    n_solutions, n_neighbors : int
    by_patterns : bool
        The paper's graph has so many entries that it is held in full.
    """
    width = min(sum(widths), max(n_samples, 1))
    kept = 16 * n_rows * width
    moments = 8 * width**2 * (SOLVER * len(widths) + n_solutions)
    rows = 16 * n_solutions * n_rows * 3 * n_neighbors
    landmarks = 12 * n_landmarks**2 if by_patterns else 16 * n_landmarks * (n_landmarks + n_rows)
    return kept + moments + rows + landmarks + BLOCKS + 8 * n_samples


def available() -> int | None:
    """Bytes that this process may still take; None where the system does not tell."""
    limits = [
        limit
        for limit in (free_in_system(), free_in_cgroup(), free_in_process())
        if limit is not None
    ]
    return max(min(limits), 0) if limits else None


def free_in_system() -> int | None:
    for line in lines_of("/proc/meminfo"):
        if line.startswith("MemAvailable:"):
            return 1024 * int(line.split()[1])
    try:
        return int(import_module("psutil").virtual_memory().available)
    except ModuleNotFoundError:
        return None


def free_in_cgroup() -> int | None:
    """What a container leaves; memory that only caches files is given back when it is needed."""
    left = [free for folder in cgroup_folders() if (free := free_in_folder(folder)) is not None]
    return min(left) if left else None


def cgroup_folders() -> list[Path]:
    """Of the container, where it looks like a whole system, and of this process."""
    folders = [CGROUPS, CGROUPS / "memory"]
    for line in lines_of("/proc/self/cgroup"):
        _, controllers, path = line.split(":", 2)
        if controllers == "":
            folders.append(CGROUPS / path.strip("/"))
        elif "memory" in controllers.split(","):
            folders.append(CGROUPS / "memory" / path.strip("/"))
    return folders


def free_in_folder(folder: Path) -> int | None:
    for limit_file, usage_file in LIMITS:
        limit, usage = (
            next(iter(lines_of(folder / name)), "") for name in (limit_file, usage_file)
        )
        if limit.isdigit() and usage.isdigit():
            counts = dict(line.split()[:2] for line in lines_of(folder / "memory.stat"))
            return int(limit) - int(usage) + sum(int(counts.get(name, 0)) for name in CACHES)
    return None


def free_in_process() -> int | None:
    """What ``ulimit`` leaves."""
    if sys.platform == "win32":
        return None
    import resource

    pages = next(iter(lines_of("/proc/self/statm")), "").split()
    if len(pages) < 6:
        return None
    limits = [(resource.RLIMIT_AS, int(pages[0])), (resource.RLIMIT_DATA, int(pages[5]))]
    left = [
        resource.getrlimit(kind)[0] - used * PAGE
        for kind, used in limits
        if is_set(resource.getrlimit(kind)[0])
    ]
    return min(left) if left else None


def is_set(limit: int) -> bool:
    import resource

    return limit != resource.RLIM_INFINITY


def lines_of(name: Any) -> list[str]:
    """Of a file that may not be there."""
    try:
        return Path(name).read_text().splitlines()
    except OSError:
        return []


def readable(n_bytes: float) -> str:
    """Such as "3.2 GB"."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if n_bytes < 1000:
            break
        n_bytes, unit = n_bytes / 1000, {"bytes": "kB", "kB": "MB", "MB": "GB", "GB": "TB"}[unit]
    return f"{n_bytes:.0f} bytes" if unit == "bytes" else f"{n_bytes:.1f} {unit}"
