"""Data of the benchmarks: synthetic subspaces, and real sets from the data folder."""

import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

Views = list[NDArray[np.float64]]

MISSING = (
    "This benchmark needs real data: set VIEWSPAN_DATA to the folder that holds multiview/ and "
    "hopkins155/."
)

HALF_OF_DIGIT = np.arange(64).reshape(8, 8)
TABLES = {
    "wine": [range(6), range(6, 13)],
    "breast_cancer": [range(10), range(10, 20), range(20, 30)],
    "iris": [range(2), range(2, 4)],
    "digits": [HALF_OF_DIGIT[:, :4].ravel(), HALF_OF_DIGIT[:, 4:].ravel()],
}
"""Features of every view of scikit-learn's tables; the halves of the digits are left and right."""

DATA = Path(os.environ.get("VIEWSPAN_DATA", Path(__file__).parents[2] / "shared" / "data"))


def synthetic(
    n_samples: int, n_features: int, noise: float, seed: int = 0
) -> tuple[Views, NDArray[np.int64]]:
    """Return five subspaces of dimension 4 in two views, as in the paper's first study."""
    rng = np.random.default_rng(seed)
    size = n_samples // 5
    views = []
    for _ in range(2):
        rotation, _ = np.linalg.qr(rng.normal(size=(n_features, n_features)))
        basis, _ = np.linalg.qr(rng.normal(size=(n_features, 4)))
        blocks = []
        for _ in range(5):
            blocks.append(rng.normal(size=(size, 4)) @ basis.T)
            basis = rotation @ basis
        views.append(np.vstack(blocks) + noise * rng.normal(size=(5 * size, n_features)))
    return views, np.repeat(np.arange(5), size)


def load_real(name: str) -> tuple[Views, NDArray[np.int64]]:
    """Return the views and labels of a set in the ``multiview`` data folder."""
    path = DATA / "multiview" / f"{name}.npz"
    if not path.exists():
        raise SystemExit(f"{MISSING} {path} does not exist.")
    with np.load(path) as archive:
        names = sorted(key for key in archive.files if key.startswith("view_"))
        return [archive[key].astype(float) for key in names], archive["labels"].astype(np.int64)


def load_table(name: str) -> tuple[Views, NDArray[np.int64]]:
    """Return a table of scikit-learn, cut into views, and its labels."""
    data, labels = getattr(datasets, f"load_{name}")(return_X_y=True)
    views = [data[:, columns] for columns in TABLES[name]]
    return views, labels.astype(np.int64)


def standardized(views: Views) -> Views:
    """Return all features with mean 0 and variance 1."""
    return [StandardScaler().fit_transform(view) for view in views]


def unit_samples(views: Views) -> Views:
    """Scale every sample of every view to length 1; samples that are all zeros stay so."""
    return [
        view / np.maximum(np.linalg.norm(view, axis=1, keepdims=True), np.finfo(float).tiny)
        for view in views
    ]
