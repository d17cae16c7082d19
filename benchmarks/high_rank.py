"""Compare whole fits of wide views with one singular value decomposition.

    python benchmarks/high_rank.py

Text and links have nearly as many directions as samples, and none of them can be left out. The
decomposition is the thin one of the widest view. One BLAS thread; the fastest of up to three runs.
"""

import warnings
from functools import partial

import numpy as np
from threadpoolctl import threadpool_limits
from timing import best_of, print_table

from problems import load_real, unit_samples
from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

REPEATS = {"bbc4": 3, "reuters1200": 2, "citeseer": 1}


def measure(name: str, repeats: int) -> list[str]:
    views, truth = load_real(name)
    widest = max(unit_samples(views), key=lambda view: view.shape[1])
    model = CLRSC(int(truth.max()) + 1, random_state=0)
    with threadpool_limits(1):
        once, _ = best_of(partial(np.linalg.svd, widest, full_matrices=False), repeats)
        fit, _ = best_of(partial(model.fit, views), repeats)
    return [
        name,
        f"{len(truth)} × {widest.shape[1]}",
        str(model.result_.cores.shape[1]),
        f"{once:.2f}",
        f"{fit:.1f}",
        f"{fit / once:.1f}",
        f"{model.result_.status}, {model.dual_gap_:.1e}",
        f"{subspace_clustering_accuracy(truth, model.labels_):.1f}",
    ]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    header = ["set", "widest view", "directions", "SVD, s", "fit, s", "ratio", "gap", "accuracy"]
    print_table(header, [measure(name, repeats) for name, repeats in REPEATS.items()])
