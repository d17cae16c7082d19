"""Matrix decompositions; tests/faults/test_lapack.py tests their fallbacks."""

import numpy as np
import pytest

from viewspan._utils.linalg import (
    eigh,
    leading_eigh,
    ratio,
    singular_values,
    spectrum,
    spectrum_of_gram,
    svd,
    triangle,
)

MATRIX = np.random.default_rng(0).normal(size=(7, 4))


def test_the_singular_value_decomposition_is_thin_and_ordered():
    found = svd(MATRIX)
    assert found.left.shape == (7, 4)
    assert (np.diff(found.values) < 0).all()
    np.testing.assert_allclose(found.left * found.values @ found.right, MATRIX, atol=1e-12)
    np.testing.assert_allclose(singular_values(MATRIX), found.values)


def test_a_spectrum_determines_the_gram_matrix():
    found = spectrum(MATRIX).matrix
    np.testing.assert_allclose(found.T @ found, MATRIX.T @ MATRIX, atol=1e-12)
    np.testing.assert_allclose(found @ found.T, np.diag(singular_values(MATRIX) ** 2), atol=1e-12)


def test_the_spectrum_of_a_gram_matrix_has_no_directions_of_rounding():
    low_rank = np.hstack([MATRIX, MATRIX])
    found = spectrum_of_gram(low_rank.T @ low_rank)
    np.testing.assert_allclose(found.values, singular_values(low_rank)[:4])
    np.testing.assert_allclose(found.matrix.T @ found.matrix, low_rank.T @ low_rank, atol=1e-10)
    zero = spectrum_of_gram(np.zeros((3, 3)))
    assert zero.values.tolist() == [0.0]
    assert zero.right.shape == (1, 3)


def test_the_triangle_is_the_factor_of_a_qr_factorisation():
    found = triangle(MATRIX)
    np.testing.assert_array_equal(found, np.triu(found))
    np.testing.assert_allclose(found.T @ found, MATRIX.T @ MATRIX, atol=1e-12)


@pytest.mark.parametrize("count", [1, 3, 7])
def test_leading_eigenpairs_are_the_last_ones_of_all(count):
    matrix = MATRIX @ MATRIX.T + np.diag(np.arange(7.0))
    values, vectors = leading_eigh(matrix, count)
    np.testing.assert_allclose(values, eigh(matrix)[0][::-1][:count])
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)


def test_a_ratio_with_denominator_zero_is_zero():
    found = ratio(np.array([[1.0, 2.0]]), np.array([[2.0], [0.0]]))
    np.testing.assert_array_equal(found, [[0.5, 1.0], [0.0, 0.0]])
