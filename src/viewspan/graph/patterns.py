"""A sparse graph over the samples: who has the same pattern of coefficients.

The paper's graph takes a coefficient as the closeness of two samples. Here two samples are close if they are *rebuilt
alike*: their columns of Z_i point the same way, or the opposite one, because a subspace knows no sign. On data made of
subspaces this finds the same clusters with less noise, and where clusters are curved, as in most real data, it keeps
the neighbourhoods that single coefficients blur.
"""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from viewspan._utils.linalg import ratio, singular_values
from viewspan._utils.threads import in_threads
from viewspan._utils.typing import AnyArray, Array, Graph
from viewspan.inputs.views import check_view_weights
from viewspan.solvers.result import Result

NEIGHBORS = 15
"""Neighbours of a sample. Their weights fall linearly, so this stands for all sizes of neighbourhoods up to it."""
TIES = np.float32(1e-3)
"""Sums of ranks are often equal; then the cosines decide, rather than the order of the samples."""
ROUNDING_SHARE = 1e-10
"""Coefficients of a sample below this share of the largest are rounding."""
MANY = 2**24
"""Larger matrices are searched in blocks of rows, by several threads."""
DEPTH = 10
"""Ranks are compared down to this multiple of the neighbours; farther samples are all alike."""


class Patterns(NamedTuple):
    """What is compared: the columns of every Z_i, of unit length, and the singular values of Z_i; and which samples
    every view has, if not all (columns of absent ones are zero).
    """

    columns: list[AnyArray]
    spectra: list[Array]
    observed: AnyArray | None = None


def pattern_graph(
    result: Result,
    n_neighbors: int = NEIGHBORS,
    *,
    view_weights: npt.ArrayLike | None = None,
    mutual: bool = False,
) -> Graph:
    r"""Connect every sample with those whose coefficients have its pattern.

    With cosines :math:`c^i_{jl} = |\langle z^i_j, z^i_l\rangle| / \|z^i_j\|\|z^i_l\|` between columns of Z_i, the
    neighbours of a sample are the largest of a sum over views. Three sums are taken and their graphs averaged: of the
    cosines; of √r_i × the cosines, r_i being the rank of Z_i, because directions of an r-dimensional space have cosines
    of about 1/√r by chance; and of −log(rank of l among the neighbours of j, and of j among those of l), in which all
    views speak alike.

    Parameters
    ----------
    result : Result
    n_neighbors : int
    view_weights : array-like (n_views,), optional
        How much every view counts in the sums; all alike by default.
    mutual : bool
        Take Z_i + Z_iᵀ in place of Z_i. Fits by single samples, such as ℓ1,2, let a sample rebuild itself alone; others
        may need it nevertheless.

    Returns
    -------
    sparse array (N, N)
        Symmetric, with a zero diagonal; every one of the three graphs was divided by the roots of its degrees.
    """
    if not (isinstance(n_neighbors, Integral) and n_neighbors >= 1):
        raise ValueError(f"n_neighbors must be an int of at least 1. Got {n_neighbors!r} instead.")
    weights = check_view_weights(view_weights, result.n_views)
    if result.scales is not None:  # one pattern for all views
        weights = np.ones(1)
    return neighbour_graph(patterns_of(result, mutual=mutual), weights, int(n_neighbors))


def patterns_of(result: Result, *, mutual: bool) -> Patterns:
    found = [unit_columns(columns(result, view, mutual)) for view in range(len(result.cores))]
    if result.observed is not None:
        found = [pattern * present for pattern, present in zip(found, result.observed, strict=True)]
    return Patterns(
        found, [singular_values(core.astype(float)) for core in result.cores], result.observed
    )


def neighbour_graph(patterns: Patterns, weights: Array, n_neighbors: int = NEIGHBORS) -> Graph:
    """The mean of the three graphs.

    Where samples are absent from views, they are first joined by the mean over the views that two of them share. Then,
    in a view that a sample is absent from, its cosines are taken to be the mean of those of its neighbours there:
    cosines have no sign, so nothing cancels.
    """
    counted = Counted(patterns.columns[0].shape[1], patterns.spectra, weights, n_neighbors)
    if patterns.observed is None:
        return counted.graph(map(cosines_of, patterns.columns))
    first = counted.graph(
        map(cosines_of, patterns.columns), shared=shared_views(patterns.observed, weights)
    )
    pairs = zip(patterns.columns, patterns.observed, strict=True)
    return counted.graph(
        completed(cosines_of(pattern), present, first) for pattern, present in pairs
    )


class Counted(NamedTuple):
    """How cosines of several views become one graph."""

    n_samples: int
    spectra: list[Array]
    weights: Array
    n_neighbors: int

    def graph(self, cosines_of_views: Iterable[AnyArray], shared: AnyArray | None = None) -> Graph:
        """From the cosines of every view, one at a time; sums are means over ``shared`` views, if that is given."""
        plain, calibrated, ranked = (
            np.zeros((self.n_samples,) * 2, dtype=np.float32) for _ in range(3)
        )
        for cosines, spectrum, weight in zip(
            cosines_of_views, self.spectra, self.weights, strict=True
        ):
            if weight == 0:
                continue
            depth = min(DEPTH * self.n_neighbors, len(cosines) - 1)
            plain += np.float32(weight) * cosines
            calibrated += np.float32(weight * np.sqrt(effective_rank(spectrum))) * cosines
            ranked += np.float32(weight) * closeness_by_rank(cosines, depth)
        if shared is not None:
            for sums in (plain, calibrated, ranked):
                np.divide(sums, shared, out=sums, where=shared > 0)
        ranked += ranked.T.copy()
        ranked += TIES * plain
        graphs = [
            normalise(nearest(sums, self.n_neighbors)) for sums in (plain, calibrated, ranked)
        ]
        return average(graphs, [1.0, 1.0, 1.0])


def shared_views(observed: AnyArray, weights: Array) -> AnyArray:
    """How many views two samples share, counted by their weights."""
    present = observed.astype(np.float32)
    return (present * weights[:, None].astype(np.float32)).T @ present


def completed(cosines: AnyArray, present: AnyArray, graph: Graph) -> AnyArray:
    """T C Tᵀ: a sample that is present stands for itself, an absent one is the mean of its present neighbours."""
    absent = scipy.sparse.diags_array((~present).astype(np.float32))
    neighbours = scipy.sparse.csr_array(
        absent @ graph @ scipy.sparse.diags_array(present.astype(np.float32))
    )
    shares = scipy.sparse.diags_array(ratio(1.0, np.asarray(neighbours.sum(axis=1), dtype=float)))
    stands_for = scipy.sparse.csr_array(
        shares @ neighbours + scipy.sparse.diags_array(present.astype(float))
    )
    found: AnyArray = np.asarray(stands_for @ (stands_for @ cosines).T, dtype=np.float32)
    np.fill_diagonal(found, 0.0)
    return found


def cosines_of(pattern: AnyArray) -> AnyArray:
    """Between all samples, without signs; 0 between a sample and itself."""
    cosines: AnyArray = np.abs(pattern.T @ pattern)
    np.fill_diagonal(cosines, 0.0)
    return cosines


def columns(result: Result, view: int, mutual: bool) -> Array:
    """The columns of Z_i, or of Z_i + Z_iᵀ, up to a common rotation, which no cosine sees."""
    if mutual:
        full = result.coefficient(view)
        return full + full.T
    core: Array = result.cores[view]
    return core if result.right is None else core @ result.right.T


def unit_columns(matrix: Array) -> AnyArray:
    """Single precision is enough to order cosines. A column that is only rounding is zero."""
    lengths = np.linalg.norm(matrix.astype(float), axis=0)
    lengths[lengths <= ROUNDING_SHARE * lengths.max(initial=0.0)] = 0.0
    return (matrix * ratio(1.0, lengths)).astype(np.float32)


def effective_rank(singular: Array) -> float:
    """(Σs)² / Σs²: the rank, with weak directions counted in part."""
    return float(singular.sum() ** 2 / ((singular**2).sum() or 1.0))


def closeness_by_rank(cosines: AnyArray, depth: int) -> AnyArray:
    """log((depth + 1) / rank) for the nearest ``depth`` samples of every row, 0 for all farther ones and for those that
    have no cosine at all.
    """
    found, values = largest_of_rows(cosines, depth)
    closeness = np.log((depth + 1) / np.arange(1, found.shape[1] + 1)).astype(np.float32)
    ranked: AnyArray = np.zeros_like(cosines)
    np.put_along_axis(ranked, found, np.where(values > 0, closeness, np.float32(0)), axis=1)
    return ranked


def largest_of_rows(matrix: AnyArray, count: int) -> tuple[AnyArray, AnyArray]:
    """Positions and values of the largest entries of every row, largest first."""
    if matrix.size <= MANY:
        return largest_of_block(matrix, count)
    parts = in_threads(lambda rows: largest_of_block(matrix[rows], count), blocks_of_rows(matrix))
    found, values = zip(*parts, strict=True)
    return np.concatenate(found), np.concatenate(values)


def blocks_of_rows(matrix: AnyArray) -> list[slice]:
    height = max(1, MANY // (4 * matrix.shape[1]))
    return [slice(start, start + height) for start in range(0, len(matrix), height)]


def largest_of_block(matrix: AnyArray, count: int) -> tuple[AnyArray, AnyArray]:
    count = min(count, matrix.shape[1])
    found = np.argpartition(matrix, -count, axis=1)[:, -count:]
    values = np.take_along_axis(matrix, found, axis=1)
    order = np.argsort(-values, axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1), np.take_along_axis(values, order, axis=1)


def nearest(closeness: AnyArray, n_neighbors: int) -> scipy.sparse.csr_array:
    """Edges to the nearest samples with weights 1, …, 1/n; symmetric."""
    of_own_kind = max(
        1, (len(closeness) - 1) // 2
    )  # with two clusters of one size, there are no more
    edges = strongest(closeness, min(n_neighbors, of_own_kind))
    return scipy.sparse.csr_array(edges + edges.T)


def strongest(closeness: AnyArray, count: int) -> scipy.sparse.csr_array:
    """The largest entries of every row, replaced by 1, …, 1/n."""
    found, values = largest_of_rows(closeness, count)
    count = found.shape[1]
    weights = np.where(values > 0, 1.0 - np.arange(count) / count, 0.0)
    starts = np.arange(len(closeness) + 1) * count
    edges = scipy.sparse.csr_array((weights.ravel(), found.ravel(), starts), shape=closeness.shape)
    edges.eliminate_zeros()
    return edges


def normalise(graph: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """D^-½ G D^-½."""
    scale = scipy.sparse.diags_array(ratio(1.0, np.sqrt(graph.sum(axis=1))))
    return scipy.sparse.csr_array(scale @ graph @ scale)


def average(graphs: Sequence[Graph], weights: Sequence[float]) -> Graph:
    """The weighted mean of graphs; the plain one if all weights are zero."""
    total = sum(weights)
    shares = (
        [weight / total for weight in weights] if total > 0 else [1.0 / len(graphs)] * len(graphs)
    )
    mean: Graph = shares[0] * graphs[0]
    for share, graph in zip(shares[1:], graphs[1:], strict=True):
        mean = mean + share * graph
    return mean
