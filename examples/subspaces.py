"""Remove noise with the subspaces of the clusters
===============================================

A fitted model has more than labels: it estimates one subspace for every cluster and view.
``reconstruct`` projects every sample onto the subspaces of its cluster. Here, the samples are 500
handwritten digits with strong noise, and the views are the upper and the lower half of every image.
The projection removes part of the noise.
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
projected = model.reconstruct(views)
denoised = np.hstack([projected.views[name].reshape(500, 4, 8) for name in ("upper", "lower")])

# %%
# The dimensions of the subspaces are estimated from the data. The error is the root mean square
# distance from the images without noise.

for cluster, (upper, lower) in enumerate(model.subspaces_):
    print(
        f"cluster {cluster}: dimension {upper.dimension} in the upper half, "
        f"{lower.dimension} in the lower half"
    )
before, after = (np.sqrt(((images - clean) ** 2).mean()) for images in (noisy, denoised))
print(f"root mean square error: {before:.2f} before the projection, {after:.2f} after it")

# %%
# The picture shows one digit of every cluster: without noise, with the noise that the model was
# given, and after the projection.

shown = [int(np.flatnonzero(model.labels_ == cluster)[0]) for cluster in range(10)]
figure, panels = plt.subplots(3, 10, figsize=(10, 3.4), layout="constrained")
rows = {"clean": clean, "noisy": noisy, "projected": denoised}
for row, (title, images) in zip(panels, rows.items(), strict=True):
    for panel, sample in zip(row, shown, strict=True):
        panel.imshow(images[sample], cmap="Greys", vmin=0, vmax=16)
        panel.set(xticks=[], yticks=[])
    row[0].set_ylabel(title)
figure.suptitle("one digit of every cluster")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
