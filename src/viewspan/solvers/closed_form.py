"""Closed forms: LRR with a quadratic fit, and a ridge in place of the coupling."""

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio, singular_values
from viewspan._utils.typing import Array
from viewspan.objective.penalties import is_nuclear_norm
from viewspan.objective.problem import Problem
from viewspan.objective.rounding import distance_from_orthonormal, unit_error
from viewspan.solvers.result import DEFAULT_TOL, Check, Solution, Status, relative_gap

N_RIDGE_STEPS = 5
"""Fixed-point steps for the ridge."""


def applies(problem: Problem) -> bool:
    """Return whether :func:`solve_closed_form` solves this problem."""
    quadratic = problem.datafit.curvature is not None and problem.datafit.rotates_samples
    return quadratic and is_nuclear_norm(problem.penalty) and not problem.coupled


def solve_closed_form(problem: Problem, *, tol: float = DEFAULT_TOL) -> Solution:
    """Solve every view on its own by its singular value decomposition F = U diag(s) Vᵀ.

    (w/2)‖F − FW‖_F² + λ‖W‖_* is minimal at W = V diag((1 − λ/(w s²))₊) Vᵀ. The dual point
    w·F(I − W) is computed with min(w, λ/s²) instead of w(1 − …), which would cancel for small λ.

    If only the rows of the coefficients are reduced, T = FQ with orthonormal rows of Q, and the
    solution is WQ. Missing samples are zero in T. Only the penalty depends on their coefficients,
    so these are zero.

    Weights near the rounding error of the data can leave a gap above ``tol``. The status is then
    ``"residuals"`` instead of ``"optimal"``.
    """
    curvature = problem.datafit.curvature
    assert curvature is not None  # see applies()
    slopes = []
    for (values, _), lam in zip(problem.spectra, problem.lam, strict=True):
        kept = curvature * values**2 > lam
        slopes.append(np.where(kept, ratio(lam, values**2), curvature))
    if is_diagonal(problem):
        return solve_diagonal(problem, curvature, slopes, tol)
    return solve_rotated(problem, curvature, slopes, tol)


def is_diagonal(problem: Problem) -> bool:
    """Return whether every factor is diag(s) Vᵀ as it is stored, and equals the target."""
    return all(
        target is factor and np.array_equal(factor, spectrum.matrix)
        for target, factor, spectrum in zip(
            problem.targets, problem.factors, problem.spectra, strict=True
        )
    )


def ridge_shares(problem: Problem) -> tuple[list[Array], float] | None:
    """Return closed forms of coupled views with a ridge in place of the coupling, and the ridge μ.

    If the Z_i were multiples of one another, τ‖A‖_* would pull on them like the ridge
    (μ/2)‖Z_i‖_F² with μ = τ/‖A‖_F. With this ridge in place of the coupling, every view has the
    closed form V diag(z) Vᵀ in its own singular vectors, with z = (w s² − λ)₊ / (w s² + μ). μ is
    found by a fixed-point iteration. Return None if the problem has no such form, or if all
    coefficients are zero.
    """
    curvature = problem.datafit.curvature
    low_rank = problem.penalty.orthogonally_invariant and problem.coupling.orthogonally_invariant
    if curvature is None or not low_rank or not problem.coupled:
        return None
    stiffness = [curvature * spectrum.values**2 for spectrum in problem.spectra]
    ridge = 0.0
    for _ in range(N_RIDGE_STEPS):
        shares = [
            ratio(np.maximum(s - lam, 0.0), s + ridge)
            for s, lam in zip(stiffness, problem.lam, strict=True)
        ]
        size = float(np.sqrt(sum(share @ share for share in shares)))
        if size == 0.0:
            return None
        ridge = problem.tau / size
    return shares, ridge


def solve_with_ridge(problem: Problem, *, tol: float = DEFAULT_TOL) -> Solution | None:
    """Return coefficients of coupled views with a ridge in place of the coupling, certified.

    The point is feasible for the coupled problem, and so is the dual point that follows from it:
    P_i = F_iᵀY_i − M_i with M_i = μZ_i has the norm λ_i, and ‖M‖₂ ≤ μ‖A‖_F = τ. So the gap is that
    of the **coupled** problem. It is τ(‖A‖_* − ‖A‖_F) if μ is the fixed point: zero if the
    coefficients of all views are multiples of one matrix. If zero coefficients have a lower
    objective, these are returned. Return None if the problem has no such form.
    """
    if not (is_nuclear_norm(problem.penalty) and is_diagonal(problem)):
        return None
    closed_form = ridge_shares(problem)
    if closed_form is None:
        return None
    shares, ridge = closed_form
    curvature = problem.datafit.curvature
    assert curvature is not None  # see ridge_shares()
    slopes = [
        # w(1 − z) without cancellation
        np.where(
            share > 0.0, curvature * (ridge + lam) / (curvature * values**2 + ridge), curvature
        )
        for (values, _), share, lam in zip(problem.spectra, shares, problem.lam, strict=True)
    ]
    found = solve_diagonal(problem, curvature, slopes, tol, ridge)
    zero = np.zeros_like(found.stack)
    at_zero = problem.value(zero, 0.0)
    if at_zero <= found.objective:
        interval = at_zero, found.dual_bound
        found = solution_of(problem, zero, found.dual, found.multiplier, interval, tol)
    return found


def solve_diagonal(
    problem: Problem, curvature: float, slopes: list[Array], tol: float, ridge: float = 0.0
) -> Solution:
    """Return the solution for factors F = diag(s) Vᵀ, whose fit and dual point are sums over s.

    ``slopes`` are d = w(1 − z) for coefficients V diag(z) Vᵀ of every view; without a ridge,
    min(w, λ/s²).
    """
    stack, dual, spectra = np.empty(problem.shape), [], []
    objective = problem.offset
    for view, (spectrum, slope, lam) in enumerate(
        zip(problem.spectra, slopes, problem.lam, strict=True)
    ):
        values, right = spectrum
        share = 1.0 - slope / curvature
        kept = share > 0.0
        spectra.append(Spectrum(share[kept], right[kept]))
        np.matmul(right[kept].T * share[kept], right[kept], out=stack[view])
        dual.append(Spectrum(values * slope, right).matrix)
        fit = float(((values * slope) ** 2).sum()) / (2.0 * curvature)
        objective += fit + float(lam * share.sum())
    multiplier = ridge * stack
    if problem.coupled:
        objective += problem.tau * problem.coupling.value(stack)
    bound = problem.offset + bound_of_diagonal(problem, curvature, slopes, multiplier, ridge)
    return solution_of(problem, stack, dual, multiplier, (objective, bound), tol, spectra)


def bound_of_diagonal(
    problem: Problem, curvature: float, slopes: list[Array], multiplier: Array, ridge: float
) -> float:
    """Return a proven lower bound of the objective without offset, for factors F = diag(s) Vᵀ.

    The dual point is Y = c·diag(s·d) Vᵀ with d = ``slope``, and M = c·μV diag(z) Vᵀ. The scale c
    makes it feasible. If ‖VᵀV − I‖_F ≤ ε, then ‖FᵀY − M‖₂ ≤ c·max(s²d − μz)(1 + ε),
    ⟨Y, F⟩ ≥ c(1 − ε) Σ s²d and ‖Y‖_F² ≤ c²(1 + ε) Σ s²d². So V need not be exactly orthonormal, and
    ε also covers the rounding of these sums, of F and of M.
    """
    limits, linear, conjugate = [], [], []
    for (values, right), slope, lam in zip(problem.spectra, slopes, problem.lam, strict=True):
        error = distance_from_orthonormal(right) + 4.0 * unit_error(right) * len(right)
        norms = values**2 * slope
        slack = np.abs(norms - ridge * (1.0 - slope / curvature))
        limits.append(scale_within(float(lam), float(slack.max()), error))
        linear.append((1.0 - error) * norms.sum())
        conjugate.append((1.0 + error) * (norms * slope).sum() / (2.0 * curvature))
    scale = np.array(limits)
    if problem.coupled:
        error = unit_error(multiplier) * sum(multiplier.shape[:2])
        common = scale_within(problem.tau, problem.coupling.polar(multiplier), error)
        scale[:] = min(common, scale.min())
    return float((scale * linear - scale**2 * conjugate).sum())


def scale_within(radius: float, norm: float, error: float) -> float:
    """Return the largest scale up to 1 at which a norm is at most ``radius`` despite its error."""
    uncertain = norm * (1.0 + error)
    return min(1.0, radius / uncertain) if uncertain > 0.0 else 1.0


def solve_rotated(problem: Problem, curvature: float, slopes: list[Array], tol: float) -> Solution:
    """Solve for factors that are rotated, or differ from the targets."""
    blocks, dual, penalty = [], [], 0.0
    views = zip(
        problem.factors, problem.spectra, slopes, problem.lam, problem.right_vectors, strict=True
    )
    for factor, (_, right), slope, lam, columns in views:
        share = 1.0 - slope / curvature
        blocks.append((right.T * share) @ columns)
        norm = share.sum() if columns is right else singular_values(blocks[-1]).sum()
        penalty += float(lam * norm)
        dual.append(factor @ (right.T * slope) @ columns)
    stack = np.stack(blocks)
    objective = problem.value(stack, penalty)
    enough = (1.0 - tol) * objective
    bound = problem.certificate(dual, np.zeros_like(stack), enough=enough).bound
    return solution_of(problem, stack, dual, np.zeros_like(stack), (objective, bound), tol)


def solution_of(
    problem: Problem,
    stack: Array,
    dual: list[Array],
    multiplier: Array,
    interval: tuple[float, float],
    tol: float,
    spectra: list[Spectrum] | None = None,
) -> Solution:
    """Return the solution with its objective and bound, the two ends of ``interval``."""
    objective, bound = interval
    gap = relative_gap(objective, bound)
    status: Status = "optimal" if gap <= tol else "residuals"
    check = Check(1, objective, bound, gap, 0.0, 0.0, problem.shape[1])
    return Solution(stack, dual, multiplier, objective, bound, status, 1, [check], spectra=spectra)
