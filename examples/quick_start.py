"""Quick start: two halves of a digit
==================================

Two observers look at handwritten digits. One sees the left half of each, the other the right half. Neither knows what
the other saw, nor which digit it is.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from viewspan import CLRSC, plot
from viewspan.metrics import subspace_clustering_accuracy

images, digits = load_digits().images, load_digits().target
views = {"left": images[:, :, :4].reshape(1797, 32), "right": images[:, :, 4:].reshape(1797, 32)}
model = CLRSC(n_clusters=10, random_state=0).fit(views)

# %%
# Each observer alone does much worse.

models = {
    f"the {name} half alone": CLRSC(n_clusters=10, random_state=0).fit(view)
    for name, view in views.items()
}
models["both together"] = model
accuracies = {
    name: subspace_clustering_accuracy(digits, found.labels_) for name, found in models.items()
}
for name, accuracy in accuracies.items():
    print(f"{name}: {accuracy:.1f} % right")

# %%
# The model says how far it can be trusted: the objective is proven to be this near to its optimum, and the views agree
# so much in their coefficients.

print(f"proven relative distance from the optimum: {model.dual_gap_:.1e}")
print(f"cosine between the coefficients of the two views: {model.view_similarity_[0, 1]:.2f}")

# %%
# What the observers see, and maps of their digits. Every dot is a digit, near those that the graph ties it to, in the
# colour of the digit that it truly is, which no method was told.

figure, panels = plt.subplots(
    1, 4, figsize=(13, 3.9), width_ratios=[0.75, 1, 1, 1], layout="constrained"
)
seen = np.full((4, 2, 8, 8), np.nan)
seen[:, 0, :, :4], seen[:, 1, :, 4:] = images[:4, :, :4], images[:4, :, 4:]
sheet = (
    np.pad(seen, [(0, 0), (0, 0), (1, 1), (2, 2)], constant_values=np.nan)
    .transpose(0, 2, 1, 3)
    .reshape(40, 24)
)
panels[0].imshow(sheet, cmap="Greys")
panels[0].set_title("what each observer sees")
for panel, (name, found) in zip(panels[1:], models.items(), strict=True):
    plot.embedding(found, ax=panel)
    truth = digits[plot.drawn_rows(found)]
    panel.collections[0].set_facecolor(np.array(plot.cluster_colours(10))[truth])
    for text in list(panel.texts):
        text.remove()
    panel.set_title(f"{name}: {accuracies[name]:.1f} % right")
panels[0].set_axis_off()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
