"""Results of the solvers."""

import numpy as np
import pytest

from viewspan.solvers.result import Result, Solution, relative_gap


def test_the_gap_is_relative_to_the_objective():
    assert relative_gap(4.0, 3.0) == 0.25
    assert relative_gap(0.5, 0.25) == 0.5
    assert relative_gap(4.0, 5.0) == 0.0
    assert relative_gap(0.0, -1.0) == relative_gap(-1.0, -2.0) == 0.0
    assert relative_gap(np.inf, 1.0) == relative_gap(np.nan, 1.0) == np.inf


def result(left=None, right=None, scales=None, objective=4.0, dual_bound=3.0):
    cores = np.arange(1.0, 9.0).reshape(2, 2, 2)
    if scales is not None:
        cores = cores[:1]
    return Result(
        cores,
        left,
        right,
        None,
        objective,
        dual_bound,
        "optimal",
        3,
        [],
        np.ones(2),
        1.0,
        scales=scales,
    )


def test_results_and_solutions_have_a_gap():
    zero = np.zeros((1, 2, 2))
    assert result().gap == Solution(zero, [], zero, 4.0, 3.0, "optimal", 1, []).gap == 0.25


def test_coefficients_are_cores_between_their_bases():
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(2, 5, 2))
    for given, of_left, of_right in (
        (result(), np.eye(2), np.eye(2)),
        (result(left=left), left, np.eye(2)),
        (result(right=right), np.eye(2), right),
        (result(left, right), left, right),
    ):
        assert given.n_views == 2
        np.testing.assert_array_equal(given.basis, of_left)
        for view in range(2):
            expected = of_left @ given.cores[view] @ of_right.T
            np.testing.assert_allclose(given.coefficient(view), expected)
            np.testing.assert_allclose(given.coefficients[view], expected)


def test_views_that_share_one_matrix_have_multiples_of_it_as_coefficients():
    shared = result(scales=np.array([1.0, -0.5, 0.25]))
    assert shared.n_views == 3
    np.testing.assert_allclose(
        shared.coefficients, np.array([1.0, -0.5, 0.25])[:, None, None] * shared.cores[0]
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_another_precision_keeps_objective_and_bound(dtype):
    basis, other = np.random.default_rng(0).normal(size=(2, 5, 2))
    same = result(basis, basis, scales=np.ones(2)).astype(np.dtype(dtype))
    assert same.left is same.right
    different = result(basis, other).astype(np.dtype(dtype))
    np.testing.assert_allclose(different.right, other, rtol=1e-6)
    np.testing.assert_allclose(different.left, basis, rtol=1e-6)
    assert result().astype(np.dtype(dtype)).left is result().astype(np.dtype(dtype)).right is None
    for given in (same, different):
        assert given.cores.dtype == given.left.dtype == given.right.dtype == dtype
        assert all(z.dtype == dtype for z in given.coefficients)
        assert (given.objective, given.dual_bound) == (4.0, 3.0)
    unchanged = result(basis, other)
    assert unchanged.astype(np.dtype(float)).cores is unchanged.cores
    assert unchanged.astype(np.dtype(float)).left is basis
