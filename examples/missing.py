"""Cluster data with missing samples
=================================

The data are 400 handwritten digits with three views: the upper part, the lower part and the
gradients of the image. A sample that is missing from a view is a row of NaN in this view, which
``missing="allow"`` accepts. A growing share of all (sample, view) pairs is removed; every digit
keeps at least one view.
"""

import sys
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

# Filling with zeros, the alternative that is compared here, makes samples that are all zeros.
warnings.filterwarnings("ignore", message="view . is zero")
digits = load_digits()
images, labels = digits.images[:400], digits.target[:400]
gradients = np.concatenate([np.diff(images, axis=axis).reshape(400, -1) for axis in (1, 2)], axis=1)
views = [images[:, :4].reshape(400, -1), images[:, 4:].reshape(400, -1), gradients]

# %%
# The order in which the pairs are removed is drawn once. A larger share therefore contains all
# pairs of the smaller shares.

rng = np.random.default_rng(0)
order = rng.permutation(np.argwhere(np.ones((3, 400))))
kept_view = rng.integers(0, 3, 400)
order = [(view, sample) for view, sample in order if kept_view[sample] != view]

# %%
# ``missing="allow"`` is compared with the simplest alternative, which fills missing samples with
# zeros.

shares = [0.0, 0.15, 0.3, 0.45, 0.6]
lines = {"missing='allow'": [], "filled with zeros": []}
for share in shares:
    incomplete = [view.astype(float) for view in views]
    for view, sample in order[: round(share * 1200)]:
        incomplete[view][sample] = np.nan
    filled = [np.nan_to_num(view) for view in incomplete]
    found = (
        CLRSC(10, missing="allow", random_state=0).fit_predict(incomplete),
        CLRSC(10, random_state=0).fit_predict(filled),
    )
    for line, predicted in zip(lines.values(), found, strict=True):
        line.append(subspace_clustering_accuracy(labels, predicted))
    texts = [f"{name} {line[-1]:.1f} %" for name, line in lines.items()]
    print(f"{share:.0%} missing: accuracy with {', '.join(texts)}")

# %%
# The picture shows the accuracy over the share of missing pairs. Up to 30 %, neither is clearly
# better. With more missing pairs, ``missing="allow"`` is better.

figure, panel = plt.subplots(figsize=(6, 3.6), layout="constrained")
for name, line in lines.items():
    panel.plot([100 * share for share in shares], line, "o-", label=name)
panel.set(
    xlabel="missing (sample, view) pairs, percent",
    ylabel="accuracy, percent",
    ylim=(0, 100),
)
panel.legend(frameon=False, loc="lower left")
panel.spines[["top", "right"]].set_visible(False)
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
