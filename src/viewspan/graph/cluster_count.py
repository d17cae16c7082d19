"""Number of clusters from the eigenvalues of a graph."""

import numpy as np

from viewspan._utils.typing import Array
from viewspan._utils.warnings import warn

CLEAR_GAP_FACTOR = 2.0
"""A gap between eigenvalues is clear if it is this many times wider than any other."""
SMALLEST_EIGENVALUE = 1e-3
"""Eigenvalues below this count as this one when their ratios are taken."""
CHANCE_MARGIN = 0.1
"""An eigenvalue is clearly above chance beyond this share of the way from chance to 1."""
UNCLEAR = "The number of clusters is not clear from the data:"
ADVICE = "Give n_clusters if you know it."


def count_clusters(eigenvalues: Array, chance: Array | None = None) -> int:
    """Return the number of clusters at the widest gap between eigenvalues, at least 2 if possible.

    If the eigenvalues expected by chance are given, gaps are ratios, among the eigenvalues that are
    above chance: many small clusters lower the eigenvalues one by one, and the last step, from the
    loosest cluster to noise, is smaller than the first ones but larger in proportion.

    Warns if another gap is nearly as wide.

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
        warn(
            f"{UNCLEAR} {widest} is the best guess, with a gap of {gaps[order[0]]:.2g} between "
            f"eigenvalues, but {next_widest} has {gaps[order[1]]:.2g}. {ADVICE}"
        )
    elif chance is not None and not is_above_chance(eigenvalues[widest - 1], chance[widest - 1]):
        warn(
            f"{UNCLEAR} {widest} is the best guess, but noise would give nearly such a graph. "
            f"{ADVICE}"
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
