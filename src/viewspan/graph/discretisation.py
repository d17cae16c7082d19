"""Labels from the eigenvectors of a graph."""

from typing import Literal

import numpy as np
import scipy.linalg
from sklearn.cluster import k_means

from viewspan._utils.linalg import ratio, svd
from viewspan._utils.typing import Array, Graph, Labels
from viewspan.graph.cluster_count import CLEAR_GAP_FACTOR
from viewspan.graph.quality import modularity
from viewspan.graph.spectrum import Eigenpairs

AssignLabels = Literal["discretize", "cluster_qr", "kmeans", "modularity"]
AskedLabels = Literal["auto", AssignLabels]
LEAVING_NO_CLUSTER_EMPTY = {"kmeans", "modularity"}
"""Ways to assign labels that give every cluster a sample, if the graph has enough groups."""

MAX_ROTATIONS = 100
"""Maximal number of steps of the alternation between rotation and partition."""
N_KMEANS_STARTS = 30
"""Number of starts of k-means; with 10, labels still depend on the seed."""
N_ROTATION_STARTS = 10
"""Number of starts of the alternation between rotation and partition."""
EIGENVECTORS_PER_CLUSTER = 3
"""Number of eigenvectors per cluster in a diffusion; later ones have mostly decayed."""
MIN_DECAY = 1e-10
"""Smallest decay rate of an eigenvector; smaller ones are rounding and are raised to it."""


def assign(
    affinity: Graph,
    spectrum: Eigenpairs,
    n_clusters: int,
    how: AssignLabels,
    random_state: np.random.RandomState,
    weights: Array | None = None,
) -> Labels:
    """Return labels from the leading eigenpairs of a graph.

    Parameters
    ----------
    affinity : array or sparse array (n_samples, n_samples)
    spectrum : Eigenpairs
        :func:`n_eigenvectors` eigenpairs, or all if there are fewer.
    n_clusters : int
    how : {"discretize", "cluster_qr", "kmeans", "modularity"}
        See :func:`viewspan.ncut`.
    random_state : RandomState
    weights : array (n_samples,), optional
        Sample weights of k-means.
    """
    leading = spectrum.embedding[:, :n_clusters]
    if how == "discretize":
        return nearest_partition(leading, random_state)
    if how == "cluster_qr":
        return pivoted_qr(leading)
    labels = kmeans_of_directions(leading, n_clusters, random_state, weights)
    if how == "kmeans" or has_clear_gap(spectrum.eigenvalues, n_clusters):
        return labels
    wider = diffusion_embedding(spectrum, n_clusters)
    other = kmeans_of_directions(wider, n_clusters, random_state, weights)
    return other if modularity(affinity, other) > modularity(affinity, labels) else labels


def n_eigenvectors(n_clusters: int, how: AssignLabels) -> int:
    """Return the number of eigenvectors that an assignment uses.

    These are one more than clusters, to measure the gap behind them, or as many as a diffusion has.
    """
    if how == "modularity":
        return max(n_clusters + 1, EIGENVECTORS_PER_CLUSTER * n_clusters)
    return n_clusters + 1


def has_clear_gap(eigenvalues: Array, n_clusters: int) -> bool:
    """Return whether the gap behind the clusters is clearly wider than all later gaps.

    Only gaps between the eigenvalues of a diffusion are compared.
    """
    values = eigenvalues[n_clusters - 1 : n_eigenvectors(n_clusters, "modularity")]
    gaps = values[:-1] - values[1:]
    return len(gaps) == 0 or bool(gaps[0] >= CLEAR_GAP_FACTOR * gaps[1:].max(initial=0.0))


def default_assignment(how: AskedLabels, *, by_patterns: bool) -> AssignLabels:
    """Resolve "auto": the paper's discretisation for the paper's graph, else modularity."""
    if how == "auto":
        return "modularity" if by_patterns else "discretize"
    return how


def kmeans_of_directions(
    embedding: Array,
    n_clusters: int,
    random_state: np.random.RandomState,
    weights: Array | None = None,
) -> Labels:
    """Cluster the directions of the rows by k-means (Ng, Jordan and Weiss 2001).

    Rows of loose groups are longer, so a few of them would outweigh many others.
    """
    rows = unit_rows(embedding)
    _, labels, _ = k_means(
        rows, n_clusters, sample_weight=weights, random_state=random_state, n_init=N_KMEANS_STARTS
    )
    return np.asarray(labels, dtype=np.int64)


def diffusion_embedding(spectrum: Eigenpairs, n_clusters: int) -> Array:
    """Return eigenvectors with the weights that a diffusion gives them.

    The diffusion stops when the first eigenvector beyond the clusters has decayed to 1/e. If there
    is no gap behind the clusters, the order of the eigenvectors is random: small groups may occupy
    the leading ones, and large groups then share a cluster. With more eigenvectors all groups are
    visible, and k-means prefers large ones.
    """
    count = n_eigenvectors(n_clusters, "modularity")
    decay = np.maximum(1.0 - spectrum.eigenvalues[:count], MIN_DECAY)
    embedding: Array = spectrum.embedding[:, :count] * np.exp(-decay / decay[n_clusters])
    return embedding


def pivoted_qr(embedding: Array) -> Labels:
    """Assign rows to the most independent rows (Damle, Minden and Ying 2019).

    A pivoted QR factorisation selects one row for every cluster. All rows go to the cluster whose
    row they agree with most.
    """
    n_clusters = embedding.shape[1]
    _, _, pivots = scipy.linalg.qr(embedding.T, pivoting=True, mode="economic")
    left, _, right = svd(embedding[pivots[:n_clusters]].T)
    return np.asarray(np.abs(embedding @ (left @ right)).argmax(axis=1), dtype=np.int64)


def nearest_partition(embedding: Array, random_state: np.random.RandomState) -> Labels:
    """Return the partition nearest to the embedding up to a rotation (Yu and Shi 2003).

    The alternation finds a local optimum that depends on its first row, so the best of several
    starts is returned.
    """
    rows = unit_rows(embedding)
    starts = random_state.choice(len(rows), size=min(N_ROTATION_STARTS, len(rows)), replace=False)
    runs = [alternate(rows, first_rotation(rows, int(start))) for start in starts]
    return max(runs, key=lambda run: run[1])[0]


def unit_rows(embedding: Array) -> Array:
    """Return the rows at unit length; rows of zeros stay 0."""
    return embedding * ratio(1.0, np.linalg.norm(embedding, axis=1, keepdims=True))


def first_rotation(rows: Array, start: int) -> Array:
    """Return nearly orthogonal rows, selected greedily, as the columns of a start."""
    chosen = [rows[start]]
    overlap = np.zeros(len(rows))
    for _ in range(rows.shape[1] - 1):
        overlap += np.abs(rows @ chosen[-1])
        chosen.append(rows[int(np.argmin(overlap))])
    return np.column_stack(chosen)


def alternate(rows: Array, rotation: Array) -> tuple[Labels, float]:
    """Alternate between nearest partition and nearest rotation; return labels and agreement.

    Stop when the agreement between partition and rotated rows no longer grows.
    """
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
