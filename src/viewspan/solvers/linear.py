"""The linear system of the coefficient step, factorised once per view."""

import numpy as np

from viewspan._typing import Array


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
        if self.thin:
            damped = self._damping(weight, ridge)[:, None] * (self.right @ rhs)
            return (rhs - self.right.T @ damped) / ridge
        if self._weights != (weight, ridge):
            shift = (self.right.T * self._damping(weight, ridge)) @ self.right
            self._inverse = (np.eye(len(shift)) - shift) / ridge
            self._weights = (weight, ridge)
        return self._inverse @ rhs

    def _damping(self, weight: float, ridge: float) -> Array:
        stiff: Array = weight * self.singular**2
        return stiff / (stiff + ridge)
