"""Singular value thresholding that starts from the singular vectors of the last matrix."""

import numpy as np
import pytest
import scipy.linalg

import viewspan
from tests.problems import random_views
from viewspan.objective import thresholding
from viewspan.objective.thresholding import WarmThresholding, orthonormal


def decaying(rng, shape, rank):
    """Return a matrix whose singular values fall below 1 after ``rank`` of them."""
    left, _ = np.linalg.qr(rng.normal(size=(shape[0], min(shape))))
    right, _ = np.linalg.qr(rng.normal(size=(shape[1], min(shape))))
    return (left * 10.0 ** (1.0 - np.arange(min(shape)) / rank)) @ right.T


def exact(matrix, lam):
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    shrunk = np.maximum(values - lam, 0.0)
    return (left * shrunk) @ right, lam * shrunk.sum()


@pytest.mark.parametrize("shape", [(60, 60), (60, 90), (90, 60)])
def test_an_iteration_that_settles_gets_the_exact_result(shape):
    """The matrix changes less and less, as in a solver."""
    rng = np.random.default_rng(0)
    limit, lam, prox = decaying(rng, shape, 12), np.array(1.0), WarmThresholding()
    for step in range(25):
        matrix = limit + 0.3**step * rng.normal(size=shape)
        found, value = prox(matrix, lam)
    expected, expected_value = exact(matrix, 1.0)
    assert prox.block is not None and prox.block.shape == (60, 12 + 8)
    np.testing.assert_allclose(found, expected, atol=1e-7)
    assert value == pytest.approx(expected_value, rel=1e-9)


@pytest.mark.parametrize("threshold", [1.0, 1e-9])
def test_the_spectrum_is_that_of_the_result(threshold):
    """It is known after a full decomposition, within a block, and for tiny thresholds."""
    rng, prox = np.random.default_rng(0), WarmThresholding()
    limit = decaying(rng, (50, 70), 9)
    for step in range(3):
        found, _ = prox(limit + 0.1**step * rng.normal(size=limit.shape), np.array(threshold))
        values = np.linalg.svd(found, compute_uv=False)[: len(prox.spectrum.values)]
        np.testing.assert_allclose(prox.spectrum.values, values, atol=1e-10)
        columns = prox.spectrum.matrix  # the columns of the result, up to a rotation
        np.testing.assert_allclose(columns.T @ columns, found.T @ found, atol=1e-8)
    assert prox(limit.T, np.array(1.0)) and prox.spectrum is None


def test_the_value_is_never_below_the_nuclear_norm():
    """It belongs to the matrix that is returned, even if that is not the exact result."""
    rng, prox = np.random.default_rng(1), WarmThresholding()
    for _ in range(6):
        matrix = decaying(rng, (50, 50), 9)  # a new one each time, so that the block is wrong
        found, value = prox(matrix, np.array(1.0))
        norm = np.linalg.svd(found, compute_uv=False).sum()
        assert norm <= value * (1 + 1e-12) <= norm * 1.2


def test_the_value_is_no_less_if_rounding_spoils_the_basis():
    """A block maps to nearly dependent columns, whose basis is far from orthonormal."""
    rng, spoilt = np.random.default_rng(4), 0
    values = np.array([3e5, 2e5, 1.2, *np.linspace(1e-3, 1e-4, 17)])
    for _ in range(60):
        left, _ = np.linalg.qr(rng.normal(size=(20, 20)))
        right, _ = np.linalg.qr(rng.normal(size=(20, 20)))
        matrix, prox = (left * values) @ right, WarmThresholding()
        prox.block, _ = np.linalg.qr(left[:, :11] + 0.1 * rng.normal(size=(20, 11)))
        basis = orthonormal(matrix.T @ prox.block)
        spoilt += basis is not None and np.linalg.norm(basis, 2) > 1.01
        found, value = prox(matrix, np.array(1.0))
        assert np.linalg.svd(found, compute_uv=False).sum() <= value * (1 + 1e-14)
    assert spoilt > 5


def test_a_block_that_is_full_is_not_trusted():
    """More singular values pass the threshold than the block has vectors."""
    rng, prox = np.random.default_rng(2), WarmThresholding()
    matrix = decaying(rng, (80, 80), 20)
    prox(matrix, np.array(3.0))
    found, value = prox(matrix, np.array(1.0))
    expected, expected_value = exact(matrix, 1.0)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    assert value == pytest.approx(expected_value, rel=1e-12)


def test_subspaces_that_are_orthogonal_stay_so():
    """The first matrix has rank 6 but for rounding, so further vectors of it are arbitrary."""
    rng, prox = np.random.default_rng(5), WarmThresholding()
    apart = np.kron(np.eye(3), np.ones((8, 8))) == 0

    def groups(rank):
        blocks = [rng.normal(size=(8, rank)) @ rng.normal(size=(rank, 8)) for _ in range(3)]
        return scipy.linalg.block_diag(*blocks)

    limit = groups(2) + 1e-15 * rng.normal(size=(24, 24))
    prox(limit, np.array(1.0))
    assert prox.block.shape == (24, 6)
    for step in range(5):
        found, _ = prox(limit + 0.7**step * 0.01 * groups(8), np.array(1.0))
        assert np.abs(found[apart]).max() <= 1e-12
    assert prox.block.shape == (24, 6 + 8)


def test_a_matrix_of_high_rank_needs_all_vectors():
    prox = WarmThresholding()
    prox(np.random.default_rng(3).normal(size=(30, 30)), np.array(0.1))
    assert prox.block is None


def test_nothing_above_the_threshold_gives_zero():
    prox, matrix = WarmThresholding(), np.eye(40)
    for _ in range(3):
        found, value = prox(matrix, np.array(2.0))
        assert not found.any() and value == 0.0


def test_dependent_columns_have_no_basis():
    assert orthonormal(np.ones((5, 2))) is None
    assert orthonormal(np.zeros((5, 2))) is None


def test_a_solve_takes_the_same_path_as_with_full_decompositions(monkeypatch):
    views = random_views(0, (60, 70), 90)
    warm = viewspan.solve(views, 2.0, 3.0, tol=1e-7)
    monkeypatch.setattr(thresholding, "MAX_BLOCK_SHARE", 0.0)
    full = viewspan.solve(views, 2.0, 3.0, tol=1e-7)
    assert warm.n_iter == full.n_iter
    assert warm.gap <= 1e-7
    assert warm.objective == pytest.approx(full.objective, rel=1e-7)
