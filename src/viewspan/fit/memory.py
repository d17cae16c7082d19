"""Estimate the memory of a fit, to raise MemoryError before a fit that would not fit."""

import os
from collections.abc import Sequence

from viewspan._utils import memory
from viewspan.fit.settings import FitSettings
from viewspan.graph.similarity import BLOCK_ENTRIES, MIN_BLOCK_ROWS, RANKED_PER_NEIGHBOR

SOLVER_COPIES = 12
"""Arrays of the size of the coefficients that the solver holds, for every view."""
COEFFICIENT_BYTES = 40
"""Bytes for every pair of samples in the paper's graph."""
RANK_BYTES, EDGE_BYTES = 32, 300
"""Bytes for every rank of a sample in a view, and for every neighbour of a sample."""
PATTERN_BYTES, KEPT_PATTERN_BYTES = 32, 8
"""Bytes for every entry of the patterns while one view is computed, and kept for every view."""
COMPARED_BLOCKS = 10
"""Number of blocks of cosines that a thread holds."""
BLOCK_BYTES = 500_000_000
"""Bytes of the blocks in which samples are processed."""
FEWER_FEATURES = (
    "reduce the number of features, for example with sklearn.decomposition.TruncatedSVD for sparse "
    "views."
)
LANDMARK_REMEDY = f"Decrease n_landmarks, or {FEWER_FEATURES}"
DENSE_REMEDY = (
    "Fit fewer samples, or use CLRSC or LRR with their defaults, which can use landmarks instead "
    "of a graph of all samples."
)


def check_memory(needed: int, method: str, n_samples: int, remedy: str) -> None:
    """Raise MemoryError before a fit that would not fit in memory."""
    available = memory.available()
    if needed > available:
        raise MemoryError(
            f"{method} would need about {memory.readable(needed)} for {n_samples} samples, and "
            f"{memory.readable(available)} are available. {remedy}"
        )


def dense_fit_remedy(settings: FitSettings) -> str:
    """Return what to do if a graph of all samples does not fit in memory."""
    if settings.obstacle_to_landmarks is not None:
        return DENSE_REMEDY
    return f"Set graph='landmarks', or {FEWER_FEATURES}"


def dense_fit_bytes(n_samples: int, n_features: Sequence[int], settings: FitSettings) -> int:
    """Estimate the peak memory of a fit with a graph of all samples.

    Parameters
    ----------
    n_samples : int
    n_features : sequence of int
        Features of every view.
    settings : FitSettings
    """
    axes = settings.axes
    sides = axes.reducibility(settings.solver, missing=settings.missing).sides
    rank = min(n_samples if sides == "none" else sum(n_features), n_samples)
    one_matrix = settings.concatenated or axes.coupling.shares_coefficients
    n_views = 1 if one_matrix else len(n_features)
    n_solutions = len(settings.weights.multiples)
    entries = n_views * rank * (n_samples if sides == "left" else rank)
    solver = SOLVER_COPIES * 8 * entries + 8 * n_solutions * (entries + 2 * n_samples * rank)
    if not settings.graph.by_patterns:
        return solver + COEFFICIENT_BYTES * n_samples**2
    return solver + pattern_graph_bytes(n_samples, n_views, rank, settings)


def pattern_graph_bytes(n_samples: int, n_views: int, rank: int, settings: FitSettings) -> int:
    """Estimate the memory for comparing the patterns of all samples.

    It grows with the number of samples, unless Z + Zᵀ is compared, which cannot be reduced, or
    samples are missing.
    """
    n_neighbors = settings.graph.n_neighbors
    n_ranked = min(RANKED_PER_NEIGHBOR * n_neighbors, n_samples)
    length = n_samples if settings.graph.mutual else rank
    per_sample = (
        (PATTERN_BYTES + KEPT_PATTERN_BYTES * n_views) * length
        + RANK_BYTES * n_ranked * n_views
        + EDGE_BYTES * n_neighbors
    )
    block = min(max(BLOCK_ENTRIES, MIN_BLOCK_ROWS * n_samples), n_samples**2)
    # completing a few rows of a view needs up to all of its cosines
    blocks = COMPARED_BLOCKS * block + settings.missing * n_samples**2
    return per_sample * n_samples + 4 * (os.cpu_count() or 1) * blocks


def landmark_fit_bytes(n_samples: int, n_features: Sequence[int], settings: FitSettings) -> int:
    """Estimate the peak memory of a fit with landmarks, beside the data."""
    n_rows = min(settings.reservoir_capacity, n_samples)
    n_landmarks = min(settings.n_landmarks, n_rows)
    n_solutions = len(settings.weights.multiples)
    width = min(sum(n_features), max(n_samples, 1))
    kept = 16 * n_rows * width
    moments = 8 * width**2 * (SOLVER_COPIES * len(n_features) + n_solutions)
    edges = 16 * n_solutions * n_rows * 3 * settings.graph.n_neighbors
    # the paper's graph has so many entries that it is stored as a full matrix
    full = 16 * n_landmarks * (n_landmarks + n_rows)
    graph = 12 * n_landmarks**2 if settings.graph.by_patterns else full
    return kept + moments + edges + graph + BLOCK_BYTES + 8 * n_samples
