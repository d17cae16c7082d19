"""Closed-form solution of LRR with a quadratic fit."""

import numpy as np

from viewspan._utils.linalg import ratio, singular_values
from viewspan.objective.penalties import is_nuclear_norm
from viewspan.objective.problem import Problem
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
    blocks, dual, penalty = [], [], 0.0
    views = zip(problem.factors, problem.spectra, problem.lam, problem.right_vectors, strict=True)
    for factor, (values, right), lam, columns in views:
        kept = curvature * values**2 > lam
        slope = np.where(kept, ratio(lam, values**2), curvature)
        share = 1.0 - slope / curvature
        blocks.append((right.T * share) @ columns)
        norm = share.sum() if columns is right else singular_values(blocks[-1]).sum()
        penalty += float(lam * norm)
        dual.append(factor @ (right.T * slope) @ columns)
    stack = np.stack(blocks)
    multiplier = np.zeros_like(stack)
    objective = problem.value(stack, penalty)
    bound = problem.certificate(dual, multiplier, enough=(1.0 - tol) * objective).bound
    gap = relative_gap(objective, bound)
    status: Status = "optimal" if gap <= tol else "residuals"
    check = Check(1, objective, bound, gap, 0.0, 0.0, problem.shape[1])
    return Solution(stack, dual, multiplier, objective, bound, status, 1, [check])
