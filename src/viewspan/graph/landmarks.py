r"""Graphs that connect samples with landmarks, a few samples that stand for all.

B (N × m) connects every sample with its nearest landmarks. The normalised cut of this bipartite
graph is that of the small matrix :math:`B^\top D^{-1} B` (m × m), where D holds the degrees of the
samples: two landmarks are close if many samples lie between them. Samples get the labels of their
nearest landmarks.
"""

from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.threads import in_threads
from viewspan._utils.typing import AnyArray, Array, Graph
from viewspan.graph.neighbors import (
    largest_of_rows,
    mean_graph,
    ranked_edges,
    sparse_rows,
)
from viewspan.graph.patterns import Patterns, calibrations
from viewspan.graph.similarity import (
    RANKED_PER_NEIGHBOR,
    TIE_BREAK_WEIGHT,
    Sums,
    absolute_cosines,
    sums_of_views,
)
from viewspan.solvers.result import Result

BLOCK_ROWS = 256
"""Number of samples that are compared with all landmarks at once."""
N_ROUNDS = 10
"""Number of rounds in which landmarks are drawn."""
SELF_SIMILARITY_FACTOR = np.float32(1.001)
"""A landmark is this many times as similar to itself as to any other landmark."""
MAX_SPARSE_SHARE = 0.05
"""Graphs with a larger share of non-zero entries are multiplied as dense matrices."""
LANDMARKS_PER_COEFFICIENT = 4
"""In the paper's graph, a sample keeps one coefficient for this many landmarks."""
MIN_DISTANCE = 1e-4
"""Smallest distance from a landmark, so that even duplicates of one can be drawn."""


def choose_landmarks(patterns: Patterns, count: int, generator: np.random.RandomState) -> AnyArray:
    """Draw samples that cover all others; return their sorted indices.

    They are drawn in rounds. The probability of a sample is proportional to its squared distance
    from the landmarks of earlier rounds (Bahmani, Moseley, Vattani, Kumar and Vassilvitskii 2012),
    so sparse regions get landmarks, too.
    """
    n_samples = patterns.columns[0].shape[1]
    # views that are all zeros are ignored
    n_views = max(sum(bool(pattern.any()) for pattern in patterns.columns), 1)
    per_round = -(-count // N_ROUNDS)
    chosen = newest = generator.permutation(n_samples)[:per_round]
    nearest = np.zeros(n_samples, dtype=np.float32)
    while len(chosen) < count:
        nearest = np.maximum(nearest, largest_cosine_sums(patterns, newest))
        distances = np.maximum(1.0 - nearest.astype(float) / n_views, MIN_DISTANCE) ** 2
        distances[chosen] = 0.0
        wanted = min(per_round, count - len(chosen))
        newest = generator.choice(n_samples, wanted, replace=False, p=distances / distances.sum())
        chosen = np.concatenate([chosen, newest])
    return np.sort(chosen)


def largest_cosine_sums(patterns: Patterns, landmarks: AnyArray) -> AnyArray:
    """Return, for every sample, the largest sum of cosines over views with any of the landmarks."""

    def largest_of_block(start: int) -> AnyArray:
        rows = slice(start, start + BLOCK_ROWS)
        total: AnyArray = sum(
            np.abs(pattern[:, rows].T @ pattern[:, landmarks]) for pattern in patterns.columns
        )
        return np.asarray(total.max(axis=1))

    starts = range(0, patterns.columns[0].shape[1], BLOCK_ROWS)
    return np.concatenate(list(in_threads(largest_of_block, starts)))


def pattern_graph_to_landmarks(
    patterns: Patterns, landmarks: AnyArray, weights: Array, n_neighbors: int
) -> Graph:
    """Connect every sample with the landmarks that have the most similar coefficient patterns.

    The graph is the mean of three, as in :func:`viewspan.pattern_graph`.

    Parameters
    ----------
    patterns : Patterns
        The patterns of all samples.
    landmarks : array (m,) of int
        Which samples are landmarks.
    weights : array (n_views,)
    n_neighbors : int
        Number of landmarks that a sample is connected with.

    Returns
    -------
    sparse array (n_samples, m)
    """
    n_samples = patterns.columns[0].shape[1]
    n_ranked = max(n_neighbors, RANKED_PER_NEIGHBOR * n_neighbors * len(landmarks) // n_samples)
    used = np.flatnonzero(weights)
    units = [np.ascontiguousarray(patterns.columns[view].T) for view in used]
    references = [pattern[landmarks] for pattern in units]
    scales = calibrations([patterns.spectra[view] for view in used])

    def connect(start: int) -> list[scipy.sparse.csr_array]:
        rows = slice(start, start + BLOCK_ROWS)
        pairs = zip(units, references, strict=True)
        cosines = (absolute_cosines(pattern[rows], nodes) for pattern, nodes in pairs)
        sums = sums_of_views(cosines, weights[used], scales, n_ranked)
        return [
            ranked_edges(
                largest_of_rows(with_self_similarity(values, landmarks, start), n_neighbors),
                len(landmarks),
            )
            for values in (sums.plain, sums.calibrated, ranked_sums(sums))
        ]

    blocks = zip(*in_threads(connect, range(0, n_samples, BLOCK_ROWS)), strict=True)
    graphs = [scipy.sparse.csr_array(scipy.sparse.vstack(rows)) for rows in blocks]
    return mean_graph([normalized_bipartite(graph) for graph in graphs], [1.0, 1.0, 1.0])


def ranked_sums(sums: Sums) -> AnyArray:
    """Return the sums of the logarithms of the ranks, with ties broken by the cosines.

    Only the ranks of landmarks among the neighbours of a sample count, not those of samples among
    the neighbours of a landmark.
    """
    total = TIE_BREAK_WEIGHT * sums.plain
    rows = np.arange(len(total))[:, None]
    for columns, values in sums.ranked:
        # several neighbours of similarity 0 may have the same column
        np.add.at(total, (rows, columns), values)
    return total


def strong_coefficients(n_neighbors: int, n_landmarks: int) -> int:
    """Return how many coefficients of a sample are kept in the paper's graph.

    It is a share of all landmarks, because low-rank coefficients spread over the whole subspace.
    """
    return min(max(n_neighbors, n_landmarks // LANDMARKS_PER_COEFFICIENT), n_landmarks)


def affinity_to_landmarks(
    result: Result, landmarks: AnyArray, weights: Array, n_neighbors: int
) -> Graph:
    """Return the landmarks' columns of the paper's 𝕎, with only the largest entries of every row.

    Parameters
    ----------
    result : Result
    landmarks : array (m,) of int
        Which samples are landmarks.
    weights : array (n_views,)
    n_neighbors : int
        Smallest number of entries that are kept per row.

    Returns
    -------
    sparse array (n_samples, m)
    """
    n_samples = len(rows_of(result.left, slice(None)))
    n_kept = strong_coefficients(n_neighbors, len(landmarks))

    def connect(start: int) -> scipy.sparse.csr_array:
        rows = slice(start, min(start + BLOCK_ROWS, n_samples))
        to_landmarks, from_landmarks = (
            np.zeros((rows.stop - start, len(landmarks))) for _ in range(2)
        )
        for core, weight in zip(result.cores, weights, strict=True):
            to_landmarks += (
                weight * rows_of(result.left, rows) @ core @ rows_of(result.right, landmarks).T
            ) ** 2
            from_landmarks += (
                weight * rows_of(result.left, landmarks) @ core @ rows_of(result.right, rows).T
            ).T ** 2
        columns = np.sqrt(to_landmarks) + np.sqrt(from_landmarks)
        order = with_self_similarity(columns.copy(), landmarks, start)
        found, positive = largest_of_rows(order, n_kept)
        values = np.where(positive > 0, np.take_along_axis(columns, found, axis=1), 0.0)
        return sparse_rows(found, values, len(landmarks))

    blocks = list(in_threads(connect, range(0, n_samples, BLOCK_ROWS)))
    return scipy.sparse.csr_array(scipy.sparse.vstack(blocks))


def with_self_similarity(similarity: AnyArray, landmarks: AnyArray, start: int) -> AnyArray:
    """Make every landmark most similar to itself, in place.

    Otherwise a landmark could stay isolated, because its duplicates come first.

    Parameters
    ----------
    similarity : array (n_rows, m)
        Rows are the samples from ``start`` on.
    landmarks : array (m,) of int
    start : int
    """
    (columns,) = np.nonzero((landmarks >= start) & (landmarks < start + len(similarity)))
    rows = landmarks[columns] - start
    similarity[rows, columns] = SELF_SIMILARITY_FACTOR * similarity[rows].max(axis=1)
    return similarity


def rows_of(basis: Array | None, rows: AnyArray | slice) -> Array:
    """Return rows of a basis; landmarks are used with reduced problems only, which have one."""
    assert basis is not None
    return basis[rows]


def normalized_bipartite(graph: scipy.sparse.csr_array) -> scipy.sparse.csr_array:
    """Divide edge weights by the roots of the degrees of their sample and their landmark."""
    samples, landmarks = (
        scipy.sparse.diags_array(ratio(1.0, np.sqrt(graph.sum(axis=axis)))) for axis in (1, 0)
    )
    return scipy.sparse.csr_array(samples @ graph @ landmarks)


def graph_between_landmarks(graph: Any) -> Graph:
    """Return BᵀD⁻¹B for a graph B from samples to landmarks."""
    scale = ratio(1.0, np.asarray(graph.sum(axis=1)))
    if graph.nnz > MAX_SPARSE_SHARE * graph.shape[0] * graph.shape[1]:
        matrix: Array = graph.toarray()
        return matrix.T @ (scale[:, None] * matrix)
    return scipy.sparse.csr_array(graph.T @ (scipy.sparse.diags_array(scale) @ graph))
