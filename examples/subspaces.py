"""Subspaces, not only labels
==========================

Noisy digits, projected onto the subspaces of their clusters.

Two observers see the upper and the lower half of every digit. ``reconstruct`` gives back what the model explains of
each.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from viewspan import CLRSC

rng = np.random.default_rng(0)
clean = load_digits().images[:500]
noisy = clean + 4 * rng.normal(size=clean.shape)
views = {"upper": noisy[:, :4].reshape(500, -1), "lower": noisy[:, 4:].reshape(500, -1)}
model = CLRSC(10, random_state=0).fit(views)
explained = model.reconstruct(views)
denoised = np.hstack(
    [explained.views["upper"].reshape(500, 4, 8), explained.views["lower"].reshape(500, 4, 8)]
)

# %%
# Every cluster has a subspace in every view, with a dimension that was read from the data.

for cluster, fitted in enumerate(model.subspaces_):
    print(
        f"cluster {cluster}: dimension {fitted[0].dimension} in the upper half, {fitted[1].dimension} in the lower"
    )
before, after = (np.sqrt(((images - clean) ** 2).mean()) for images in (noisy, denoised))
print(f"root mean square error: {before:.2f} before, {after:.2f} after")

# %%
# One digit of every cluster: clean, as the model saw it, and what its subspaces explain of it.

shown = [int(np.flatnonzero(model.labels_ == cluster)[0]) for cluster in range(10)]
figure, panels = plt.subplots(3, 10, figsize=(10, 3.4), layout="constrained")
for row, (images, title) in enumerate(
    ((clean, "clean"), (noisy, "as seen"), (denoised, "explained"))
):
    for panel, sample in zip(panels[row], shown, strict=True):
        panel.imshow(images[sample], cmap="Greys", vmin=0, vmax=16)
        panel.set(xticks=[], yticks=[])
    panels[row, 0].set_ylabel(title)
figure.suptitle("one digit of every cluster")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
