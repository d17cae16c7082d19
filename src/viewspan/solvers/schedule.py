"""When an iteration looks at itself."""

import numpy as np

PROMISING = 5.0
"""The first certificate is tried when the relative residuals are below this multiple of the tolerance, at the latest
after ``FIRST_CHECK`` iterations.
"""
FIRST_CHECK = 20
USUAL_RATE = 0.5
"""Decay of log(gap) per iteration that is assumed until it has been seen."""
SHORTEST_WAIT, LONGEST_WAIT = 2, 50


class Schedule:
    """When to measure. A certificate costs about two iterations, so it is asked for when it is likely to hold."""

    def __init__(self, tol: float) -> None:
        self.tol = tol
        self._next = FIRST_CHECK
        self._last: tuple[int, float] | None = None

    def is_due(self, n_iter: int) -> bool:
        return n_iter >= self._next

    def is_promising(self, relative_residual: float) -> bool:
        """Before anything was measured, the residuals are the only sign."""
        return self._last is None and relative_residual <= PROMISING * self.tol

    def plan(self, n_iter: int, gap: float) -> None:
        """The gap shrinks about geometrically: aim at the iteration where it should cross the tolerance."""
        rate = USUAL_RATE
        if self._last is not None:
            seen, before = self._last
            rate = np.log(before / gap) / (n_iter - seen) if 0.0 < gap < before else 0.0
        wait = np.log(gap / self.tol) / rate if gap > self.tol and rate > 0.0 else LONGEST_WAIT
        longest = min(
            n_iter // 2, LONGEST_WAIT
        )  # a rate seen over few iterations is not to be trusted for many
        self._last = (n_iter, gap)
        self._next = n_iter + int(np.ceil(max(min(wait, longest), SHORTEST_WAIT)))
