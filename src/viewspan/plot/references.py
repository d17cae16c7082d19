"""What the pictures ask of a fitted model: references, their labels, and how they are tied to clusters."""

from itertools import permutations
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.quality import members
from viewspan.graph.spectrum import degrees, leading_eigenvectors

EXACT = 8
"""Up to so many clusters, all orders round a circle are tried."""
MOST_POINTS = 2000
"""In one picture."""


def graph_of(model: Any) -> tuple[Graph, Labels, int]:
    """The graph that was cut, the labels of its samples or landmarks, and the number of clusters."""
    check_is_fitted(model, "result_")  # which also solves for batches that have only arrived
    graph = model.fitted_graph_
    return graph.affinity, graph.labels, int(graph.labels.max()) + 1


def labels_of(model: Any) -> Labels:
    """Of all samples."""
    check_is_fitted(model, "result_")
    return np.asarray(model.labels_)


def rows_of(model: Any) -> AnyArray:
    """Which samples the graph is of, as rows of the views; −1 for landmarks of which this is not known, because they
    come from a part of the samples.
    """
    return np.asarray(model.fitted_graph_.samples)


def names_of_views(model: Any) -> list[str]:
    check_is_fitted(model, "result_")
    names = getattr(model, "view_names_in_", None) or [
        f"view {position}" for position in range(model.n_views_in_)
    ]
    return [str(name) for name in names]


def links(graph: Graph, labels: Labels, n_clusters: int) -> Array:
    """(n_clusters, n_clusters) How strongly clusters are tied, in proportion to all ties of both."""
    indicator = members(labels, n_clusters)
    sums: Any = indicator.T @ (graph @ indicator)
    sums = np.asarray(sums.toarray() if is_sparse(sums) else sums, dtype=float)
    scale = ratio(1.0, np.sqrt(sums.sum(axis=1)))
    found: Array = sums * scale * scale[:, None]
    np.fill_diagonal(found, 0.0)
    return found


def round_tour(strengths: Array) -> AnyArray:
    """An order round a circle that puts what is strongly linked side by side: the best one of a few, else a greedy one
    that no reversal of a part makes better.
    """
    count = len(strengths)
    if count <= 3:
        return np.arange(count)
    if count <= EXACT:
        orders = np.array([(0, *rest) for rest in permutations(range(1, count))])
        totals = strengths[orders, np.roll(orders, -1, axis=1)].sum(axis=1)
        return np.asarray(orders[int(totals.argmax())])
    return improved(greedy_tour(strengths), strengths)


def greedy_tour(strengths: Array) -> AnyArray:
    tour, left = [0], set(range(1, len(strengths)))
    while left:
        tour.append(max(sorted(left), key=lambda other: strengths[tour[-1], other]))
        left.remove(tour[-1])
    return np.array(tour)


def improved(tour: AnyArray, strengths: Array) -> AnyArray:
    """By reversals of parts, as long as one helps (2-opt)."""
    count, better = len(tour), True
    while better:
        better = False
        for first in range(count - 1):
            following = np.roll(tour, -1)
            kept = (
                strengths[tour[first], following[first]]
                + strengths[tour[first + 1 :], following[first + 1 :]]
            )
            changed = (
                strengths[tour[first], tour[first + 1 :]]
                + strengths[following[first], following[first + 1 :]]
            )
            gains = changed - kept
            best = int(gains.argmax())
            if gains[best] > 1e-12:
                last = first + 1 + best
                tour[first + 1 : last + 1] = tour[first + 1 : last + 1][::-1].copy()
                better = True
    return tour


def eigenvectors(graph: Graph) -> Array:
    """The second and the third, scaled to a root mean square of 1; zero where a graph has none."""
    count = min(3, graph.shape[0])
    found = np.zeros((graph.shape[0], 2))
    if degrees(graph).any():
        vectors = leading_eigenvectors(graph, count, np.random.RandomState(0)).embedding[:, 1:]
        found[:, : vectors.shape[1]] = vectors
    size = np.sqrt((found**2).mean(axis=0))
    return found / np.where(size > 0, size, 1.0)


def even_part(labels: Labels, most: int) -> AnyArray:
    """At most so many samples, of every cluster the same share, in their order."""
    if len(labels) <= most:
        return np.arange(len(labels))
    by_cluster = np.argsort(labels, kind="stable")
    return np.sort(by_cluster[np.linspace(0, len(labels) - 1, most).round().astype(int)])


def drawn_rows(model: Any, *, max_points: int = MOST_POINTS) -> AnyArray:
    """Whose points :func:`ties` and :func:`embedding` draw, in the order of the points.

    Parameters
    ----------
    model : a fitted estimator
    max_points : int

    Returns
    -------
    array (n,) of int
        Rows of the views that were fitted; −1 for landmarks of more samples than were kept, of which this is not known.
    """
    _, labels, _ = graph_of(model)
    return rows_of(model)[even_part(labels, max_points)]


def drawn_labels(model: Any, *, max_points: int = MOST_POINTS) -> Labels:
    """The clusters of those points, also of landmarks that are no known rows."""
    _, labels, _ = graph_of(model)
    return labels[even_part(labels, max_points)]
