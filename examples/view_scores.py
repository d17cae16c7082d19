"""Which view helped?
==================

The synthetic data have five clusters, 200 samples and four views. In the first two views the
clusters are clear, the third view is noisier, and the fourth consists of random numbers. The model
reports two numbers for each view. The *view weight* is the weight of the view in the graph. The
*view score* measures how well the clusters can be recognised in this view alone.
"""

import sys
import warnings

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
    "random numbers": rng.normal(size=(200, 4)),
}

# %%
# The view weights are chosen without labels. For comparison, a second model ignores the view of
# random numbers: its weight is set to 0. Each fit warns that this view agrees with the others no
# more than chance. Here we know why.

warnings.filterwarnings("ignore", message="random numbers agrees with the other views")
model = CLRSC(5, random_state=0).fit(views)
without = CLRSC(5, view_weights=[1, 1, 1, 0], random_state=0).fit(views)
for name, score, weight in zip(views, model.view_scores_, model.view_weights_, strict=True):
    print(f"{name}: view score {score:.2f}, view weight {weight:.2f}")
for fitted, name in ((model, "automatic view weights"), (without, "random numbers ignored")):
    print(f"{name}: accuracy {subspace_clustering_accuracy(labels, fitted.labels_):.1f} %")

# %%
# The picture shows the scores and weights of the four views. The random numbers have a score of
# about 0 and a third of the weight of the others.

figure, panel = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
rows = np.arange(4)
panel.barh(rows - 0.18, model.view_scores_, 0.36, label="view score")
panel.barh(rows + 0.18, model.view_weights_, 0.36, label="view weight")
panel.set(yticks=rows, xlim=(-0.05, 1.05))
panel.set_yticklabels(views)
panel.invert_yaxis()
panel.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside lower center", ncols=2, frameon=False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
