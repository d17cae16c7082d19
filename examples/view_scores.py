"""Which appearance helped?
========================

Scores of the views, and what they counted.

Two sensors that see the clusters, one that is noisier, and one that sees nothing.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np

from viewspan import CLRSC
from viewspan.datasets import make_subspaces
from viewspan.metrics import subspace_clustering_accuracy

clean, labels = make_subspaces(
    n_views=3, n_samples_per_subspace=40, n_features=60, noise=0.05, random_state=0
)
rng = np.random.default_rng(0)
views = {
    "camera": clean[0],
    "radar": clean[1],
    "noisy camera": clean[2] + 0.3 * rng.normal(size=clean[2].shape),
    "a few random numbers": rng.normal(size=(200, 4)),
}

# %%
# The weights in the graph are chosen without labels; the scores say how far the clusters can be seen in each view
# alone.

model = CLRSC(5, random_state=0).fit(views)
without = CLRSC(5, view_weights=[1, 1, 1, 0], random_state=0).fit(views)
for name, score, weight in zip(views, model.view_scores_, model.view_weights_, strict=True):
    print(f"{name}: score {score:.2f}, counted {weight:.2f}")
for fitted, name in ((model, "automatic weights"), (without, "the last view left out")):
    print(f"{name}: {subspace_clustering_accuracy(labels, fitted.labels_):.1f} % right")

# %%
# The sensor that sees nothing has a score of about zero, and counts a third.

figure, panel = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
rows = np.arange(4)
panel.barh(
    rows - 0.18, model.view_scores_, 0.36, label="score: the clusters, seen in this view alone"
)
panel.barh(rows + 0.18, model.view_weights_, 0.36, label="weight in the graph")
panel.set(yticks=rows, xlim=(-0.05, 1.05))
panel.set_yticklabels(views)
panel.invert_yaxis()
panel.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=2, frameon=False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
