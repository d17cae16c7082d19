"""What an ADMM iteration keeps: copies of the coefficients and the multipliers that tie them to W."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.objective.problem import Problem

RELAXATION = 1.4
BALANCE, MAX_CHANGE = 1.5, 5.0
"""Residuals further apart than the first factor change ρ, by at most the second at a time."""
SMALLEST_RHO, LARGEST_RHO = 1e-8, 1e2
"""Bounds of the first ρ, for data of norm about 1."""
WEIGHTLESS_RHO = 0.1
"""The first ρ where λ and τ are zero."""
RIDGE_STEPS = 5
ALL = slice(None)


class Residuals(NamedTuple):
    """How far the copies are from W and from their last values; the size of the copies and of their multipliers."""

    primal: float
    dual: float
    size: float
    force: float

    @property
    def relative(self) -> float:
        if min(self.size, self.force) <= 0.0:
            return np.inf
        return max(self.primal / self.size, self.dual / self.force)

    @property
    def imbalance(self) -> float:
        """The factor by which ρ should change; 1 where the residuals are near enough to each other."""
        if min(self) <= 0.0:
            return 1.0
        factor = float(np.sqrt((self.primal / self.size) * (self.force / self.dual)))
        return (
            1.0 if 1 / BALANCE < factor < BALANCE else min(max(factor, 1 / MAX_CHANGE), MAX_CHANGE)
        )


@dataclass
class Split:
    """A copy of something linear in W, tied to it by a scaled multiplier.

    Kept as the copy and the point whose prox it is; the multiplier is their difference.
    """

    copy: Array
    point: Array
    previous: Array = field(init=False)

    @property
    def scaled(self) -> Array:
        """The scaled multiplier."""
        return self.point - self.copy

    @property
    def change(self) -> Array:
        """How far the copy moved in the last iteration."""
        return self.copy - self.previous

    def target(self, view: int | slice = ALL) -> Array:
        """Where the copy pulls W: copy − multiplier."""
        pulled: Array = 2.0 * self.copy[view]
        pulled -= self.point[view]
        return pulled

    def move(self, image: Array, view: int | slice = ALL) -> None:
        """The next point to take the prox of: the over-relaxed image of W plus the multiplier."""
        step = image - self.copy[view]
        step *= RELAXATION
        self.point[view] += step

    def accept(self, copy: Array) -> None:
        """Take the prox of the point as the new copy."""
        self.previous, self.copy = self.copy, copy

    def rescale(self, factor: float) -> None:
        """Divide the multiplier."""
        self.point = self.copy + self.scaled / factor

    def embed(self, isometry: Array) -> "Split":
        """In a larger space: T·C·Tᵀ for a T with orthonormal columns."""
        return Split(isometry @ self.copy @ isometry.T, isometry @ self.point @ isometry.T)


@dataclass
class State:
    """Everything an iteration needs of the one before; hand it in again for a warm start."""

    penalty: Split
    coupling: Split | None
    residual: list[Split]
    rho: float
    rho_fit: float = 1.0

    @classmethod
    def zero(cls, problem: Problem) -> "State":
        """Z = 0, with ρ near 3·mean λ (found best over many problems; balancing corrects it).

        Residuals that are split off have another unit than coefficients, so they have a ρ of their own: one over a
        sample's typical length.
        """
        shape = problem.shape

        def split(like: tuple[int, ...]) -> Split:
            return Split(np.zeros(like), np.zeros(like))

        weights = [3.0 * float(np.mean(problem.lam)), problem.tau, WEIGHTLESS_RHO]
        return cls(
            penalty=split(shape),
            coupling=split(shape) if problem.coupled else None,
            residual=[] if problem.datafit.curvature else [split(t.shape) for t in problem.targets],
            rho=min(
                max(next(weight for weight in weights if weight > 0), SMALLEST_RHO), LARGEST_RHO
            ),
            rho_fit=float(np.sqrt(shape[0] * shape[2])) / (norm(problem.targets) or 1.0),
        )

    @classmethod
    def start(cls, problem: Problem) -> "State":
        """Where views have a closed form, the point at which each is alone and the coupling is a ridge; else zero.

        If the Z_i were multiples of one another, τ‖A‖_* would pull on them like the ridge (μ/2)‖Z_i‖_F² with
        μ = τ/‖A‖_F. For a given μ every view has a closed form in its own singular vectors; μ is a fixed point.
        """
        state = cls.zero(problem)
        low_rank = (
            problem.penalty.orthogonally_invariant and problem.coupling.orthogonally_invariant
        )
        quadratic = problem.datafit.curvature is not None
        shrunk = ridge_start(problem) if low_rank and quadratic and problem.coupled else None
        if shrunk is None:
            return state
        stack, ridge = shrunk
        slopes = np.stack(
            [f.T @ y for f, y in zip(problem.factors, problem.smooth_dual(stack), strict=True)]
        )
        state.penalty = Split(stack, stack + (slopes - ridge * stack) / state.rho)
        state.coupling = Split(stack.copy(), stack + ridge * stack / state.rho)
        return state

    @property
    def copies(self) -> list[Split]:
        """The splits of W itself."""
        return [self.penalty] if self.coupling is None else [self.penalty, self.coupling]

    @property
    def multiplier(self) -> Array:
        """M, the coupling's dual variable."""
        return (
            np.zeros_like(self.penalty.copy)
            if self.coupling is None
            else self.rho * self.coupling.scaled
        )

    @property
    def dual(self) -> list[Array] | None:
        """Y_i, the residuals' dual variables, where residuals are split off."""
        return [self.rho_fit * split.scaled for split in self.residual] or None

    def balance(self, copies: Residuals | None, fit: Residuals | None) -> None:
        """Move each ρ towards equal relative residuals, keeping the true multipliers."""
        factor = 1.0 if copies is None else copies.imbalance
        if factor != 1.0:
            self.rho *= factor
            for split in self.copies:
                split.rescale(factor)
        factor = 1.0 if fit is None else fit.imbalance
        if factor != 1.0:
            self.rho_fit *= factor
            for split in self.residual:
                split.rescale(factor)

    def embed(self, isometry: Array) -> "State":
        """The state in a larger space; for problems without split residuals."""
        coupling = None if self.coupling is None else self.coupling.embed(isometry)
        return State(self.penalty.embed(isometry), coupling, [], self.rho)


def ridge_start(problem: Problem) -> tuple[Array, float] | None:
    """Coefficients V_i diag((w s² − λ_i)₊ / (w s² + μ)) V_iᵀ and the ridge μ; None if they are all zero.

    Where only rows of coefficients are reduced, the last factor has the columns of samples, zero for absent ones.
    """
    curvature = problem.datafit.curvature or 0.0
    stiff = [curvature * spectrum.values**2 for spectrum in problem.spectra]
    ridge = 0.0
    for _ in range(RIDGE_STEPS):
        weights = [
            ratio(np.maximum(s - lam, 0.0), s + ridge)
            for s, lam in zip(stiff, problem.lam, strict=True)
        ]
        size = norm(weights)
        if size == 0.0:
            return None
        ridge = problem.tau / size
    blocks = [
        (view.right.T * w) @ columns
        for view, w, columns in zip(problem.spectra, weights, problem.right_vectors, strict=True)
    ]
    return np.stack(blocks), ridge


def norm(arrays: Iterable[Array]) -> float:
    """Frobenius norm of several arrays taken together."""
    return float(np.sqrt(sum(float(np.vdot(array, array)) for array in arrays)))
