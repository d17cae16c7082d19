"""The reduced problem has the optimum of the full one, with r × r matrices."""

import tracemalloc

import numpy as np
import pytest

import viewspan
from tests.problems import full_problem, random_views
from viewspan.objective.reduction import reduce_views
from viewspan.solvers.admm import admm

SHAPES = {
    "narrow": ((3, 4), 30, None),
    "narrow, low rank": ((6, 8), 30, 4),
    "wide": ((20, 30), 15, None),
    "wide, low rank": ((40, 30), 25, 5),
    "one wide, one narrow": ((4, 50), 20, None),
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axes", [{}, {"datafit": "l12"}], ids=["both sides", "left side"])
def test_the_reduced_optimum_is_the_full_one(shape, axes):
    n_features, n_samples, rank = SHAPES[shape]
    views = random_views(0, n_features, n_samples, rank)
    lam, tau = [0.1, 0.2], 0.6
    full = admm(full_problem(views, lam, tau, **axes), tol=1e-7, max_iter=20000)
    reduced = viewspan.solve(views, lam, tau, tol=1e-7, max_iter=20000, **axes)
    assert reduced.objective == pytest.approx(full.objective, rel=3e-7)
    lifted = np.stack(reduced.coefficients)
    assert full_problem(views, lam, tau, **axes).value(lifted) == pytest.approx(
        reduced.objective, rel=1e-10
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sides", ["both", "left", "none"])
def test_factors_and_bases_reproduce_the_views_up_to_a_rotation_of_features(shape, sides):
    n_features, n_samples, rank = SHAPES[shape]
    views = random_views(1, n_features, n_samples, rank)
    reduction = reduce_views(views, sides)
    assert reduction.n_samples == n_samples
    for view, factor, target in zip(views, reduction.factors, reduction.targets, strict=True):
        lifted = factor if reduction.left is None else factor @ reduction.left.T
        np.testing.assert_allclose(lifted.T @ lifted, view @ view.T, atol=1e-12)
        full = target if reduction.right is None else target @ reduction.right.T
        np.testing.assert_allclose(full, lifted, atol=1e-12)
    if reduction.left is not None:
        np.testing.assert_allclose(
            reduction.left.T @ reduction.left, np.eye(reduction.left.shape[1]), atol=1e-12
        )


def test_solving_many_samples_needs_no_n_by_n_array():
    """An array of 3000 × 3000 numbers would take 72 MB."""
    views = random_views(2, (4, 4), 3000)
    tracemalloc.start()
    result = viewspan.solve(views, 5.0, 10.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6
    assert result.cores.shape == (2, 8, 8)
    assert result.left.shape == (3000, 8)


def test_coefficients_of_a_view_leave_its_own_row_space():
    """The basis must therefore be that of the joint row space."""
    views = random_views(3, (3, 3), 12)
    result = viewspan.solve(views, 0.05, 1.0, tol=1e-8)
    own, _ = np.linalg.qr(views[0])
    first = result.coefficients[0]
    outside = first - own @ (own.T @ first)
    assert np.linalg.norm(outside) > 0.01 * np.linalg.norm(first)


def test_cores_are_not_symmetric():
    result = viewspan.solve(random_views(4), 0.05, 1.0, tol=1e-8)
    core = result.cores[0]
    assert np.linalg.norm(core - core.T) > 1e-3 * np.linalg.norm(core)
