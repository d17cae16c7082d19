"""Datafits, penalties and couplings of CLRSC, and their automatic weights."""

import numpy as np
import pytest

import viewspan
from tests.problems import many_subspaces, two_subspaces
from viewspan.datasets import make_mineral_mixtures, make_subspaces
from viewspan.metrics import subspace_clustering_accuracy


def accuracy(labels, views, **parameters):
    model = viewspan.CLRSC(int(labels.max()) + 1, random_state=0, **parameters)
    return subspace_clustering_accuracy(labels, model.fit_predict(views))


def gross_entries(seed):
    """Return data of the paper's study in which one entry in twenty is ten times too large."""
    views, labels = make_subspaces(noise=0.1, random_state=seed)
    rng = np.random.default_rng(seed)
    for view in views:
        entries = rng.permutation(view.size)[: view.size // 20]
        view.flat[entries] = 10 * np.sqrt((view**2).mean()) * rng.choice([-1.0, 1.0], len(entries))
    return views, labels


def test_single_entries_that_are_wrong_need_the_l1_fit():
    accuracies = np.array(
        [
            [accuracy(labels, views, datafit=fit) for fit in ("frobenius", "l1")]
            for views, labels in map(gross_entries, range(2))
        ]
    )
    quadratic, absolute = accuracies.mean(axis=0)
    assert absolute > 95
    assert absolute > quadratic + 30


def test_ssc_gains_by_collaboration(minerals):
    """Compare the same weights with and without the coupling, on the noisiest minerals."""
    draws = [make_mineral_mixtures(noise=0.3, random_state=seed) for seed in range(6)]
    alone, together = (
        np.mean([accuracy(labels, views, penalty="l1", **tau) for views, labels in draws])
        for tau in ({"tau": 0.0}, {})
    )
    assert together > alone + 3


@pytest.mark.parametrize("datafit", ["l12", "l1"])
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_automatic_weights_of_robust_fits_follow_the_scale_of_the_data(datafit, factor):
    views, _ = two_subspaces(noise=0.2)
    weights = []
    for scale in (1.0, factor):
        model = viewspan.CLRSC(2, datafit=datafit, normalize=False, random_state=0).fit(
            [scale * view for view in views]
        )
        weights.append([*model.lam_, model.tau_])
    np.testing.assert_allclose(weights[1], factor * np.array(weights[0]), rtol=1e-6)


def test_an_outlier_costs_less_as_a_residual_than_as_a_direction():
    """λ is above the typical length of a sample for ℓ1,2, and above its typical sum for ℓ1."""
    views, _ = make_subspaces(noise=0.1, random_state=0)
    unit = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]
    by_sample = viewspan.CLRSC(5, datafit="l12", random_state=0).fit(views).lam_
    by_entry = viewspan.CLRSC(5, datafit="l1", random_state=0).fit(views).lam_
    assert (by_sample > 1.49).all()
    assert all(
        lam > 1.49 * np.median(np.abs(view).sum(axis=1))
        for lam, view in zip(by_entry, unit, strict=True)
    )


def test_rank_one_by_landmarks_predicts_and_reports_its_scales():
    views, labels = many_subspaces(n_samples=600)
    model = viewspan.CLRSC(
        5, coupling="rank_one", graph="landmarks", n_landmarks=200, random_state=0
    ).fit(views)
    assert subspace_clustering_accuracy(labels, model.labels_) > 98
    np.testing.assert_array_equal(model.predict(views), model.labels_)
    assert model.scales_.max() == 1.0
    assert model.result_.status == "stationary"
    assert model.tau_ == 0.0
    np.testing.assert_array_equal(model.view_similarity_, np.ones((2, 2)))


def test_weights_of_views_that_share_one_matrix_are_in_the_objective():
    views, labels = two_subspaces(noise=0.1)
    noise = np.random.default_rng(0).normal(size=(30, 12))
    strict = {"coupling": "rank_one", "lam": 0.2}
    ignored = viewspan.CLRSC(2, view_weights=[1.0, 0.0], random_state=0, **strict).fit(
        [views[0], noise]
    )
    alone = viewspan.CLRSC(2, random_state=0, **strict).fit([views[0]])
    np.testing.assert_allclose(ignored.coefficients_[0], alone.coefficients_[0], atol=1e-2)
    assert (
        accuracy(labels, [views[0], noise], view_weights=[1.0, 0.0], coupling="rank_one") == 100.0
    )


def test_the_weighted_objective_is_that_of_its_docstring():
    """Compute Σ w_i² (‖X_i − α_i X_i Z‖_F² + λ_i |α_i| ‖Z‖_*) from its definition."""
    views, _ = two_subspaces(noise=0.1)
    weights, lam = np.array([1.0, 0.4]), np.array([0.2, 0.5])
    model = viewspan.CLRSC(
        2, coupling="rank_one", lam=lam, view_weights=weights, normalize=False, random_state=0
    )
    model.fit(views)
    expected = sum(
        w**2 * (np.linalg.norm(x.T - x.T @ z) ** 2 + weight * np.linalg.norm(z, "nuc"))
        for w, weight, x, z in zip(weights, lam, views, model.coefficients_, strict=True)
    )
    assert model.objective_ == pytest.approx(expected, rel=1e-9)
    np.testing.assert_array_equal(model.view_weights_, weights)


@pytest.mark.parametrize(
    ("axes", "other"),
    [
        ({"coupling": "none", "tau": 0.0}, viewspan.LRR(2, lam=0.3, random_state=0)),
        (
            {"datafit": "l12", "coupling": "l12", "tau": 0.2},
            viewspan.MLAP(2, lam=0.3, tau=0.2, random_state=0),
        ),
    ],
    ids=["LRR", "MLAP"],
)
def test_other_methods_are_choices_on_the_axes(axes, other):
    """CLRSC takes every name, and LRR and MLAP are two of the combinations."""
    views, _ = two_subspaces()
    model = viewspan.CLRSC(2, lam=0.3, random_state=0, **axes).fit(views)
    other.fit(views)
    assert model.axes() == other.axes()
    assert model.objective_ == other.objective_
    np.testing.assert_array_equal(model.labels_, other.labels_)


def test_only_rank_one_has_scales():
    model = viewspan.CLRSC(2, random_state=0).fit(two_subspaces()[0])
    with pytest.raises(AttributeError, match="coupling='rank_one' only"):
        _ = model.scales_


def test_view_scores_are_high_for_informative_views_and_near_zero_for_noise():
    views, _ = two_subspaces(size=60, noise=0.05)
    noise = np.random.default_rng(0).normal(size=(120, 12))
    for parameters in ({}, {"datafit": "l12"}, {"penalty": "l1"}):
        model = viewspan.CLRSC(2, random_state=0, **parameters).fit(
            [views[0], noise, 1e6 * views[1]]
        )
        scores = model.view_scores_
        assert scores[0] > 0.9
        assert scores[2] > 0.9
        assert abs(scores[1]) < 0.2


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"coupling": "rank_one", "datafit": "l12"},
            "coupling='rank_one' needs a quadratic fit, but datafit='l12' is not quadratic",
        ),
        (
            {"coupling": "rank_one", "tau": 1.0},
            "tau weighs a coupling, and coupling='rank_one' is a constraint",
        ),
        (
            {"coupling": "rank_one", "solver": "ladmpsap"},
            "solver='ladmpsap' is for convex couplings",
        ),
        ({"datafit": "l1", "solver": "ladmpsap"}, "solver='ladmpsap' has no step for datafit='l1'"),
        (
            {"datafit": "l1", "penalty": "l1"},
            "lam='auto' has no rule for penalty='l1' with datafit='l1'; give lam",
        ),
        ({"penalty": "l1", "graph": "landmarks"}, "those with penalty='l1' cannot be"),
        ({"datafit": "l1", "graph": "landmarks"}, "those with datafit='l1' cannot be"),
        ({"datafit": "l7"}, "The 'datafit' parameter of CLRSC must be"),
        ({"penalty": "l2"}, "The 'penalty' parameter of CLRSC must be"),
        ({"coupling": "l7"}, "The 'coupling' parameter of CLRSC must be"),
        ({"missing": True}, "The 'missing' parameter of CLRSC must be"),
    ],
    ids=str,
)
def test_impossible_combinations_raise(parameters, message):
    with pytest.raises(ValueError, match=message):
        viewspan.CLRSC(2, **parameters).fit(two_subspaces()[0])


def test_robust_datafits_and_rank_one_accept_the_l1_penalty():
    views, labels = two_subspaces()
    assert accuracy(labels, views, datafit="l12", penalty="l1", lam=0.3) == 100.0
    assert accuracy(labels, views, datafit="l1", penalty="l1", lam=0.9) == 100.0
    assert accuracy(labels, views, penalty="l1", coupling="rank_one") == 100.0


def test_combinations_that_no_solver_takes_have_no_batches():
    """``hasattr`` works on such an estimator, and only ``fit`` raises an error."""
    model = viewspan.CLRSC(2, datafit="l12", coupling="rank_one")
    assert not hasattr(model, "partial_fit")
    with pytest.raises(ValueError, match="coupling='rank_one' needs a quadratic fit"):
        model.fit(two_subspaces()[0])
