"""Label new samples by their nearest neighbours among the nodes of the fitted graph."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from viewspan._utils.linalg import ratio, svd
from viewspan._utils.sparse import stack_features
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.landmarks import strong_coefficients
from viewspan.graph.neighbors import largest_of_rows
from viewspan.graph.partition import GraphSettings
from viewspan.graph.patterns import MIN_RELATIVE_LENGTH
from viewspan.graph.similarity import absolute_cosines
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inference.known_samples import NOT_FOUND, KnownSamples
from viewspan.inputs.preparation import Preparation
from viewspan.inputs.views import Views
from viewspan.objective.coordinates import Coordinates, coordinates_of_incomplete_samples
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result

UNKNOWN = -1
"""Label of a sample that resembles no node."""
ASSIGNED = np.dtype([("label", np.int64), ("confidence", np.float64)])
"""Cluster of a sample, and the share of its edge weight that goes to that cluster."""
SINGLE_PRECISION_SHARE = 1e-7
"""Directions of a pattern below this share of the strongest are lost in single precision."""


class Similarity(Protocol):
    """Similarity of new samples to the nodes of the graph."""

    def __call__(self, coordinates: Array, observed: AnyArray | None = None) -> AnyArray:
        """Return the similarity (n, n_nodes) of samples with these coordinates (n, r).

        ``observed`` (n_views, n) says which views the samples have, if not all.
        """

    def count(self, n_neighbors: int, n_nodes: int) -> int:
        """Return how many nodes vote on the label of a sample."""

    def weights(self, values: AnyArray) -> Array:
        """Return the edge weights to the nearest nodes from their similarities, nearest first."""


@dataclass(frozen=True)
class PatternSimilarity:
    """Sum over views of the absolute cosines between coefficient patterns.

    Where samples are missing from views, it is the mean over the views that both samples have.

    Attributes
    ----------
    maps : list of arrays (r, q)
        Maps from coordinates to patterns, up to a rotation, which leaves cosines unchanged.
    nodes : list of arrays (q, n_nodes)
        Unit patterns of the nodes, times the weight of the view.
    shortest : list of float
        Length up to which a pattern is a rounding error, one per view.
    views : array of int
        The views with a positive weight.
    view_weights : array
        Positive view weights, in the order of ``views``.
    observed : array (n_views, n_nodes) of bool
        Which of these views the nodes have.
    """

    maps: list[Array]
    nodes: list[AnyArray]
    shortest: list[float]
    views: AnyArray
    view_weights: Array
    observed: AnyArray

    @classmethod
    def of(
        cls, result: Result, reduction: Reduction, rows: Array, weights: Array, *, mutual: bool
    ) -> "PatternSimilarity":
        """Prepare the patterns of nodes with these coordinates."""
        maps, nodes, shortest = [], [], []
        views = np.flatnonzero(weights)
        observed = np.ones((len(views), len(rows)), dtype=bool)
        if result.observed is not None:
            observed = result.observed[views]
        for view, present in zip(views, observed, strict=True):
            part = compressed(pattern_map(result, reduction, int(view), mutual=mutual))
            found = rows @ part
            floor = MIN_RELATIVE_LENGTH * float(np.linalg.norm(found, axis=1).max(initial=0.0))
            maps.append(part)
            nodes.append(np.float32(weights[view]) * unit_rows(found, floor).T * present)
            shortest.append(floor)
        return cls(maps, nodes, shortest, views, weights[views], observed)

    def __call__(self, coordinates: Array, observed: AnyArray | None = None) -> AnyArray:
        known = np.ones((len(self.views), len(coordinates)), dtype=bool)
        if observed is not None:
            known = observed[self.views]
        total: AnyArray | None = None
        for part, node, floor, present in zip(
            self.maps, self.nodes, self.shortest, known, strict=True
        ):
            patterns = unit_rows(coordinates @ part, floor) * present[:, None]
            cosines = absolute_cosines(patterns, node.T)
            total = cosines if total is None else np.add(total, cosines, out=total)
        assert total is not None  # a fit has at least one view
        if known.all() and self.observed.all():
            return total
        shared = (known * self.view_weights[:, None]).T @ self.observed
        return total * ratio(1.0, shared).astype(np.float32)

    def count(self, n_neighbors: int, n_nodes: int) -> int:
        return min(n_neighbors, n_nodes)

    def weights(self, values: AnyArray) -> Array:
        """Return 1, …, 1/n."""
        ranks = np.arange(values.shape[1]) / values.shape[1]
        return np.where(values > 0, 1.0 - ranks, 0.0)


@dataclass(frozen=True)
class CoefficientSimilarity:
    """The paper's 𝕎 between new samples and nodes.

    Attributes
    ----------
    from_nodes, to_nodes : list of arrays (r, n_nodes)
        Maps from coordinates to the coefficients with which nodes represent the sample, and to
        those with which the sample represents them, times the weight of the view.
    """

    from_nodes: list[Array]
    to_nodes: list[Array]

    @classmethod
    def of(
        cls, result: Result, reduction: Reduction, rows: Array, weights: Array
    ) -> "CoefficientSimilarity":
        """Prepare the coefficients of nodes with these coordinates."""
        forms = [
            weight * bilinear_form(result, reduction, view) for view, weight in enumerate(weights)
        ]
        return cls([form.T @ rows.T for form in forms], [form @ rows.T for form in forms])

    def __call__(self, coordinates: Array, observed: AnyArray | None = None) -> AnyArray:
        """Return 𝕎; in views that a sample lacks, its coefficients follow from the other views."""
        from_nodes, to_nodes = (
            np.sqrt(sum((coordinates @ part) ** 2 for part in parts))
            for parts in (self.from_nodes, self.to_nodes)
        )
        return np.asarray(from_nodes + to_nodes)

    def count(self, n_neighbors: int, n_nodes: int) -> int:
        return strong_coefficients(n_neighbors, n_nodes)

    def weights(self, values: AnyArray) -> Array:
        return values


def pattern_map(result: Result, reduction: Reduction, view: int, *, mutual: bool) -> Array:
    """Return the map (r, p) from coordinates to columns of Z_i, or of Z_i + Z_iᵀ."""
    core: Array = result.cores[view].astype(float)
    if mutual:
        full = result.coefficient(view).astype(float)
        core = full + full.T
    right = right_map(result, reduction)
    return core.T if right is None else right @ core.T


def bilinear_form(result: Result, reduction: Reduction, view: int) -> Array:
    """Return the matrix (r, r) of Z_i between two samples, in their coordinates."""
    core: Array = result.cores[view].astype(float)
    right = right_map(result, reduction)
    core = core if right is None else core @ right.T
    return core if result.directions is None else np.asarray(result.directions @ core)


def right_map(result: Result, reduction: Reduction) -> Array | None:
    """Return the map from coordinates to the right factor of the cores; None for the identity."""
    if result.right is not None:
        return result.directions
    return None if reduction.left is None else reduction.left.T


def compressed(part: Array) -> Array:
    """Return a map with the same cosines and without columns that are rounding."""
    left, values, _ = svd(part)
    kept = values > SINGLE_PRECISION_SHARE * values.max(initial=0.0)
    kept[:1] = True
    strong: Array = left[:, kept] * values[kept]
    return strong


def unit_rows(matrix: Array, shortest: float) -> AnyArray:
    """Scale rows to unit length, in single precision, which is enough to order cosines."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))[:, None]
    scales = ratio(1.0, np.where(lengths > shortest, lengths, 0.0))
    return (matrix * scales).astype(np.float32)


def coordinates_of_nodes(reduction: Reduction, nodes: AnyArray | None) -> Array:
    """Return the coordinates of the graph's nodes; None stands for all samples."""
    basis = np.eye(reduction.n_samples) if reduction.left is None else reduction.left
    return basis if nodes is None else basis[nodes]


@dataclass(frozen=True)
class Assigner:
    """Weighted vote of the nearest nodes on the label of a sample.

    Attributes
    ----------
    preparation : Preparation
    coordinates : Coordinates
    similarity : Similarity
    graph : FittedGraph
    n_neighbors : int
    concatenated : bool
        Whether the views were joined to one view.
    known : KnownSamples
        Samples that are nodes themselves.
    """

    preparation: Preparation
    coordinates: Coordinates
    similarity: Similarity
    graph: FittedGraph
    n_neighbors: int
    concatenated: bool
    known: KnownSamples

    @classmethod
    def from_solution(
        cls,
        result: Result,
        reduction: Reduction,
        preparation: Preparation,
        graph: FittedGraph,
        settings: GraphSettings,
        *,
        view_weights: Array,
        nodes: AnyArray | None,
        concatenated: bool,
        known: KnownSamples,
    ) -> "Assigner":
        """Build the assigner of a solved problem whose graph has these nodes."""
        rows = coordinates_of_nodes(reduction, nodes)
        similarity: Similarity
        if settings.by_patterns:
            similarity = PatternSimilarity.of(
                result, reduction, rows, view_weights, mutual=settings.mutual
            )
        else:
            similarity = CoefficientSimilarity.of(result, reduction, rows, view_weights)
        return cls(
            preparation=preparation,
            coordinates=reduction.coordinates,
            similarity=similarity,
            graph=graph,
            n_neighbors=settings.n_neighbors,
            concatenated=concatenated,
            known=known,
        )

    @property
    def width(self) -> int:
        """Largest number of entries that one sample needs while it is processed."""
        n_nodes = len(self.graph.labels)
        votes = self.similarity.count(self.n_neighbors, n_nodes) * self.graph.n_clusters
        n_features = sum(view.n_features for view in self.preparation.treatments)
        return max(n_nodes, votes, n_features)

    def labels_of(self, views: Views, first: int = 0) -> Labels:
        """Return the clusters of samples; UNKNOWN for those that resemble no node."""
        found: Labels = self.assigned_to(views)["label"]
        return found

    def confidence_of(self, views: Views, first: int = 0) -> Array:
        """Return the share of every sample's edge weight that goes to its cluster."""
        found: Array = self.assigned_to(views)["confidence"]
        return found

    def assigned_to(self, views: Views, first: int = 0) -> AnyArray:
        """Return label and confidence of every sample, in an array of two fields."""
        n_clusters = self.graph.n_clusters
        positions = self.known.find(views)
        nearest, weights = self._nearest(views, positions)
        rows = np.arange(len(nearest))[:, None] * n_clusters
        flat = (rows + self.graph.labels[nearest]).ravel()
        votes = np.bincount(flat, weights.ravel(), minlength=len(nearest) * n_clusters)
        votes = votes.reshape(-1, n_clusters)
        most = votes.max(axis=1)
        found = np.empty(len(votes), dtype=ASSIGNED)
        found["label"] = np.where(most > 0, votes.argmax(axis=1), UNKNOWN)
        found["confidence"] = ratio(most, votes.sum(axis=1))
        known = positions != NOT_FOUND
        found["confidence"][known] = self.graph.confidence[positions[known]]
        return found

    def embedding_of(self, views: Views, first: int = 0) -> Array:
        """Return the weighted mean of the nearest nodes' embedding; 0 if no node is similar."""
        nearest, weights = self._nearest(views, self.known.find(views))
        shares = weights * ratio(1.0, weights.sum(axis=1, keepdims=True))
        return np.asarray(np.einsum("ij,ijk->ik", shares, self.graph.embedding[nearest]))

    def _nearest(self, views: Views, positions: AnyArray) -> tuple[AnyArray, Array]:
        """Return the nearest nodes of every sample, nearest first, and their edge weights.

        The only neighbour of a sample that is a node is the node itself.
        """
        blocks = self.preparation.apply(views).arrays
        if views.observed is None:
            joined = [stack_features(blocks)] if self.concatenated else blocks
            coordinates = self.coordinates(joined)
        else:
            coordinates = coordinates_of_incomplete_samples(
                self.coordinates, blocks, views.observed
            )
        similarity = self.similarity(coordinates, views.observed)
        count = self.similarity.count(self.n_neighbors, len(self.graph.labels))
        nearest, values = largest_of_rows(similarity, count)
        weights = self.similarity.weights(values)
        found = positions != NOT_FOUND
        nearest[found, 0], weights[found] = positions[found], np.eye(nearest.shape[1])[0]
        return nearest, weights
