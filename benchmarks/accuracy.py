"""Accuracy without labels: our defaults, the best of a grid with labels, baselines, peers and published figures.

    make benchmark-accuracy

runs every method on every set of the ``multiview`` data folder, each in a process of its own with a time limit, and
keeps what is done in ``accuracy.csv``, so that it can be stopped and go on. ``--table`` prints the table of that file
and draws ``accuracy.svg``. Everyone gets the true number of clusters; others get unit-length samples, as ours makes
them. Our solver is deterministic, so its five seeds cut one graph five times.
"""

import argparse
import json
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rows import append, read
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from problems import DATA, Views, real, unit_samples
from viewspan import CLRSC, LRR, affinity, ncut
from viewspan.metrics import subspace_clustering_accuracy

SEEDS = 5
LAMBDAS, TAUS = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0), (0.0, 1.0, 4.0)
"""The oracle's grid: multiples of the automatic λ and τ, with both graphs; 36 points."""
FIELDS = ["set", "method", "accuracy", "nmi", "ari", "seconds", "detail"]
SINGLE = ("eyaleb38_raw",)
"""Sets of one view, where peers for several have nothing to do."""

Labelling = np.ndarray
Method = Callable[[Views, np.ndarray], Iterator[Labelling]]


def auto(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    return recut(CLRSC(n_clusters=count(truth), random_state=0), views)


def recut(model: Any, views: Views) -> Iterator[Labelling]:
    yield model.fit(views).labels_
    for seed in range(1, SEEDS):
        yield ncut(
            model.affinity_matrix_, model.n_clusters, assign_labels="modularity", random_state=seed
        )


def oracle(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    """The labelling of the grid that agrees best with the truth."""

    def labellings() -> Iterator[Labelling]:
        first = CLRSC(n_clusters=count(truth), affinity="coefficients", tol=1e-3).fit(views)
        for share in LAMBDAS:
            tau = (
                CLRSC(n_clusters=count(truth), lam=share * first.lam_, max_iter=1, tol=1.0)
                .fit(views)
                .tau_
            )
            for multiple in TAUS:
                model = CLRSC(
                    count(truth),
                    lam=share * first.lam_,
                    tau=multiple * tau,
                    affinity="patterns",
                    tol=1e-3,
                    random_state=0,
                )
                try:
                    yield model.fit(views).labels_
                    yield ncut(affinity(model.result_), count(truth), random_state=0)
                except ValueError:  # weights that leave nothing
                    continue

    yield max(labellings(), key=lambda labels: subspace_clustering_accuracy(truth, labels))


def best_view(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    """LRR of the one view that agrees best with the truth, chosen with the labels."""
    runs = [list(recut(LRR(n_clusters=count(truth), random_state=0), [view])) for view in views]
    yield from max(
        runs,
        key=lambda run: float(
            np.mean([subspace_clustering_accuracy(truth, labels) for labels in run])
        ),
    )


def late(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    return recut(LRR(n_clusters=count(truth), random_state=0), views)


def concat(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    return recut(LRR(n_clusters=count(truth), fusion="concat", random_state=0), views)


def kmeans(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    features = np.hstack(unit_samples(views))
    for seed in range(SEEDS):
        yield KMeans(count(truth), random_state=seed).fit_predict(features)


def neighbours(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    features = np.hstack(unit_samples(views))
    for seed in range(SEEDS):
        yield SpectralClustering(
            count(truth), affinity="nearest_neighbors", random_state=seed
        ).fit_predict(features)


def peer(module: str, name: str) -> Method:
    def run(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
        build = getattr(__import__(module, fromlist=[name]), name)
        for seed in range(SEEDS):
            yield build(n_clusters=count(truth), random_state=seed).fit_predict(unit_samples(views))

    return run


METHODS: dict[str, Method] = {
    "viewspan auto": auto,
    "oracle": oracle,
    "LRR best view": best_view,
    "LRR late": late,
    "LRR concat": concat,
    "k-means": kmeans,
    "spectral kNN": neighbours,
    "mvlearn spectral": peer("mvlearn.cluster", "MultiviewSpectralClustering"),
    "mvlearn co-reg": peer("mvlearn.cluster", "MultiviewCoRegSpectralClustering"),
    "iMML IMSR": peer("imml.cluster", "IMSR"),
}


def estimated_count(views: Views, truth: np.ndarray) -> dict[str, Any]:
    """The number of clusters found without being told."""
    model = CLRSC(random_state=0).fit(views)
    return {"detail": f"{model.n_clusters_} - {count(truth)}"}


def cost(views: Views, truth: np.ndarray) -> dict[str, Any]:
    """``auto`` in units of one solve with the numbers it found and the same graph, best of three each."""
    model = CLRSC(count(truth), random_state=0).fit(views)
    given = CLRSC(count(truth), lam=model.lam_, tau=model.tau_, affinity="patterns", random_state=0)
    seconds = {}
    for name, estimator in (("auto", model), ("given", given)):
        runs = []
        for _ in range(3):
            start = time.perf_counter()
            estimator.fit(views)
            runs.append(time.perf_counter() - start)
        seconds[name] = min(runs)
    return {
        "seconds": round(seconds["auto"], 2),
        "detail": f"{seconds['auto'] / seconds['given']:.1f}",
    }


EXTRAS = {"k estimated": estimated_count, "cost": cost}


def count(truth: np.ndarray) -> int:
    return int(truth.max()) + 1


def measure(name: str, method: str) -> dict[str, Any]:
    """One row; seconds are those of the first labelling, a whole fit."""
    views, truth = real(name)
    if method in EXTRAS:
        return EXTRAS[method](views, truth)
    start = time.perf_counter()
    running = METHODS[method](views, truth)
    labellings = [next(running)]
    seconds = time.perf_counter() - start
    labellings += running
    scores = [
        (
            subspace_clustering_accuracy(truth, labels),
            100 * normalized_mutual_info_score(truth, labels),
            100 * adjusted_rand_score(truth, labels),
        )
        for labels in labellings
    ]
    accuracy, nmi, ari = np.mean(scores, axis=0).round(2).tolist()
    return {"accuracy": accuracy, "nmi": nmi, "ari": ari, "seconds": round(seconds, 2)}


def in_own_process(name: str, method: str, limit: float) -> dict[str, Any]:
    """A crash, a missing package or a run without end is a row too."""
    command = [sys.executable, __file__, "--one", name, method]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return {"detail": f"over {limit:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"detail": (error.stderr.strip().splitlines() or ["killed"])[-1][:100]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def run_all(path: Path, sets: list[str], methods: list[str], limit: float) -> None:
    """Append every row that is missing."""
    done = {(row["set"], row["method"]) for row in read(path)}
    for method in methods:
        for name in sets:
            if (name, method) in done or (name in SINGLE and METHODS.get(method) in peers()):
                continue
            row = {"set": name, "method": method, **in_own_process(name, method, limit)}
            append(path, FIELDS, row)


def peers() -> list[Method]:
    return [METHODS[name] for name in METHODS if name.startswith(("mvlearn", "iMML"))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--one", nargs=2, metavar=("SET", "METHOD"), help="one row, as JSON")
    parser.add_argument(
        "--sets", nargs="*", help="these sets only; all by default, from small to large"
    )
    parser.add_argument(
        "--methods", nargs="*", choices=[*METHODS, *EXTRAS], help="these methods only"
    )
    parser.add_argument(
        "--limit", type=float, default=1800.0, help="seconds for one set and method, all seeds"
    )
    parser.add_argument(
        "--table", action="store_true", help="print the table and draw the picture of what is there"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("accuracy"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    options.output.mkdir(exist_ok=True)
    found = options.output / "accuracy.csv"
    if not options.table:
        sets = options.sets or sorted(available(), key=lambda name: len(real(name)[1]))
        run_all(found, sets, options.methods or [*METHODS, *EXTRAS], options.limit)
    from accuracy_table import report

    report(read(found), options.output)


def available() -> list[str]:
    return [path.stem for path in (DATA / "multiview").glob("*.npz")]


if __name__ == "__main__":
    main()
