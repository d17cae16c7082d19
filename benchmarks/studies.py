"""The paper's studies: our defaults against the authors' weights and against the best of a grid with labels.

    python benchmarks/studies.py

The grid has 24 points of (λ, τ), the authors' among them, each with both graphs, and is chosen anew for every study
and noise level: no single setting could be better there.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from constants import load
from joblib import Parallel, delayed
from timing import print_table

from viewspan import CLRSC, affinity, ncut
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.studies.paper import AUTHORS, CLRSC_GRID, N_CLUSTERS, paper_studies

POINTS = [
    (lam, tau, graph)
    for lam in CLRSC_GRID[0]
    for tau in CLRSC_GRID[1]
    for graph in ("patterns", "coefficients")
]


def trial(
    name: str, generate: Any, noise: float, seed: int
) -> tuple[list[float], list[float], int]:
    """Accuracies of auto and of the authors' weights, of every point of the grid, and the number of clusters found."""
    warnings.simplefilter("ignore")
    views, truth = load((generate, (noise, seed)))
    fixed = CLRSC(
        N_CLUSTERS, lam=AUTHORS[name].clrsc[0], tau=AUTHORS[name].clrsc[1], random_state=0
    )
    ours = [
        score(truth, model.fit_predict(views))
        for model in (CLRSC(N_CLUSTERS, random_state=0), fixed)
    ]
    found = CLRSC(random_state=0).fit(views).n_clusters_
    return ours, on_grid(views, truth), found


def on_grid(views: Any, truth: np.ndarray) -> list[float]:
    scores = []
    for lam, tau, graph in POINTS[::2]:
        model = CLRSC(N_CLUSTERS, lam=lam, tau=tau, affinity=graph, random_state=0)
        try:
            scores.append(score(truth, model.fit_predict(views)))
            scores.append(score(truth, ncut(affinity(model.result_), N_CLUSTERS, random_state=0)))
        except ValueError:  # weights that leave nothing
            scores += [100 / N_CLUSTERS] * 2
    return scores


def score(truth: np.ndarray, labels: np.ndarray) -> float:
    return float(subspace_clustering_accuracy(truth, labels))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = []
    for study in paper_studies():
        for noise in study.noise:
            jobs = (
                delayed(trial)(study.name, study.generate, noise, seed)
                for seed in range(options.trials)
            )
            ours, grids, counts = zip(*Parallel(options.jobs)(jobs), strict=True)
            auto, authors = np.mean(ours, axis=0)
            means = np.mean(grids, axis=0)
            lam, tau, graph = POINTS[int(means.argmax())]
            right = np.mean([count == N_CLUSTERS for count in counts])
            cells = [
                f"{auto:.1f}",
                f"{authors:.1f}",
                f"{means.max():.1f}",
                f"{lam:g}, {tau:g}, {graph}",
            ]
            rows.append([study.name, f"{noise:g}", *cells, f"{100 * right:.0f} %"])
            print(rows[-1], flush=True)
    print_table(
        ["study", "σ", "auto", "authors' λ, τ", "best of grid", "at λ, τ, graph", "k found"], rows
    )


if __name__ == "__main__":
    main()
