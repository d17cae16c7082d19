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
BLOCKS = 500_000_000
"""Bytes of the blocks that are worked on."""
CACHES = ("inactive_file", "active_file")
PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
CGROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)


def of_all_samples(n_samples: int, rank: int, n_views: int, n_solutions: int, *, by_patterns: bool) -> int:
    """What a graph of all samples takes at its peak, about.

    Parameters
    ----------
    n_samples, n_views, n_solutions : int
    rank : int
        Of the reduction, at most.
    by_patterns : bool
    """
    squares = n_samples**2
    size = min(rank, n_samples)
    solver = SOLVER * 8 * n_views * size**2 + 8 * n_solutions * (n_views * size**2 + 2 * n_samples * size)
    graph = PATTERNS * squares if by_patterns else COEFFICIENTS * squares
    return solver + graph


def of_landmarks(
    n_samples: int, widths: Sequence[int], n_rows: int, n_landmarks: int, n_solutions: int, n_neighbors: int
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
    """
    width = min(sum(widths), max(n_samples, 1))
    kept = 16 * n_rows * width
    moments = 8 * width**2 * (SOLVER * len(widths) + n_solutions)
    rows = 16 * n_solutions * n_rows * 3 * n_neighbors
    landmarks = 12 * min(n_landmarks**2, n_rows * (3 * n_solutions * n_neighbors) ** 2) * 3
    return kept + moments + rows + landmarks + BLOCKS + 8 * n_samples


def available() -> int | None:
    """Bytes that this process may still take; None where the system does not tell."""
    limits = [limit for limit in (free_in_system(), free_in_cgroup(), free_in_process()) if limit is not None]
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
    for limit_file, usage_file in CGROUPS:
        limit, usage = (next(iter(lines_of(name)), "") for name in (limit_file, usage_file))
        if limit.isdigit() and usage.isdigit():
            caches = Path(limit_file).with_name("memory.stat")
            cached = [
                line.split()[1] for line in lines_of(caches) if line.split()[0] in {"inactive_file", "active_file"}
            ]
            return int(limit) - int(usage) + sum(map(int, cached))
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
    left = [resource.getrlimit(kind)[0] - used * PAGE for kind, used in limits if is_set(resource.getrlimit(kind)[0])]
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
