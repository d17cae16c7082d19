"""Three ways from a spectral embedding to labels."""

from typing import Literal

import numpy as np
import scipy.linalg
from sklearn.cluster import k_means

from viewspan._linalg import ratio, svd
from viewspan._typing import Array, Labels

AssignLabels = Literal["discretize", "cluster_qr", "kmeans"]

MAX_ROTATIONS = 100
RESTARTS = 10


def assign(embedding: Array, how: AssignLabels, random_state: np.random.RandomState) -> Labels:
    """Labels from the rows of an embedding with one column per cluster."""
    if how == "kmeans":
        _, labels, _ = k_means(embedding, embedding.shape[1], random_state=random_state, n_init=10)
        return np.asarray(labels, dtype=np.int64)
    return pivoted_qr(embedding) if how == "cluster_qr" else rotate(embedding, random_state)


def pivoted_qr(embedding: Array) -> Labels:
    """The most independent rows stand for the clusters; every row goes to the one it agrees with most (Damle,
    Minden, Ying 2019).
    """
    n_clusters = embedding.shape[1]
    _, _, pivots = scipy.linalg.qr(embedding.T, pivoting=True, mode="economic")
    left, _, right = svd(embedding[pivots[:n_clusters]].T)
    return np.asarray(np.abs(embedding @ (left @ right)).argmax(axis=1), dtype=np.int64)


def rotate(embedding: Array, random_state: np.random.RandomState) -> Labels:
    """The discrete partition nearest to the embedding up to a rotation (Yu and Shi 2003).

    The alternation finds a local optimum that depends on its first row, so the best of a few starts is kept.
    """
    rows = unit_rows(embedding)
    starts = random_state.choice(len(rows), size=min(RESTARTS, len(rows)), replace=False)
    runs = [alternate(rows, spread(rows, int(start))) for start in starts]
    return max(runs, key=lambda run: run[1])[0]


def unit_rows(embedding: Array) -> Array:
    return embedding * ratio(1.0, np.linalg.norm(embedding, axis=1, keepdims=True))


def spread(rows: Array, start: int) -> Array:
    """A first rotation: rows as orthogonal to one another as can be found, one by one."""
    chosen = [rows[start]]
    overlap = np.zeros(len(rows))
    for _ in range(rows.shape[1] - 1):
        overlap += np.abs(rows @ chosen[-1])
        chosen.append(rows[int(np.argmin(overlap))])
    return np.column_stack(chosen)


def alternate(rows: Array, rotation: Array) -> tuple[Labels, float]:
    """Nearest partition for the rotation, nearest rotation for the partition, until their agreement stops growing."""
    agreement = -np.inf
    for _ in range(MAX_ROTATIONS):
        labels = (rows @ rotation).argmax(axis=1)
        sums = np.zeros((rows.shape[1], rows.shape[1]))
        np.add.at(sums, labels, rows)
        left, values, right = svd(sums)
        if values.sum() <= agreement * (1 + 1e-12):
            break
        agreement, rotation = float(values.sum()), (left @ right).T
    return labels.astype(np.int64), agreement
