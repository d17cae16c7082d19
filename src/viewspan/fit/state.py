"""Everything that a fit produces."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.partition import GraphSettings, Partition
from viewspan.inference.assignment import Assigner
from viewspan.inference.explanation import Explanation
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inference.known_samples import KnownSamples
from viewspan.inputs.preparation import Preparation, Reading
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result


@dataclass(frozen=True)
class FittedState:
    """Everything a fit produces: preparation, reduction, solutions, graph and labels.

    Saved models are made of this record, and every fitted attribute follows from it.

    Attributes
    ----------
    preparation : Preparation
        How views are scaled.
    reduction : Reduction
        The views in the joint basis.
    results : list of Result
        Solutions whose graphs were averaged. The first one is reported.
    partition : Partition
        The graph that was cut, and its clusters.
    graph_settings : GraphSettings
    labels : array (n_samples,)
    confidence : array (n_samples,)
    view_weights : array (n_views,)
    concatenated : bool
        Whether the views were joined to one view.
    landmarks : array of int, optional
        Landmarks, as rows of the reduction's basis; None for a graph of all samples.
    known : KnownSamples
        Samples that keep their label when they are predicted.
    lengths : list of arrays, optional
        Lengths of all samples before they were scaled to unit length, up to a factor per view.
    readings : list of tuples of str, optional
        Readings of every view, the leading one first; None if all are directions.
    """

    preparation: Preparation
    reduction: Reduction
    results: list[Result]
    partition: Partition
    graph_settings: GraphSettings
    labels: Labels
    confidence: Array
    view_weights: Array
    concatenated: bool = False
    landmarks: AnyArray | None = None
    known: KnownSamples = field(default_factory=KnownSamples.none)
    lengths: list[Array] | None = None
    readings: list[tuple[Reading, ...]] | None = None

    @cached_property
    def graph(self) -> FittedGraph:
        """The graph that was cut."""
        by_patterns = self.graph_settings.by_patterns
        return FittedGraph(
            affinity=self.partition.graph,
            labels=self.partition.labels,
            samples=self._rows_of_nodes(),
            edges="patterns" if by_patterns else "coefficients",
            landmarks=self.landmarks is not None,
        )

    @cached_property
    def assigner(self) -> Assigner:
        """Assigner of labels to new samples."""
        return Assigner.from_solution(
            self.results[0],
            self.reduction,
            self.preparation,
            self.graph,
            self.graph_settings,
            view_weights=self.partition.view_weights,
            nodes=self.landmarks,
            concatenated=self.concatenated,
            known=self.known,
        )

    @cached_property
    def explanation(self) -> Explanation:
        """Subspaces, view scores and outlier scores."""
        return Explanation(
            self.preparation,
            self.reduction,
            self.results[0],
            self.partition.labels,
            self.landmarks,
            self.lengths,
        )

    def _rows_of_nodes(self) -> AnyArray:
        """Return the rows of the views that are nodes of the graph; −1 where they are unknown."""
        n_nodes = len(self.partition.labels)
        if self.landmarks is None:
            return np.arange(n_nodes)
        basis = self.reduction.left
        complete = basis is not None and len(basis) == self.reduction.n_samples
        return np.asarray(self.landmarks) if complete else np.full(n_nodes, -1)
