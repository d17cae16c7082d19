"""Compare the accuracy of the defaults with an oracle, baselines, other packages and publications.

    make benchmark-accuracy

Every method runs on every set of the ``multiview`` data folder and on four tables of scikit-learn
that are cut into views, each in its own process with a time
limit. Finished rows are kept in ``accuracy/accuracy.csv``, so the benchmark can be stopped and
continued; it takes hours. ``--table`` prints the table of that file and draws ``accuracy.svg``.

All methods get the true number of clusters. The oracle is the best point of a grid, chosen with the
true labels. k-means and spectral clustering get the features of all views side by side, with
samples of unit length or ("z") with standardised features. Methods of other packages get samples of
unit length. Our solver is deterministic, so its five seeds cut one graph five times.
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
from accuracy_table import report
from rows import append, read
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from problems import DATA, TABLES, Views, load_real, load_table, standardized, unit_samples
from viewspan import CLRSC, LRR, affinity, ncut
from viewspan.metrics import subspace_clustering_accuracy

SEEDS = 5
LAM_MULTIPLES, TAU_MULTIPLES = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0), (0.0, 1.0, 4.0)
"""Multiples of the automatic λ and τ in the oracle's grid, which has 36 points with both graphs."""
FIELDS = ["set", "method", "accuracy", "nmi", "ari", "seconds", "detail"]
SINGLE_VIEW_SETS = ("eyaleb38_raw",)
"""Sets of one view, which are skipped for multi-view methods of other packages."""

Labelling = np.ndarray
Method = Callable[[Views, np.ndarray], Iterator[Labelling]]
"""Function of the views and the true labels that yields one labelling per seed."""


def auto(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    return recut(CLRSC(n_clusters=n_classes(truth), random_state=0), views)


def recut(model: Any, views: Views) -> Iterator[Labelling]:
    """Fit once, and cut the graph again with every other seed; a fit with landmarks is repeated."""
    yield model.fit(views).labels_
    for seed in range(1, SEEDS):
        if model.fitted_graph_.landmarks:
            yield model.set_params(random_state=seed).fit(views).labels_
        else:
            graph, k = model.affinity_matrix_, model.n_clusters
            yield ncut(graph, k, assign_labels="modularity", random_state=seed)


def oracle(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    """Yield the labelling of the grid with the highest accuracy."""

    def labellings() -> Iterator[Labelling]:
        first = CLRSC(n_clusters=n_classes(truth), affinity="coefficients", tol=1e-3).fit(views)
        for multiple in LAM_MULTIPLES:
            tau = (
                CLRSC(n_clusters=n_classes(truth), lam=multiple * first.lam_, max_iter=1, tol=1.0)
                .fit(views)
                .tau_
            )
            for tau_multiple in TAU_MULTIPLES:
                model = CLRSC(
                    n_classes(truth),
                    lam=multiple * first.lam_,
                    tau=tau_multiple * tau,
                    affinity="patterns",
                    tol=1e-3,
                    random_state=0,
                )
                try:
                    yield model.fit(views).labels_
                    yield ncut(affinity(model.result_), n_classes(truth), random_state=0)
                except ValueError:  # the weights are so large that all coefficients are zero
                    continue

    yield max(labellings(), key=lambda labels: subspace_clustering_accuracy(truth, labels))


def best_view(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    """Cluster the view on which LRR has the highest accuracy, chosen with the true labels."""

    def mean_accuracy(run: list[Labelling]) -> float:
        return float(np.mean([subspace_clustering_accuracy(truth, labels) for labels in run]))

    runs = [list(recut(LRR(n_clusters=n_classes(truth), random_state=0), [view])) for view in views]
    yield from max(runs, key=mean_accuracy)


def late(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    return recut(LRR(n_clusters=n_classes(truth), random_state=0), views)


def concat(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
    return recut(LRR(n_clusters=n_classes(truth), fusion="concat", random_state=0), views)


def kmeans(scale: Callable[[Views], Views]) -> Method:
    """Return k-means of all features side by side after scaling."""

    def run(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
        features = np.hstack(scale(views))
        for seed in range(SEEDS):
            yield KMeans(n_classes(truth), n_init=10, random_state=seed).fit_predict(features)

    return run


def neighbours(scale: Callable[[Views], Views]) -> Method:
    """Return spectral clustering of the nearest neighbours in all features after scaling."""

    def run(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
        features = np.hstack(scale(views))
        for seed in range(SEEDS):
            yield SpectralClustering(
                n_classes(truth), affinity="nearest_neighbors", random_state=seed
            ).fit_predict(features)

    return run


def peer(module: str, name: str) -> Method:
    """Return a method of another package."""

    def run(views: Views, truth: np.ndarray) -> Iterator[Labelling]:
        build = getattr(__import__(module, fromlist=[name]), name)
        for seed in range(SEEDS):
            yield build(n_clusters=n_classes(truth), random_state=seed).fit_predict(
                unit_samples(views)
            )

    return run


METHODS: dict[str, Method] = {
    "viewspan auto": auto,
    "oracle": oracle,
    "LRR best view": best_view,
    "LRR late": late,
    "LRR concat": concat,
    "k-means": kmeans(unit_samples),
    "k-means z": kmeans(standardized),
    "spectral kNN": neighbours(unit_samples),
    "spectral kNN z": neighbours(standardized),
    "mvlearn spectral": peer("mvlearn.cluster", "MultiviewSpectralClustering"),
    "mvlearn co-reg": peer("mvlearn.cluster", "MultiviewCoRegSpectralClustering"),
    "iMML IMSR": peer("imml.cluster", "IMSR"),
}


def estimated_count(views: Views, truth: np.ndarray) -> dict[str, Any]:
    """Return the estimated and the true number of clusters."""
    model = CLRSC(random_state=0).fit(views)
    return {"detail": f"{model.n_clusters_} - {n_classes(truth)}"}


EXTRAS = {"k estimated": estimated_count}


def load(name: str) -> tuple[Views, np.ndarray]:
    """Return views and labels of a set of the data folder or of scikit-learn."""
    return load_table(name) if name in TABLES else load_real(name)


def n_classes(truth: np.ndarray) -> int:
    return int(truth.max()) + 1


def measure(name: str, method: str) -> dict[str, Any]:
    """Return one row; the seconds are those of the first labelling, which includes the fit."""
    views, truth = load(name)
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
    """Measure in another process; a crash, missing package or timeout becomes the detail."""
    command = [sys.executable, __file__, "--one", name, method]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=True)
    except subprocess.TimeoutExpired:
        return {"detail": f"over {limit:.0f} s"}
    except subprocess.CalledProcessError as error:
        return {"detail": (error.stderr.strip().splitlines() or ["killed"])[-1][:100]}
    return dict(json.loads(result.stdout.splitlines()[-1]))


def run_all(path: Path, sets: list[str], methods: list[str], limit: float) -> None:
    """Append all missing rows to the file."""
    done = {(row["set"], row["method"]) for row in read(path)}
    for method in methods:
        for name in sets:
            if (name, method) in done or (
                name in SINGLE_VIEW_SETS and METHODS.get(method) in peers()
            ):
                continue
            row = {"set": name, "method": method, **in_own_process(name, method, limit)}
            append(path, FIELDS, row)


def peers() -> list[Method]:
    return [METHODS[name] for name in METHODS if name.startswith(("mvlearn", "iMML"))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--one", nargs=2, metavar=("SET", "METHOD"), help="measure one row and print it as JSON"
    )
    parser.add_argument("--sets", nargs="*", help="sets to run (default: all, from small to large)")
    parser.add_argument(
        "--methods", nargs="*", choices=[*METHODS, *EXTRAS], help="methods to run (default: all)"
    )
    parser.add_argument(
        "--limit", type=float, default=1800.0, help="time limit in seconds for one set and method"
    )
    parser.add_argument(
        "--table", action="store_true", help="run nothing; print the table and draw the picture"
    )
    parser.add_argument("-o", "--output", type=Path, default=Path("accuracy"))
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.one:
        print(json.dumps(measure(*options.one)))
        return
    options.output.mkdir(exist_ok=True)
    path = options.output / "accuracy.csv"
    if not options.table:
        sets = options.sets or sorted(available(), key=lambda name: len(load(name)[1]))
        run_all(path, sets, options.methods or [*METHODS, *EXTRAS], options.limit)
    report(read(path), options.output)


def available() -> list[str]:
    return [*TABLES, *(path.stem for path in (DATA / "multiview").glob("*.npz"))]


if __name__ == "__main__":
    main()
