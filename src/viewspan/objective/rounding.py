"""Bounds of the rounding errors in a certificate.

A sum of n products is exact up to n·ε times the sum of their magnitudes. LAPACK's decomposition of
an n × n matrix is exact for a matrix that differs from it by n·ε of its norm. A dual point counts
as feasible only if it is feasible for every error within these bounds.
"""

import numpy as np

from viewspan._utils.typing import Array

EPS = float(np.finfo(float).eps)
N_OTHER_OPERATIONS = 4
"""Number of rounded operations beside those of the sum."""
MODERATE_EXPONENT = 200
"""Exponent up to which squares, and sums of them, are normal numbers."""
LARGEST_EXPONENT = 1000
"""Largest exponent for which a power of two and its inverse are both normal numbers."""


def unit_error(*arrays: Array) -> float:
    """Return (n + 4)·ε, where n is the longest side of the arrays."""
    longest: int = max(side for array in arrays for side in array.shape)
    return EPS * (N_OTHER_OPERATIONS + longest)


def near_one(matrix: Array) -> tuple[Array, float]:
    """Return the matrix divided by a power of two, and that power.

    Squares of the largest entries then neither underflow nor overflow. Where they would not do so
    anyway, the matrix is returned as it is.
    """
    largest = float(max(matrix.max(initial=0.0), -matrix.min(initial=0.0)))
    if not 0.0 < largest < np.inf or abs(np.frexp(largest)[1]) <= MODERATE_EXPONENT:
        return matrix, 1.0
    exponent = int(np.clip(np.frexp(largest)[1], -LARGEST_EXPONENT, LARGEST_EXPONENT))
    return matrix * 2.0**-exponent, 2.0**exponent


def frobenius_norm(array: Array) -> float:
    """Return the Frobenius norm of an array of any dimension."""
    return float(np.sqrt(np.vdot(array, array)))


def distance_from_orthonormal(rows: Array) -> float:
    """Return a bound of ‖RRᵀ − I‖_F for a matrix R with nearly orthonormal rows."""
    gram = rows @ rows.T
    rounding = unit_error(rows) * float(np.trace(gram))
    gram[np.diag_indices_from(gram)] -= 1.0
    return frobenius_norm(gram) * (1.0 + unit_error(gram) * len(gram)) + rounding


def column_lengths(matrix: Array) -> Array:
    """Return ‖column‖₂ for every column."""
    lengths: Array = np.sqrt(np.einsum("ij,ij->j", matrix, matrix))
    return lengths


def error_of_slack(factor: Array, dual: Array, multiplier: Array) -> Array:
    """Return a bound for the length of every column of the error in FᵀY − M."""
    products = frobenius_norm(factor) * column_lengths(dual)
    return np.asarray(unit_error(factor, dual) * (products + column_lengths(multiplier)))


def error_of_products(dual: Array, target: Array) -> Array:
    """Return a bound for the error in ⟨y_j, t_j⟩ of every sample, and in its sum over samples."""
    return np.asarray(unit_error(dual) * column_lengths(dual) * column_lengths(target))
