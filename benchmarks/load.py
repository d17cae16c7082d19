"""Check that many fits in one process do not use ever more memory, and that many processes finish.

    python benchmarks/load.py [fits | processes]

``fits`` runs 200 fits of mixed shapes, methods and options in one process, and measures its memory
after every tenth fit. It exits with an error if the memory grows. ``processes`` runs 1, 2 and 8
processes at the same time, and compares their times and labels. Without an argument, both run. No
data are needed; ``fits`` needs Linux.
"""

import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from timing import print_table

from problems import Views
from viewspan import CLRSC, LRR, MLAP, SSC, ncut

N_FITS, N_WARM_UP, INTERVAL = 200, 20, 10
"""Numbers of fits, of fits before the first measurement, and of fits between two measurements.

The first fits load libraries, start threads and fill the allocator's pools.
"""
MAX_RESIDENT_GROWTH = 0.05
"""Allowed growth of the resident memory, relative to its level after the warm-up."""
MAX_HELD_GROWTH = 2.0
"""Allowed growth of the memory that Python holds, in kB per fit; a leak of the views has 10 kB."""
N_PROCESSES, N_FITS_EACH = 8, 6
N_CLUSTERS = 4
SHAPES = [(80, (12, 20)), (200, (30,)), (420, (25, 15, 10)), (60, (90, 120)), (130, (40, 40))]
"""Numbers of samples and of features of every view."""
MODELS: list[tuple[str, Any]] = [
    ("CLRSC", CLRSC()),
    ("LRR", LRR()),
    ("SSC", SSC(max_iter=300)),
    ("CLRSC with landmarks", CLRSC(graph="landmarks", n_landmarks=60)),
    ("MLAP", MLAP(max_iter=40)),
    ("CLRSC with a coefficient graph", CLRSC(affinity="coefficients")),
    ("LRR of concatenated views", LRR(fusion="concat")),
    ("CLRSC with given weights", CLRSC(lam=0.2, tau=1.0)),
    ("CLRSC of rank one", CLRSC(coupling="rank_one")),
    ("LRR with landmarks", LRR(graph="landmarks", n_landmarks=60)),
    ("CLRSC robust", CLRSC(datafit="l12", max_iter=60)),
    ("CLRSC in batches", CLRSC(graph="landmarks", n_landmarks=60)),
    ("CLRSC with missing samples", CLRSC(missing="allow")),
]

Measurement = tuple[int, float, float, float]
"""Fits so far, resident MB, MB held by Python, and mean adjusted Rand index since the last one."""


def subspaces(
    n_samples: int, widths: tuple[int, ...], seed: int
) -> tuple[Views, NDArray[np.int64]]:
    """Return four subspaces of dimension 3 with little noise."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_samples) % N_CLUSTERS)
    views = []
    for width in widths:
        bases = rng.normal(size=(N_CLUSTERS, 3, width)) / np.sqrt(width)
        view = np.einsum("nd,ndw->nw", rng.normal(size=(n_samples, 3)), bases[labels])
        views.append(view + 0.02 * rng.normal(size=view.shape))
    return views, labels


def one_fit(position: int) -> float:
    """Run one fit, and return the adjusted Rand index of its labels.

    The numbers of shapes, models and kinds of input are pairwise coprime, so every pair of a
    shape, a model and a kind of input occurs.
    """
    views, labels = subspaces(*SHAPES[position % len(SHAPES)], seed=position)
    name, model = MODELS[position % len(MODELS)]
    if name == "CLRSC with missing samples" and len(views) > 1:
        views[0][:5] = np.nan
    inputs: Any = views
    if position % 7 == 0:
        inputs = [view.astype(np.float32) for view in views]
    elif position % 7 == 3:
        inputs = [scipy.sparse.csr_array(view) for view in views]
    elif position % 7 == 5:
        inputs = {f"view {i}": view for i, view in enumerate(views)}
    return float(adjusted_rand_score(labels, fit_and_use(name, model, inputs)))


def fit_and_use(name: str, model: Any, views: Any) -> NDArray[np.int64]:
    """Fit a copy of the model, call its other methods, and return the labels."""
    model = type(model)(**{**model.get_params(), "n_clusters": N_CLUSTERS, "random_state": 0})
    if name == "CLRSC in batches":
        blocks = list(views.values()) if isinstance(views, dict) else views
        for rows in np.array_split(np.arange(blocks[0].shape[0]), 3):
            model.partial_fit([block[rows] for block in blocks])
        labels: NDArray[np.int64] = model.predict(blocks)
        return labels
    labels = model.fit(views).labels_
    model.predict(views)
    model.transform(views)
    model.reconstruct(views)
    ncut(model.affinity_matrix_, N_CLUSTERS, random_state=0)
    return labels


def resident_memory() -> float:
    """Return the resident MB of this process after a garbage collection, as Linux counts them."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def held_memory() -> float:
    """Return the MB that Python and NumPy hold after a garbage collection."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20


def run(n_fits: int, n_warm_up: int, interval: int) -> list[Measurement]:
    """Run the fits, and measure the memory after the warm-up and then after every interval."""
    warnings.simplefilter("ignore")
    rows, agreement = [], []
    for done in range(1, n_fits + 1):
        agreement.append(one_fit(done - 1))
        if done >= n_warm_up and (done - n_warm_up) % interval == 0:
            rows.append((done, resident_memory(), held_memory(), float(np.mean(agreement))))
            agreement = []
    return rows


def growth(rows: list[Measurement]) -> tuple[float, float]:
    """Return the relative growth of resident memory, and that of held memory in kB per fit.

    With six measurements or more, the medians of the first three and of the last three are
    compared, otherwise the first and the last one.
    """
    width = 3 if len(rows) >= 6 else 1
    first, last = np.median(rows[:width], axis=0), np.median(rows[-width:], axis=0)
    resident = float(last[1] / first[1] - 1.0)
    return resident, float(1024 * (last[2] - first[2]) / (last[0] - first[0]))


def fits() -> None:
    """Print the memory over many fits, and exit with an error if it grows."""
    tracemalloc.start()
    start, cpu = time.perf_counter(), time.process_time()
    rows = run(N_FITS, N_WARM_UP, INTERVAL)
    print_table(
        ["fits", "resident, MB", "held, MB", "agreement (ARI)"],
        [
            [str(done), f"{resident:.1f}", f"{held:.2f}", f"{ari:.3f}"]
            for done, resident, held, ari in rows
        ],
    )
    resident_growth, held_growth = growth(rows)
    print(f"\ngrowth of resident memory since fit {N_WARM_UP}: {resident_growth:+.1%}", end=" ")
    print(f"(allowed {MAX_RESIDENT_GROWTH:.0%})")
    print(f"growth of held memory: {held_growth:+.2f} kB per fit (allowed {MAX_HELD_GROWTH:g})")
    print(f"{time.process_time() - cpu:.0f} s of CPU time, {time.perf_counter() - start:.0f} s")
    if resident_growth > MAX_RESIDENT_GROWTH or held_growth > MAX_HELD_GROWTH:
        raise SystemExit("memory grows")


def measure_process(n_fits: int) -> dict[str, Any]:
    """Run fits in this process, and return its times and the agreement of every fit."""
    warnings.simplefilter("ignore")
    start, cpu = time.perf_counter(), time.process_time()
    agreement = [one_fit(position) for position in range(n_fits)]
    return {
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - cpu,
        "agreement": agreement,
    }


def run_in_parallel(
    n_processes: int, n_fits: int = N_FITS_EACH, **environment: str
) -> list[dict[str, Any]]:
    """Run several processes at the same time, and return their measurements.

    A process with this environment imports everything once, and all others are forked from it.
    """
    command = [sys.executable, __file__, "group", str(n_processes), str(n_fits)]
    group = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, env=os.environ | environment, check=True
    )
    found: list[dict[str, Any]] = json.loads(group.stdout)
    return found


def run_group(n_processes: int, n_fits: int) -> list[dict[str, Any]]:
    """Fork ``n_processes`` processes with ``n_fits`` fits each, and return their measurements."""
    with ProcessPoolExecutor(n_processes, mp_context=get_context("fork")) as pool:
        return list(pool.map(measure_process, [n_fits] * n_processes))


def processes() -> None:
    """Print the times and labels of 1, 2 and 8 processes that run at the same time."""
    rows = []
    for n_processes in (1, 2, N_PROCESSES):
        start = time.perf_counter()
        results = run_in_parallel(n_processes)
        wall = time.perf_counter() - start
        same = len({str(result["agreement"]) for result in results}) == 1
        rows.append(
            [
                str(n_processes),
                f"{wall:.1f}",
                f"{max(result['seconds'] for result in results):.1f}",
                f"{np.mean([result['processor'] for result in results]):.1f}",
                f"{min(min(result['agreement']) for result in results):.3f}",
                "the same" if same else "different",
            ]
        )
    times = ["all, s", "slowest, s", "CPU time each, s"]
    print_table(["processes", *times, "worst agreement (ARI)", "labels of all"], rows)


if __name__ == "__main__":
    chosen = sys.argv[1] if len(sys.argv) > 1 else "all"
    if chosen == "group":
        print(json.dumps(run_group(*map(int, sys.argv[2:]))))
        raise SystemExit
    for part in (fits, processes):
        if chosen in {"all", part.__name__}:
            part()
            print()
