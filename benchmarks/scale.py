"""Measure time, memory and accuracy from 10³ to 10⁶ samples, of landmarks and of predictions.

    python benchmarks/scale.py [growth | agreement | peers | unseen]

Without an argument, all four parts run, which takes an hour. ``growth`` measures synthetic data of
growing size and needs no data; every size runs in its own process, because it reports the peak of
memory. ``agreement`` compares graphs of landmarks with graphs of all samples. ``peers`` measures
scikit-learn's clusterers on the same sets. ``unseen`` compares predicted samples with samples that
are clustered with the others. These three need the real sets of the ``multiview`` data folder.
``growth`` needs Linux.
"""

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import MiniBatchKMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, confusion_matrix
from timing import best_of, print_table

from problems import Views, load_real, unit_samples
from viewspan import CLRSC, Progress
from viewspan.metrics import subspace_clustering_accuracy

SIZES = [1_000, 10_000, 100_000, 1_000_000]
SPECTRAL_LIMIT = 10_000
"""Largest size for scikit-learn's SpectralClustering, whose kernel takes 0.8 GB here."""
N_CLUSTERS = 10
SETS = ["handwritten", "scene15_lowdim", "ccv", "hdigit10000"]
UNSEEN_SETS = ["synthetic", "handwritten", "hdigit10000"]
SEEDS = 5
STAGES = ["reading", "solving", "comparing", "labelling"]


def subspaces(
    n_samples: int, noise: float = 0.1, seed: int = 0, n_features: int = 50
) -> tuple[Views, NDArray[np.int64]]:
    """Return ten subspaces of dimension 4 in two views."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLUSTERS, n_samples)
    views = []
    for _ in range(2):
        view = noise * rng.normal(size=(n_samples, n_features))
        for cluster in range(N_CLUSTERS):
            members = np.flatnonzero(labels == cluster)
            basis, _ = np.linalg.qr(rng.normal(size=(n_features, 4)))
            view[members] += rng.normal(size=(len(members), 4)) @ basis.T
        views.append(view)
    return views, labels


class StageTimes:
    """Callback that adds up the seconds of every stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.stage, self.last = STAGES[0], 0.0

    def __call__(self, progress: Progress) -> None:
        self.seconds[self.stage] += progress.elapsed - self.last
        self.stage, self.last = progress.stage, progress.elapsed


def memory(field: str) -> int:
    """Return the bytes of this process, now (VmRSS) or at their peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def measure(folder: str, spectral: bool) -> dict[str, Any]:
    """Load the data from a folder, and measure all clusterers on it; needs a new process."""
    views = [np.load(f"{folder}/{name}.npy") for name in ("first", "second")]
    labels = np.load(f"{folder}/labels.npy")
    # A first fit loads libraries and starts threads.
    CLRSC(2, random_state=0).fit([view[:200] for view in views])
    Path("/proc/self/clear_refs").write_text("5")
    before, times = memory("VmRSS"), StageTimes()
    start = time.perf_counter()
    model = CLRSC(N_CLUSTERS, random_state=0, callback=times).fit(views)
    row: dict[str, Any] = {"seconds": time.perf_counter() - start, "stages": times.seconds}
    row["bytes"] = memory("VmHWM") - before
    row["accuracy"] = subspace_clustering_accuracy(labels, model.labels_)
    row["gap"] = model.dual_gap_
    features = np.hstack(views)
    batches = MiniBatchKMeans(N_CLUSTERS, n_init=1, random_state=0)
    row["mini-batch"], fitted = best_of(lambda: batches.fit(features), 3)
    row["mini-batch accuracy"] = subspace_clustering_accuracy(labels, fitted.labels_)
    if spectral:
        rival = SpectralClustering(N_CLUSTERS, random_state=0, assign_labels="cluster_qr")
        row["spectral"], fitted = best_of(lambda: rival.fit(features), 1)
        row["spectral accuracy"] = subspace_clustering_accuracy(labels, fitted.labels_)
    return row


def measure_in_new_process(n_samples: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        views, labels = subspaces(n_samples)
        for name, array in zip(("first", "second", "labels"), (*views, labels), strict=True):
            np.save(f"{folder}/{name}.npy", array)
        del views
        spectral = str(int(n_samples <= SPECTRAL_LIMIT))
        command = [sys.executable, __file__, "measure", folder, spectral]
        printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return dict(json.loads(printed))


def growth() -> None:
    """Print time, memory and accuracy for growing numbers of samples, and the rate of growth."""
    rows, results = [], {}
    for n_samples in SIZES:
        row = results[n_samples] = measure_in_new_process(n_samples)
        spectral = (
            f"{row['spectral']:.1f} ({row['spectral accuracy']:.0f})" if "spectral" in row else ""
        )
        rows.append(
            [
                f"10^{round(np.log10(n_samples))}",
                f"{row['seconds']:.1f}",
                *(f"{row['stages'][stage]:.1f}" for stage in STAGES),
                f"{row['bytes'] / 1e6:.0f}",
                f"{row['accuracy']:.2f}",
                f"{row['mini-batch']:.2f} ({row['mini-batch accuracy']:.0f})",
                f"{row['seconds'] / row['mini-batch']:.1f}×",
                spectral,
            ]
        )
        print(*rows[-1], file=sys.stderr)
    header = [
        "N",
        "fit, s",
        *STAGES,
        "MB besides data",
        "SCA",
        "MiniBatchKMeans, s (SCA)",
        "ratio",
        "SpectralClustering, s (SCA)",
    ]
    print_table(header, rows)
    last, before = results[SIZES[-1]], results[SIZES[-2]]
    time_exponent, memory_exponent = (
        np.log(last[name] / before[name]) / np.log(SIZES[-1] / SIZES[-2])
        for name in ("seconds", "bytes")
    )
    print(f"\nexponent of growth from 10^5 to 10^6: time {time_exponent:.2f}", end=", ")
    print(f"memory besides the data {memory_exponent:.2f}")


def agreement() -> None:
    """Print the accuracy of both kinds of graph, and how well their clusters agree."""
    rows = []
    for name in ["synthetic", *SETS]:
        views, labels = subspaces(5000) if name == "synthetic" else load_real(name)
        row, partitions = [name, str(len(labels))], {}
        for graph in ("dense", "landmarks"):
            seconds, accuracy = [], []
            for seed in range(SEEDS):
                start = time.perf_counter()
                model = CLRSC(int(labels.max()) + 1, graph=graph, random_state=seed).fit(views)
                seconds.append(time.perf_counter() - start)
                accuracy.append(subspace_clustering_accuracy(labels, model.labels_))
            partitions[graph] = model.labels_
            row += [f"{np.mean(accuracy):.1f} ± {np.std(accuracy):.1f}", f"{min(seconds):.0f}"]
        row.append(f"{adjusted_rand_score(partitions['dense'], partitions['landmarks']):.3f}")
        rows.append(row)
        print(*row, file=sys.stderr)
    print_table(["set", "N", "dense", "s", "landmarks", "s", "ARI of the two"], rows)


def peers() -> None:
    """Print the accuracy of scikit-learn's clusterers on concatenated views of unit samples."""
    rows = []
    for name in SETS:
        views, labels = load_real(name)
        features, n_clusters = np.hstack(unit_samples(views)), int(labels.max()) + 1
        row = [name, str(len(labels))]
        for rival in (
            MiniBatchKMeans(n_clusters, n_init=1, random_state=0),
            SpectralClustering(n_clusters, random_state=0),
        ):
            seconds, fitted = best_of(lambda rival=rival, features=features: rival.fit(features), 1)
            row.append(
                f"{subspace_clustering_accuracy(labels, fitted.labels_):.1f}, {seconds:.1f} s"
            )
        rows.append(row)
        print(*row, file=sys.stderr)
    print_table(["set", "N", "MiniBatchKMeans", "SpectralClustering"], rows)


def unseen() -> None:
    """Print the accuracy of samples that are predicted, and of the same samples in the fit."""
    rows = []
    for name in UNSEEN_SETS:
        views, labels = subspaces(3000, noise=0.2) if name == "synthetic" else load_real(name)
        n_clusters = int(labels.max()) + 1
        for graph in ("dense", "landmarks"):
            clustered, predicted = [], []
            for seed in range(3):
                order = np.random.RandomState(seed).permutation(len(labels))
                held, kept = np.split(order, [int(0.3 * len(labels))])
                model = CLRSC(n_clusters, graph=graph, random_state=seed)
                found = model.fit_predict(views)
                clustered.append(
                    held_out_accuracy(labels[kept], found[kept], labels[held], found[held])
                )
                model.fit([view[kept] for view in views])
                new = model.predict([view[held] for view in views])
                predicted.append(held_out_accuracy(labels[kept], model.labels_, labels[held], new))
            rows.append([name, graph, f"{np.mean(clustered):.1f}", f"{np.mean(predicted):.1f}"])
            print(*rows[-1], file=sys.stderr)
    print_table(["set", "graph", "clustered with the others", "predicted"], rows)


def held_out_accuracy(
    truth: NDArray[np.int64],
    found: NDArray[np.int64],
    held_truth: NDArray[np.int64],
    held: NDArray[np.int64],
) -> float:
    """Return the percentage of held-out samples in the cluster matched to their class.

    Clusters are matched to classes by the other samples.
    """
    table = confusion_matrix(truth, found)
    classes, clusters = linear_sum_assignment(-table)
    class_of = dict(zip(clusters, classes, strict=True))
    correct = [class_of[label] == true for label, true in zip(held, held_truth, strict=True)]
    return 100.0 * float(np.mean(correct))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    chosen = sys.argv[1] if len(sys.argv) > 1 else "all"
    if chosen == "measure":
        print(json.dumps(measure(sys.argv[2], bool(int(sys.argv[3])))))
        raise SystemExit
    for part in (growth, agreement, peers, unseen):
        if chosen in {"all", part.__name__}:
            part()
