"""Number of clusters from the eigenvalues of a graph."""

import numpy as np

from viewspan._utils.typing import Array
from viewspan._utils.warnings import warn

CLEAR_GAP_FACTOR = 2.0
"""A gap between eigenvalues is clear if it is this many times wider than any other."""
SMALLEST_EIGENVALUE = 1e-3
"""Smaller eigenvalues are raised to this value before ratios are taken."""
CHANCE_MARGIN = 0.1
"""An eigenvalue is clearly above chance beyond this share of the way from chance to 1."""
UNCLEAR = "The number of clusters is not clear from the data:"
ADVICE = "Give n_clusters if you know it."


def count_clusters(eigenvalues: Array, chance: Array | None = None) -> int:
    """Return the number of clusters at the widest gap between eigenvalues, at least 2 if possible.

    If the eigenvalues of a graph of noise are given, only eigenvalues above them are considered,
    and gaps are ratios. Many small clusters lower the eigenvalues one by one. The last step, to
    noise, is then not the largest difference but the largest ratio.

    Warns if another gap is more than half as wide, or if the graph could be one of noise.

    Parameters
    ----------
    eigenvalues : array
        Eigenvalues of the normalised affinity, largest first.
    chance : array, optional
        The eigenvalues of a graph of noise.
    """
    if len(eigenvalues) < 3:
        return max(1, len(eigenvalues) - 1)
    gaps = eigenvalues[1:-1] - eigenvalues[2:]
    if chance is not None:
        above = count_above(eigenvalues, chance)
        if above < 2:
            warn(
                f"{UNCLEAR} noise would give such a graph, so there may be no clusters at all. "
                f"{ADVICE}"
            )
            return 2
        heights = np.maximum(eigenvalues, SMALLEST_EIGENVALUE)
        gaps = np.log(heights[1:-1] / heights[2:])[: above - 1]
    order = np.argsort(-gaps, kind="stable")
    widest, next_widest = (int(place) + 2 for place in order[:2]) if len(order) > 1 else (2, 2)
    if len(order) > 1 and gaps[order[0]] < CLEAR_GAP_FACTOR * gaps[order[1]]:
        measure = "gap between" if chance is None else "log-ratio of"
        warn(
            f"{UNCLEAR} {widest} is the best guess, with a {measure} eigenvalues of "
            f"{gaps[order[0]]:.2g}, but {next_widest} has {gaps[order[1]]:.2g}. {ADVICE}"
        )
    elif chance is not None and not is_above_chance(eigenvalues[widest - 1], chance[widest - 1]):
        warn(
            f"{UNCLEAR} {widest} is the best guess, but a graph of noise has almost the same "
            f"eigenvalues. {ADVICE}"
        )
    return widest


def is_above_chance(eigenvalue: float, chance: float) -> bool:
    """Return whether an eigenvalue is clearly larger than the one expected by chance."""
    return bool(eigenvalue - chance >= CHANCE_MARGIN * (1.0 - chance))


def count_above(eigenvalues: Array, chance: Array) -> int:
    """Return how many leading eigenvalues in a row exceed those expected by chance.

    The first eigenvalue always counts.
    """
    below = eigenvalues[1:] <= chance[1:]
    return 1 + int(below.argmax()) if below.any() else len(eigenvalues) - 1


def most_clusters(n_samples: int) -> int:
    """Return the largest number of clusters that an estimate considers."""
    return min(n_samples - 1, max(10, int(3 * np.sqrt(n_samples))))


def eigengap(eigenvalues: Array, n_clusters: int) -> float:
    """Return the gap behind the first ``n_clusters`` eigenvalues; 1 if there is no next one."""
    if n_clusters >= len(eigenvalues):
        return 1.0
    return max(float(eigenvalues[n_clusters - 1] - eigenvalues[n_clusters]), 0.0)
