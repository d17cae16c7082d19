"""Measures of a partition of a graph that need no true labels."""

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import full
from viewspan._utils.typing import Array, Graph, Labels


def cut_value(affinity: Graph, labels: Labels) -> float:
    """Return the normalised cut, Σ_k (weight of edges that leave cluster k) / (degree of k)."""
    inside, degrees = cluster_weights(affinity, labels)
    return float(len(degrees) - ratio(inside, degrees).sum())


def modularity(affinity: Graph, labels: Labels) -> float:
    """Return the modularity of a partition (Newman and Girvan 2004).

    It is the share of edge weight inside clusters, minus the share expected for random edges with
    the same degrees.
    """
    inside, degrees = cluster_weights(affinity, labels)
    return float((inside / degrees.sum() - (degrees / degrees.sum()) ** 2).sum())


def assortativity(affinity: Graph, labels: Labels) -> float:
    """Return the modularity divided by the largest value it could have.

    It is 1 if no edge leaves its cluster and 0 for random edges. Without edges, or if all edges are
    in one cluster, it is 0.
    """
    inside, degrees = cluster_weights(affinity, labels)
    if not degrees.any():
        return 0.0
    by_chance = float(((degrees / degrees.sum()) ** 2).sum())
    excess = inside.sum() / degrees.sum() - by_chance
    return float(excess / (1.0 - by_chance)) if by_chance < 1.0 else 0.0


def own_shares(affinity: Graph, labels: Labels) -> Array:
    """Return the share of every sample's edge weight in its own cluster; 0 without edges."""
    return np.asarray(cluster_shares(affinity, labels)[np.arange(len(labels)), labels])


def cluster_shares(affinity: Graph, labels: Labels) -> Array:
    """Return the share of every sample's edge weight with each cluster, without self-loops.

    Returns
    -------
    array (n_samples, n_clusters)
        Rows of samples without edges are 0.
    """
    sums = full(affinity @ members(labels, int(labels.max()) + 1))
    sums[np.arange(len(labels)), labels] -= affinity.diagonal()
    sums = np.maximum(sums, 0.0)
    return np.asarray(sums * ratio(1.0, sums.sum(axis=1, keepdims=True)))


def members(labels: Labels, count: int) -> scipy.sparse.csr_array:
    """Return the (n_samples, count) indicator matrix: 1 where a sample has a label, else 0."""
    n_samples = len(labels)
    return scipy.sparse.csr_array(
        (np.ones(n_samples), (np.arange(n_samples), labels)), shape=(n_samples, count)
    )


def cluster_weights(affinity: Graph, labels: Labels) -> tuple[Array, Array]:
    """Return the edge weight inside every cluster, counting both directions, and its degree."""
    indicator = np.eye(int(labels.max()) + 1)[labels]
    inside = np.einsum("ik,ik->k", indicator, affinity @ indicator)
    return inside, indicator.T @ np.asarray(affinity.sum(axis=1))
