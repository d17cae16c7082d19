"""Linear system of the coefficient step, factorised once per view."""

from functools import cached_property

import numpy as np

from viewspan._utils.typing import Array


class RidgeSystem:
    """The system (w FᵀF + γI) X = B for any w, γ > 0, given F = U diag(s) Vᵀ.

    If F has fewer rows than half of its columns, it is cheaper to correct B along V. Otherwise the
    inverse is formed, once per pair (w, γ).
    """

    def __init__(self, singular: Array, right: Array) -> None:
        self.singular = singular
        self.right = right
        self.thin = 2 * right.shape[0] < right.shape[1]
        self._weights = (0.0, 0.0)
        self._inverse = np.empty((0, 0))

    def solve(self, rhs: Array, weight: float, ridge: float) -> Array:
        """Return X for B = ``rhs``, w = ``weight`` and γ = ``ridge``."""
        shrunk = 1.0 / (weight * self.singular**2 + ridge)
        if self.thin:
            along = self.right @ rhs
            return self.right.T @ (shrunk[:, None] * along) + self._across(rhs, along) / ridge
        if self._weights != (weight, ridge):
            self._inverse = (self.right.T * shrunk) @ self.right + self._complement / ridge
            self._weights = (weight, ridge)
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
