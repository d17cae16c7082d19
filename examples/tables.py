"""Your own tables
===============

Three tables of the same patients, as they come from three offices: with ids, in any order, and not all of them with the
same patients. Here they are parts of scikit-learn's breast cancer data: means, standard errors and worst values of
measurements of cell nuclei.
"""

import sys

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

from viewspan import CLRSC
from viewspan.metrics import subspace_clustering_accuracy

data = load_breast_cancer(as_frame=True)
patients = data.data.set_index("P" + data.data.index.astype(str).str.zfill(3))
tables = {
    "mean": patients.filter(like="mean "),
    "error": patients.filter(like=" error"),
    "worst": patients.filter(like="worst ").sample(
        frac=0.9, random_state=0
    ),  # another order, and a tenth is not there
}
for name, table in tables.items():
    print(
        f"{name}: {table.shape[0]} patients, {table.shape[1]} features, first id {table.index[0]}"
    )

# %%
# viewspan never guesses who is who: rows must be the same patients in the same order. ``reindex`` brings every table to
# one list of ids, with a row of NaN where a table does not have a patient, and ``missing="allow"`` takes such rows.

ids = tables["mean"].index.union(tables["worst"].index)
views = {name: table.reindex(ids) for name, table in tables.items()}
model = CLRSC(n_clusters=2, missing="allow", random_state=0).fit(views)
truth = data.target.to_numpy()[patients.index.get_indexer(ids)]
print(f"{subspace_clustering_accuracy(truth, model.labels_):.1f} % right")

# %%
# Features of other units than the rest, areas beside smoothnesses, were brought to one scale by themselves.

for name, scaled, weight, score in zip(
    views, model.features_scaled_, model.view_weights_, model.view_scores_, strict=True
):
    print(f"{name}: features scaled: {scaled}, counted {weight:.2f}, score {score:.2f}")

# %%
# The two clusters in two of the measurements, for each of the two classes, which the model has not seen: it takes
# small malignant tumours for benign ones.

figure, panels = plt.subplots(
    1, 2, figsize=(9, 3.8), sharex=True, sharey=True, layout="constrained"
)
for panel, (kind, name) in zip(panels, enumerate(data.target_names), strict=True):
    rows = truth == kind
    panel.scatter(
        views["mean"]["mean radius"][rows],
        views["mean"]["mean concave points"][rows],
        c=np.where(model.labels_[rows], "C1", "C0"),
        s=10,
    )
    panel.set(title=f"{name}, coloured by cluster", xlabel="mean radius")
    panel.spines[["top", "right"]].set_visible(False)
panels[0].set_ylabel("mean concave points")
if len(sys.argv) > 1:
    figure.savefig(sys.argv[1], dpi=120)
else:
    plt.show()
