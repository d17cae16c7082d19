"""Affine subspaces: one additional feature is constant for all samples."""

import cvxpy as cp
import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import nuclear_norm_of_rows, optimum, random_views

pytestmark = pytest.mark.filterwarnings("ignore:The graph has")


def parallel_lines(seed=0, noise=0.02, size=30, width=15, n_views=2):
    """Return views of two pairs of parallel lines, one on each side of the origin, and labels."""
    rng = np.random.default_rng(seed)
    views = []
    for _ in range(n_views):
        direction, offset = rng.normal(size=(2, 1, width)), rng.normal(size=(2, width))
        lines = [(side * offset[pair], direction[pair]) for pair in range(2) for side in (-1, 1)]
        view = np.vstack([start + rng.normal(size=(size, 1)) @ along for start, along in lines])
        views.append(view + noise * rng.normal(size=view.shape))
    return views, np.repeat(np.arange(4), size)


def test_the_objective_is_that_of_its_docstring():
    """‖X − XZ‖_F² + κ²‖1ᵀ − 1ᵀZ‖² + λ‖Z‖_* + τ‖A‖_*, where κ is the typical norm of a sample."""
    views, lam, tau = random_views(3), np.array([0.1, 0.25]), 0.4
    model = viewspan.CLRSC(2, lam=lam, tau=tau, affine=True, normalize=False, tol=1e-7).fit(views)
    constants = [np.sqrt((view**2).sum(axis=1).mean()) for view in views]
    augmented = [
        np.column_stack([view, np.full(8, k)]) for view, k in zip(views, constants, strict=True)
    ]
    assert model.objective_ == pytest.approx(optimum(augmented, lam, tau), rel=1e-6)


def test_a_large_constant_is_the_strict_constraint():
    """As κ grows, the optimum rises to that under 1ᵀZ_i = 1ᵀ, and column sums of Z_i to 1."""
    views, lam, tau = random_views(4), np.array([0.1, 0.25]), 0.4
    z = [cp.Variable((8, 8)) for _ in views]
    stacked = cp.vstack([cp.reshape(block, (1, 64), order="F") for block in z])
    terms = [cp.sum_squares(view.T - view.T @ block) for view, block in zip(views, z, strict=True)]
    terms += [weight * cp.normNuc(block) for weight, block in zip(lam, z, strict=True)]
    norm, cones = nuclear_norm_of_rows(stacked)
    strict = cp.Problem(
        cp.Minimize(sum(terms) + tau * norm),
        [*cones, *(cp.sum(block, axis=0) == 1 for block in z)],
    )
    strict.solve(solver=cp.CLARABEL)
    values, errors = [], []
    for constant in (1.0, 3.0, 30.0):
        augmented = [np.column_stack([view, np.full(8, constant)]) for view in views]
        result = viewspan.solve(augmented, lam, tau, tol=1e-7, max_iter=20000)
        values.append(result.objective)
        errors.append(max(np.abs(block.sum(axis=0) - 1.0).max() for block in result.coefficients))
    assert values == sorted(values)
    assert values[-1] == pytest.approx(strict.value, rel=1e-2)
    assert values[-1] <= strict.value * (1 + 1e-6)
    assert errors[-1] < 1e-2 < errors[0]


@pytest.mark.parametrize("seed", range(3))
def test_parallel_lines_need_affine_subspaces(seed):
    views, labels = parallel_lines(seed)
    affine = viewspan.CLRSC(4, affine=True, random_state=0).fit_predict(views)
    linear = viewspan.CLRSC(4, affine=False, random_state=0).fit_predict(views)
    assert adjusted_rand_score(labels, affine) > 0.95
    assert adjusted_rand_score(labels, linear) < 0.7


def test_subspaces_of_parallel_lines_are_affine():
    """They have dimension 1 and an origin, and they reproduce noise-free samples."""
    views, labels = parallel_lines(noise=0.0)
    model = viewspan.CLRSC(4, affine=True, random_state=0).fit(views)
    assert adjusted_rand_score(labels, model.labels_) == 1.0
    for cluster, fitted in enumerate(model.subspaces_):
        for view, subspace in zip(views, fitted, strict=True):
            members = view[model.labels_ == cluster]
            assert subspace.dimension == 1
            np.testing.assert_allclose(subspace.basis.T @ subspace.basis, np.eye(1), atol=1e-12)
            np.testing.assert_allclose(subspace.basis.T @ subspace.origin, 0.0, atol=1e-10)
            np.testing.assert_allclose(subspace.project(members), members, atol=1e-8)
    assert model.reconstruct(views).residuals.max() < 1e-8
