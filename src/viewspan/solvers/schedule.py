"""Schedule of the certificates of an iteration."""

import numpy as np

PROMISING_FACTOR = 5.0
"""Multiple of the tolerance below which relative residuals trigger the first certificate."""
LATEST_FIRST_CHECK = 20
"""Iteration of the first certificate if residuals did not trigger it before."""
ASSUMED_RATE = 0.5
"""Decay of log(gap) per iteration that is assumed until two gaps are known."""
SHORTEST_WAIT, LONGEST_WAIT = 2, 50
"""Fewest and most iterations between two certificates."""


class Schedule:
    """Plan of the iterations at which the gap is certified.

    A certificate costs about as much as two iterations, so it is computed when the gap has
    probably reached the tolerance.
    """

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._next = LATEST_FIRST_CHECK
        self._last: tuple[int, float] | None = None

    def is_due(self, n_iter: int) -> bool:
        return n_iter >= self._next

    def is_promising(self, relative_residual: float) -> bool:
        """Return whether the residuals are small enough to try the first certificate."""
        return self._last is None and relative_residual <= PROMISING_FACTOR * self.tol

    def plan(self, n_iter: int, gap: float) -> None:
        """Plan the next certificate after one that found this gap.

        The gap shrinks about geometrically. The next certificate is computed at the iteration at
        which the extrapolated gap reaches the tolerance.
        """
        rate = ASSUMED_RATE
        if self._last is not None:
            last_iter, before = self._last
            rate = np.log(before / gap) / (n_iter - last_iter) if 0.0 < gap < before else 0.0
        wait = np.log(gap / self.tol) / rate if gap > self.tol and rate > 0.0 else LONGEST_WAIT
        # a rate estimated from few iterations is not reliable for many
        longest = min(n_iter // 2, LONGEST_WAIT)
        self._last = (n_iter, gap)
        self._next = n_iter + int(np.ceil(max(min(wait, longest), SHORTEST_WAIT)))
