"""Compare the three data fits on the paper's synthetic study with gross errors.

    python benchmarks/robust.py [--trials 20] [--jobs 2]

Either whole samples are replaced by noise of five times their length, or single entries by ten
times the root mean square entry with a random sign, in one view or in both. The accuracy is over
all samples, because the other view can still show the cluster of a corrupted sample. The AUC
measures how well ``outlier_scores_`` of a view separates its corrupted samples from the others. No
data are needed.
"""

import argparse
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.metrics import roc_auc_score
from timing import print_table

from problems import Views
from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import subspace_clustering_accuracy

DATAFITS = ("frobenius", "l12", "l1")
NOISE = (0.1, 0.2)
CASES: dict[str, tuple[str, float, tuple[int, ...]]] = {
    "none": ("samples", 0.0, ()),
    "10 % of samples": ("samples", 0.1, (0,)),
    "20 % of samples": ("samples", 0.2, (0,)),
    "5 % of entries": ("entries", 0.05, (0,)),
    "20 % of samples, both views": ("samples", 0.2, (0, 1)),
    "5 % of entries, both views": ("entries", 0.05, (0, 1)),
}
"""What is corrupted, the corrupted share of it, and the corrupted views."""


def corrupt(
    views: Views, kind: str, share: float, positions: tuple[int, ...], seed: int
) -> tuple[Views, np.ndarray]:
    """Return the corrupted views, and a mask (n_views, n_samples) of the corrupted samples."""
    rng = np.random.default_rng(1000 + seed)
    mask = np.zeros((len(views), len(views[0])), dtype=bool)
    changed = [view.copy() for view in views]
    for position in positions:
        view = changed[position]
        if kind == "samples":
            rows = rng.permutation(len(view))[: round(share * len(view))]
            noise = rng.normal(size=(len(rows), view.shape[1]))
            length = 5 * np.sqrt((view**2).sum(axis=1).mean())
            view[rows] = length * noise / np.linalg.norm(noise, axis=1, keepdims=True)
            mask[position, rows] = True
        else:
            entries = rng.permutation(view.size)[: round(share * view.size)]
            signs = rng.choice([-1.0, 1.0], len(entries))
            view.flat[entries] = 10 * np.sqrt((view**2).mean()) * signs
    return changed, mask


def run_trial(noise: float, case: str, datafit: str, seed: int) -> tuple[float, float]:
    """Return the accuracy and the mean AUC of the corrupted views, NaN without such views."""
    warnings.simplefilter("ignore")
    views, truth = make_subspaces(noise=noise, random_state=seed)
    corrupted, mask = corrupt(views, *CASES[case], seed)
    model = CLRSC(5, datafit=datafit, random_state=0).fit(corrupted)
    aucs = [
        roc_auc_score(wrong, scores)
        for wrong, scores in zip(mask, model.outlier_scores_, strict=True)
        if wrong.any()
    ]
    accuracy = subspace_clustering_accuracy(truth, model.labels_)
    return accuracy, float(np.mean(aucs)) if aucs else np.nan


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
            for datafit in DATAFITS:
                seeds = range(options.trials)
                jobs = (delayed(run_trial)(noise, case, datafit, seed) for seed in seeds)
                scores, trial_aucs = np.transpose(Parallel(options.jobs)(jobs))
                standard_error = scores.std(ddof=1) / np.sqrt(len(scores))
                accuracies.append(f"{scores.mean():.1f} ± {standard_error:.1f}")
                auc = float(np.mean(trial_aucs))
                aucs.append("" if np.isnan(auc) else f"{auc:.3f}")
            rows.append([f"{noise:g}", case, *accuracies, *aucs])
            print(rows[-1], flush=True)
    print_table(["σ", "corrupted", *DATAFITS, *(f"AUC {datafit}" for datafit in DATAFITS)], rows)


if __name__ == "__main__":
    main()
