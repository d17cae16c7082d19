"""The linear system of the coefficient step, factorised once per view."""

from functools import cached_property

import numpy as np

from viewspan._utils.typing import Array


class RidgeSystem:
    """Solves (w FᵀF + γI) X = B for any w, γ > 0 from the decomposition F = U diag(s) Vᵀ.

    With fewer rows than half the columns of F it is cheaper to correct B along V; otherwise the inverse is formed,
    once per (w, γ).
    """

    def __init__(self, singular: Array, right: Array) -> None:
        self.singular = singular
        self.right = right
        self.thin = 2 * right.shape[0] < right.shape[1]
        self._weights = (0.0, 0.0)
        self._inverse = np.empty((0, 0))

    def solve(self, rhs: Array, weight: float, ridge: float) -> Array:
        shrunk = 1.0 / (weight * self.singular**2 + ridge)
        if self.thin:
            along = self.right @ rhs
            return self.right.T @ (shrunk[:, None] * along) + self._across(rhs, along) / ridge
        if self._weights != (weight, ridge):
            self._inverse = (self.right.T * shrunk) @ self.right + self._complement / ridge
            self._weights = (weight, ridge)
        return self._inverse @ rhs

    def _across(self, rhs: Array, along: Array) -> Array:
        """What of ``rhs`` is orthogonal to all rows of V; projected twice, because a small ridge magnifies rounding."""
        across: Array = rhs - self.right.T @ along
        across -= self.right.T @ (self.right @ across)
        return across

    @cached_property
    def _complement(self) -> Array:
        """The projector onto the orthogonal complement of V's rows: zero if there are as many as columns."""
        size = self.right.shape[1]
        if len(self.right) == size:
            return np.zeros((size, size))
        identity = np.eye(size)
        return self._across(identity, self.right)
