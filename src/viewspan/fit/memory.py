"""Estimate the memory of a fit, to raise MemoryError before a fit that would not fit."""

from collections.abc import Sequence

from viewspan._utils import memory
from viewspan.fit.settings import FitSettings

SOLVER_COPIES = 12
"""Arrays of the size of the coefficients that the solver holds, for every view."""
PATTERN_BYTES, COEFFICIENT_BYTES = 32, 40
"""Bytes for every pair of samples, in the graph of patterns and in the paper's graph."""
MISSING_BYTES, MUTUAL_BYTES = 20, 8
"""Additional bytes for every pair, for missing samples and for patterns of Z + Zᵀ."""
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
    per_pair = PATTERN_BYTES if settings.graph.by_patterns else COEFFICIENT_BYTES
    per_pair += MISSING_BYTES * settings.missing + MUTUAL_BYTES * settings.graph.mutual
    return solver + per_pair * n_samples**2


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
