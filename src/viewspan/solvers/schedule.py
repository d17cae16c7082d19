"""Schedule of the certificates of an iteration."""

import numpy as np

FIRST_SHARE = 0.08
"""Residual that triggers the first certificate, as a share of the root of the tolerance.

The gap falls as the square of the residuals. At 0.1·√tol it is about the tolerance.
"""
LATER_SHARE = 1.2
"""Residual that triggers a later certificate, as a share of the one at which the gap is expected
to reach the tolerance."""
SMALLEST_SHORTFALL = 2.0
"""Smallest factor by which the gap is expected to fall until the next certificate."""
LAST_TRIGGERED = 20
"""Last iteration up to which residuals trigger certificates, because they are known."""
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
        self._next = LAST_TRIGGERED
        self._last: tuple[int, float] | None = None
        self._promising = FIRST_SHARE * float(np.sqrt(tol))

    def is_due(self, n_iter: int) -> bool:
        return n_iter >= self._next

    def is_promising(self, relative_residual: float) -> bool:
        """Return whether the residuals are small enough to try a certificate."""
        return relative_residual <= self._promising

    def plan(self, n_iter: int, gap: float, relative_residual: float) -> None:
        """Plan the next certificate after one that found this gap.

        The gap shrinks about geometrically, and in the first iterations about as the squares of the
        residuals do. The next certificate is computed where the extrapolated gap reaches the
        tolerance.
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
        if n_iter < LAST_TRIGGERED:
            self._next = max(self._next, LAST_TRIGGERED)
            shortfall = max(gap / self.tol, SMALLEST_SHORTFALL)
            self._promising = LATER_SHARE * relative_residual / float(np.sqrt(shortfall))
