"""Linear system of the coefficient step, factorised once per view."""

from functools import cached_property

import numpy as np

from viewspan._utils.typing import Array

SMALL_RIDGE = 1e-6
"""Ridge, as a share of the largest w·s², below which rounding errors along V would grow too much.

Above it, the part of X along V is the difference of two terms that loses at most six digits.
"""


class RidgeSystem:
    """The system (w FᵀF + γI) X = B for any w, γ > 0, given F = U diag(s) Vᵀ.

    X = (B − V diag(w s² / (w s² + γ)) VᵀB) / γ corrects B along V. If F has at least half as many
    rows as columns, and w and γ do not change from one call to the next, it is cheaper to form the
    inverse.
    """

    def __init__(self, singular: Array, right: Array) -> None:
        self.singular = singular
        self.right = right
        self.thin = 2 * right.shape[0] < right.shape[1]
        self._weights = (0.0, 0.0)
        self._inverse: Array | None = None

    def solve(self, rhs: Array, weight: float, ridge: float) -> Array:
        """Return X for B = ``rhs``, w = ``weight`` and γ = ``ridge``."""
        stiffness = weight * self.singular**2
        shrunk = 1.0 / (stiffness + ridge)
        accurate = ridge >= SMALL_RIDGE * stiffness.max(initial=0.0)
        is_new = self._weights != (weight, ridge)
        if is_new:
            self._weights, self._inverse = (weight, ridge), None
        if accurate and (self.thin or is_new):
            change = (stiffness * shrunk)[:, None] * (self.right @ rhs)
            return np.asarray((rhs - self.right.T @ change) / ridge)
        if self.thin:
            along = self.right @ rhs
            return self.right.T @ (shrunk[:, None] * along) + self._across(rhs, along) / ridge
        if self._inverse is None:
            self._inverse = (self.right.T * shrunk) @ self.right + self._complement / ridge
        return self._inverse @ rhs

    def _across(self, rhs: Array, along: Array) -> Array:
        """Return the part of ``rhs`` that is orthogonal to all rows of Vᵀ.

        It is projected twice, because a small ridge magnifies rounding errors.
        """
        across: Array = rhs - self.right.T @ along
        across -= self.right.T @ (self.right @ across)
        return across

    @cached_property
    def _complement(self) -> Array:
        """Projector onto the orthogonal complement of the rows of Vᵀ; zero if Vᵀ is square."""
        size = self.right.shape[1]
        if len(self.right) == size:
            return np.zeros((size, size))
        return self._across(np.eye(size), self.right)
