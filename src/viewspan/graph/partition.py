"""Partition of the samples: graphs of the solutions, view weights, count and cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.affinity import affinity
from viewspan.graph.consensus import cut_consensus
from viewspan.graph.discretisation import AskedLabels, default_assignment
from viewspan.graph.landmarks import affinity_to_landmarks, pattern_graph_to_landmarks
from viewspan.graph.patterns import DEFAULT_N_NEIGHBORS, Patterns, neighbor_graph, patterns_of
from viewspan.graph.view_weights import automatic_view_weights, noise_patterns
from viewspan.inputs.parameters import check_view_weights
from viewspan.solvers.result import Result

AskedWeights = Literal["auto", "equal"] | npt.ArrayLike


@dataclass(frozen=True)
class GraphSettings:
    """Settings of the graph of a solution and of its cut into clusters.

    Attributes
    ----------
    by_patterns : bool
        Whether edges connect samples with similar coefficient patterns; otherwise they are the
        paper's 𝕎.
    view_weights : "auto", "equal" or array-like (n_views,)
    assign_labels : str
        How eigenvectors become labels.
    n_neighbors : int
    mutual : bool
        Whether the patterns are columns of Z_i + Z_iᵀ (see :func:`pattern_graph`).
    copies : tuple of int
        Number of views that are nearly equal to each view, by which automatic weights are divided;
        empty if no two views are.
    """

    by_patterns: bool
    view_weights: AskedWeights = "auto"
    assign_labels: AskedLabels = "auto"
    n_neighbors: int = DEFAULT_N_NEIGHBORS
    mutual: bool = False
    copies: tuple[int, ...] = ()

    @property
    def n_landmark_neighbors(self) -> int:
        """Number of landmarks that a sample is connected with.

        It is two thirds of ``n_neighbors``, because a path between two landmarks has two steps.
        With half of ``n_neighbors``, graphs begin to be disconnected.
        """
        return max(1, 2 * self.n_neighbors // 3)


class Partition(NamedTuple):
    """The graph that was cut and the clusters in it.

    Attributes
    ----------
    labels : array (n_nodes,)
    eigenvalues : array
        Mean leading eigenvalues of the graphs; the evidence for the number of clusters if that was
        not given.
    graph : array or sparse array (n_nodes, n_nodes)
        The weighted mean of the graphs. Its nodes are the samples, or the landmarks.
    graphs : list of arrays
        The graph of every solution.
    view_weights : array (n_views,)
    """

    labels: Labels
    eigenvalues: Array
    graph: Graph
    graphs: list[Graph]
    view_weights: Array


def partition(
    results: Sequence[Result],
    n_clusters: int | None,
    settings: GraphSettings,
    generator: np.random.RandomState,
    *,
    landmarks: AnyArray | None = None,
    others: Sequence[Patterns] = (),
    step: Callable[[], None] = lambda: None,
) -> Partition:
    """Build the graph of every solution, average them and cut the mean.

    If ``n_clusters`` is None, estimate it with equal view weights, then reweight the views and cut
    again: automatic view weights depend on the number of clusters.

    Parameters
    ----------
    results : list of Result
    n_clusters : int or None
    settings : GraphSettings
    generator : RandomState
    landmarks : array of int, optional
        Samples that are the nodes of the graph.
    others : list of Patterns
        Patterns that are no solutions; their graphs are averaged, too.
    step : callable
        Called after every graph.
    """
    weights = view_weights_for(results[0], n_clusters, settings)
    found = cut_all(results, n_clusters, weights, settings, generator, landmarks, others, step)
    if n_clusters is not None:
        return found
    count = int(found.labels.max()) + 1
    reweighted = view_weights_for(results[0], count, settings)
    if np.array_equal(reweighted, weights):
        return found
    again = cut_all(results, count, reweighted, settings, generator, landmarks, others, step)
    return again._replace(eigenvalues=found.eigenvalues)


def view_weights_for(result: Result, n_clusters: int | None, settings: GraphSettings) -> Array:
    """Return the view weights that were given, or automatic ones, or equal ones."""
    if not isinstance(settings.view_weights, str):
        return check_view_weights(settings.view_weights, len(result.cores))
    if settings.view_weights == "equal" or not settings.by_patterns or n_clusters is None:
        return np.ones(len(result.cores))
    weights = automatic_view_weights(patterns_of(result, mutual=settings.mutual), n_clusters)
    return weights / settings.copies if len(settings.copies) == len(weights) else weights


def cut_all(
    results: Sequence[Result],
    n_clusters: int | None,
    weights: Array,
    settings: GraphSettings,
    generator: np.random.RandomState,
    landmarks: AnyArray | None,
    others: Sequence[Patterns],
    step: Callable[[], None],
) -> Partition:
    """Build the graphs with given view weights and cut their mean."""
    graphs, chance = [], []

    def add(patterns: Patterns) -> None:
        graphs.append(graph_of_patterns(patterns, weights, settings, landmarks))
        if n_clusters is None:
            noise = noise_patterns(patterns, seed=0)
            chance.append(graph_of_patterns(noise, weights, settings, landmarks))
        step()

    for result in results:
        if settings.by_patterns:
            add(patterns_of(result, mutual=settings.mutual))
        else:
            graphs.append(affinity_of(result, weights, settings, landmarks))
            step()
    for patterns in others:
        add(patterns)
    labels, eigenvalues, graph = cut_consensus(
        graphs,
        n_clusters,
        assign_labels=default_assignment(settings.assign_labels, by_patterns=settings.by_patterns),
        generator=generator,
        chance=chance,
        to_landmarks=landmarks is not None,
    )
    return Partition(labels, eigenvalues, graph, graphs, weights)


def affinity_of(
    result: Result, weights: Array, settings: GraphSettings, landmarks: AnyArray | None
) -> Graph:
    """Return the paper's graph of one solution, between samples or from samples to landmarks."""
    if landmarks is None:
        return affinity(result, view_weights=weights if result.scales is None else None)
    return affinity_to_landmarks(result, landmarks, weights, settings.n_landmark_neighbors)


def graph_of_patterns(
    patterns: Patterns, weights: Array, settings: GraphSettings, landmarks: AnyArray | None
) -> Graph:
    """Connect samples, or samples and landmarks, whose coefficient patterns are similar."""
    if landmarks is None:
        return neighbor_graph(patterns, weights, settings.n_neighbors)
    return pattern_graph_to_landmarks(patterns, landmarks, weights, settings.n_landmark_neighbors)
