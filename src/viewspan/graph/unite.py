"""From solutions to labels: a graph for each, the weights of the views, the number of clusters, one cut."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.affinity import affinity
from viewspan.graph.chance import by_chance, trust
from viewspan.graph.consensus import cut_together
from viewspan.graph.discretisation import AskedLabels, suited
from viewspan.graph.landmarks import affinity_to_landmarks, joined_to_landmarks
from viewspan.graph.patterns import NEIGHBORS, Patterns, neighbour_graph, patterns_of
from viewspan.inputs.views import check_view_weights
from viewspan.solvers.result import Result

AskedWeights = Literal["auto", "equal"] | npt.ArrayLike


class United(NamedTuple):
    """What came of it.

    Attributes
    ----------
    labels : array (n_samples,)
        Of the landmarks, if there are any.
    eigenvalues : array
        Those that were looked at; the evidence for the number of clusters, if it was not given.
    graph : array or sparse array (n_samples, n_samples)
        The one that was cut; over the landmarks, if there are any.
    graphs : list of them
        Of every solution; their mean was cut.
    view_weights : array (n_views,)
    """

    labels: Labels
    eigenvalues: Array
    graph: Graph
    graphs: list[Graph]
    view_weights: Array


@dataclass(frozen=True)
class Unite:
    """How it is to be done.

    Attributes
    ----------
    by_patterns : bool
        Compare patterns of coefficients, or take the paper's 𝕎.
    view_weights : "auto", "equal" or array-like (n_views,)
    assign_labels : str
    n_neighbors : int
    mutual : bool
        As for :func:`pattern_graph`.
    """

    by_patterns: bool
    view_weights: AskedWeights = "auto"
    assign_labels: AskedLabels = "auto"
    n_neighbors: int = NEIGHBORS
    mutual: bool = False

    def __call__(
        self,
        results: Sequence[Result],
        n_clusters: int | None,
        generator: np.random.RandomState,
        landmarks: AnyArray | None = None,
        step: Callable[[], None] = lambda: None,
    ) -> United:
        """Views must be equals to tell the number of clusters, because their weights depend on it.

        Parameters
        ----------
        results : list of Result
        n_clusters : int or None
        generator : RandomState
        landmarks : array of int, optional
            The samples that stand for all.
        step : callable
            Called after every graph.
        """
        weights = self._weights(results[0], n_clusters)
        united = self._cut(results, n_clusters, weights, generator, landmarks, step)
        if n_clusters is not None:
            return united
        found = int(united.labels.max()) + 1
        better = self._weights(results[0], found)
        if np.array_equal(better, weights):
            return united
        return self._cut(results, found, better, generator, landmarks, step)._replace(
            eigenvalues=united.eigenvalues
        )

    def _weights(self, result: Result, n_clusters: int | None) -> Array:
        if not isinstance(self.view_weights, str):
            return check_view_weights(self.view_weights, len(result.cores))
        if self.view_weights == "equal" or not self.by_patterns or n_clusters is None:
            return np.ones(len(result.cores))
        return trust(patterns_of(result, mutual=self.mutual), n_clusters)

    def _cut(
        self,
        results: Sequence[Result],
        n_clusters: int | None,
        weights: Array,
        generator: np.random.RandomState,
        landmarks: AnyArray | None,
        step: Callable[[], None],
    ) -> United:
        graphs, chance = [], []
        for result in results:
            graphs.append(self._graph(result, weights, landmarks))
            if n_clusters is None and self.by_patterns:
                noise = by_chance(patterns_of(result, mutual=self.mutual), seed=0)
                chance.append(self._pattern_graph(noise, weights, landmarks))
            step()
        labels, eigenvalues, graph = cut_together(
            graphs,
            n_clusters,
            assign_labels=suited(self.assign_labels, by_patterns=self.by_patterns),
            generator=generator,
            chance=chance,
            to_landmarks=landmarks is not None,
        )
        return United(labels, eigenvalues, graph, graphs, weights)

    def _graph(self, result: Result, weights: Array, landmarks: AnyArray | None) -> Graph:
        if self.by_patterns:
            return self._pattern_graph(patterns_of(result, mutual=self.mutual), weights, landmarks)
        if landmarks is None:
            return affinity(result, view_weights=weights if result.scales is None else None)
        return affinity_to_landmarks(result, landmarks, weights, self._per_step)

    def _pattern_graph(
        self, patterns: Patterns, weights: Array, landmarks: AnyArray | None
    ) -> Graph:
        if landmarks is None:
            return neighbour_graph(patterns, weights, self.n_neighbors)
        return joined_to_landmarks(patterns, landmarks, weights, self._per_step)

    @property
    def _per_step(self) -> int:
        """Landmarks that a sample is joined to: fewer, because from one to another it is two steps; but with half as
        many as neighbours, graphs begin to fall apart.
        """
        return max(1, 2 * self.n_neighbors // 3)
