"""Handle gross errors
===================

The data are the paper's synthetic subspaces: 100 samples with 100 features in two views. Two kinds
of errors are added. If single entries are wrong, the ℓ1 data fit keeps the accuracy. If whole
samples are wrong, the outlier scores of the ℓ1,2 data fit find them.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np

from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import subspace_clustering_accuracy

DATAFITS = {"frobenius": "‖E‖²", "l12": "ℓ1,2", "l1": "ℓ1"}
rng = np.random.default_rng(0)
clean, labels = make_subspaces(noise=0.1, random_state=0)

# %%
# First, a growing share of the entries of both views is replaced by values that are ten times as
# large as a typical entry. All three data fits are compared. The quadratic one warns when so many
# entries are wrong that the views no longer agree.

warnings.filterwarnings("ignore", message="The views agree on nothing more than chance")
shares = [0.0, 0.02, 0.05, 0.08]
accuracy = {datafit: [] for datafit in DATAFITS}
for share in shares:
    views = [view.copy() for view in clean]
    for view in views:
        entries = rng.permutation(view.size)[: round(share * view.size)]
        view.flat[entries] = 10 * np.sqrt((view**2).mean()) * rng.choice([-1, 1], len(entries))
    for datafit in DATAFITS:
        predicted = CLRSC(5, datafit=datafit, random_state=0).fit_predict(views)
        accuracy[datafit].append(subspace_clustering_accuracy(labels, predicted))

# %%
# Second, a fifth of the samples of one view is replaced by noise. The other samples cannot
# represent these samples, so their residuals, and with them their outlier scores, are large.

corrupted = rng.permutation(len(labels)) < len(labels) // 5
views = [view.copy() for view in clean]
views[0][corrupted] = rng.normal(size=(corrupted.sum(), 100))
model = CLRSC(5, datafit="l12", random_state=0).fit(views)
corrupted_accuracy = subspace_clustering_accuracy(labels, model.labels_)
print(f"accuracy with a fifth of one view's samples corrupted: {corrupted_accuracy:.0f} %")

# %%
# The left panel shows the accuracy with wrong entries: only the ℓ1 data fit stays at 100 %. The
# right panel shows the outlier scores: corrupted samples have higher scores than the others.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for datafit, name in DATAFITS.items():
    left.plot([100 * share for share in shares], accuracy[datafit], "o-", label=name)
left.set(xlabel="wrong entries, percent", ylabel="accuracy, percent", ylim=(0, 105))
left.legend(frameon=False, title="data fit")
bins = np.linspace(0, 1.2, 31)
for wrong, name in ((False, "not corrupted"), (True, "corrupted")):
    right.hist(model.outlier_scores_[0][corrupted == wrong], bins, alpha=0.7, label=name)
right.set(xlabel="outlier score in the corrupted view", ylabel="samples")
right.legend(frameon=False)
for panel in (left, right):
    panel.spines[["top", "right"]].set_visible(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
