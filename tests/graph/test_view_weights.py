"""Automatic view weights: views that noise could replace count less."""

import numpy as np
import pytest

import viewspan
from tests.graph.graphs import normalised
from viewspan.datasets import make_subspaces
from viewspan.graph import view_weights
from viewspan.graph.patterns import Patterns, neighbor_graph, patterns_of, unit_columns
from viewspan.graph.view_weights import (
    automatic_view_weights,
    cohesion,
    noise_patterns,
    share_of_largest,
    single_views,
    subsample,
)
from viewspan.metrics import subspace_clustering_accuracy


def with_noise_view(width, seed=0):
    """Return a view with clusters and a view of noise, and the labels."""
    views, labels = make_subspaces(noise=0.15, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(len(labels), width))
    return [views[0], noise], labels


@pytest.mark.parametrize("width", [2, 3, 10, 50])
def test_a_view_of_noise_does_no_harm(width):
    """Noise in few dimensions can be cut well, so it needs a small weight."""
    views, labels = with_noise_view(width)
    model, alone = (viewspan.CLRSC(5, random_state=0).fit(given) for given in (views, views[0]))
    assert model.view_weights_[0] == 1
    if width < 5:
        assert model.view_weights_[1] < 0.5
    without_noise = subspace_clustering_accuracy(labels, alone.labels_)
    assert subspace_clustering_accuracy(labels, model.labels_) >= without_noise - 2 >= 95


def test_equal_weights_cost_accuracy_if_a_view_is_noise():
    scores = {"equal": [], "auto": []}
    for seed in range(4):
        views, labels = with_noise_view(3, seed)
        for how, found in scores.items():
            model = viewspan.CLRSC(5, view_weights=how, random_state=0).fit(views)
            found.append(subspace_clustering_accuracy(labels, model.labels_))
    assert np.mean(scores["auto"]) > np.mean(scores["equal"]) + 20


@pytest.mark.parametrize("seed", range(4))
def test_views_of_one_kind_have_equal_weights(seed):
    views, _ = make_subspaces(noise=0.3, random_state=seed)
    weights = viewspan.CLRSC(5, random_state=0).fit(views).view_weights_
    np.testing.assert_array_equal(weights, [1, 1])


def test_weights_do_not_depend_on_the_order_of_views():
    views, _ = with_noise_view(3)
    one, other = (viewspan.CLRSC(5, random_state=0).fit(which) for which in (views, views[::-1]))
    np.testing.assert_allclose(one.view_weights_, other.view_weights_[::-1], rtol=1e-3)


def groups(rng, labels, n_features, distance):
    centres = distance * rng.normal(size=(int(labels.max()) + 1, n_features))
    return centres[labels] + rng.normal(size=(len(labels), n_features))


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_effect_in_one_view_does_not_outvote_two_views_that_agree(seed):
    rng = np.random.default_rng(seed)
    labels, batch = np.repeat(np.arange(4), 40), rng.integers(4, size=160)
    views = [
        groups(rng, labels, 20, 1.2),
        groups(rng, labels, 20, 1.2),
        groups(rng, batch, 20, 1.6),
    ]
    model = viewspan.CLRSC(4, random_state=0).fit(views)
    same_lam = viewspan.CLRSC(4, lam=model.lam_.mean(), affinity="patterns", random_state=0)
    assert (same_lam.fit(views).view_weights_ == 1).all()
    assert subspace_clustering_accuracy(labels, model.labels_) > 80


def test_views_that_separate_different_clusters_have_equal_weights():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 30)
    views = [
        groups(rng, np.minimum(labels, 4), 20, 2.0),
        groups(rng, np.maximum(labels - 3, 0), 20, 2.0),
    ]
    model = viewspan.CLRSC(6, random_state=0).fit(views)
    assert (model.view_weights_ == 1).all()
    assert subspace_clustering_accuracy(labels, model.labels_) > 95


def test_the_only_view_with_weight_may_vanish_along_the_path():
    rng = np.random.RandomState(0)
    views = [rng.normal(size=(100, 100)), rng.normal(size=(100, 1000))]
    model = viewspan.CLRSC(2, view_weights=[0, 1], random_state=0).fit(views)
    assert any(result.cores[0].any() and not result.cores[1].any() for result in model.path_)
    assert len(model.labels_) == 100


def test_weights_do_not_depend_on_the_seed_of_the_cut():
    views, _ = with_noise_view(3)
    one, other = (viewspan.CLRSC(5, random_state=seed).fit(views) for seed in (0, 1))
    np.testing.assert_array_equal(one.view_weights_, other.view_weights_)
    assert abs(one.affinity_matrix_ - other.affinity_matrix_).max() < 1e-8


def test_given_weights_are_used_in_both_graphs():
    views, _ = with_noise_view(3)
    alone = viewspan.LRR(5, affinity="coefficients", random_state=0).fit(views[0])
    for graph in ("patterns", "coefficients"):
        model = viewspan.LRR(5, view_weights=[2, 0], affinity=graph, random_state=0).fit(views)
        np.testing.assert_array_equal(model.view_weights_, [1, 0])
    np.testing.assert_allclose(model.affinity_matrix_, alone.affinity_matrix_, atol=1e-10)


@pytest.mark.parametrize(
    ("weights", "message"),
    [([1, 2, 3], "one number per view, 2"), ([1, -1], "at least 0"), ([0, 0], "one of them")],
)
def test_invalid_weights_raise(weights, message):
    views, _ = with_noise_view(3)
    with pytest.raises(ValueError, match=message):
        viewspan.CLRSC(5, view_weights=weights).fit(views)


def test_samples_of_zeros_in_a_view_are_not_called_isolated():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    views = [groups(rng, labels, 20, 2.0), groups(rng, labels, 20, 2.0)]
    views[0][::4] = 0
    with pytest.warns(UserWarning, match="23 of 90 samples") as caught:
        viewspan.CLRSC(3, view_weights=[1, 0], random_state=0).fit(views)
    assert not [record for record in caught if "connected to no other" in str(record.message)]


def random_patterns(n_samples=40, widths=(3, 6), seed=0, observed=None):
    rng = np.random.default_rng(seed)
    return Patterns(
        [unit_columns(rng.normal(size=(width, n_samples))) for width in widths],
        [np.linspace(2.0, 1.0, width) for width in widths],
        observed,
    )


def clustered_patterns():
    """Return patterns of noise in two and three dimensions, and of four groups in five."""
    patterns = random_patterns(widths=(2, 3, 5))
    centres = np.eye(5)[:, np.arange(40) % 4]
    noise = 0.3 * np.random.default_rng(1).normal(size=(5, 40))
    patterns.columns[2] = unit_columns(centres + noise)
    return patterns


def shares(patterns, n_clusters):
    """Return 1 − c_i and e_i, both relative to their largest value over views."""
    views = single_views(patterns)
    chance = np.array([cohesion(noise_patterns(view, 0), n_clusters) for view in views])
    excess = np.maximum([cohesion(view, n_clusters) for view in views] - chance, 0)
    return (1 - chance) / max(1 - chance), excess / max(excess)


@pytest.mark.parametrize("n_clusters", [2, 4])
def test_a_weight_is_the_larger_of_two_shares(n_clusters):
    patterns = clustered_patterns()
    weights = np.maximum(*shares(patterns, n_clusters))
    assert 0 < weights[0] < weights[1] < 0.9
    assert weights[2] == 1
    np.testing.assert_allclose(automatic_view_weights(patterns, n_clusters), weights, rtol=1e-9)


def test_the_excess_over_noise_counts_if_it_is_larger():
    """Groups in two dimensions: noise in two dimensions can be cut nearly as well."""
    patterns = random_patterns(widths=(2, 6))
    angles = np.pi * (np.arange(40) % 4) / 4 + 0.01 * np.random.default_rng(0).normal(size=40)
    patterns.columns[0] = unit_columns(np.stack([np.cos(angles), np.sin(angles)]))
    open_to_chance, excess = shares(patterns, 4)
    assert excess[0] == 1 > open_to_chance[0] + 0.2
    np.testing.assert_array_equal(automatic_view_weights(patterns, 4), [1.0, 1.0])


def test_nearly_equal_weights_become_equal(monkeypatch):
    patterns = clustered_patterns()
    weight = automatic_view_weights(patterns, 4)[1]
    for threshold, expected in ((weight, 1.0), (np.nextafter(weight, 1), weight)):
        monkeypatch.setattr(view_weights, "EQUAL_WEIGHT_THRESHOLD", threshold)
        assert automatic_view_weights(patterns, 4)[1] == expected


def test_one_view_or_one_cluster_gives_equal_weights():
    np.testing.assert_array_equal(automatic_view_weights(clustered_patterns(), 1), [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(automatic_view_weights(random_patterns(widths=(3,)), 2), [1.0])


def test_weights_are_equal_if_noise_leaves_nothing_to_compare(monkeypatch):
    monkeypatch.setattr(view_weights, "cohesion", lambda *_: 1.0)
    np.testing.assert_array_equal(automatic_view_weights(random_patterns(), 2), [1.0, 1.0])


def test_views_of_noise_keep_some_weight():
    rng = np.random.default_rng(0)
    result = viewspan.solve([rng.normal(size=(60, 20)) for _ in range(3)], lam=5.0)
    weights = automatic_view_weights(patterns_of(result, mutual=False), 3)
    assert weights.max() == 1
    assert (weights > 0.2).all()


def test_cohesion_is_the_mean_of_the_leading_eigenvalues():
    view = single_views(random_patterns())[0]
    values = np.linalg.eigvalsh(normalised(neighbor_graph(view, np.ones(1)).toarray()))[::-1]
    assert cohesion(view, 3) == pytest.approx(values[:3].mean(), rel=1e-6)


def test_shares_are_relative_to_the_largest_and_not_negative():
    np.testing.assert_array_equal(share_of_largest(np.array([2.0, 1.0, -1.0])), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(share_of_largest(np.array([-2.0, 0.0])), [0.0, 0.0])


def test_single_views_share_the_arrays():
    patterns = random_patterns()
    for one, column, values in zip(single_views(patterns), *patterns[:2], strict=True):
        assert one.columns[0] is column
        assert one.spectra[0] is values
        assert one.observed is None


def test_noise_has_the_singular_values_and_the_missing_samples_of_the_view():
    values = np.array([8.0, 4.0, 2.0, 1.0])
    pattern = np.ones((4, 500), dtype=np.float32)
    pattern[:, 7] = 0
    (column,) = noise_patterns(Patterns([pattern], [values]), seed=3).columns
    drawn = values[:, None] * np.random.RandomState(3).normal(size=(4, 500))
    drawn[:, 7] = 0
    lengths = np.linalg.norm(drawn, axis=0)
    lengths[7] = 1
    np.testing.assert_allclose(column, drawn / lengths, rtol=1e-5)


def test_noise_depends_on_its_seed_and_keeps_spectra_and_observations():
    patterns = random_patterns(observed=np.ones((2, 40), dtype=bool))
    one, same, other = (noise_patterns(patterns, seed) for seed in (0, 0, 1))
    for view, given in enumerate(patterns.columns):
        assert one.columns[view].shape == given.shape
        np.testing.assert_array_equal(one.columns[view], same.columns[view])
        assert np.abs(one.columns[view] - other.columns[view]).max() > 0.1
    assert one.spectra is patterns.spectra
    assert one.observed is patterns.observed


def test_a_subsample_keeps_the_order_of_samples(monkeypatch):
    patterns, chosen = subsample(random_patterns())
    np.testing.assert_array_equal(chosen, np.arange(40))
    assert patterns.observed is None
    monkeypatch.setattr(view_weights, "MAX_COMPARED_SAMPLES", 7)
    observed = np.random.default_rng(0).uniform(size=(2, 40)) < 0.5
    full = random_patterns(observed=observed)
    patterns, chosen = subsample(full)
    np.testing.assert_array_equal(chosen, np.sort(np.random.RandomState(0).permutation(40)[:7]))
    for column, given in zip(patterns.columns, full.columns, strict=True):
        np.testing.assert_array_equal(column, given[:, chosen])
    np.testing.assert_array_equal(patterns.observed, observed[:, chosen])
    assert patterns.spectra is full.spectra


def test_weights_are_those_of_the_subsample(monkeypatch):
    patterns = clustered_patterns()
    monkeypatch.setattr(view_weights, "MAX_COMPARED_SAMPLES", 30)
    part, _ = subsample(patterns)
    np.testing.assert_array_equal(
        automatic_view_weights(patterns, 4), automatic_view_weights(part, 4)
    )
