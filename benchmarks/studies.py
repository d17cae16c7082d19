"""Compare automatic weights with the authors' weights and with the best point of a grid.

    python benchmarks/studies.py [--trials 20] [--jobs 2]

The data are those of the paper's three studies; minerals and faces are downloaded if they are not
in the data folder. The grid has 24 points (λ, τ), each with both kinds of graph, and contains the
authors' weights. Its best point is chosen with the true labels, for every study and noise level
separately, so it is an upper bound for any fixed setting.
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
from viewspan.studies.paper import AUTHORS_WEIGHTS, CLRSC_GRID, N_CLUSTERS, paper_studies

WEIGHTS = [(lam, tau) for lam in CLRSC_GRID[0] for tau in CLRSC_GRID[1]]
GRAPHS = ("patterns", "coefficients")
POINTS = [(lam, tau, graph) for lam, tau in WEIGHTS for graph in GRAPHS]


def run_trial(
    name: str, generate: Any, noise: float, seed: int
) -> tuple[list[float], list[float], int]:
    """Return accuracies and the estimated number of clusters.

    The accuracies are those of automatic and of the authors' weights, and those of every point of
    the grid.
    """
    warnings.simplefilter("ignore")
    views, truth = load((generate, (noise, seed)))
    lam, tau = AUTHORS_WEIGHTS[name].clrsc
    models = (
        CLRSC(N_CLUSTERS, random_state=0),
        CLRSC(N_CLUSTERS, lam=lam, tau=tau, random_state=0),
    )
    accuracies = [accuracy(truth, model.fit_predict(views)) for model in models]
    n_clusters = CLRSC(random_state=0).fit(views).n_clusters_
    return accuracies, grid_accuracies(views, truth), n_clusters


def grid_accuracies(views: Any, truth: np.ndarray) -> list[float]:
    """Return the accuracies in the order of POINTS; a failed fit counts as one cluster."""
    scores = []
    for lam, tau in WEIGHTS:
        model = CLRSC(N_CLUSTERS, lam=lam, tau=tau, affinity=GRAPHS[0], random_state=0)
        try:
            scores.append(accuracy(truth, model.fit_predict(views)))
            labels = ncut(affinity(model.result_), N_CLUSTERS, random_state=0)
            scores.append(accuracy(truth, labels))
        except ValueError:  # the weights are so large that all coefficients are zero
            scores += [100 / N_CLUSTERS] * 2
    return scores


def accuracy(truth: np.ndarray, labels: np.ndarray) -> float:
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
                delayed(run_trial)(study.name, study.generate, noise, seed)
                for seed in range(options.trials)
            )
            fixed, grids, counts = zip(*Parallel(options.jobs)(jobs), strict=True)
            auto, authors = np.mean(fixed, axis=0)
            means = np.mean(grids, axis=0)
            lam, tau, graph = POINTS[int(means.argmax())]
            correct = np.mean([count == N_CLUSTERS for count in counts])
            cells = [
                f"{auto:.1f}",
                f"{authors:.1f}",
                f"{means.max():.1f}",
                f"{lam:g}, {tau:g}, {graph}",
            ]
            rows.append([study.name, f"{noise:g}", *cells, f"{100 * correct:.0f} %"])
            print(rows[-1], flush=True)
    print_table(
        ["study", "σ", "auto", "authors' λ, τ", "best of grid", "at λ, τ, graph", "k found"], rows
    )


if __name__ == "__main__":
    main()
