"""Samples that were not there
===========================

A model is fitted to half of the digits. The other half comes later: ``predict`` gives them the clusters of the samples
that they resemble, ``transform`` their place in the spectral embedding. Nothing is solved again.
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
seen = np.random.default_rng(0).permutation(len(digits)) < len(digits) // 2

# %%
# Views keep their order, and their features, from ``fit`` to ``predict``.

start = time.perf_counter()
model = CLRSC(n_clusters=10, random_state=0).fit([view[seen] for view in views])
fitted = time.perf_counter()
predicted = model.predict([view[~seen] for view in views])
done = time.perf_counter()
print(
    f"{seen.sum()} samples fitted in {fitted - start:.1f} s, {len(predicted)} predicted in {done - fitted:.1f} s"
)

# %%
# Clusters are named by the digit that most of their fitted samples are, so that both halves are judged by the same
# names. The last line is what clustering all samples at once would have given those that came later.

names = np.array(
    [np.bincount(digits[seen][model.labels_ == cluster]).argmax() for cluster in range(10)]
)
print(f"fitted:    {100 * np.mean(names[model.labels_] == digits[seen]):.1f} % right")
print(f"predicted: {100 * np.mean(names[predicted] == digits[~seen]):.1f} % right")
together = CLRSC(n_clusters=10, random_state=0).fit_predict(views)
print(
    f"clustered with the others: {subspace_clustering_accuracy(digits[~seen], together[~seen]):.1f} % right"
)

# %%
# Where they come to lie: two coordinates of the embedding, those fitted as dots and those predicted as crosses.

figure, panels = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for panel, (first, second) in zip(panels, ((1, 2), (3, 4)), strict=True):
    for part, labels, marker in ((seen, model.labels_, "."), (~seen, predicted, "x")):
        embedding = model.transform([view[part] for view in views])
        panel.scatter(
            embedding[:, first],
            embedding[:, second],
            c=labels,
            cmap="tab10",
            marker=marker,
            s=14,
            lw=0.7,
        )
    panel.set(xlabel=f"coordinate {first}", ylabel=f"coordinate {second}", xticks=[], yticks=[])
    panel.spines[["top", "right"]].set_visible(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
