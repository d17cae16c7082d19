"""λ and τ of fits that allow outliers."""

import numpy as np
import pytest
from sklearn.preprocessing import normalize

from tests.problems import random_views, two_subspaces
from viewspan import LRR, MLAP, solve
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.objective.couplings import L12Coupling, NuclearCoupling
from viewspan.objective.datafits import L1, L12, Frobenius
from viewspan.objective.reduction import reduce_views
from viewspan.weights.noise import automatic_lam
from viewspan.weights.robust import (
    OUTLIER_FACTOR,
    MatchedRule,
    RobustRule,
    collapse_weight,
    matched_lam,
)


def singular_values(view):
    return np.linalg.svd(view, compute_uv=False)


def test_below_the_collapse_weight_every_sample_represents_only_itself():
    """The optimum of the ℓ1,2 fit is then Z = I."""
    rng = np.random.default_rng(0)
    view = normalize(rng.normal(size=(20, 60)))
    collapse = collapse_weight(singular_values(view), 20)
    for factor, identical in ((0.8, True), (1.3, False)):
        (coefficients,) = solve(
            [view], factor * collapse, datafit="l12", coupling="none", tol=1e-8
        ).coefficients
        assert np.allclose(coefficients, np.eye(20), atol=1e-3) == identical


def test_dependent_samples_have_no_collapse_weight():
    view = np.random.default_rng(0).normal(size=(20, 5))
    assert collapse_weight(singular_values(view), 20) == 0


def test_views_with_many_noisy_features_are_clustered():
    """Few directions with strong noise, as in the paper's studies of minerals and faces."""
    rng = np.random.default_rng(0)
    clean = [np.repeat(normalize(rng.normal(size=(5, 600))), 10, axis=0) for _ in range(2)]
    views = [view + 0.04 * rng.normal(size=view.shape) for view in clean]
    truth = np.repeat(np.arange(5), 10)
    for model in (MLAP(5, random_state=0), LRR(5, datafit="l12", random_state=0)):
        assert subspace_clustering_accuracy(truth, model.fit_predict(views)) == 100


def test_matched_lam_has_the_slope_of_the_quadratic_fit():
    """‖e‖ has slope 1 and ‖e‖² slope 2ε at residuals of length ε, those of the closed form."""
    (view,) = two_subspaces(n_views=1, noise=0.3)[0]
    reduction = reduce_views([view])
    lam = automatic_lam(reduction.singular_values(), [30], reduction.n_features_used)
    (coefficients,) = solve([view], lam, coupling="none").coefficients
    residual = np.linalg.norm(view.T - view.T @ coefficients) / np.sqrt(30)
    (matched,) = matched_lam(reduction.singular_values(), lam, [30])
    assert matched == pytest.approx(lam[0] / (2 * residual), rel=1e-6)
    np.testing.assert_array_equal(MatchedRule().lam(reduction, L12()), [matched])


def test_matched_lam_leaves_coefficients():
    """All coefficients are zero from ‖X‖₂² divided by the length of a sample on."""
    values = np.full(20, 2.0)
    largest = 4.0 / np.sqrt(80.0 / 40)
    assert matched_lam([values], np.array([1e6]), [40]) <= 0.5 * largest


@pytest.mark.parametrize("datafit", [L12(), L1()], ids=repr)
def test_robust_lam_is_above_the_cost_of_a_typical_sample(datafit):
    """An outlier then costs less as a residual than as a sample that represents itself."""
    views, _ = two_subspaces(noise=0.3)
    reduction = reduce_views(views, "left", squares_suffice=False, rotate_features=datafit == L12())
    lam = RobustRule().lam(reduction, datafit)
    for view, weight in zip(views, lam, strict=True):
        costs = [datafit.value(sample[:, None]) for sample in view]
        assert weight >= OUTLIER_FACTOR * np.median(costs) * (1 - 1e-9)
    np.testing.assert_allclose(RobustRule().lam(reduction, datafit, 0.5), 0.5 * lam)


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_robust_weights_are_proportional_to_the_data(scale):
    views, rule = random_views(0, (20, 30), 40), RobustRule()
    found = []
    for factor in (1.0, scale):
        reduction = reduce_views([factor * view for view in views], "left")
        lam = rule.lam(reduction, L12())
        strength = rule.strength(reduction, L12(), lam)
        nuclear = NuclearCoupling().automatic_tau(reduction, lam, strength)
        found.append([*lam, nuclear, L12Coupling().automatic_tau(reduction, lam, strength)])
    np.testing.assert_allclose(found[1], scale * np.array(found[0]))


def test_zero_views_do_not_change_the_pull():
    views, rule = random_views(0, (20, 30), 40), RobustRule()
    pulls = []
    for given in (views, [*views, np.zeros((40, 5))]):
        reduction = reduce_views(given, "left")
        pulls.append(rule.strength(reduction, L12(), rule.lam(reduction, L12())))
    assert pulls[0] == pytest.approx(pulls[1])
    zero = reduce_views([np.zeros((40, 5))], "left")
    assert rule.strength(zero, L12(), np.zeros(1)) == (0.0, 0.0)


def test_tau_of_mlap_is_a_twentieth_of_a_samples_length():
    """Samples have length 3, and ‖X‖₂² / 4N over that length is larger."""
    views = [3.0 * view for view in random_views(0, (5, 6), 8)]
    reduction = reduce_views(views, "none")
    lam = RobustRule().lam(reduction, Frobenius())
    assert L12Coupling().automatic_tau(reduction, lam, None) == pytest.approx(0.05 * 3.0)
