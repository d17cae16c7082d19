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


def assortativity(affinity: Graph, labels: Labels) -> float:
    """Modularity as a share of what it could be: 1 if no edge leaves its cluster, 0 for edges drawn by chance."""
    inside, degrees = weights_of_clusters(affinity, labels)
    if not degrees.any():
        return 0.0
    by_chance = float(((degrees / degrees.sum()) ** 2).sum())
    return float((inside.sum() / degrees.sum() - by_chance) / (1.0 - by_chance)) if by_chance < 1.0 else 0.0


def own_shares(affinity: Graph, labels: Labels) -> Array:
    """For every sample, the share of its ties that are with its own cluster; 0 for one without ties."""
    members = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("ik,ik->i", affinity @ members, members)
    return np.clip(ratio(inside, np.asarray(affinity.sum(axis=1))), 0.0, 1.0)


def weights_of_clusters(affinity: Graph, labels: Labels) -> tuple[Array, Array]:
    """The weight inside every cluster, both directions of an edge counted, and the sum of its degrees."""
    members = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("ik,ik->k", members, affinity @ members)
    return inside, members.T @ np.asarray(affinity.sum(axis=1))
