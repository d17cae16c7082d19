"""From solutions to labels: a graph for each, the weights of the views, the number of clusters, one cut."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from viewspan._typing import Array, Graph, Labels
from viewspan.graph.affinity import affinity
from viewspan.graph.chance import chance_graph, trust
from viewspan.graph.consensus import cut_together
from viewspan.graph.discretize import AskedLabels, suited
from viewspan.graph.patterns import pattern_graph, patterns_of
from viewspan.solvers.result import Result
from viewspan.views import check_view_weights

AskedWeights = Literal["auto", "equal"] | npt.ArrayLike


class United(NamedTuple):
    """What came of it.

    Attributes
    ----------
    labels : array (n_samples,)
    eigenvalues : array
        Those that were looked at; the evidence for the number of clusters, if it was not given.
    graph : array or sparse array (n_samples, n_samples)
        The one that was cut.
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
    mutual : bool
        As for :func:`pattern_graph`.
    """

    by_patterns: bool
    view_weights: AskedWeights = "auto"
    assign_labels: AskedLabels = "auto"
    mutual: bool = False

    def __call__(self, results: Sequence[Result], n_clusters: int | None, generator: np.random.RandomState) -> United:
        """Views must be equals to tell the number of clusters, because their weights depend on it."""
        weights = self._weights(results[0], n_clusters)
        united = self._cut(results, n_clusters, weights, generator)
        if n_clusters is not None:
            return united
        found = int(united.labels.max()) + 1
        better = self._weights(results[0], found)
        if np.array_equal(better, weights):
            return united
        return self._cut(results, found, better, generator)._replace(eigenvalues=united.eigenvalues)

    def _weights(self, result: Result, n_clusters: int | None) -> Array:
        if not isinstance(self.view_weights, str):
            return check_view_weights(self.view_weights, len(result.cores))
        if self.view_weights == "equal" or not self.by_patterns or n_clusters is None:
            return np.ones(len(result.cores))
        return trust(patterns_of(result, mutual=self.mutual), n_clusters)

    def _cut(
        self, results: Sequence[Result], n_clusters: int | None, weights: Array, generator: np.random.RandomState
    ) -> United:
        graphs = [self._graph(result, weights) for result in results]
        chance: list[Graph] = []
        if n_clusters is None and self.by_patterns:
            chance = [chance_graph(patterns_of(result, mutual=self.mutual), weights) for result in results]
        how = suited(self.assign_labels, by_patterns=self.by_patterns)
        labels, eigenvalues, graph = cut_together(
            graphs, n_clusters, assign_labels=how, generator=generator, chance=chance
        )
        return United(labels, eigenvalues, graph, graphs, weights)

    def _graph(self, result: Result, weights: Array) -> Graph:
        if self.by_patterns:
            return pattern_graph(result, view_weights=weights, mutual=self.mutual)
        return affinity(result, view_weights=weights)
