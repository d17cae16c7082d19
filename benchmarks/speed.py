"""Time whole fits: the defaults, LRR, other packages and k-nearest-neighbour spectral clustering.

    make benchmark-speed

Every method clusters every set of the ``multiview`` data folder, and made data of growing size. It
gets the true number of clusters. Every pair of set and method runs in a process of its own, with
one BLAS thread, after a small fit that loads the libraries. A fit of under 5 s is repeated, and the
fastest run counts. The methods of a set run in turn, so that a slow minute of the machine meets
them all. Finished rows are kept in ``speed/speed.csv``, so the benchmark can be stopped and
continued. ``--table`` prints the tables of that file and draws ``speed.svg``.
"""

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rows import append, read
from scale import memory, subspaces
from sklearn.cluster import SpectralClustering
from speed_table import report

from problems import DATA, Views, load_real, unit_samples
from viewspan import CLRSC, LRR
from viewspan.metrics import subspace_clustering_accuracy

FIELDS = ["set", "samples", "features", "method", "wall", "cpu", "megabytes", "accuracy", "detail"]
MADE_SAMPLES, MADE_FEATURES = (500, 2000, 5000, 10_000), (50, 200, 500)
"""Samples, and features of each of two views, of the made data."""
SINGLE_VIEW_SETS = ("eyaleb38_raw",)
SHORT, N_REPEATS = 5.0, 3
"""Fits under so many seconds run so many times."""
ONE_THREAD = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], "1")

Labelling = np.ndarray
Method = Callable[[Views, int], Labelling]


def clrsc(views: Views, n_clusters: int) -> Labelling:
    return CLRSC(n_clusters, random_state=0).fit(views).labels_


def lrr(views: Views, n_clusters: int) -> Labelling:
    return LRR(n_clusters, random_state=0).fit(views).labels_


def neighbours(views: Views, n_clusters: int) -> Labelling:
    model = SpectralClustering(n_clusters, affinity="nearest_neighbors", random_state=0)
    return model.fit_predict(np.hstack(unit_samples(views)))


def of_package(module: str, name: str) -> Method:
    """Return a method of iMML or mvlearn."""

    def run(views: Views, n_clusters: int) -> Labelling:
        build = getattr(__import__(module, fromlist=[name]), name)
        model = build(n_clusters=n_clusters, random_state=0)
        return np.asarray(model.fit_predict(unit_samples(views)))

    return run


def fused_similarity(views: Views, n_clusters: int) -> Labelling:
    """Cluster the fused network of snfpy, one of whose keywords scikit-learn has renamed."""
    import snf
    from sklearn.utils.validation import check_array

    def renamed(array: Any, force_all_finite: Any = True, **options: Any) -> Any:
        return check_array(array, ensure_all_finite=force_all_finite, **options)

    snf.compute.check_array = renamed
    fused = snf.snf(snf.make_affinity(unit_samples(views)))
    return SpectralClustering(n_clusters, affinity="precomputed", random_state=0).fit_predict(fused)


METHODS: dict[str, Method] = {
    "CLRSC": clrsc,
    "LRR late": lrr,
    "iMML IMSR": of_package("imml.cluster", "IMSR"),
    "iMML NEMO": of_package("imml.cluster", "NEMO"),
    "SNF": fused_similarity,
    "mvlearn spectral": of_package("mvlearn.cluster", "MultiviewSpectralClustering"),
    "kNN spectral": neighbours,
}
OURS = ("CLRSC", "LRR late", "kNN spectral")
"""Methods that also take a single view."""


def load(name: str) -> tuple[Views, np.ndarray]:
    """Return a real set, or made data named "made 2000 × 50"."""
    if not name.startswith("made "):
        return load_real(name)
    n_samples, n_features = map(int, name.removeprefix("made ").split(" × "))
    return subspaces(n_samples, n_features=n_features)


def measure(name: str, method: str) -> dict[str, Any]:
    """Return the row of one set and one method; needs a new process."""
    views, truth = load(name)
    run, n_clusters = METHODS[method], int(truth.max()) + 1
    small, _ = subspaces(100)
    run((small * len(views))[: len(views)], 3)
    wall, cpu, megabytes = [], [], []
    for _ in range(N_REPEATS):
        Path("/proc/self/clear_refs").write_text("5")
        before, start, used = memory("VmRSS"), time.perf_counter(), time.process_time()
        labels = run(views, n_clusters)
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - used)
        megabytes.append((memory("VmHWM") - before) / 1e6)
        if wall[0] > SHORT:
            break
    return {
        "samples": len(truth),
        "features": sum(view.shape[1] for view in views),
        "wall": round(min(wall), 3),
        "cpu": round(min(cpu), 3),
        "megabytes": round(max(megabytes)),
        "accuracy": round(subspace_clustering_accuracy(truth, labels), 2),
    }


def in_own_process(name: str, method: str, limit: float) -> dict[str, Any]:
    """Measure in another process; a crash or a timeout becomes the detail."""
    command = [sys.executable, __file__, "--one", name, method]
    try:
        result = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=limit,
            check=True,
            env=os.environ | ONE_THREAD,
        )
    except subprocess.TimeoutExpired:
        return {"detail": f"over {limit:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"detail": (error.stderr.strip().splitlines() or ["killed"])[-1][:100]}
    return dict(json.loads(result.stdout.splitlines()[-1]))


def run_all(path: Path, sets: list[str], methods: list[str], limit: float) -> None:
    """Append all missing rows to the file.

    A method that exceeds the limit is not run on sets of more samples.
    """
    done = {(row["set"], row["method"]) for row in read(path)}
    exceeded: dict[str, int] = {}
    for row in read(path):
        if row["detail"].startswith("over"):
            exceeded.setdefault(row["method"], int(row["samples"]))
    for name in sets:
        n_samples = len(load(name)[1])
        for method in methods:
            if (name, method) in done or (name in SINGLE_VIEW_SETS and method not in OURS):
                continue
            row = {"set": name, "samples": n_samples, "method": method}
            if n_samples > exceeded.get(method, n_samples):
                row["detail"] = f"not run: over {limit:.0f} s for {exceeded[method]} samples"
            else:
                row |= in_own_process(name, method, limit)
            if row.get("detail", "").startswith("over"):
                exceeded.setdefault(method, n_samples)
            append(path, FIELDS, row)


def available() -> list[str]:
    """Return all real sets, small ones first, and then the made ones."""
    real = [path.stem for path in (DATA / "multiview").glob("*.npz")]
    made = [f"made {n} × {width}" for n in MADE_SAMPLES for width in MADE_FEATURES]
    return [*sorted(real, key=lambda name: len(load_real(name)[1])), *made]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--one", nargs=2, metavar=("SET", "METHOD"), help="print one row as JSON")
    parser.add_argument("--sets", nargs="*", help="sets to run (default: all, from small to large)")
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], help="methods to run")
    parser.add_argument(
        "--limit", type=float, default=900.0, help="time limit in seconds for one set and method"
    )
    parser.add_argument("--table", action="store_true", help="run nothing; print the tables")
    parser.add_argument("-o", "--output", type=Path, default=Path("speed"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    options.output.mkdir(exist_ok=True)
    path = options.output / "speed.csv"
    if not options.table:
        run_all(path, options.sets or available(), options.methods or [*METHODS], options.limit)
    report(read(path), options.output)


if __name__ == "__main__":
    main()
