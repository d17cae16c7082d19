"""How good a partition of a graph is, without labels."""

import numpy as np

from viewspan._linalg import ratio
from viewspan._typing import Array, Graph, Labels


def cut_value(affinity: Graph, labels: Labels) -> float:
    """Σ_k (weight that leaves cluster k) / (degree of cluster k): what a normalised cut makes small."""
    inside, degrees = weights_of_clusters(affinity, labels)
    return float(len(degrees) - ratio(inside, degrees).sum())


def modularity(affinity: Graph, labels: Labels) -> float:
    """Share of the weight that stays inside clusters, minus what would by chance (Newman and Girvan 2004)."""
    inside, degrees = weights_of_clusters(affinity, labels)
    return float((inside / degrees.sum() - (degrees / degrees.sum()) ** 2).sum())


def weights_of_clusters(affinity: Graph, labels: Labels) -> tuple[Array, Array]:
    """The weight inside every cluster, both directions of an edge counted, and the sum of its degrees."""
    members = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("ik,ik->k", members, affinity @ members)
    return inside, members.T @ np.asarray(affinity.sum(axis=1))
