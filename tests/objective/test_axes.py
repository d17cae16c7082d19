"""Datafits, penalties and couplings satisfy the definitions of prox, dual norm and conjugate."""

import numpy as np
import pytest

from viewspan.objective.couplings import L12Coupling, NuclearCoupling, Uncoupled
from viewspan.objective.datafits import L1, L12, Ball, Frobenius, shrink_columns
from viewspan.objective.penalties import Nuclear, ZeroDiagonalL1
from viewspan.objective.thresholding import GRAM_THRESHOLD

DATAFITS = [Frobenius(2.0), Frobenius(1.0), L12(), L1(), Ball(np.full(7, 0.8))]
PENALTIES = [Nuclear(), ZeroDiagonalL1()]
COUPLINGS = [NuclearCoupling(), L12Coupling()]
LAM = np.array(0.3)
PAPER_V = np.array([[0.0010, 1.0000, 1.0000], [0.0015, 0.1000, 1.0100]])


def assert_minimum(value, prox, point, rng):
    """Check that no random step from ``prox`` lowers value(x) + ½‖x − point‖²."""
    best = value(prox) + 0.5 * np.sum((prox - point) ** 2)
    for scale in (1e-6, 1e-3, 1e-1, 1.0):
        for _ in range(20):
            moved = prox + scale * rng.normal(size=prox.shape)
            assert value(moved) + 0.5 * np.sum((moved - point) ** 2) >= best - 1e-12


@pytest.mark.parametrize("datafit", DATAFITS, ids=repr)
def test_datafit_prox_minimises(datafit):
    rng = np.random.default_rng(0)
    point = rng.normal(size=(5, 7))
    assert_minimum(lambda x: 0.7 * datafit.value(x), datafit.prox(point, 0.7), point, rng)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("shape", [(7, 7), (4, 9), (9, 4)])
def test_penalty_prox_minimises_and_returns_its_value(penalty, shape):
    rng = np.random.default_rng(1)
    point = rng.normal(size=shape)
    prox, value = penalty.prox_and_value(point, LAM)
    assert value == pytest.approx(penalty.value(prox, LAM), rel=1e-12)
    assert_minimum(lambda x: penalty.value(x, LAM), prox, point, rng)


@pytest.mark.parametrize("coupling", COUPLINGS, ids=repr)
def test_coupling_prox_minimises(coupling):
    rng = np.random.default_rng(2)
    point = rng.normal(size=(3, 4, 5))
    assert_minimum(lambda x: 0.6 * coupling.value(x), coupling.prox(point, 0.6), point, rng)


@pytest.mark.parametrize("datafit", DATAFITS, ids=repr)
def test_conjugate_is_the_supremum(datafit):
    """f*(Y) ≥ ⟨Y, E⟩ − f(E) for every E, with equality if Y is a subgradient at E."""
    rng = np.random.default_rng(3)
    dual = rng.normal(size=(5, 7))
    dual /= max(1.0, datafit.polar(dual))
    bound = datafit.conjugate(dual).sum()
    for _ in range(50):
        residual = rng.normal(size=dual.shape) * rng.choice([0.01, 1, 10])
        assert np.sum(dual * residual) - datafit.value(residual) <= bound + 1e-12
    point = rng.normal(size=dual.shape)
    touching = datafit.prox(point, 1.0)
    gradient = point - touching
    attained = np.sum(gradient * touching) - datafit.value(touching)
    assert attained == pytest.approx(datafit.conjugate(gradient).sum(), abs=1e-10)


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
def test_polar_bounds_every_inner_product(penalty):
    rng = np.random.default_rng(4)
    dual = rng.normal(size=(6, 6))
    worst = penalty.polar(dual, LAM).max()
    for _ in range(50):
        primal = rng.normal(size=(6, 6))
        np.fill_diagonal(primal, 0.0)
        assert np.sum(dual * primal) <= worst * penalty.value(primal, LAM) + 1e-12


@pytest.mark.parametrize("penalty", PENALTIES, ids=repr)
@pytest.mark.parametrize("enlargement", [1.0, 1.5, 100.0])
def test_excess_is_the_distance_vector_to_the_dual_ball(penalty, enlargement):
    rng = np.random.default_rng(5)
    dual = rng.normal(size=(6, 6))
    excess = penalty.excess(dual, LAM)
    assert excess.worst == pytest.approx(penalty.polar(dual, LAM).max())
    inside = dual - excess.beyond(enlargement)
    assert penalty.polar(inside, LAM).max() <= enlargement * (1 + 1e-12)
    if enlargement > excess.worst:
        assert not excess.beyond(enlargement).any()


@pytest.mark.parametrize("coupling", COUPLINGS, ids=repr)
def test_coupling_polar_bounds_every_inner_product(coupling):
    rng = np.random.default_rng(6)
    dual = rng.normal(size=(3, 4, 5))
    for _ in range(50):
        primal = rng.normal(size=dual.shape)
        assert np.sum(dual * primal) <= coupling.polar(dual) * coupling.value(primal) + 1e-12


def test_nuclear_values_keep_small_singular_values():
    """A Gram matrix would change small singular values by 1e-8 of the largest."""
    rng = np.random.default_rng(7)
    left, _ = np.linalg.qr(rng.normal(size=(9, 3)))
    right, _ = np.linalg.qr(rng.normal(size=(400, 3)))
    values = np.array([1.0, 1e-5, 1e-11])
    stack = ((left[:3] @ np.linalg.inv(left[:3])) * values @ right.T).reshape(3, 20, 20)
    assert NuclearCoupling().value(stack) == pytest.approx(values.sum(), abs=1e-14)


def test_small_thresholds_do_not_use_a_gram_matrix():
    rng = np.random.default_rng(8)
    matrix = rng.normal(size=(5, 2)) @ rng.normal(size=(2, 5))
    threshold = np.array(0.01 * GRAM_THRESHOLD)
    prox, _ = Nuclear().prox_and_value(matrix, threshold)
    assert np.linalg.matrix_rank(prox, tol=1e-3 * threshold) == 2


def test_uncoupled_views_have_no_multiplier():
    assert Uncoupled().value(np.ones((2, 3, 3))) == 0.0
    assert Uncoupled().polar(np.zeros((2, 3, 3))) == 0.0
    assert Uncoupled().polar(np.ones((2, 3, 3))) == np.inf


def test_the_papers_example_of_l12_thresholding():
    shrunk = shrink_columns(PAPER_V, 0.1)
    expected = np.array([[0, 0.9005, 0.9296], [0, 0.0900, 0.9389]])
    np.testing.assert_allclose(shrunk, expected, atol=5e-5)


def test_nuclear_coupling_aligns_the_rows_of_the_papers_example_more_than_l12():
    """The angle between the rows shrinks more than five times as much."""

    def angle(rows):
        return np.arccos(rows[0] @ rows[1] / np.linalg.norm(rows[0]) / np.linalg.norm(rows[1]))

    stack = PAPER_V.reshape(2, 1, 3)
    by_l12 = L12Coupling().prox(stack, 0.1).reshape(2, 3)
    by_nuclear = NuclearCoupling().prox(stack, 0.1).reshape(2, 3)
    assert angle(PAPER_V) - angle(by_nuclear) > 5 * (angle(PAPER_V) - angle(by_l12)) > 0
