"""Compare fits with no thread variable set and with one thread, idle and beside busy processes.

    python benchmarks/threads.py

Every fit runs in a process of its own, after a small fit that loads the libraries. Wall and
processor time are the best of several runs, the two settings in turn.
"""

import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from timing import print_table

from viewspan import CLRSC

SHAPES = {"300 × 2·20": 5, "500 × 2·200": 5, "1000 × 2·500": 3, "5000 × 2·50": 3}
"""Samples × features of two views of random numbers, and how often each setting runs."""
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
N_BUSY = 4


def measure(shape: str) -> tuple[float, float]:
    """Return the wall and the processor time of one fit; needs a new process."""
    n_samples, width = int(shape.split(" × ")[0]), int(shape.split("·")[1])
    rng = np.random.default_rng(0)
    views = [rng.normal(size=(n_samples, width)) for _ in range(2)]
    CLRSC(3, random_state=0).fit([view[:50] for view in views])
    wall, processor = time.perf_counter(), time.process_time()
    CLRSC(3, random_state=0).fit(views)
    return time.perf_counter() - wall, time.process_time() - processor


def in_own_process(shape: str, *, one_thread: bool) -> tuple[float, float]:
    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    if one_thread:
        environment |= dict.fromkeys(VARIABLES, "1")
    result = subprocess.run(
        [sys.executable, __file__, shape], capture_output=True, check=True, env=environment
    )
    wall, processor = json.loads(result.stdout)
    return wall, processor


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Occupy the machine with processes that never wait."""
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


def table(n_busy: int) -> None:
    rows = []
    with busy(n_busy):
        for shape, repeats in SHAPES.items():
            runs = [
                [in_own_process(shape, one_thread=one) for one in (False, True)]
                for _ in range(repeats)
            ]
            (wall, processor), (wall_of_one, processor_of_one) = np.min(runs, axis=0)
            rows.append(
                [
                    shape,
                    f"{wall:.2f}",
                    f"{wall_of_one:.2f}",
                    f"{wall / wall_of_one:.2f}",
                    f"{processor:.2f}",
                    f"{processor_of_one:.2f}",
                    f"{processor / processor_of_one:.2f}",
                ]
            )
    print(f"\nBeside {n_busy} busy processes, {os.cpu_count()} cores:")
    print_table(
        ["samples × features", "wall, s", "one thread", "ratio", "CPU, s", "one thread", "ratio"],
        rows,
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        table(0)
        table(N_BUSY)
