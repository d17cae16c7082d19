"""Labels for samples that were not in the graph, by those of the nearest ones that were."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from viewspan._utils.linalg import ratio, svd
from viewspan._utils.sparse import side_by_side
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.landmarks import strong_coefficients
from viewspan.graph.patterns import NOTHING, largest_of_rows
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inference.recognition import NOWHERE, Known
from viewspan.inputs.preparation import Preparation
from viewspan.inputs.views import Views
from viewspan.objective.coordinates import Coordinates, coordinates_in_part
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result

UNKNOWN = -1
"""The label of a sample that resembles none."""
ASSIGNED = np.dtype([("label", np.int64), ("confidence", np.float64)])
"""What is said of a sample: its cluster, and the share of its ties that are with it."""
WEAK = 1e-7
"""Directions of a pattern below this share of the strongest are lost in single precision."""


class Closeness(Protocol):
    """From coordinates (n, r) to how close each of n samples is to each of m references, (n, m).

    ``observed`` says which views (n_views, n) the samples have, if not all.
    """

    def __call__(self, coordinates: Array, observed: AnyArray | None = None) -> AnyArray: ...

    def count(self, n_neighbors: int, n_references: int) -> int:
        """How many references have a say about a sample."""

    def weights(self, values: AnyArray) -> Array:
        """How much they count, from how close they are, closest first."""


@dataclass(frozen=True)
class ByPatterns:
    """The sum over views of the cosines between patterns, without signs; the mean over those that both have, where
    samples are absent from views.

    Attributes
    ----------
    maps : list of arrays (r, q)
        From coordinates to patterns; up to a rotation, which no cosine sees.
    references : list of arrays (q, m)
        Unit patterns, times the weight of the view.
    shortest : list of float
        Patterns that are shorter are rounding.
    views : array of int
        Those that count.
    weights : array
        How much.
    observed : array (n_views, m) of bool
        Which of the views that count references have.
    """

    maps: list[Array]
    references: list[AnyArray]
    shortest: list[float]
    views: AnyArray
    weights_of_views: Array
    observed: AnyArray

    @classmethod
    def of(
        cls, result: Result, reduction: Reduction, rows: Array, weights: Array, *, mutual: bool
    ) -> "ByPatterns":
        maps, references, shortest = [], [], []
        views = np.flatnonzero(weights)
        observed = np.ones((len(views), len(rows)), dtype=bool)
        if result.observed is not None:
            observed = result.observed[views]
        for view, present in zip(views, observed, strict=True):
            part = compressed(pattern_map(result, reduction, int(view), mutual=mutual))
            found = rows @ part
            floor = NOTHING * float(np.linalg.norm(found, axis=1).max(initial=0.0))
            maps.append(part)
            references.append(np.float32(weights[view]) * unit_rows(found, floor).T * present)
            shortest.append(floor)
        return cls(maps, references, shortest, views, weights[views], observed)

    def __call__(self, coordinates: Array, observed: AnyArray | None = None) -> AnyArray:
        total: AnyArray = np.zeros(
            (len(coordinates), self.references[0].shape[1]), dtype=np.float32
        )
        known = (
            np.ones((len(self.views), len(coordinates)), dtype=bool)
            if observed is None
            else observed[self.views]
        )
        for part, reference, floor, present in zip(
            self.maps, self.references, self.shortest, known, strict=True
        ):
            cosines = unit_rows(coordinates @ part, floor) @ reference
            cosines[~present] = 0.0
            total += np.abs(cosines, out=cosines)
        if known.all() and self.observed.all():
            return total
        shared = (known * self.weights_of_views[:, None]).T @ self.observed
        return total * ratio(1.0, shared).astype(np.float32)

    def count(self, n_neighbors: int, n_references: int) -> int:
        return min(n_neighbors, n_references)

    def weights(self, values: AnyArray) -> Array:
        """1, …, 1/n."""
        return np.where(values > 0, 1.0 - np.arange(values.shape[1]) / values.shape[1], 0.0)


@dataclass(frozen=True)
class ByCoefficients:
    """The paper's 𝕎 between samples and references.

    Attributes
    ----------
    given, taken : list of arrays (r, m)
        From coordinates to the coefficients with which references rebuild the sample, and to those with which it
        rebuilds them; times the weight of the view.
    """

    given: list[Array]
    taken: list[Array]

    @classmethod
    def of(
        cls, result: Result, reduction: Reduction, rows: Array, weights: Array
    ) -> "ByCoefficients":
        forms = [
            weight * bilinear_form(result, reduction, view) for view, weight in enumerate(weights)
        ]
        return cls([form.T @ rows.T for form in forms], [form @ rows.T for form in forms])

    def __call__(self, coordinates: Array, observed: AnyArray | None = None) -> AnyArray:
        """Views that are absent have coefficients, too, those that follow from the others."""
        given, taken = (
            np.sqrt(sum((coordinates @ part) ** 2 for part in parts))
            for parts in (self.given, self.taken)
        )
        return np.asarray(given + taken)

    def count(self, n_neighbors: int, n_references: int) -> int:
        return strong_coefficients(n_neighbors, n_references)

    def weights(self, values: AnyArray) -> Array:
        """The coefficients themselves."""
        return values


def pattern_map(result: Result, reduction: Reduction, view: int, *, mutual: bool) -> Array:
    """(r, p): from coordinates to columns of Z_i, or of Z_i + Z_iᵀ, up to a rotation."""
    core: Array = result.cores[view].astype(float)
    if mutual:
        full = result.coefficient(view).astype(float)
        core = full + full.T
    right = right_map(result, reduction)
    return core.T if right is None else right @ core.T


def bilinear_form(result: Result, reduction: Reduction, view: int) -> Array:
    """(r, r): Z_i between two samples, from their coordinates."""
    core: Array = result.cores[view].astype(float)
    right = right_map(result, reduction)
    core = core if right is None else core @ right.T
    return core if result.directions is None else np.asarray(result.directions @ core)


def right_map(result: Result, reduction: Reduction) -> Array | None:
    """From coordinates to what the cores are multiplied with from the right; None for the identity."""
    if result.right is not None:
        return result.directions
    return None if reduction.left is None else reduction.left.T


def compressed(part: Array) -> Array:
    """The same up to a rotation, without columns that do nothing."""
    left, values, _ = svd(part)
    kept = values > WEAK * values.max(initial=0.0)
    kept[:1] = True
    strong: Array = left[:, kept] * values[kept]
    return strong


def unit_rows(matrix: Array, shortest: float) -> AnyArray:
    """Single precision is enough to order cosines."""
    lengths = np.sqrt(np.einsum("ij,ij->i", matrix, matrix))[:, None]
    return (matrix * ratio(1.0, np.where(lengths > shortest, lengths, 0.0))).astype(np.float32)


def coordinates_of_references(reduction: Reduction, rows: AnyArray | None) -> Array:
    """Of samples that were solved for; None for all."""
    basis = np.eye(reduction.n_samples) if reduction.left is None else reduction.left
    return basis if rows is None else basis[rows]


@dataclass(frozen=True)
class Assigner:
    """Gives every sample the label that most of its nearest references have, the nearest counting most.

    Attributes
    ----------
    preparation : Preparation
    coordinates : Coordinates
    closeness : Closeness
    graph : FittedGraph
        Its nodes are the references.
    n_neighbors : int
    concatenated : bool
        Whether the views were made one.
    known : Known
        The references, to be recognised.
    """

    preparation: Preparation
    coordinates: Coordinates
    closeness: Closeness
    graph: FittedGraph
    n_neighbors: int
    concatenated: bool
    known: Known

    @property
    def width(self) -> int:
        """The most entries that one sample needs."""
        gathered = (
            self.closeness.count(self.n_neighbors, len(self.graph.labels)) * self.graph.n_clusters
        )
        return max(
            len(self.graph.labels),
            gathered,
            sum(view.n_features for view in self.preparation.treatments),
        )

    def labels_of(self, views: Views, first: int = 0) -> Labels:
        found: Labels = self.assigned_to(views)["label"]
        return found

    def confidence_of(self, views: Views, first: int = 0) -> Array:
        found: Array = self.assigned_to(views)["confidence"]
        return found

    def assigned_to(self, views: Views, first: int = 0) -> AnyArray:
        """Label and confidence of every sample, in an array of two fields."""
        positions = self.known.find(views)
        nearest, weights = self._nearest(views, positions)
        rows = np.arange(len(nearest))[:, None] * self.graph.n_clusters
        flat = (rows + self.graph.labels[nearest]).ravel()
        votes = np.bincount(flat, weights.ravel(), minlength=len(nearest) * self.graph.n_clusters)
        votes = votes.reshape(-1, self.graph.n_clusters)
        most = votes.max(axis=1)
        found = np.empty(len(votes), dtype=ASSIGNED)
        found["label"] = np.where(most > 0, votes.argmax(axis=1), UNKNOWN)
        found["confidence"] = ratio(most, votes.sum(axis=1))
        known = positions != NOWHERE
        found["confidence"][known] = self.graph.confidence[positions[known]]
        return found

    def embedding_of(self, views: Views, first: int = 0) -> Array:
        """The weighted mean of the nearest references' rows; zero for a sample that resembles none."""
        nearest, weights = self._nearest(views, self.known.find(views))
        shares = weights * ratio(1.0, weights.sum(axis=1, keepdims=True))
        return np.asarray(np.einsum("ij,ijk->ik", shares, self.graph.embedding[nearest]))

    def _nearest(self, views: Views, positions: AnyArray) -> tuple[AnyArray, Array]:
        """The nearest references of every sample, nearest first, and what they count; one that is a reference has
        itself.
        """
        blocks = self.preparation.apply(views).arrays
        if views.observed is None:
            coordinates = self.coordinates([side_by_side(blocks)] if self.concatenated else blocks)
        else:
            coordinates = coordinates_in_part(self.coordinates, blocks, views.observed)
        closeness = self.closeness(coordinates, views.observed)
        nearest, values = largest_of_rows(
            closeness, self.closeness.count(self.n_neighbors, len(self.graph.labels))
        )
        weights = self.closeness.weights(values)
        found = positions != NOWHERE
        nearest[found, 0], weights[found] = positions[found], np.eye(nearest.shape[1])[0]
        return nearest, weights
