"""The paper's graph."""

import numpy as np
import pytest

import viewspan
from tests.graph.results import random_cores, result_of
from tests.problems import random_views
from viewspan.graph.affinity import affinity


def test_affinity_is_the_formula_of_the_paper():
    first, second = np.random.default_rng(0).normal(size=(2, 5, 5))
    found = affinity([first, second])
    for i in range(5):
        for j in range(5):
            expected = np.hypot(first[i, j], second[i, j]) + np.hypot(first[j, i], second[j, i])
            assert found[i, j] == pytest.approx(expected)
    np.testing.assert_allclose(affinity(first), np.abs(first) + np.abs(first.T))


def test_affinity_of_a_result_is_that_of_its_coefficients():
    result = viewspan.solve(random_views(0), 0.1, 0.5)
    np.testing.assert_allclose(affinity(result), affinity(result.coefficients), atol=1e-12)


def test_view_weights_multiply_the_coefficients():
    cores, weights = random_cores(4), np.array([1.0, 0.5])
    lengths = np.sqrt(cores[0] ** 2 + 0.25 * cores[1] ** 2)
    for given in (result_of(cores), list(cores), cores):
        found = affinity(given, view_weights=weights)
        np.testing.assert_allclose(found, lengths + lengths.T)
    alone = affinity(cores[0], view_weights=[0.5])  # the largest weight becomes 1
    np.testing.assert_allclose(alone, np.abs(cores[0]) + np.abs(cores[0].T))


@pytest.mark.parametrize("weights", [None, [1.0, 0.5]])
def test_missing_samples_are_averaged_over_the_views_that_they_share(weights):
    observed = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    cores, factors = random_cores(4), np.ones(2) if weights is None else np.array(weights)
    squares = (factors[:, None, None] * cores) ** 2
    lengths = np.zeros((4, 4))
    for i in range(4):
        for j in range(4):
            both = observed[:, i] & observed[:, j]
            if not both.any():
                both[:] = True
            lengths[i, j] = np.sqrt(squares[both, i, j].sum() / (factors[both] ** 2).sum())
    found = affinity(result_of(cores, observed=observed), view_weights=weights)
    np.testing.assert_allclose(found, lengths + lengths.T)


def test_views_that_share_one_matrix_are_one_square():
    result = result_of(random_cores(4)[:1], scales=np.array([1.0, 0.5]))
    size = np.abs(result.cores[0])
    found = affinity(result, view_weights=[0.5, 1.0])
    np.testing.assert_allclose(found, np.sqrt(0.5) * (size + size.T))


def test_integers_become_floats():
    np.testing.assert_allclose(affinity([[[1, 2], [3, 4]]]), [[2, 5], [5, 8]])
    small = np.array([[200, 1], [0, 200]], dtype=np.uint8)  # its squares would overflow
    np.testing.assert_allclose(affinity([small]), [[400, 1], [1, 400]])


@pytest.mark.parametrize(
    ("blocks", "listed"),
    [
        ([np.ones((2, 3))], r"\(2, 3\)"),
        ([np.eye(2), np.eye(3)], r"\(2, 2\), \(3, 3\)"),
        ([np.ones((2, 2, 2))], r"\(2, 2, 2\)"),
        ([np.ones(3)], r"\(3,\)"),
        ([], "none"),
    ],
)
def test_matrices_of_wrong_shape_raise(blocks, listed):
    message = rf"^affinity needs square coefficient matrices of one size\. Got shapes: {listed}\.$"
    with pytest.raises(ValueError, match=message):
        affinity(blocks)
