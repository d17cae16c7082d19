"""Quick start: two halves of a digit
==================================

Two observers look at handwritten digits. One sees the left half of each, the other the right half. Neither knows what
the other saw, nor which digit it is.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

images, digits = load_digits().images, load_digits().target
views = {"left": images[:, :, :4].reshape(1797, 32), "right": images[:, :, 4:].reshape(1797, 32)}
model = CLRSC(n_clusters=10, random_state=0).fit(views)
print(f"together: {subspace_clustering_accuracy(digits, model.labels_):.1f} % right")

# %%
# Each observer alone does much worse.

for name, view in views.items():
    alone = CLRSC(n_clusters=10, random_state=0).fit_predict(view)
    print(f"{name} half alone: {subspace_clustering_accuracy(digits, alone):.1f} % right")

# %%
# The model says how far it can be trusted: the objective is proven to be this near to its optimum, and the views agree
# so much in their coefficients.

print(f"proven relative distance from the optimum: {model.dual_gap_:.1e}")
print(f"cosine between the coefficients of the two views: {model.view_similarity_[0, 1]:.2f}")

# %%
# The mean image of every cluster, and the graph that was cut, its samples in the order of the clusters.

figure, panels = plt.subplot_mosaic(
    [[*"01234GG"], [*"56789GG"]], figsize=(9, 2.9), width_ratios=[1, 1, 1, 1, 1, 1.3, 1.3], layout="constrained"
)
for cluster in range(10):
    members = model.labels_ == cluster
    panels[str(cluster)].imshow(images[members].mean(axis=0), cmap="Greys")
    panels[str(cluster)].set_title(f"{members.sum()} samples", size=9)
order = np.argsort(model.labels_, kind="stable")
panels["G"].spy(model.affinity_matrix_[order][:, order], markersize=0.2, color="black")
panels["G"].set_title("graph, by cluster", size=9)
for panel in panels.values():
    panel.set(xticks=[], yticks=[])
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
