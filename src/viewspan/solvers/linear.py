"""Linear system of the coefficient step, factorised once per view."""

from functools import cached_property

import numpy as np

from viewspan._utils.linalg import Spectrum
from viewspan._utils.typing import Array


class RidgeSystem:
    """The minimiser of (w/2)‖R − FW‖_F² + (γ/2)‖W − P‖_F² for any P and any w, γ > 0.

    With F = U diag(s) Vᵀ it is W = P + V diag(w / (w s² + γ)) (VᵀFᵀR − s² VᵀP). No small number
    divides here, so a small γ magnifies no rounding error.

    If F has at least half as many rows as columns, and R, w and γ are those of the last call, it is
    cheaper to form the two matrices of W = P + C − KP.

    Parameters
    ----------
    spectrum : Spectrum
        s and Vᵀ.
    factor : array (d, p)
    target : array (d, m)
        R, unless a part of it is split off.
    """

    def __init__(self, spectrum: Spectrum, factor: Array, target: Array) -> None:
        self.squares = spectrum.values**2
        self.right = spectrum.right
        self.thin = 2 * self.right.shape[0] < self.right.shape[1]
        self._factor = factor
        self._same = target is factor
        self._fit = self.squares[:, None] * self.right if self._same else self._along @ target
        self._weights = (0.0, 0.0)
        self._formed: tuple[Array, Array] | None = None

    @cached_property
    def _along(self) -> Array:
        """VᵀFᵀ."""
        return np.asarray(self.right @ self._factor.T)

    def solve(self, pull: Array, weight: float, ridge: float, split: Array | None = None) -> Array:
        """Return W for P = ``pull``, w = ``weight`` and γ = ``ridge``.

        ``split`` is the part of R that is split off: R is the target minus ``split``.
        """
        gain = (weight / (weight * self.squares + ridge))[:, None]
        is_new = self._weights != (weight, ridge)
        if is_new:
            self._weights, self._formed = (weight, ridge), None
        if self.thin or is_new or split is not None:
            fit = self._fit if split is None else self._fit - self._along @ split
            inside = fit - self.squares[:, None] * (self.right @ pull)
            return pull + self.right.T @ (gain * inside)
        if self._formed is None:
            shrinking = self.right.T @ (gain * self.squares[:, None] * self.right)
            constant = shrinking if self._same else self.right.T @ (gain * self._fit)
            self._formed = shrinking, constant
        shrinking, constant = self._formed
        return np.asarray(pull + (constant - shrinking @ pull))
