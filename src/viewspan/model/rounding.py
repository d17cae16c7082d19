"""What floating-point arithmetic may hide from a certificate.

A sum of n products is exact up to n·ε times the sum of their sizes, and LAPACK's decompositions of an n × n matrix are
those of a matrix that differs by n·ε of its norm. A dual point counts as feasible only if it is so with these errors
against it.
"""

import numpy as np

from viewspan._typing import Array

EPS = float(np.finfo(float).eps)
FEW = 4
"""Operations beside the sums."""


def unit_error(*arrays: Array) -> float:
    """(n + 4)·ε for the longest side n of the arrays."""
    longest: int = max(side for array in arrays for side in array.shape)
    return EPS * (FEW + longest)


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
