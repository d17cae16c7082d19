"""State of an ADMM iteration: copies of the coefficients W and their multipliers."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.objective.problem import Problem
from viewspan.objective.rounding import frobenius_norm
from viewspan.solvers.closed_form import ridge_shares

RELAXATION = 1.4
"""Over-relaxation factor."""
BALANCING_THRESHOLD = 1.5
"""ρ changes only if it should change by more than this factor."""
SMALLEST_MULTIPLIER = 1e-3
"""Multiplier, as a share of the largest, below which nothing pulls at a view: it needs no ρ."""
RESOLVED = 1e-10
"""Relative residual below which it is a rounding error and says nothing about ρ."""
LARGEST_RHO_FACTOR = 5.0
"""Largest factor by which ρ changes at a time."""
FIRST_RHO = 2.0
"""First ρ as a multiple of the mean λ."""
SMALLEST_RHO, LARGEST_RHO = 1e-8, 1e2
"""Bounds of the first ρ, for data of norm about 1."""
RHO_LIMITS = (1e-10, 1e4)
"""Limits of ρ later on. Without them it could drift until the linear systems are singular."""
SUBGRADIENT_SCALE = 100.0
"""Multiple of the pull of the ridge whose distance from its prox is the first multiplier."""
RHO_WITHOUT_WEIGHTS = 0.1
"""First ρ if λ and τ are zero."""
ALL_VIEWS = slice(None)


@dataclass(frozen=True)
class Residuals:
    """ADMM residuals of all parts of a state, and the norms that they are relative to.

    Attributes
    ----------
    parts : array (n_views, n_copies, 4)
        Of every view of a copy: the distance between copy and image, ρ times the change of the copy
        in the last iteration, the larger norm of copy and image, and the norm of the multiplier.
    """

    parts: Array

    @property
    def primal(self) -> float:
        return float(self._joint[0])

    @property
    def dual(self) -> float:
        return float(self._joint[1])

    @property
    def relative(self) -> float:
        """The larger of the two relative residuals; infinite if a norm is zero."""
        primal, dual, primal_norm, dual_norm = self._joint
        if min(primal_norm, dual_norm) <= 0.0:
            return np.inf
        return float(max(primal / primal_norm, dual / dual_norm))

    @property
    def rho_factor(self) -> float:
        """Factor by which ρ should change; 1 if the relative residuals are of similar size.

        It is the geometric mean over the views. Norms over all views would follow the one with the
        largest multiplier alone, and the others would converge slowly.
        """
        views = joint_rows(self.parts, axis=1)
        multipliers = views[:, 3]
        views = views[multipliers > SMALLEST_MULTIPLIER * multipliers.max()]
        relative = ratio(views[:, :2], views[:, 2:])
        resolved = relative[(relative > RESOLVED).all(axis=1)]
        if not len(resolved):
            return 1.0
        factor = float(np.exp(0.5 * np.log(resolved[:, 0] / resolved[:, 1]).mean()))
        if 1 / BALANCING_THRESHOLD < factor < BALANCING_THRESHOLD:
            return 1.0
        return min(max(factor, 1 / LARGEST_RHO_FACTOR), LARGEST_RHO_FACTOR)

    @property
    def _joint(self) -> Array:
        """Norms over all parts."""
        return joint_rows(self.parts, axis=(0, 1))


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
        """Return the state at Z = 0, with a ρ that balancing corrects later.

        Residuals that are split off have another unit than coefficients. Their ρ is one over the
        typical length of a sample.
        """
        shape = problem.shape

        def split(like: tuple[int, ...]) -> Split:
            return Split(np.zeros(like), np.zeros(like))

        weights = [FIRST_RHO * float(np.mean(problem.lam)), problem.tau, RHO_WITHOUT_WEIGHTS]
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

        The multiplier of the coupling is its subgradient there.

        If only the rows of the coefficients are reduced, the right singular vectors have one column
        per sample, zero for missing ones.
        """
        state = cls.zero(problem)
        found = ridge_shares(problem)
        if found is None:
            return state
        shares, ridge = found
        views = zip(problem.spectra, shares, problem.right_vectors, strict=True)
        stack = np.stack([(view.right.T * share) @ columns for view, share, columns in views])
        # a subgradient of τ·c at Z is a large multiple of Z minus its prox
        pull = SUBGRADIENT_SCALE * ridge * stack
        pull -= problem.coupling.prox(pull, problem.tau)
        slopes = slopes_of_fit(problem, stack)
        state.penalty = Split(stack, stack + (slopes - pull) / state.rho)
        state.coupling = Split(stack.copy(), stack + pull / state.rho)
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

    def embed(self, isometry: Array, problem: Problem) -> "State":
        """Return the state for a larger problem, whose residuals are not split off.

        The new coefficients are zero. Their multipliers are the slopes of the fit, so that the next
        step starts those that the penalty does not hold at zero, and no others.
        """
        coupling = None if self.coupling is None else self.coupling.embed(isometry)
        state = State(self.penalty.embed(isometry), coupling, [], self.rho)
        slopes = slopes_of_fit(problem, state.penalty.copy)
        slopes -= isometry @ (isometry.T @ slopes @ isometry) @ isometry.T
        state.penalty.point += slopes / self.rho
        return state


def slopes_of_fit(problem: Problem, stack: Array) -> Array:
    """Return F_iᵀY_i of every view for the dual point that follows from a quadratic fit."""
    dual = problem.smooth_dual(stack)
    return np.stack([f.T @ y for f, y in zip(problem.factors, dual, strict=True)])


def joint_rows(parts: Array, axis: int | tuple[int, ...]) -> Array:
    """Return norms over several parts."""
    return np.asarray(np.sqrt((parts**2).sum(axis=axis)))


def joint_norm(arrays: Iterable[Array]) -> float:
    """Return the Frobenius norm of several arrays together."""
    return float(np.hypot.reduce([frobenius_norm(array) for array in arrays]))
