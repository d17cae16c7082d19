"""The graph that a fit has cut, as a record for plots, reports and users."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from viewspan._utils.typing import AnyArray, Array, Graph, Labels
from viewspan.graph.quality import own_shares
from viewspan.graph.spectrum import leading_eigenvectors


@dataclass(frozen=True)
class FittedGraph:
    """The affinity graph of a fitted model. Its nodes are all samples, or landmarks.

    Attributes
    ----------
    affinity : array or sparse array (n_nodes, n_nodes)
        Edge weights.
    labels : array (n_nodes,)
        The cluster of every node.
    samples : array (n_nodes,) of int
        The row that every node has in the fitted views; −1 for landmarks whose row is unknown,
        because they were drawn from a reservoir sample.
    edges : {"patterns", "coefficients"}
        Whether edges connect samples with similar coefficient patterns, or are the coefficients
        themselves.
    landmarks : bool
        Whether the nodes are landmarks.
    """

    affinity: Graph
    labels: Labels
    samples: AnyArray
    edges: Literal["patterns", "coefficients"]
    landmarks: bool

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return int(self.labels.max()) + 1

    @cached_property
    def embedding(self) -> Array:
        """Leading eigenvectors of the normalised affinity, (n_nodes, n_clusters)."""
        generator = np.random.RandomState(0)
        return leading_eigenvectors(self.affinity, self.n_clusters, generator).embedding

    @cached_property
    def confidence(self) -> Array:
        """Share of every node's edge weight that stays in its own cluster."""
        return own_shares(self.affinity, self.labels)
