"""Closed-form solution of LRR with a quadratic fit."""

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio, singular_values
from viewspan._utils.typing import Array
from viewspan.objective.penalties import is_nuclear_norm
from viewspan.objective.problem import Problem
from viewspan.objective.rounding import distance_from_orthonormal, unit_error
from viewspan.solvers.result import DEFAULT_TOL, Check, Solution, Status, relative_gap


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


def solve_diagonal(problem: Problem, curvature: float, slopes: list[Array], tol: float) -> Solution:
    """Solve for factors F = diag(s) Vᵀ, whose objective and dual bound need sums over s only.

    ``slopes`` are d = min(w, λ/s²) for every view.
    """
    stack, dual, spectra = np.empty(problem.shape), [], []
    objective = bound = problem.offset
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
        bound += bound_of_diagonal(spectrum, curvature, slope, float(lam))
    return solution_of(problem, stack, dual, (objective, bound), tol, spectra)


def bound_of_diagonal(spectrum: Spectrum, curvature: float, slope: Array, lam: float) -> float:
    """Return a proven lower bound of (w/2)‖F − FW‖_F² + λ‖W‖_* over W, for F = diag(s) Vᵀ.

    The dual point is Y = c·diag(s·d) Vᵀ with d = ``slope`` and a scale c that makes it feasible. If
    ‖VᵀV − I‖_F ≤ ε, then ‖FᵀY‖₂ ≤ c·max(s²d)(1 + ε), ⟨Y, F⟩ ≥ c(1 − ε) Σ s²d and
    ‖Y‖_F² ≤ c²(1 + ε) Σ s²d². So V need not be exactly orthonormal, and ε also covers the rounding
    of these sums and of F.
    """
    values, right = spectrum
    error = distance_from_orthonormal(right) + 4.0 * unit_error(right) * len(right)
    norms = values**2 * slope
    largest = float(norms.max()) * (1.0 + error)
    scale = min(1.0, lam / largest) if largest > 0.0 else 1.0
    linear, conjugate = norms.sum(), (norms * slope).sum() / (2.0 * curvature)
    return float(scale * (1.0 - error) * linear - scale**2 * (1.0 + error) * conjugate)


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
    return solution_of(problem, stack, dual, (objective, bound), tol)


def solution_of(
    problem: Problem,
    stack: Array,
    dual: list[Array],
    interval: tuple[float, float],
    tol: float,
    spectra: list[Spectrum] | None = None,
) -> Solution:
    """Return the solution with its objective and bound, the two ends of ``interval``."""
    objective, bound = interval
    gap = relative_gap(objective, bound)
    status: Status = "optimal" if gap <= tol else "residuals"
    check = Check(1, objective, bound, gap, 0.0, 0.0, problem.shape[1])
    multiplier = np.zeros_like(stack)
    return Solution(stack, dual, multiplier, objective, bound, status, 1, [check], spectra=spectra)
