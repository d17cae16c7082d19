"""Many fits in one process, and many processes at once: does memory come back, do all finish, are labels right?

``python load.py fits`` runs 200 fits of mixed shapes, methods and options in one process and looks at its memory after
every tenth; ``python load.py processes`` starts 8 processes on the cores that are there. Neither needs data.
"""

import gc
import json
import os
import subprocess
import sys
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score
from timing import print_table

from problems import Views
from viewspan import CLRSC, LRR, MLAP, SSC, ncut

FITS, WARM_UP, EVERY = 200, 20, 10
"""The first fits load libraries, start threads and fill the allocator's pools."""
ALLOWED = 0.05
"""Growth of resident memory, as a share of its level after the warm-up."""
KEPT = 2.0
"""Growth of what Python holds, in kB for every fit; the views of the smallest have more than ten."""
PROCESSES, FITS_EACH = 8, 6
N_CLUSTERS = 4
SHAPES = [(80, (12, 20)), (200, (30,)), (420, (25, 15, 10)), (60, (90, 120)), (130, (40, 40))]
ROADS: list[tuple[str, Any]] = [
    ("CLRSC", CLRSC()),
    ("LRR", LRR()),
    ("SSC", SSC(max_iter=300)),
    ("CLRSC by landmarks", CLRSC(graph="landmarks", n_landmarks=60)),
    ("MLAP", MLAP(max_iter=40)),
    ("CLRSC by coefficients", CLRSC(affinity="coefficients")),
    ("LRR of one table", LRR(fusion="concat")),
    ("CLRSC of given weights", CLRSC(lam=0.2, tau=1.0)),
    ("CLRSC of rank one", CLRSC(coupling="rank_one")),
    ("LRR by landmarks", LRR(graph="landmarks", n_landmarks=60)),
    ("CLRSC robust", CLRSC(datafit="l12", max_iter=60)),
    ("CLRSC in batches", CLRSC(graph="landmarks", n_landmarks=60)),
    ("CLRSC with absent samples", CLRSC(missing="allow")),
]


def subspaces(
    n_samples: int, widths: tuple[int, ...], seed: int
) -> tuple[Views, NDArray[np.int64]]:
    """Four subspaces of dimension 3, with little noise."""
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.arange(n_samples) % N_CLUSTERS)
    views = []
    for width in widths:
        bases = rng.normal(size=(N_CLUSTERS, 3, width)) / np.sqrt(width)
        view = np.einsum("nd,ndw->nw", rng.normal(size=(n_samples, 3)), bases[labels])
        views.append(view + 0.02 * rng.normal(size=view.shape))
    return views, labels


def one_fit(position: int) -> float:
    """Agreement with the true labels; shapes, roads and forms have no common divisor, so that all meet."""
    views, labels = subspaces(*SHAPES[position % len(SHAPES)], seed=position)
    name, model = ROADS[position % len(ROADS)]
    if name == "CLRSC with absent samples" and len(views) > 1:
        views[0][:5] = np.nan
    given: Any = views
    if position % 7 == 0:
        given = [view.astype(np.float32) for view in views]
    elif position % 7 == 3:
        given = [scipy.sparse.csr_array(view) for view in views]
    elif position % 7 == 5:
        given = {f"view {i}": view for i, view in enumerate(views)}
    return float(adjusted_rand_score(labels, use(name, model, given)))


def use(name: str, model: Any, views: Any) -> NDArray[np.int64]:
    """Fit, and ask for all that is found when it is asked for."""
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


def resident() -> float:
    """MB of this process, as Linux counts them, after Python has collected; the allocator is not asked to give back."""
    gc.collect()
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


def held() -> float:
    """MB that Python and NumPy hold."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0] / 2**20


def run(count: int, warm_up: int, every: int) -> list[tuple[int, float, float, float]]:
    """Fits done, resident and held MB, and the mean agreement with the true labels since the row before."""
    warnings.simplefilter("ignore")
    rows, agreement = [], []
    for done in range(1, count + 1):
        agreement.append(one_fit(done - 1))
        if done >= warm_up and (done - warm_up) % every == 0:
            rows.append((done, resident(), held(), float(np.mean(agreement))))
            agreement = []
    return rows


def growth(rows: list[tuple[int, float, float, float]]) -> tuple[float, float]:
    """Of resident memory, as a share; and of what Python holds, in kB for every fit; from the first looks to the last,
    each the median of three where there are so many.
    """
    wide = 3 if len(rows) >= 6 else 1
    first, last = np.median(rows[:wide], axis=0), np.median(rows[-wide:], axis=0)
    return float(last[1] / first[1] - 1.0), float(
        1024 * (last[2] - first[2]) / (last[0] - first[0])
    )


def fits() -> None:
    tracemalloc.start()
    start, cpu = time.perf_counter(), time.process_time()
    rows = run(FITS, WARM_UP, EVERY)
    print_table(
        ["fits", "resident, MB", "held, MB", "agreement (ARI)"],
        [
            [str(done), f"{rss:.1f}", f"{python:.2f}", f"{ari:.3f}"]
            for done, rss, python, ari in rows
        ],
    )
    resident_share, kept = growth(rows)
    print(
        f"\ngrowth since fit {WARM_UP}: resident {resident_share:+.1%} (allowed {ALLOWED:.0%}), ",
        end="",
    )
    print(f"held {kept:+.2f} kB for every fit (allowed {KEPT:g}); ", end="")
    print(f"{time.process_time() - cpu:.0f} s of processor, {time.perf_counter() - start:.0f} s")
    if resident_share > ALLOWED or kept > KEPT:
        raise SystemExit("memory grows")


def one_of_several(count: int) -> dict[str, Any]:
    """A process of its own: how long it took, and how well it did."""
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    agreement = [one_fit(position) for position in range(count)]
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "processor": time.process_time(), "agreement": agreement}


def at_once(count: int, n_fits: int = FITS_EACH, **environment: str) -> list[dict[str, Any]]:
    """What so many processes found that ran at the same time; an error if one fails."""
    command = [sys.executable, __file__, "one", str(n_fits)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | environment)
        for _ in range(count)
    ]
    outputs = [process.communicate()[0] for process in running]
    failed = [process.returncode for process in running if process.returncode]
    if failed:
        raise SystemExit(f"{len(failed)} of {count} processes failed: {failed}")
    return [json.loads(output) for output in outputs]


def processes() -> None:
    rows = []
    for count in (1, 2, PROCESSES):
        start = time.perf_counter()
        found = at_once(count)
        wall = time.perf_counter() - start
        labels = "the same" if len({str(one["agreement"]) for one in found}) == 1 else "different"
        rows.append(
            [
                str(count),
                f"{wall:.1f}",
                f"{max(one['seconds'] for one in found):.1f}",
                f"{np.mean([one['processor'] for one in found]):.1f}",
                f"{min(min(one['agreement']) for one in found):.3f}",
                labels,
            ]
        )
    heads = [
        "processes",
        "all, s",
        "slowest, s",
        "processor each, s",
        "worst agreement (ARI)",
        "labels of all",
    ]
    print_table(heads, rows)


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    if what == "one":
        print(json.dumps(one_of_several(int(sys.argv[2]))))
        raise SystemExit
    for part in (fits, processes):
        if what in {"all", part.__name__}:
            part()
            print()
