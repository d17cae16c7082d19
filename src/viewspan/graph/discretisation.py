"""Ways from a graph's eigenvectors to labels."""

from typing import Literal

import numpy as np
import scipy.linalg
from sklearn.cluster import k_means

from viewspan._utils.linalg import ratio, svd
from viewspan._utils.typing import Array, Graph, Labels
from viewspan.graph.cluster_count import CLEAR_GAP_FACTOR
from viewspan.graph.quality import modularity
from viewspan.graph.spectrum import Spectrum

AssignLabels = Literal["discretize", "cluster_qr", "kmeans", "modularity"]
AskedLabels = Literal["auto", "discretize", "cluster_qr", "kmeans", "modularity"]

MAX_ROTATIONS = 100
RESTARTS = 30
"""Of k-means: with 10 of them, labels still depend on the seed."""
STARTS = 10
"""Of the rotation."""
WIDER = 3
"""A diffusion is followed in this many eigenvectors per cluster; later ones have mostly decayed."""
STILL = 1e-10
"""An eigenvector that decays no faster than this does not decay."""


def assign(
    affinity: Graph,
    spectrum: Spectrum,
    n_clusters: int,
    how: AssignLabels,
    random_state: np.random.RandomState,
    weights: Array | None = None,
) -> Labels:
    """Labels from ``n_eigenvectors`` eigenpairs of a graph, or all there are; ``weights`` are for k-means."""
    leading = spectrum.embedding[:, :n_clusters]
    if how == "discretize":
        return rotate(leading, random_state)
    if how == "cluster_qr":
        return pivoted_qr(leading)
    labels = by_direction(leading, n_clusters, random_state, weights)
    if how == "kmeans" or has_gap(spectrum.eigenvalues, n_clusters):
        return labels
    other = by_direction(diffused(spectrum, n_clusters), n_clusters, random_state, weights)
    return other if modularity(affinity, other) > modularity(affinity, labels) else labels


def n_eigenvectors(n_clusters: int, how: AssignLabels) -> int:
    """As many as there are clusters and the next, to see the gap between them; or what a diffusion needs."""
    return max(n_clusters + 1, WIDER * n_clusters) if how == "modularity" else n_clusters + 1


def has_gap(eigenvalues: Array, n_clusters: int) -> bool:
    """Whether the gap behind the clusters is clearly wider than any later one that a diffusion looks at."""
    values = eigenvalues[n_clusters - 1 : n_eigenvectors(n_clusters, "modularity")]
    gaps = values[:-1] - values[1:]
    return len(gaps) == 0 or bool(gaps[0] >= CLEAR_GAP_FACTOR * gaps[1:].max(initial=0.0))


def default_assignment(how: AskedLabels, *, by_patterns: bool) -> AssignLabels:
    """Resolve "auto": the paper's discretisation for the paper's graph, else modularity."""
    if how == "auto":
        return "modularity" if by_patterns else "discretize"
    return how


def by_direction(
    embedding: Array,
    n_clusters: int,
    random_state: np.random.RandomState,
    weights: Array | None = None,
) -> Labels:
    """k-means of the rows' directions (Ng, Jordan, Weiss 2001): rows are the longer the looser their group, and a few
    would outweigh many.
    """
    rows = unit_rows(embedding)
    _, labels, _ = k_means(
        rows, n_clusters, sample_weight=weights, random_state=random_state, n_init=RESTARTS
    )
    return np.asarray(labels, dtype=np.int64)


def diffused(spectrum: Spectrum, n_clusters: int) -> Array:
    """Eigenvectors, weighted as a diffusion leaves them when the first one beyond the clusters has decayed to 1/e.

    Without a gap behind the clusters it is chance which eigenvectors come first: small groups take the places of large
    ones, which then share a cluster. With more of them, no place is taken, and k-means counts samples.
    """
    count = n_eigenvectors(n_clusters, "modularity")
    decay = np.maximum(1.0 - spectrum.eigenvalues[:count], STILL)
    embedding: Array = spectrum.embedding[:, :count] * np.exp(-decay / decay[n_clusters])
    return embedding


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
    starts = random_state.choice(len(rows), size=min(STARTS, len(rows)), replace=False)
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
