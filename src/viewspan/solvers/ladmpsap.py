"""LADMPSAP, the paper's own algorithm, for comparison.

LADMPSAP is a linearised alternating direction method with parallel splitting and adaptive penalty.
The constants, the order of updates and the stopping rule are those of the authors' released
program, and its results are reproduced. Everything starts at zero. Z_i, E_i and A are all computed
from the previous iterate. The program halves the quadratic fit, so the weights are divided by the
fit's curvature here.

The step is corrected in two ways. The released step stays fixed while μ grows, and it leaves out
the curvature of the coupling. It therefore diverges for small tolerances and for data of small
norm. Where the released step is safe, it is unchanged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewspan._utils.linalg import singular_values, svd
from viewspan._utils.threads import map_views
from viewspan._utils.typing import Array
from viewspan.objective.penalties import is_nuclear_norm
from viewspan.objective.problem import Problem
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Solution, Status, relative_gap

FIRST_MU, LARGEST_MU, MU_GROWTH = 0.1, 1.0, 1.1
"""First and largest penalty parameter μ, and the factor by which it grows."""
STEP_FACTOR = 1.1
"""Step ρ = 1.1·max ‖X_i‖₂²."""
SAFE_STEP_FACTOR = 3.0
"""Smallest step in units of the curvature μ(‖X‖² + 1) of the smooth part.

Three blocks are updated at once. The released step leaves out the 1, which matters for views of
norm below 0.6.
"""
RESIDUAL_TOLERANCE_FACTOR = 100.0
"""The released ε₁ = 1e-2 as a multiple of ε₂ = 1e-4, which is ``tol`` here."""
MAX_ITER = 200
"""Default limit of iterations, the authors' own."""


@dataclass
class Iterate:
    """Coefficients Z, residuals E, coupled copy A, and the multipliers of fit and coupling."""

    coefficients: Array
    residuals: list[Array]
    coupled: Array
    fit_multiplier: list[Array]
    coupling_multiplier: Array


def ladmpsap(
    problem: Problem,
    *,
    tol: float = DEFAULT_TOL,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Solution:
    """Run the paper's algorithm.

    Parameters
    ----------
    problem : Problem
        In full coordinates, as in the paper. Any other coordinates work, too.
    tol : float
        Largest change between iterates, the paper's ε₂; ε₁ is 100 times that. The default is the
        authors' value.
    max_iter : int
        The default is the authors' value.
    callback : callable, optional
        Called with every :class:`~viewspan.solvers.result.Check`.
    """
    iteration = Iteration(problem)
    current, mu = iteration.start(), FIRST_MU
    status: Status = "max_iter"
    progress = StoppingQuantities(np.inf, np.inf, np.inf)
    n_iter = 0
    while n_iter < max_iter:
        n_iter += 1
        following = iteration.step(current, mu)
        if not is_finite(following):
            status = "non_finite"
            break
        progress = iteration.progress(current, following, mu)
        current = following
        if progress.primal < RESIDUAL_TOLERANCE_FACTOR * tol and progress.change < tol:
            status = "residuals"
            break
        if progress.change < tol:
            mu = min(LARGEST_MU, MU_GROWTH * mu)
    solution = certify(
        problem,
        current.coefficients,
        current.fit_multiplier,
        current.coupling_multiplier,
        progress,
        status,
        n_iter,
    )
    if callback is not None:
        callback(solution.history[-1])
    return solution


class StoppingQuantities(NamedTuple):
    """Relative misfit, distance between Z and A, and change since the iterate before."""

    misfit: float
    agreement: float
    change: float

    @property
    def primal(self) -> float:
        return max(self.misfit, self.agreement)


class Iteration:
    """The steps of LADMPSAP for one problem, and the constants they need."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.scale = problem.datafit.curvature or 1.0
        self.norms = [float(np.linalg.norm(t)) or 1.0 for t in problem.targets]
        self.largest = max(float(singular_values(f)[0]) ** 2 for f in problem.factors)
        self.rho = STEP_FACTOR * self.largest

    def start(self) -> Iterate:
        zero = np.zeros(self.problem.shape)
        zeros = [np.zeros_like(t) for t in self.problem.targets]
        return Iterate(zero, zeros, zero, zeros, zero)

    def step(self, old: Iterate, mu: float) -> Iterate:
        """Update all primal variables from ``old``, then the multipliers."""
        problem = self.problem
        views = map_views(lambda view: self._view_step(old, mu, view), range(problem.shape[0]))
        coefficients, residuals, fit_multiplier = (list(part) for part in zip(*views, strict=True))
        pull = old.coefficients + old.coupling_multiplier / mu
        coupled = problem.coupling.prox(pull, problem.tau / self.scale / mu)
        return Iterate(
            np.stack(coefficients), residuals, coupled, fit_multiplier, mu * (pull - coupled)
        )

    def _view_step(self, old: Iterate, mu: float, view: int) -> tuple[Array, Array, Array]:
        factor, target = self.problem.factors[view], self.problem.targets[view]
        before = old.coefficients[view]
        misfit = factor @ before - target
        slope = factor.T @ (mu * (misfit + old.residuals[view]) + old.fit_multiplier[view])
        slope = slope + mu * (before - old.coupled[view]) + old.coupling_multiplier[view]
        step = max(self.rho * max(1.0, mu / FIRST_MU), SAFE_STEP_FACTOR * mu * (self.largest + 1.0))
        coefficients = prox_as_published(
            self.problem, before - slope / step, self.problem.lam[view] / self.scale / step
        )
        residual = self.problem.datafit.prox(
            -misfit - old.fit_multiplier[view] / mu, 1.0 / (mu * self.scale)
        )
        multiplier = old.fit_multiplier[view] + mu * (factor @ coefficients - target + residual)
        return coefficients, residual, multiplier

    def progress(self, old: Iterate, new: Iterate, mu: float) -> StoppingQuantities:
        """Return the quantities of the stopping rule, as the released program computes them."""
        misfit = [
            f @ z - t + e
            for f, z, t, e in zip(
                self.problem.factors,
                new.coefficients,
                self.problem.targets,
                new.residuals,
                strict=True,
            )
        ]
        moved = max(
            self._relative(new.coefficients - old.coefficients),
            self._relative(differences(new.residuals, old.residuals)),
        )
        moved = max(moved, float(np.linalg.norm(new.coupled - old.coupled)))
        agreement = max(
            float(np.linalg.norm(a - z)) for a, z in zip(new.coupled, new.coefficients, strict=True)
        )
        return StoppingQuantities(
            self._relative(misfit), agreement, mu * float(np.sqrt(self.rho)) * moved
        )

    def _relative(self, arrays: Sequence[Array] | Array) -> float:
        """Return the largest norm of the arrays, each relative to the norm of its view."""
        return max(
            float(np.linalg.norm(array)) / size
            for array, size in zip(arrays, self.norms, strict=True)
        )


def prox_as_published(problem: Problem, matrix: Array, lam: Array) -> Array:
    """Return the prox of the penalty, for the nuclear norm by a full SVD as in the program."""
    if not is_nuclear_norm(problem.penalty):
        return problem.penalty.prox_and_value(matrix, lam)[0]
    if not np.isfinite(matrix).all():
        return matrix  # the caller checks the iterate
    left, values, right = svd(matrix)
    return (left * np.maximum(values - lam, 0.0)) @ right


def certify(
    problem: Problem,
    coefficients: Array,
    fit_multiplier: Sequence[Array],
    coupling_multiplier: Array,
    progress: StoppingQuantities,
    status: Status,
    n_iter: int,
) -> Solution:
    """Return the solution with its objective and certified gap.

    The multipliers belong to the halved fit and are rescaled to the problem's own fit.
    """
    scale = problem.datafit.curvature or 1.0
    multiplier = scale * coupling_multiplier
    if problem.datafit.curvature is None:
        dual = [-scale * y for y in fit_multiplier]
    else:
        dual = problem.smooth_dual(coefficients)
    objective, bound = problem.value(coefficients), problem.certificate(dual, multiplier).bound
    gap = relative_gap(objective, bound)
    check = Check(n_iter, objective, bound, gap, progress.primal, progress.change, problem.shape[1])
    return Solution(coefficients, dual, multiplier, objective, bound, status, n_iter, [check])


def differences(left: Sequence[Array], right: Sequence[Array]) -> list[Array]:
    return [a - b for a, b in zip(left, right, strict=True)]


def is_finite(point: Iterate) -> bool:
    """Return whether coefficients, copy and residuals are finite; multipliers are sums of these."""
    parts = (point.coefficients, point.coupled, *point.residuals)
    return all(bool(np.isfinite(part).all()) for part in parts)
