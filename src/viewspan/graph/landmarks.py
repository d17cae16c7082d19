r"""The graph of a few samples that stand for many.

Every sample is joined to its nearest landmarks, B (N × m), and the normalised cut of this bipartite graph is that
of the small matrix :math:`B^\top D^{-1} B` (m × m), with D the degrees of the samples: two landmarks are close if
many samples lie between them. The samples themselves then follow their nearest landmarks.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.threads import in_threads
from viewspan._utils.typing import AnyArray, Array, Graph
from viewspan.graph.patterns import (
    DEPTH,
    TIES,
    Patterns,
    average,
    closeness_by_rank,
    effective_rank,
    largest_of_rows,
    strongest,
)
from viewspan.solvers.result import Result

ROWS = 1024
"""Samples that are compared with all landmarks at once."""
ROUNDS = 10
"""In which landmarks are chosen."""
ITSELF = np.float32(1.001)
"""A landmark is nearer to itself by this factor than the nearest other one could be."""
DENSE = 0.05
"""Rows with more entries than this share are multiplied as full matrices."""
SHARE = 4
"""One in so many of the paper's coefficients counts."""
SMALLEST = 1e-4
"""No sample is so near to a landmark that it could not become one."""


def choose_landmarks(patterns: Patterns, count: int, generator: np.random.RandomState) -> AnyArray:
    """Samples that are spread over all others, sorted.

    In rounds, with a probability that grows with the square of how far a sample is from those that were chosen before
    (Bahmani, Moseley, Vattani, Kumar, Vassilvitskii 2012): where samples are rare, more of them are taken.
    """
    n_samples = patterns.columns[0].shape[1]
    n_views = max(
        sum(bool(pattern.any()) for pattern in patterns.columns), 1
    )  # one that is zero has no say
    per_round = -(-count // ROUNDS)
    chosen = newest = generator.permutation(n_samples)[:per_round]
    nearest = np.zeros(n_samples, dtype=np.float32)
    while len(chosen) < count:
        nearest = np.maximum(nearest, closest(patterns, newest))
        distances = np.maximum(1.0 - nearest.astype(float) / n_views, SMALLEST) ** 2
        distances[chosen] = 0.0
        wanted = min(per_round, count - len(chosen))
        newest = generator.choice(n_samples, wanted, replace=False, p=distances / distances.sum())
        chosen = np.concatenate([chosen, newest])
    return np.sort(chosen)


def closest(patterns: Patterns, landmarks: AnyArray) -> AnyArray:
    """The sum of cosines over views between every sample and the closest of some landmarks."""

    def closest_of(start: int) -> AnyArray:
        rows = slice(start, start + ROWS)
        total: AnyArray = sum(
            np.abs(pattern[:, rows].T @ pattern[:, landmarks]) for pattern in patterns.columns
        )
        return np.asarray(total.max(axis=1))

    return np.concatenate(
        list(in_threads(closest_of, range(0, patterns.columns[0].shape[1], ROWS)))
    )


def joined_to_landmarks(
    patterns: Patterns, landmarks: AnyArray, weights: Array, n_neighbors: int
) -> Graph:
    """B: every sample joined to its nearest landmarks, the mean of three graphs as :func:`viewspan.pattern_graph` takes
    it.

    Parameters
    ----------
    patterns : Patterns
        Of samples.
    landmarks : array (m,) of int
        Which of them stand for all.
    weights : array (n_views,)
    n_neighbors : int

    Returns
    -------
    sparse array (n_samples, m)
    """
    n_samples = patterns.columns[0].shape[1]
    depth = max(n_neighbors, DEPTH * n_neighbors * len(landmarks) // n_samples)
    references = [pattern[:, landmarks] for pattern in patterns.columns]

    def join(start: int) -> list[scipy.sparse.csr_array]:
        queries = [pattern[:, start : start + ROWS] for pattern in patterns.columns]
        sums = closeness_sums(queries, references, patterns.spectra, weights, depth)
        return [
            strongest(nearest_to_themselves(values, landmarks, start), n_neighbors)
            for values in sums
        ]

    blocks = zip(*in_threads(join, range(0, n_samples, ROWS)), strict=True)
    return average(
        [normalised(scipy.sparse.csr_array(scipy.sparse.vstack(rows))) for rows in blocks],
        [1.0, 1.0, 1.0],
    )


def closeness_sums(
    queries: Sequence[AnyArray],
    references: Sequence[AnyArray],
    spectra: Sequence[Array],
    weights: Array,
    depth: int,
) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Over views: of cosines, of calibrated cosines, and of closeness by rank."""
    shape = (queries[0].shape[1], references[0].shape[1])
    plain, calibrated, ranked = (np.zeros(shape, dtype=np.float32) for _ in range(3))
    for query, reference, spectrum, weight in zip(
        queries, references, spectra, weights, strict=True
    ):
        cosines = np.abs(query.T @ reference)
        plain += np.float32(weight) * cosines
        calibrated += np.float32(weight * np.sqrt(effective_rank(spectrum))) * cosines
        ranked += np.float32(weight) * closeness_by_rank(cosines, depth)
    ranked += TIES * plain
    return plain, calibrated, ranked


def strong_coefficients(n_neighbors: int, n_landmarks: int) -> int:
    """How many coefficients of a sample count: low rank spreads them over the whole subspace, so a share of all."""
    return min(max(n_neighbors, n_landmarks // SHARE), n_landmarks)


def affinity_to_landmarks(
    result: Result, landmarks: AnyArray, weights: Array, n_neighbors: int
) -> Graph:
    """B: the largest entries of the landmarks' columns of the paper's 𝕎."""
    n_samples = len(part(result.left, slice(None)))

    def join(start: int) -> scipy.sparse.csr_array:
        rows = slice(start, min(start + ROWS, n_samples))
        given, taken = (np.zeros((rows.stop - start, len(landmarks))) for _ in range(2))
        for core, weight in zip(result.cores, weights, strict=True):
            given += (
                weight * part(result.left, rows) @ core @ part(result.right, landmarks).T
            ) ** 2
            taken += (
                weight * part(result.left, landmarks) @ core @ part(result.right, rows).T
            ).T ** 2
        columns = np.sqrt(given) + np.sqrt(taken)
        order = nearest_to_themselves(columns.copy(), landmarks, start)
        found, _ = largest_of_rows(order, strong_coefficients(n_neighbors, len(landmarks)))
        values, starts = (
            np.take_along_axis(columns, found, axis=1),
            np.arange(len(columns) + 1) * found.shape[1],
        )
        return scipy.sparse.csr_array((values.ravel(), found.ravel(), starts), shape=columns.shape)

    return scipy.sparse.csr_array(
        scipy.sparse.vstack(list(in_threads(join, range(0, n_samples, ROWS))))
    )


def nearest_to_themselves(closeness: AnyArray, landmarks: AnyArray, start: int) -> AnyArray:
    """A landmark is joined to itself before others, so that none is left alone because equal ones come first."""
    (columns,) = np.nonzero((landmarks >= start) & (landmarks < start + len(closeness)))
    rows = landmarks[columns] - start
    closeness[rows, columns] = ITSELF * closeness[rows].max(axis=1)
    return closeness


def part(basis: Array | None, rows: AnyArray | slice) -> Array:
    assert basis is not None  # landmarks are for reduced problems
    return basis[rows]


def normalised(rows: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Divided by the roots of the degrees on both sides."""
    samples, landmarks = (
        scipy.sparse.diags_array(ratio(1.0, np.sqrt(rows.sum(axis=axis)))) for axis in (1, 0)
    )
    return scipy.sparse.csr_array(samples @ rows @ landmarks)


def through_samples(rows: Any) -> Graph:
    """BᵀD⁻¹B, the graph of the landmarks."""
    scale = ratio(1.0, np.asarray(rows.sum(axis=1)))
    if rows.nnz > DENSE * rows.shape[0] * rows.shape[1]:
        matrix: Array = rows.toarray()
        return matrix.T @ (scale[:, None] * matrix)
    return scipy.sparse.csr_array(rows.T @ (scipy.sparse.diags_array(scale) @ rows))
