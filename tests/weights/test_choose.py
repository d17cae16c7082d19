"""Which rule chooses λ and τ, and the errors if none does."""

from dataclasses import dataclass

import numpy as np
import pytest

from tests.objective.own_objects import ColumnNorm, EntryCoupling, FrobeniusNorm
from tests.problems import random_views
from viewspan import CLRSC
from viewspan.objective.axes import Axes
from viewspan.objective.weight_rule import WeightRule
from viewspan.weights.choose import Weights, default_rule
from viewspan.weights.noise import NoiseRule
from viewspan.weights.robust import RobustRule
from viewspan.weights.sparse import SparseRule


@pytest.mark.parametrize(
    ("datafit", "penalty", "rule"),
    [
        ("frobenius", "nuclear", NoiseRule),
        ("half_frobenius", "nuclear", NoiseRule),
        ("l12", "nuclear", RobustRule),
        ("l1", "nuclear", RobustRule),
        ("frobenius", "l1", SparseRule),
        ("l12", "l1", SparseRule),  # for τ; it has no λ for this fit
        ("frobenius", ColumnNorm(), type(None)),
    ],
    ids=str,
)
def test_the_built_in_rule_depends_on_penalty_and_fit(datafit, penalty, rule):
    assert isinstance(default_rule(Axes.choose(datafit, penalty, "none")), rule)


class FixedRule(WeightRule):
    """λ = 0.5 for every view, at two multiples."""

    multiples = (1.0, 0.5)

    def lam(self, reduction, datafit, multiple=1.0):
        return np.full(len(reduction.spectra), 0.5 * multiple)


@dataclass(frozen=True)
class PenaltyWithRule(FrobeniusNorm):
    """A penalty of the user's own that brings its rule for λ."""

    def weight_rule(self, datafit):
        return FixedRule()


def test_a_penalty_may_bring_its_own_rule():
    model = CLRSC(2, penalty=PenaltyWithRule(), tau=0.3, affinity="coefficients", random_state=0)
    model.fit(random_views(0, (5, 6), 20))
    np.testing.assert_array_equal(model.lam_, [0.5, 0.5])
    assert model.tau_ == 0.3


def weights_at(axes, lam="auto", tau="auto", multiple=1.0, views=None, **options):
    reduction = axes.reduce(random_views(0, (20, 30), 40) if views is None else views, "admm")
    weights = Weights(lam, tau, default_rule(axes), **options)
    return weights.at(reduction, axes, multiple)


def test_small_multiples_of_lam_are_not_coupled():
    axes = Axes.choose("frobenius", "nuclear", "nuclear")
    lam, tau = weights_at(axes)
    smaller, uncoupled = weights_at(axes, multiple=0.25)
    np.testing.assert_allclose(smaller, 0.25 * lam)
    assert tau > uncoupled == 0.0
    assert weights_at(axes, tau=0.7, multiple=0.25)[1] == 0.7


def test_a_given_lam_is_scaled_with_its_view_and_not_by_multiples():
    axes = Axes.choose("frobenius", "nuclear", "nuclear")
    lam, _ = weights_at(axes, lam=[0.1, 0.2], tau=0.5, shared_view_weights=np.array([2.0, 3.0]))
    np.testing.assert_allclose(lam, [0.4, 1.8])
    assert Weights([0.1, 0.2], 0.5, NoiseRule()).multiples == (1.0,)
    assert Weights("auto", 0.5, NoiseRule()).multiples == NoiseRule.multiples


def test_a_given_lam_may_have_one_number_per_sample():
    axes = Axes.choose("frobenius", "l1", "none")
    given = np.linspace(0.1, 0.2, 40)
    lam, tau = weights_at(axes, lam=given, per_sample=True)
    np.testing.assert_array_equal(lam, [given, given])
    assert tau == 0.0


def test_a_missing_rule_for_lam_is_an_error_that_names_the_axes():
    axes = Axes.choose("l12", ColumnNorm(), "nuclear")
    with pytest.raises(
        ValueError, match=r"lam='auto' has no rule for penalty=ColumnNorm\(\) with datafit='l12'"
    ):
        Weights("auto", 0.5, default_rule(axes)).check(axes)


def test_a_missing_rule_for_tau_is_an_error_that_names_the_axes():
    axes = Axes.choose("frobenius", "nuclear", EntryCoupling())
    with pytest.raises(
        ValueError,
        match=r"tau='auto' has no rule for coupling=EntryCoupling\(\) with penalty='nuclear'; give",
    ):
        weights_at(axes)
    axes = Axes.choose("frobenius", ColumnNorm(), "nuclear")
    with pytest.raises(
        ValueError,
        match=r"tau='auto' has no rule for coupling='nuclear' with penalty=ColumnNorm\(\)",
    ):
        weights_at(axes, lam=0.1)


def test_tau_of_a_constraint_must_be_automatic():
    axes = Axes.choose("frobenius", "nuclear", "rank_one")
    with pytest.raises(ValueError, match="coupling='rank_one' is a constraint; leave tau='auto'"):
        Weights("auto", 0.5, NoiseRule()).check(axes)
    assert weights_at(axes)[1] == 0.0
