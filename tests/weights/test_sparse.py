"""λ of ℓ1 penalties, one per sample."""

import cvxpy as cp
import numpy as np
import pytest

from tests.problems import optimum, random_views
from viewspan.objective.couplings import NuclearCoupling
from viewspan.objective.datafits import Frobenius
from viewspan.objective.penalties import ZeroDiagonalL1
from viewspan.objective.reduction import reduce_views
from viewspan.weights.sparse import (
    SparseRule,
    data_driven_lam,
    distance_to_others,
    fill_missing,
)


def test_lam_is_a_quarter_over_the_l1_length_of_the_representation():
    """For samples of a plane without noise the first pass finds the shortest representation."""
    view = random_views(1, (6,), 9, rank=2)[0].T
    weights = data_driven_lam([view], [6])[0]
    for j in range(9):
        others = np.delete(view, j, axis=1)
        shortest = shortest_representation(others, view[:, j])
        largest = 0.5 * np.abs(others.T @ view[:, j]).max()
        assert weights[j] == pytest.approx(min(0.25 / shortest, largest), rel=0.02)


def shortest_representation(dictionary, target):
    weights = cp.Variable(dictionary.shape[1])
    problem = cp.Problem(cp.Minimize(cp.norm1(weights)), [dictionary @ weights == target])
    return problem.solve(solver=cp.CLARABEL)


def test_lam_leaves_every_sample_a_neighbour():
    view = random_views(2, (30,), 12)[0].T
    weights = data_driven_lam([view], [30])
    slack = ZeroDiagonalL1().polar(view.T @ view, weights[0])
    assert (slack >= 2 - 1e-9).all()
    assert optimum([view.T], weights, 0.0, "half_frobenius", "l1", "none") < 6.0


def test_distance_to_the_span_of_the_others():
    view = random_views(3, (12,), 5)[0].T
    for j, distance in enumerate(distance_to_others(view)):
        others, _ = np.linalg.qr(np.delete(view, j, axis=1))
        expected = np.linalg.norm(view[:, j] - others @ (others.T @ view[:, j]))
        assert distance == pytest.approx(expected, rel=1e-6)
    assert not distance_to_others(random_views(4, (3,), 9)[0].T).any()


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_weights_are_proportional_to_the_square_of_the_data_and_to_the_curvature(scale):
    views, rule, coupling = random_views(0, (6, 7), 12), SparseRule(), NuclearCoupling()
    found = []
    for factor, curvature in ((1.0, 2.0), (scale, 1.0)):
        reduction, datafit = reduce_views([factor * v for v in views], "none"), Frobenius(curvature)
        lam = rule.lam(reduction, datafit)
        tau = coupling.automatic_tau(reduction, lam, rule.strength(reduction, datafit, lam))
        found.append(np.append(lam, tau))
    np.testing.assert_allclose(found[1], 0.5 * scale**2 * found[0], rtol=1e-6)


def test_the_pull_is_half_the_norm_of_the_squared_lengths():
    """Samples of unit length: ½ √N for the fit ‖E‖_F²; zero views are ignored."""
    rule, views = SparseRule(), random_views(0, (6, 7), 12)
    reduction = reduce_views([*views, np.zeros((12, 3))], "none")
    strength = rule.strength(reduction, Frobenius(2.0), rule.lam(reduction, Frobenius(2.0)))
    assert strength.subgradient_norm == pytest.approx(0.5 * np.sqrt(12))
    assert strength.max_tau > 0
    zero = reduce_views([np.zeros((12, 3))], "none")
    assert rule.strength(zero, Frobenius(2.0), np.zeros((1, 12))) == (0.0, 0.0)


def test_missing_samples_get_the_median_lam_of_their_view():
    lam = np.array([[1.0, 2.0, 3.0, 9.0], [5.0, 5.0, 5.0, 5.0]])
    observed = np.array([[True, True, True, False], [False] * 4])
    np.testing.assert_array_equal(
        fill_missing(lam, observed), [[1.0, 2.0, 3.0, 2.0], [0.0, 0.0, 0.0, 0.0]]
    )
