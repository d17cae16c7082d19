"""Order of clusters around a circle that places strongly connected clusters side by side."""

from itertools import permutations
from typing import Any

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.quality import members

MAX_EXACT_CLUSTERS = 8
"""Largest number of clusters for which all orders are compared."""
MIN_GAIN = 1e-12
"""Smallest improvement that is more than rounding."""


def cluster_links(affinity: Graph, labels: Labels, n_clusters: int) -> Array:
    """Return the edge weights between clusters, normalised by the degrees of both.

    Returns
    -------
    array (n_clusters, n_clusters)
        The diagonal is zero.
    """
    indicator = members(labels, n_clusters)
    sums: Any = indicator.T @ (affinity @ indicator)
    sums = np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=float)
    scale = ratio(1.0, np.sqrt(sums.sum(axis=1)))
    links: Array = sums * scale * scale[:, None]
    np.fill_diagonal(links, 0.0)
    return links


def circular_order(links: Array) -> AnyArray:
    """Return an order around a circle with a large total link between neighbours.

    The order is optimal for up to ``MAX_EXACT_CLUSTERS`` clusters. For more clusters it is a greedy
    order, improved by 2-opt.
    """
    count = len(links)
    if count <= 3:
        return np.arange(count)
    if count <= MAX_EXACT_CLUSTERS:
        orders = np.array([(0, *rest) for rest in permutations(range(1, count))])
        totals = links[orders, np.roll(orders, -1, axis=1)].sum(axis=1)
        return np.asarray(orders[int(totals.argmax())])
    return two_opt(greedy_order(links), links)


def greedy_order(links: Array) -> AnyArray:
    """Start at cluster 0 and always continue with the most strongly linked cluster."""
    order, remaining = [0], set(range(1, len(links)))
    while remaining:
        order.append(max(sorted(remaining), key=lambda other: links[order[-1], other]))
        remaining.remove(order[-1])
    return np.array(order)


def two_opt(order: AnyArray, links: Array) -> AnyArray:
    """Reverse segments of the order in place as long as one of them increases the total link."""
    improved = True
    while improved:
        improved = False
        for first in range(len(order) - 1):
            following = np.roll(order, -1)
            later, after_later = order[first + 1 :], following[first + 1 :]
            removed = links[order[first], following[first]] + links[later, after_later]
            added = links[order[first], later] + links[following[first], after_later]
            gains = added - removed
            best = int(gains.argmax())
            if gains[best] > MIN_GAIN:
                last = first + 1 + best
                order[first + 1 : last + 1] = order[first + 1 : last + 1][::-1].copy()
                improved = True
    return order
