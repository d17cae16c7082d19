"""Affine subspaces
================

The data are noisy points on three lines that do not pass through the origin. Two of the lines are
mirror images of each other with respect to the origin. There are two views.

A linear subspace contains the mirror image of each of its points. The linear model therefore
confuses the two lines. ``affine=True`` appends a constant feature to every view, in which affine
subspaces become linear ones. Views that were centred get this feature automatically.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np

from viewspan import CLRSC

# The third line is not connected to the others in the graph, as it should be.
warnings.filterwarnings("ignore", message="The graph has 2 connected components")
rng = np.random.default_rng(0)
starts = np.array([[2.0, 1.0, 0.0], [-2.0, -1.0, 0.0], [0.0, 1.0, 2.0]])
directions = np.array([[-1.0, 1.0, 0.5], [-1.0, 1.0, 0.5], [1.0, 0.2, -0.3]])
positions = rng.uniform(-1, 1, size=(3, 60, 1))
first = (starts[:, None] + positions * directions[:, None]).reshape(180, 3)
# The second view has the axes in reverse order and the opposite directions.
second = (starts[:, None, ::-1] - positions * directions[:, None, ::-1]).reshape(180, 3)
views = [view + 0.05 * rng.normal(size=view.shape) for view in (first, second)]

# %%
# The picture shows the first view; the colour is the cluster, and the cross is the origin. The
# linear model cuts two of the lines in halves and joins each half with its mirror image. The affine
# model finds all three lines.

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
