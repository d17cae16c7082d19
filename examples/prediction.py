"""Predict the clusters of new samples
===================================

A model is fitted to half of the handwritten digits. For the other half, ``predict`` returns the
clusters and ``transform`` the positions in the spectral embedding. Both use the nearest neighbours
among the fitted samples; the optimisation problem is not solved again.
"""

import sys
import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

images, digits = load_digits().images, load_digits().target
views = [images[:, :, :4].reshape(1797, 32), images[:, :, 4:].reshape(1797, 32)]
fitted = np.random.default_rng(0).permutation(len(digits)) < len(digits) // 2

# %%
# The views are the left and right halves of the images. New samples must have the same views and
# features, in the same order, as the fitted ones.

start = time.perf_counter()
model = CLRSC(n_clusters=10, random_state=0).fit([view[fitted] for view in views])
after_fit = time.perf_counter()
predicted = model.predict([view[~fitted] for view in views])
fit_seconds, predict_seconds = after_fit - start, time.perf_counter() - after_fit
print(f"fitted {fitted.sum()} samples in {fit_seconds:.1f} s")
print(f"predicted {len(predicted)} samples in {predict_seconds:.1f} s")

# %%
# To measure the accuracy of both halves alike, each cluster is named after the most frequent digit
# among its fitted samples. The last line is the accuracy of the second half if all samples are
# clustered together.

names = np.array(
    [np.bincount(digits[fitted][model.labels_ == cluster]).argmax() for cluster in range(10)]
)
together = CLRSC(n_clusters=10, random_state=0).fit_predict(views)
accuracy_together = subspace_clustering_accuracy(digits[~fitted], together[~fitted])
print(f"accuracy of fitted samples: {100 * np.mean(names[model.labels_] == digits[fitted]):.1f} %")
print(f"accuracy of predicted samples: {100 * np.mean(names[predicted] == digits[~fitted]):.1f} %")
print(f"accuracy of the same samples, clustered with the others: {accuracy_together:.1f} %")

# %%
# The picture shows four coordinates of the spectral embedding. Dots are fitted samples and crosses
# predicted ones; the colour is the cluster. Predicted samples lie near the fitted samples of their
# cluster.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for panel, (first, second) in zip(panels, ((1, 2), (3, 4)), strict=True):
    for part, labels, marker in ((fitted, model.labels_, "."), (~fitted, predicted, "x")):
        x, y = model.transform([view[part] for view in views])[:, [first, second]].T
        panel.scatter(x, y, c=labels, cmap="tab10", marker=marker, s=14, lw=0.7)
    panel.set(xlabel=f"coordinate {first}", ylabel=f"coordinate {second}", xticks=[], yticks=[])
    panel.spines[["top", "right"]].set_visible(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
