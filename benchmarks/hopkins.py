"""Measure the error of SSC and LRR on the Hopkins 155 motion sequences, by number of motions.

    python benchmarks/hopkins.py [--limit 10]

The data folder must hold ``hopkins155/``. Every sequence is one view: a sample is the trajectory of
a point over all frames. The trajectories of one rigid motion span an affine subspace of dimension 3
at most, hence a linear one of dimension 4. The true number of motions is given. Published results
of SSC use an affine constraint; the nearest option here is ``affine=True``.
"""

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from timing import print_table

from problems import DATA, MISSING
from viewspan import LRR, SSC
from viewspan.metrics import subspace_clustering_accuracy

PUBLISHED_DIVISOR = 800.0
"""Elhamifar and Vidal's λ for SSC is μ/800.

μ is the minimum over all samples of the largest correlation with another sample.
"""


def sequences(limit: int | None) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Return the names, trajectories and labels of the first sequences, or of all."""
    found = []
    for path in sorted((DATA / "hopkins155").glob("*.npz"))[:limit]:
        with np.load(path) as archive:
            trajectories = archive["view_0"].astype(float)
            found.append((path.stem, trajectories, archive["labels"].astype(int)))
    if not found:
        raise SystemExit(MISSING)
    return found


def published_lam(trajectories: np.ndarray) -> float:
    correlations = np.abs(trajectories @ trajectories.T)
    np.fill_diagonal(correlations, 0.0)
    return float(correlations.max(axis=0).min()) / PUBLISHED_DIVISOR


def published_ssc(trajectories: np.ndarray, n_clusters: int) -> SSC:
    lam = published_lam(trajectories)
    return SSC(n_clusters, lam=lam, normalize=False, random_state=0).fit(trajectories)


METHODS: dict[str, Callable[[np.ndarray, int], Any]] = {
    "SSC, auto": lambda x, k: SSC(k, random_state=0).fit(x),
    "SSC, auto, affine": lambda x, k: SSC(k, affine=True, random_state=0).fit(x),
    "SSC, λ = μ/800, as published": published_ssc,
    "LRR, auto": lambda x, k: LRR(k, random_state=0).fit(x),
    "LRR, auto, affine": lambda x, k: LRR(k, affine=True, random_state=0).fit(x),
    "LRR ℓ1,2, auto": lambda x, k: LRR(k, datafit="l12", random_state=0).fit(x),
}


def trial(method: str, trajectories: np.ndarray, labels: np.ndarray) -> tuple[float, bool]:
    """Return the percentage of misclassified trajectories, and whether the gap was reached."""
    warnings.simplefilter("ignore")
    model = METHODS[method](trajectories, int(labels.max()) + 1)
    error = 100 - subspace_clustering_accuracy(labels, model.labels_)
    return error, model.dual_gap_ <= model.tol


def mean_and_median(errors: np.ndarray) -> str:
    return f"{np.mean(errors):.2f} / {np.median(errors):.2f}" if len(errors) else "–"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--limit", type=int, help="number of sequences (default: all)")
    options = parser.parse_args()
    data = sequences(options.limit)
    motions = np.array([labels.max() + 1 for _, _, labels in data])
    rows = []
    with Parallel(n_jobs=-1) as parallel:
        for name in METHODS:
            start = time.perf_counter()
            trials = parallel(delayed(trial)(name, x, y) for _, x, y in data)
            seconds = time.perf_counter() - start
            errors, reached = map(np.array, zip(*trials, strict=True))
            groups = (errors[motions == 2], errors[motions == 3], errors)
            share = f"{100 * reached.mean():.0f} %"
            rows.append([name, *map(mean_and_median, groups), share, f"{seconds:.0f} s"])
    counts = [int((motions == 2).sum()), int((motions == 3).sum()), len(motions)]
    groups = [f"2 motions ({counts[0]})", f"3 motions ({counts[1]})", f"all ({counts[2]})"]
    print_table(["error in percent, mean / median", *groups, "gap reached", "time"], rows)


if __name__ == "__main__":
    main()
