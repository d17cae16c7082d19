"""Whole fits against the Python packages one would take instead.

    make benchmark-peers

runs this in an environment of its own with iMML and mvlearn (the latter without its dependencies: its pins are
years old). Everyone gets the same unit-length samples, their defaults and the true number of clusters; accuracy
and NMI are means over seeds, seconds the best over seeds.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score
from timing import print_table

from problems import Views, real, unit_samples
from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

SETS = ["yaleA_3v", "3sources", "msrc_v1_5v", "bbcsport"]


def methods() -> dict[str, Callable[[int, int], Any]]:
    """Name → (number of clusters, seed) → estimator."""
    from imml.cluster import IMSR
    from mvlearn.cluster import MultiviewSpectralClustering

    return {
        "viewspan CLRSC": lambda k, seed: CLRSC(n_clusters=k, random_state=seed),
        "iMML IMSR": lambda k, seed: IMSR(n_clusters=k, random_state=seed),
        "mvlearn spectral": lambda k, seed: MultiviewSpectralClustering(n_clusters=k, random_state=seed),
    }


def measure(build: Callable[[int, int], Any], views: Views, truth: np.ndarray, n_seeds: int) -> str:
    accuracies, nmis, seconds = [], [], []
    for seed in range(n_seeds):
        start = time.perf_counter()
        labels = build(int(truth.max()) + 1, seed).fit_predict(views)
        seconds.append(time.perf_counter() - start)
        accuracies.append(subspace_clustering_accuracy(truth, labels))
        nmis.append(normalized_mutual_info_score(truth, labels))
    return f"{np.mean(accuracies):.1f} / {100 * np.mean(nmis):.1f}, {min(seconds):.2f} s"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = []
    for name in SETS:
        views, truth = real(name)
        scaled = unit_samples(views)
        rows.append([name, *[measure(build, scaled, truth, options.seeds) for build in methods().values()]])
    print_table(["accuracy / NMI in percent, seconds", *methods()], rows)


if __name__ == "__main__":
    main()
