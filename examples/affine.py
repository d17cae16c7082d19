"""Affine subspaces
================

Lines that miss the origin, two of them on opposite sides of it.

A linear subspace cannot tell a line from its mirror image. ``affine=True`` gives every view one more feature, the
same for all samples, in which an affine subspace is a linear one; views that were centred get it by themselves.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np

from viewspan import CLRSC

warnings.filterwarnings(
    "ignore", message="The graph is in 2 separate pieces"
)  # the third line stands alone
rng = np.random.default_rng(0)
starts = np.array([[2.0, 1.0, 0.0], [-2.0, -1.0, 0.0], [0.0, 1.0, 2.0]])
directions = np.array([[-1.0, 1.0, 0.5], [-1.0, 1.0, 0.5], [1.0, 0.2, -0.3]])
positions = rng.uniform(-1, 1, size=(3, 60, 1))
first = (starts[:, None] + positions * directions[:, None]).reshape(180, 3)
second = (starts[:, None, ::-1] - positions * directions[:, None, ::-1]).reshape(
    180, 3
)  # seen from elsewhere
views = [view + 0.05 * rng.normal(size=view.shape) for view in (first, second)]

# %%
# Without the constant, two of the lines are cut in halves, each of which goes with its mirror image on the other side
# of the origin, the cross; with it, every line is found.

figure, panels = plt.subplots(
    1, 2, figsize=(8, 4), subplot_kw={"projection": "3d"}, layout="constrained"
)
for panel, affine in zip(panels, (False, True), strict=True):
    model = CLRSC(3, affine=affine, random_state=0).fit(views)
    panel.scatter(*views[0].T, c=model.labels_, cmap="tab10", vmax=9, s=8)
    panel.scatter(0, 0, 0, marker="+", color="black", s=60)
    panel.set(title=f"affine={affine}", xticks=[], yticks=[], zticks=[])
    dimensions = [cluster[0].dimension for cluster in model.subspaces_]
    print(f"affine={affine}: sizes {np.bincount(model.labels_)}, dimensions {dimensions}")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
