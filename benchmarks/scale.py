"""From 10³ to 10⁶ samples: time by stage, memory, accuracy and growth; landmarks against all samples; unseen samples.

``python scale.py growth`` needs no data, ``agreement``, ``rivals`` and ``unseen`` need the real sets. Every row of the
growth runs in a process of its own, so that the peak of memory is its own.
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

from problems import Views, real, unit_samples
from viewspan import CLRSC, Progress
from viewspan.metrics import subspace_clustering_accuracy

SIZES = [1_000, 10_000, 100_000, 1_000_000]
SPECTRAL_LIMIT = 10_000
"""The full kernel of scikit-learn's SpectralClustering has 80 GB for ten times as many samples."""
N_CLUSTERS = 10
SETS = ["handwritten", "scene15_lowdim", "ccv", "hdigit10000"]
UNSEEN_SETS = ["synthetic", "handwritten", "hdigit10000"]
SEEDS = 5
STAGES = ["reading", "solving", "comparing", "labelling"]


def subspaces(n_samples: int, noise: float = 0.1, seed: int = 0) -> tuple[Views, NDArray[np.int64]]:
    """Ten subspaces of dimension 4 in two views of 50 features."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, N_CLUSTERS, n_samples)
    views = []
    for _ in range(2):
        view = noise * rng.normal(size=(n_samples, 50))
        for cluster in range(N_CLUSTERS):
            members = np.flatnonzero(labels == cluster)
            basis, _ = np.linalg.qr(rng.normal(size=(50, 4)))
            view[members] += rng.normal(size=(len(members), 4)) @ basis.T
        views.append(view)
    return views, labels


class StageTimes:
    """A callback that adds up the seconds of every stage."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self.stage, self.last = STAGES[0], 0.0

    def __call__(self, progress: Progress) -> None:
        self.seconds[self.stage] += progress.elapsed - self.last
        self.stage, self.last = progress.stage, progress.elapsed


def memory_now(field: str) -> int:
    """Bytes of this process, now (VmRSS) or at most so far (VmHWM); Linux tells."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(field)).split()[1])


def measure(folder: str, spectral: bool) -> dict[str, Any]:
    """In a fresh process: the data is loaded, then everything is timed on it."""
    views = [np.load(f"{folder}/{name}.npy") for name in ("first", "second")]
    labels = np.load(f"{folder}/labels.npy")
    CLRSC(2, random_state=0).fit(
        [view[:200] for view in views]
    )  # libraries are loaded, threads started
    Path("/proc/self/clear_refs").write_text("5")
    before, times = memory_now("VmRSS"), StageTimes()
    start = time.perf_counter()
    model = CLRSC(N_CLUSTERS, random_state=0, callback=times).fit(views)
    found: dict[str, Any] = {"seconds": time.perf_counter() - start, "stages": times.seconds}
    found["bytes"] = memory_now("VmHWM") - before
    found["accuracy"] = subspace_clustering_accuracy(labels, model.labels_)
    found["gap"] = model.dual_gap_
    side_by_side = np.hstack(views)
    batches = MiniBatchKMeans(N_CLUSTERS, n_init=1, random_state=0)
    found["mini-batch"], fitted = best_of(lambda: batches.fit(side_by_side), 3)
    found["mini-batch accuracy"] = subspace_clustering_accuracy(labels, fitted.labels_)
    if spectral:
        rival = SpectralClustering(N_CLUSTERS, random_state=0, assign_labels="cluster_qr")
        found["spectral"], fitted = best_of(lambda: rival.fit(side_by_side), 1)
        found["spectral accuracy"] = subspace_clustering_accuracy(labels, fitted.labels_)
    return found


def growth() -> None:
    rows, found = [], {}
    for n_samples in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            views, labels = subspaces(n_samples)
            for name, array in zip(("first", "second", "labels"), (*views, labels), strict=True):
                np.save(f"{folder}/{name}.npy", array)
            del views
            command = [
                sys.executable,
                __file__,
                "measure",
                folder,
                str(int(n_samples <= SPECTRAL_LIMIT)),
            ]
            printed = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        row = found[n_samples] = json.loads(printed)
        rows.append(
            [
                f"10^{round(np.log10(n_samples))}",
                f"{row['seconds']:.1f}",
                *(f"{row['stages'][stage]:.1f}" for stage in STAGES),
                f"{row['bytes'] / 1e6:.0f}",
                f"{row['accuracy']:.2f}",
                f"{row['mini-batch']:.2f} ({row['mini-batch accuracy']:.0f})",
                f"{row['seconds'] / row['mini-batch']:.1f}×",
                f"{row['spectral']:.1f} ({row['spectral accuracy']:.0f})"
                if "spectral" in row
                else "",
            ]
        )
        print(*rows[-1], file=sys.stderr)
    heads = [
        "N",
        "fit, s",
        *STAGES,
        "MB over data",
        "SCA",
        "MiniBatchKMeans, s (SCA)",
        "ratio",
        "SpectralClustering, s (SCA)",
    ]
    print_table(heads, rows)
    last, before = found[SIZES[-1]], found[SIZES[-2]]
    step = np.log(SIZES[-1] / SIZES[-2])
    print(
        f"\nexponent of growth from 10^5 to 10^6: time {np.log(last['seconds'] / before['seconds']) / step:.2f}",
        end="",
    )
    print(f", memory over the data {np.log(last['bytes'] / before['bytes']) / step:.2f}")


def agreement() -> None:
    rows = []
    for name in ["synthetic", *SETS]:
        views, labels = subspaces(5000) if name == "synthetic" else real(name)
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


def rivals() -> None:
    """Scikit-learn's on the same real sets: all features side by side, samples of unit length, true k."""
    rows = []
    for name in SETS:
        views, labels = real(name)
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
    """Accuracy of held-back samples, named by the clusters of the others, and of the same ones clustered with them."""
    rows = []
    for name in UNSEEN_SETS:
        views, labels = subspaces(3000, noise=0.2) if name == "synthetic" else real(name)
        n_clusters = int(labels.max()) + 1
        for graph in ("dense", "landmarks"):
            together, apart = [], []
            for seed in range(3):
                order = np.random.RandomState(seed).permutation(len(labels))
                back, kept = np.split(order, [int(0.3 * len(labels))])
                everyone = CLRSC(n_clusters, graph=graph, random_state=seed).fit_predict(views)
                model = CLRSC(n_clusters, graph=graph, random_state=seed).fit(
                    [view[kept] for view in views]
                )
                predicted = model.predict([view[back] for view in views])
                apart.append(share_right(labels[kept], model.labels_, labels[back], predicted))
                together.append(
                    share_right(labels[kept], everyone[kept], labels[back], everyone[back])
                )
            rows.append([name, graph, f"{np.mean(together):.1f}", f"{np.mean(apart):.1f}"])
            print(*rows[-1], file=sys.stderr)
    print_table(["set", "graph", "clustered with the others", "predicted"], rows)


def share_right(
    truth: NDArray[np.int64],
    found: NDArray[np.int64],
    held_truth: NDArray[np.int64],
    held: NDArray[np.int64],
) -> float:
    """Percent of the held-back samples in the cluster that stands for their class among the others."""
    table = confusion_matrix(truth, found)
    classes, clusters = linear_sum_assignment(-table)
    name_of = dict(zip(clusters, classes, strict=True))
    return 100.0 * float(
        np.mean([name_of[cluster] == true for cluster, true in zip(held, held_truth, strict=True)])
    )


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    what = sys.argv[1] if len(sys.argv) > 1 else "all"
    if what == "measure":
        print(json.dumps(measure(sys.argv[2], bool(int(sys.argv[3])))))
        raise SystemExit
    for part in (growth, agreement, rivals, unseen):
        if what in {"all", part.__name__}:
            part()
