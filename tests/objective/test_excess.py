"""Proofs that a dual point is feasible, from a few singular vectors and a Cholesky factor."""

import numpy as np
import pytest

from tests.problems import full_problem, two_subspaces
from viewspan.objective import excess
from viewspan.objective.excess import BlockExcess, SpectralExcess, norm_is_at_most, proof_margin
from viewspan.solvers.admm import Iteration, State, admm

SHAPES = [(1, 1), (7, 7), (40, 40), (30, 80), (80, 30)]


def matrices(shape):
    """Yield matrices of spectral norm 1 whose largest singular values are near or far."""
    rng, size = np.random.default_rng(sum(shape)), min(shape)
    for values in (np.ones(size), np.linspace(1.0, 0.0, size), 10.0 ** -np.arange(float(size))):
        left, _ = np.linalg.qr(rng.normal(size=(shape[0], size)))
        right, _ = np.linalg.qr(rng.normal(size=(shape[1], size)))
        yield (left * values) @ right.T


@pytest.mark.parametrize("unit", [1.0, 1e-180, 1e180])
@pytest.mark.parametrize("shape", SHAPES)
def test_a_norm_is_proven_above_it_and_never_below(shape, unit):
    for matrix in matrices(shape):
        margin = proof_margin(matrix)
        norm = np.linalg.norm(matrix, 2)
        assert norm_is_at_most(unit * matrix, unit * norm * (1.0 + 2.0 * margin))
        assert not norm_is_at_most(unit * matrix, unit * norm * (1.0 - 1e-15 * len(matrix)))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nothing_is_proven_of_a_matrix_that_is_not_finite(value):
    matrix = np.eye(3)
    matrix[1, 1] = value
    assert not norm_is_at_most(matrix, 10.0)
    assert not norm_is_at_most(np.eye(3), np.nan)


def leading(matrix, count):
    """Return leading left singular vectors, or right ones if they are shorter."""
    wide = matrix if len(matrix) <= matrix.shape[1] else matrix.T
    return np.linalg.svd(wide)[0][:, :count]


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-3, 0.3, 10.0])
def test_what_is_left_lies_in_the_ball_for_any_block(shape, noise):
    """A good block is enough; a bad one is noticed, and all vectors are computed."""
    rng = np.random.default_rng(0)
    for matrix in matrices(shape):
        block = leading(matrix, 1 + min(shape) // 2)
        block, _ = np.linalg.qr(block + noise * rng.normal(size=block.shape))
        lam = np.array(0.8)
        found = BlockExcess(matrix, lam, block)
        for enlargement in (1.25, 1.1, 1.01, 1.0):
            rest = matrix - found.beyond(enlargement)
            radius = enlargement * float(lam) + found.uncertainty(enlargement)
            assert np.linalg.norm(rest, 2) <= radius * (1 + 1e-14)


def test_a_good_block_needs_no_full_decomposition(monkeypatch):
    matrix = next(m for i, m in enumerate(matrices((40, 40))) if i == 1)
    full = SpectralExcess.of(matrix, np.array(0.8))
    monkeypatch.setattr(SpectralExcess, "of", None)
    found = BlockExcess(matrix, np.array(0.8), leading(matrix, 20))
    assert found.worst == pytest.approx(full.worst, rel=1e-9)
    for enlargement in (1.1, 1.0):
        difference = found.beyond(enlargement) - full.beyond(enlargement)
        # it clips a little more than asked for
        assert np.linalg.norm(difference, 2) <= excess.RESERVE * 0.25 * 0.8 * (1 + 1e-9)


def test_directions_are_those_of_the_full_decomposition():
    matrix, lam = np.diag([3.0, 2.0, 1.0, 0.5]), np.array(1.5)
    found = BlockExcess(matrix, lam, np.eye(4)[:, :3]).directions(1.0)
    np.testing.assert_allclose(found, SpectralExcess.of(matrix, lam).directions(1.0))


def test_a_weight_of_zero_leaves_nothing_inside():
    found = BlockExcess(np.eye(3), np.array(0.0), np.eye(3)[:, :2])
    assert found.worst == np.inf
    np.testing.assert_array_equal(found.beyond(1.0), np.eye(3))


@pytest.mark.parametrize("seed", range(4))
def test_blocks_change_the_certificate_little_and_never_above_the_optimum(seed):
    views = two_subspaces(seed, size=30, width=50, noise=0.3)[0]
    problem = full_problem(views, 12.0, 20.0)
    best = admm(problem, tol=1e-10)
    iteration = Iteration(problem, State.start(problem))
    for _ in range(12):
        iteration.advance()
        point = problem.smooth_dual(iteration.stack), iteration.state.multiplier
        full = problem.certificate(*point).bound
        quick = problem.certificate(*point, blocks=iteration.blocks).bound
        assert quick <= best.objective
        assert best.objective - quick <= 1.1 * (best.objective - full) + 1e-9 * best.objective
    assert any(block is not None for block in iteration.blocks)
