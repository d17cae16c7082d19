"""State of an ADMM iteration: copies of the coefficients W and their multipliers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.objective.problem import Problem

RELAXATION = 1.4
"""Over-relaxation factor."""
BALANCING_THRESHOLD = 1.5
"""ρ changes only if it should change by more than this factor."""
LARGEST_RHO_FACTOR = 5.0
"""Largest factor by which ρ changes at a time."""
SMALLEST_RHO, LARGEST_RHO = 1e-8, 1e2
"""Bounds of the first ρ, for data of norm about 1."""
RHO_LIMITS = (1e-10, 1e4)
"""Limits of ρ later on. Without them it could drift until the linear systems are singular."""
RHO_WITHOUT_WEIGHTS = 0.1
"""First ρ if λ and τ are zero."""
N_RIDGE_STEPS = 5
"""Fixed-point steps for the ridge of the starting point."""
ALL_VIEWS = slice(None)


class Residuals(NamedTuple):
    """ADMM residuals of some copies, and the norms that they are relative to.

    Attributes
    ----------
    primal : float
        Distance between the copies and W.
    dual : float
        ρ times the change of the copies in the last iteration.
    primal_norm : float
        Norm of W or of the copies, whichever is larger.
    dual_norm : float
        Norm of the multipliers.
    """

    primal: float
    dual: float
    primal_norm: float
    dual_norm: float

    @property
    def relative(self) -> float:
        """The larger of the two relative residuals; infinite if a norm is zero."""
        if min(self.primal_norm, self.dual_norm) <= 0.0:
            return np.inf
        return max(self.primal / self.primal_norm, self.dual / self.dual_norm)

    @property
    def rho_factor(self) -> float:
        """Factor by which ρ should change; 1 if the relative residuals are of similar size."""
        if min(self) <= 0.0:
            return 1.0
        factor = float(np.sqrt((self.primal / self.primal_norm) * (self.dual_norm / self.dual)))
        if 1 / BALANCING_THRESHOLD < factor < BALANCING_THRESHOLD:
            return 1.0
        return min(max(factor, 1 / LARGEST_RHO_FACTOR), LARGEST_RHO_FACTOR)


@dataclass
class Split:
    """A copy of W, or of a residual that is linear in W, with its scaled multiplier.

    It stores the copy and the point whose prox the copy is. The multiplier is their difference.
    """

    copy: Array
    point: Array
    previous: Array = field(init=False)

    @property
    def scaled_multiplier(self) -> Array:
        """Multiplier divided by ρ."""
        return self.point - self.copy

    @property
    def change(self) -> Array:
        """Change of the copy in the last iteration."""
        return self.copy - self.previous

    def target(self, view: int | slice = ALL_VIEWS) -> Array:
        """Return copy − scaled multiplier, the point to which the copy pulls W."""
        pulled: Array = 2.0 * self.copy[view]
        pulled -= self.point[view]
        return pulled

    def move(self, image: Array, view: int | slice = ALL_VIEWS) -> None:
        """Set the next point, the over-relaxed image of W plus the scaled multiplier."""
        step = image - self.copy[view]
        step *= RELAXATION
        self.point[view] += step

    def accept(self, copy: Array) -> None:
        """Set the copy to a new one, the prox of the point."""
        self.previous, self.copy = self.copy, copy

    def rescale(self, factor: float) -> None:
        """Divide the scaled multiplier by a factor."""
        self.point = self.copy + self.scaled_multiplier / factor

    def embed(self, isometry: Array) -> "Split":
        """Return the split in a larger space, C → T·C·Tᵀ for T with orthonormal columns."""
        return Split(isometry @ self.copy @ isometry.T, isometry @ self.point @ isometry.T)


@dataclass
class State:
    """Everything that one iteration takes over from the one before. It serves as a warm start.

    Attributes
    ----------
    penalty : Split
    coupling : Split or None
        None if the views are not coupled.
    residual : list of Split
        One per view if the fit is not quadratic, else empty.
    rho, rho_fit : float
        Penalty parameters ρ of the copies of W and of the residuals.
    """

    penalty: Split
    coupling: Split | None
    residual: list[Split]
    rho: float
    rho_fit: float = 1.0

    @classmethod
    def zero(cls, problem: Problem) -> "State":
        """Return the state at Z = 0, with ρ near 3·mean λ.

        This ρ was the best one over many problems, and balancing corrects it. Residuals that are
        split off have another unit than coefficients. Their ρ is one over the typical length of a
        sample.
        """
        shape = problem.shape

        def split(like: tuple[int, ...]) -> Split:
            return Split(np.zeros(like), np.zeros(like))

        weights = [3.0 * float(np.mean(problem.lam)), problem.tau, RHO_WITHOUT_WEIGHTS]
        return cls(
            penalty=split(shape),
            coupling=split(shape) if problem.coupled else None,
            residual=[] if problem.datafit.curvature else [split(t.shape) for t in problem.targets],
            rho=min(
                max(next(weight for weight in weights if weight > 0), SMALLEST_RHO), LARGEST_RHO
            ),
            rho_fit=float(np.sqrt(shape[0] * shape[2])) / (joint_norm(problem.targets) or 1.0),
        )

    @classmethod
    def start(cls, problem: Problem) -> "State":
        """Return the closed form with a ridge in place of the coupling, or zero if there is none.

        If the Z_i were multiples of one another, τ‖A‖_* would pull on them like the ridge
        (μ/2)‖Z_i‖_F² with μ = τ/‖A‖_F. With this ridge in place of the coupling, every view has a
        closed form in its own singular vectors. μ is found by a fixed-point iteration.
        """
        state = cls.zero(problem)
        low_rank = (
            problem.penalty.orthogonally_invariant and problem.coupling.orthogonally_invariant
        )
        quadratic = problem.datafit.curvature is not None
        start = ridge_start(problem) if low_rank and quadratic and problem.coupled else None
        if start is None:
            return state
        stack, ridge = start
        slopes = np.stack(
            [f.T @ y for f, y in zip(problem.factors, problem.smooth_dual(stack), strict=True)]
        )
        state.penalty = Split(stack, stack + (slopes - ridge * stack) / state.rho)
        state.coupling = Split(stack.copy(), stack + ridge * stack / state.rho)
        return state

    @property
    def copies(self) -> list[Split]:
        """Splits that are copies of W itself."""
        return [self.penalty] if self.coupling is None else [self.penalty, self.coupling]

    @property
    def multiplier(self) -> Array:
        """Dual variable M of the coupling."""
        if self.coupling is None:
            return np.zeros_like(self.penalty.copy)
        return self.rho * self.coupling.scaled_multiplier

    @property
    def dual(self) -> list[Array] | None:
        """Dual variables Y_i of the residuals; None if residuals are not split off."""
        return [self.rho_fit * split.scaled_multiplier for split in self.residual] or None

    def balance(self, copies: Residuals | None, fit: Residuals | None) -> None:
        """Change each ρ towards equal relative residuals; the true multipliers stay the same."""
        factor = 1.0 if copies is None else copies.rho_factor
        if factor != 1.0 and RHO_LIMITS[0] <= factor * self.rho <= RHO_LIMITS[1]:
            self.rho *= factor
            for split in self.copies:
                split.rescale(factor)
        factor = 1.0 if fit is None else fit.rho_factor
        if factor != 1.0:
            self.rho_fit *= factor
            for split in self.residual:
                split.rescale(factor)

    def embed(self, isometry: Array) -> "State":
        """Return the state in a larger space, for problems whose residuals are not split off."""
        coupling = None if self.coupling is None else self.coupling.embed(isometry)
        return State(self.penalty.embed(isometry), coupling, [], self.rho)


def ridge_start(problem: Problem) -> tuple[Array, float] | None:
    """Return the coefficients of views with a ridge instead of a coupling, and the ridge μ.

    The coefficients are V_i diag((w s² − λ_i)₊ / (w s² + μ)) V_iᵀ. If only the rows of the
    coefficients are reduced, the last factor has one column per sample, zero for missing ones.
    Return None if all coefficients are zero.
    """
    curvature = problem.datafit.curvature or 0.0
    stiffness = [curvature * spectrum.values**2 for spectrum in problem.spectra]
    ridge = 0.0
    for _ in range(N_RIDGE_STEPS):
        weights = [
            ratio(np.maximum(s - lam, 0.0), s + ridge)
            for s, lam in zip(stiffness, problem.lam, strict=True)
        ]
        size = joint_norm(weights)
        if size == 0.0:
            return None
        ridge = problem.tau / size
    blocks = [
        (view.right.T * w) @ columns
        for view, w, columns in zip(problem.spectra, weights, problem.right_vectors, strict=True)
    ]
    return np.stack(blocks), ridge


def joint_norm(arrays: Iterable[Array]) -> float:
    """Return the Frobenius norm of several arrays together."""
    return float(np.sqrt(sum(squared_norm(array) for array in arrays)))


def squared_norm(array: Array) -> float:
    """Return the squared Frobenius norm."""
    return float(np.vdot(array, array))
