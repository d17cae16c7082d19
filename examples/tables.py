"""Cluster your own tables
=======================

Three tables describe the same patients. Each has an index of patient ids, the rows are in different
orders, and one table lacks some patients. The data are scikit-learn's breast cancer data, which
describe the cell nuclei of 569 tumours. The three tables are the means, the standard errors and the
worst values of ten measurements.
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
    # This table has another order, and a tenth of the patients is missing.
    "worst": patients.filter(like="worst ").sample(frac=0.9, random_state=0),
}
for name, table in tables.items():
    n_patients, n_features = table.shape
    print(f"{name}: {n_patients} patients, {n_features} features, first id {table.index[0]}")

# %%
# The rows of all views must be the same samples in the same order. ``reindex`` brings every table
# to the same list of ids. Patients that are missing from a table become rows of NaN, and
# ``missing="allow"`` accepts such rows.

ids = tables["mean"].index.union(tables["worst"].index)
views = {name: table.reindex(ids) for name, table in tables.items()}
model = CLRSC(n_clusters=2, missing="allow", random_state=0).fit(views)
truth = data.target.to_numpy()[patients.index.get_indexer(ids)]
print(f"accuracy: {subspace_clustering_accuracy(truth, model.labels_):.1f} %")

# %%
# The features have different units: an area can be 1000, a smoothness is about 0.1. The model
# notices this and scales the features of such views. The view weights and scores show how much each
# table contributed, and how well the clusters can be recognised in it alone.

for name, scaled, weight, score in zip(
    views, model.features_scaled_, model.view_weights_, model.view_scores_, strict=True
):
    print(f"{name}: features scaled: {scaled}, view weight {weight:.2f}, view score {score:.2f}")

# %%
# The picture shows two of the measurements, with malignant tumours on the left and benign ones on
# the right. The colour is the cluster. Most benign tumours are in one cluster; the small malignant
# tumours are in the same cluster, which explains most of the errors.

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
