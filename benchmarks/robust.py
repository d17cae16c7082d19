"""Robust fits: the paper's synthetic study with gross errors, by all three fits.

    python benchmarks/robust.py

Whole samples are replaced by noise of five times their length, or single entries by ten times the root mean square one,
with random signs; in one view or in both. Accuracy is over all samples, also corrupted ones, which the other view can
still tell; AUC is how well ``outlier_scores_`` of the view tells corrupted samples from others.
"""

import argparse
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from timing import print_table

from problems import Views
from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import subspace_clustering_accuracy

FITS = ("frobenius", "l12", "l1")
NOISE = (0.1, 0.2)
CASES: dict[str, tuple[str, float, tuple[int, ...]]] = {
    "none": ("samples", 0.0, ()),
    "10 % of samples": ("samples", 0.1, (0,)),
    "20 % of samples": ("samples", 0.2, (0,)),
    "5 % of entries": ("entries", 0.05, (0,)),
    "20 % of samples, both views": ("samples", 0.2, (0, 1)),
    "5 % of entries, both views": ("entries", 0.05, (0, 1)),
}


def corrupt(
    views: Views, what: str, share: float, where: tuple[int, ...], seed: int
) -> tuple[Views, np.ndarray]:
    """The views, and which samples of every view are corrupted."""
    rng = np.random.default_rng(1000 + seed)
    wrong = np.zeros((len(views), len(views[0])), dtype=bool)
    changed = [view.copy() for view in views]
    for position in where:
        view = changed[position]
        if what == "samples":
            rows = rng.permutation(len(view))[: round(share * len(view))]
            noise = rng.normal(size=(len(rows), view.shape[1]))
            length = 5 * np.sqrt((view**2).sum(axis=1).mean())
            view[rows] = length * noise / np.linalg.norm(noise, axis=1, keepdims=True)
            wrong[position, rows] = True
        else:
            entries = rng.permutation(view.size)[: round(share * view.size)]
            view.flat[entries] = (
                10 * np.sqrt((view**2).mean()) * rng.choice([-1.0, 1.0], len(entries))
            )
    return changed, wrong


def trial(noise: float, case: str, fit: str, seed: int) -> dict[str, Any]:
    warnings.simplefilter("ignore")
    views, truth = make_subspaces(noise=noise, random_state=seed)
    given, wrong = corrupt(views, *CASES[case], seed)
    model = CLRSC(5, datafit=fit, random_state=0).fit(given)
    aucs = [
        roc_auc_score(*pair)
        for pair in zip(wrong, model.outlier_scores_, strict=True)
        if pair[0].any()
    ]
    accuracy = subspace_clustering_accuracy(truth, model.labels_)
    return {
        "accuracy": accuracy,
        "auc": float(np.mean(aucs)) if aucs else np.nan,
        "n_iter": model.n_iter_,
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    rows = []
    for noise in NOISE:
        for case in CASES:
            accuracies, aucs = [], []
            for fit in FITS:
                jobs = (delayed(trial)(noise, case, fit, seed) for seed in range(options.trials))
                found = Parallel(options.jobs)(jobs)
                scores = np.array([row["accuracy"] for row in found])
                accuracies.append(
                    f"{scores.mean():.1f} ± {scores.std(ddof=1) / np.sqrt(len(scores)):.1f}"
                )
                auc = float(np.mean([row["auc"] for row in found]))
                aucs.append("" if np.isnan(auc) else f"{auc:.3f}")
            rows.append([f"{noise:g}", case, *accuracies, *aucs])
            print(rows[-1], flush=True)
    print_table(["σ", "corrupted", *FITS, *(f"AUC {fit}" for fit in FITS)], rows)


if __name__ == "__main__":
    main()
