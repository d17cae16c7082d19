"""Quick start: two halves of a digit
==================================

The data are the 1797 handwritten digits of scikit-learn, 8 × 8 pixels each. Two observers look at
them: one sees the left half of every image, the other the right half. Each half is a view with 32
features. Both views together are clustered into ten clusters, without the true digits.
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
# For comparison, each view is also clustered alone. The accuracy is then much lower.

models = {
    f"{name} half alone": CLRSC(n_clusters=10, random_state=0).fit(view)
    for name, view in views.items()
}
models["both halves"] = model
accuracies = {
    name: subspace_clustering_accuracy(digits, fitted.labels_) for name, fitted in models.items()
}
for name, accuracy in accuracies.items():
    print(f"{name}: accuracy {accuracy:.1f} %")

# %%
# The model reports how close its solution is to the optimum: the relative gap is proven by a dual
# bound. It also reports how similar the coefficients of the two views are.

print(f"proven relative distance from the optimum: {model.dual_gap_:.1e}")
print(f"cosine between the coefficients of the two views: {model.view_similarity_[0, 1]:.2f}")

# %%
# The first panel shows four digits as the two observers see them. The other panels are maps of half
# of the digits: each dot is a digit, and digits that are neighbours in the model's graph are close
# together. The colour is the true digit, which no model was given.

figure, panels = plt.subplots(
    1, 4, figsize=(13, 3.9), width_ratios=[0.75, 1, 1, 1], layout="constrained"
)
halves = np.full((4, 2, 8, 8), np.nan)
halves[:, 0, :, :4], halves[:, 1, :, 4:] = images[:4, :, :4], images[:4, :, 4:]
sheet = (
    np.pad(halves, [(0, 0), (0, 0), (1, 1), (2, 2)], constant_values=np.nan)
    .transpose(0, 2, 1, 3)
    .reshape(40, 24)
)
panels[0].imshow(sheet, cmap="Greys")
panels[0].set_title("left and right halves")
for panel, (name, fitted) in zip(panels[1:], models.items(), strict=True):
    plot.embedding(fitted, ax=panel, max_points=900)
    truth = digits[plot.drawn_rows(fitted, max_points=900)]
    panel.collections[0].set_facecolor(np.array(plot.cluster_colors(10))[truth])
    for text in list(panel.texts):
        text.remove()
    panel.set_title(f"{name}: accuracy {accuracies[name]:.1f} %")
panels[0].set_axis_off()
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
