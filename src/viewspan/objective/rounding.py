"""What floating-point arithmetic may hide from a certificate.

A sum of n products is exact up to n·ε times the sum of their sizes, and LAPACK's decompositions of an n × n matrix are
those of a matrix that differs by n·ε of its norm. A dual point counts as feasible only if it is so with these errors
against it.
"""

import numpy as np

from viewspan._utils.typing import Array

EPS = float(np.finfo(float).eps)
FEW = 4
"""Operations beside the sums."""
FARTHEST = 1000
"""Powers of two beyond this have no inverse."""


def unit_error(*arrays: Array) -> float:
    """(n + 4)·ε for the longest side n of the arrays."""
    longest: int = max(side for array in arrays for side in array.shape)
    return EPS * (FEW + longest)


def near_one(matrix: Array) -> tuple[Array, float]:
    """The matrix over a power of two, and that power, so that squares of its largest entries neither vanish nor
    overflow.
    """
    largest = float(np.abs(matrix).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return matrix, 1.0
    power = int(np.clip(np.frexp(largest)[1], -FARTHEST, FARTHEST))
    return matrix * 2.0**-power, 2.0**power


def norm(array: Array) -> float:
    """The length of all entries together."""
    return float(np.sqrt(np.vdot(array, array)))


def lengths(matrix: Array) -> Array:
    """‖column‖₂ for every column."""
    found: Array = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    return found


def error_of_slack(factor: Array, dual: Array, multiplier: Array) -> Array:
    """How long the columns of the error in FᵀY − M may be."""
    products = norm(factor) * lengths(dual)
    return np.asarray(unit_error(factor, dual) * (products + lengths(multiplier)))


def error_of_products(dual: Array, target: Array) -> Array:
    """How large the error in ⟨y_j, t_j⟩ may be, and its share of that of their sum."""
    return np.asarray(unit_error(dual) * lengths(dual) * lengths(target))
