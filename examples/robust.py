"""Gross errors
============

Single entries need the ℓ1 fit; corrupted samples are found by their scores.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import subspace_clustering_accuracy

FITS = {"frobenius": "‖E‖²", "l12": "ℓ1,2", "l1": "ℓ1"}
rng = np.random.default_rng(0)
clean, labels = make_subspaces(noise=0.1, random_state=0)

# %%
# A growing share of the entries of both views is ten times too large.

shares = [0.0, 0.01, 0.02, 0.05, 0.08]
accuracy = {fit: [] for fit in FITS}
for share in shares:
    views = [view.copy() for view in clean]
    for view in views:
        entries = rng.permutation(view.size)[: round(share * view.size)]
        view.flat[entries] = 10 * np.sqrt((view**2).mean()) * rng.choice([-1, 1], len(entries))
    for fit in FITS:
        found = CLRSC(5, datafit=fit, random_state=0).fit_predict(views)
        accuracy[fit].append(subspace_clustering_accuracy(labels, found))

# %%
# A fifth of the samples of one view is noise; what the other samples do not explain of a sample tells them apart.

corrupted = rng.permutation(len(labels)) < len(labels) // 5
views = [view.copy() for view in clean]
views[0][corrupted] = rng.normal(size=(corrupted.sum(), 100))
model = CLRSC(5, datafit="l12", random_state=0).fit(views)
print(
    f"with a fifth of one view's samples corrupted: {subspace_clustering_accuracy(labels, model.labels_):.0f} % right"
)

# %%
# Accuracy with wrong entries, and the scores of corrupted samples beside those of the others.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for fit, name in FITS.items():
    left.plot([100 * share for share in shares], accuracy[fit], "o-", label=name)
left.set(xlabel="entries that are wrong, percent", ylabel="accuracy, percent", ylim=(0, 105))
left.legend(frameon=False, title="fit")
bins = np.linspace(0, 1.2, 31)
for wrong, name in ((False, "as they were"), (True, "corrupted")):
    right.hist(model.outlier_scores_[0][corrupted == wrong], bins, alpha=0.7, label=name)
right.set(xlabel="outlier score in the corrupted view", ylabel="samples")
right.legend(frameon=False)
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
