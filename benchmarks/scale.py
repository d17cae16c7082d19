"""Measure time, memory and accuracy from 10³ to 10⁶ samples, of landmarks and of predictions.

    python benchmarks/scale.py [growth | agreement | peers | unseen]

Without an argument, all four parts run, which takes an hour. ``growth`` measures synthetic data of
growing size and needs no data; every size runs in its own process, because it reports the peak of
memory. Its seconds are those of the processor: set the threads of BLAS to 1 to compare them.
``agreement`` compares graphs of landmarks with graphs of all samples. ``peers`` measures
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
from collections.abc import Callable
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
from viewspan.fit.settings import DEFAULT_N_LANDMARKS
from viewspan.metrics import subspace_clustering_accuracy

SIZES = [1_000, 10_000, 100_000, 1_000_000]
REPEATS = {1_000: 5, 10_000: 3, 100_000: 2, 1_000_000: 1}
"""Number of fits of every size; the fastest one counts."""
LARGEST_DENSE = 10_000
"""Size at which a graph of all samples is compared with landmarks."""
BLOCK_ROWS = 400
"""Rows of the blocks of the product that is the bound of a fit with landmarks."""
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
    """Callback that adds up the processor seconds of every stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.stage, self.last = STAGES[0], time.process_time()

    def __call__(self, progress: Progress) -> None:
        now = time.process_time()
        self.seconds[self.stage] += now - self.last
        self.stage, self.last = progress.stage, now


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
    before = memory("VmRSS")
    row, model = fastest_fit(views, before)
    row["bound"] = bound_of_landmarks(folder, model)
    row["accuracy"] = subspace_clustering_accuracy(labels, model.labels_)
    row["gap"] = model.dual_gap_
    features = np.hstack(views)
    batches = MiniBatchKMeans(N_CLUSTERS, n_init=1, random_state=0)
    row["mini-batch"] = min(processor_seconds(lambda: batches.fit(features)) for _ in range(3))
    row["mini-batch accuracy"] = subspace_clustering_accuracy(labels, batches.labels_)
    if spectral:
        rival = SpectralClustering(N_CLUSTERS, random_state=0, assign_labels="cluster_qr")
        row["spectral"] = processor_seconds(lambda: rival.fit(features))
        row["spectral accuracy"] = subspace_clustering_accuracy(labels, rival.labels_)
    return row


def fastest_fit(views: Views, before: int) -> tuple[dict[str, Any], CLRSC]:
    """Return the figures of the fastest of several fits, and the model.

    At the size where both kinds of graph are compared, fits with landmarks run in between.
    """
    n_samples, rows, landmarks = len(views[0]), [], []
    for _ in range(REPEATS[n_samples]):
        times = StageTimes()
        model = CLRSC(N_CLUSTERS, random_state=0, callback=times)
        seconds = processor_seconds(lambda model=model: model.fit(views))
        n_bytes = memory("VmHWM") - before if not rows else rows[0]["bytes"]
        rows.append({"seconds": seconds, "stages": times.seconds, "bytes": n_bytes})
        if n_samples == LARGEST_DENSE:
            other = CLRSC(N_CLUSTERS, graph="landmarks", random_state=0)
            landmarks.append(processor_seconds(lambda other=other: other.fit(views)))
    row = min(rows, key=lambda row: row["seconds"])
    return row | {"landmarks": min(landmarks, default=float("nan"))}, model


def bound_of_landmarks(folder: str, model: CLRSC) -> float:
    """Return the seconds of reading the data once and of one product in single precision.

    The product has the size N × landmarks × rank: without it, no sample can be compared with all
    landmarks.
    """
    files = [f"{folder}/{name}.npy" for name in ("first", "second")]
    reading = min(processor_seconds(lambda: [np.load(file) for file in files]) for _ in range(3))
    rank = sum(np.linalg.matrix_rank(core) for core in model.result_.cores)
    rows = np.ones((BLOCK_ROWS, rank), dtype=np.float32)
    landmarks = np.ones((rank, DEFAULT_N_LANDMARKS), dtype=np.float32)
    found = np.empty((BLOCK_ROWS, DEFAULT_N_LANDMARKS), dtype=np.float32)

    def product() -> None:
        for _ in range(-(-len(model.labels_) // BLOCK_ROWS)):
            np.matmul(rows, landmarks, out=found)

    return reading + min(processor_seconds(product) for _ in range(2))


def processor_seconds(function: Callable[[], Any]) -> float:
    """Return the processor time of one call, which other processes disturb less than its time."""
    start = time.process_time()
    function()
    return time.process_time() - start


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
    print_rates(results)


def print_rates(results: dict[int, dict[str, Any]]) -> None:
    """Print how costs grow, and what they are compared with."""
    for first, last in ((SIZES[0], LARGEST_DENSE), SIZES[-2:]):
        before, after = results[first], results[last]
        time_exponent, memory_exponent = (
            np.log(after[name] / before[name]) / np.log(last / first)
            for name in ("seconds", "bytes")
        )
        print(f"\nexponents of growth from {first} to {last} samples: time {time_exponent:.2f},")
        print(f"memory besides the data {memory_exponent:.2f}")
    dense, most = results[LARGEST_DENSE], results[SIZES[-1]]
    print(f"\n{LARGEST_DENSE} samples: time of a graph of all samples / time of landmarks:")
    print(f"{dense['seconds']:.1f} s / {dense['landmarks']:.1f} s", end=" = ")
    print(f"{dense['seconds'] / dense['landmarks']:.2f}")
    print(f"\n{SIZES[-1]} samples: time of the fit / time of reading once and of one product:")
    print(f"{most['seconds']:.1f} s / {most['bound']:.1f} s", end=" = ")
    print(f"{most['seconds'] / most['bound']:.2f}")


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
