"""How good a partition of a graph is, without labels."""

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import full
from viewspan._utils.typing import Array, Graph, Labels


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
    return (
        float((inside.sum() / degrees.sum() - by_chance) / (1.0 - by_chance))
        if by_chance < 1.0
        else 0.0
    )


def own_shares(affinity: Graph, labels: Labels) -> Array:
    """For every sample, the share of its ties that are with its own cluster; 0 for one without ties."""
    return np.asarray(shares_of_ties(affinity, labels)[np.arange(len(labels)), labels])


def shares_of_ties(affinity: Graph, labels: Labels) -> Array:
    """(n_samples, n_clusters) The share of every sample's ties, but for that with itself, that is with each cluster."""
    sums = full(affinity @ members(labels, int(labels.max()) + 1))
    sums[np.arange(len(labels)), labels] -= affinity.diagonal()
    sums = np.maximum(sums, 0.0)
    return np.asarray(sums * ratio(1.0, sums.sum(axis=1, keepdims=True)))


def members(labels: Labels, count: int) -> scipy.sparse.csr_array:
    """(n_samples, count) 1 where a sample belongs to a group."""
    n_samples = len(labels)
    return scipy.sparse.csr_array(
        (np.ones(n_samples), (np.arange(n_samples), labels)), shape=(n_samples, count)
    )


def weights_of_clusters(affinity: Graph, labels: Labels) -> tuple[Array, Array]:
    """The weight inside every cluster, both directions of an edge counted, and the sum of its degrees."""
    members = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("ik,ik->k", members, affinity @ members)
    return inside, members.T @ np.asarray(affinity.sum(axis=1))
