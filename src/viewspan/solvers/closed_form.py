"""LRR with a quadratic fit needs no iteration."""

import numpy as np

from viewspan._linalg import Spectrum
from viewspan._typing import Array
from viewspan.model.penalties import Nuclear
from viewspan.model.problem import Problem
from viewspan.solvers.result import Check, Solution, relative_gap


def applies(problem: Problem) -> bool:
    """Whether :func:`solve_closed_form` solves this problem."""
    quadratic = problem.datafit.curvature is not None and problem.datafit.rotates_samples
    return quadratic and isinstance(problem.penalty, Nuclear) and not problem.coupled


def solve_closed_form(problem: Problem) -> Solution:
    """Every view alone: (w/2)‖F − FW‖_F² + λ‖W‖_* is minimal at W = V diag((1 − λ/(w s²))₊) Vᵀ, with F = U
    diag(s) Vᵀ.
    """
    curvature = problem.datafit.curvature
    assert curvature is not None  # see applies()
    stack = np.stack(
        [shrink(spectrum, float(lam) / curvature) for spectrum, lam in zip(problem.spectra, problem.lam, strict=True)]
    )
    dual = problem.smooth_dual(stack)
    multiplier = np.zeros_like(stack)
    bound = problem.certificate(dual, multiplier).bound
    objective = problem.value(stack)
    check = Check(1, objective, bound, relative_gap(objective, bound), 0.0, 0.0, problem.shape[1])
    return Solution(stack, dual, multiplier, objective, bound, "optimal", 1, [check])


def shrink(spectrum: Spectrum, threshold: float) -> Array:
    kept = spectrum.values**2 > threshold
    right = spectrum.right[kept]
    return (right.T * (1.0 - threshold / spectrum.values[kept] ** 2)) @ right
