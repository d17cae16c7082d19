import numpy as np
import pytest

import viewspan
from viewspan.datasets import make_subspaces
from viewspan.graph.chance import by_chance, trust
from viewspan.graph.patterns import Patterns, patterns_of
from viewspan.metrics import subspace_clustering_accuracy
from viewspan.objective import selection


def with_noise_view(width, seed=0):
    views, labels = make_subspaces(noise=0.15, random_state=seed)
    noise = np.random.default_rng(seed).normal(size=(len(labels), width))
    return [views[0], noise], labels


@pytest.mark.parametrize("width", [2, 3, 10, 50])
def test_a_view_of_noise_is_not_listened_to(width):
    """Noise in few dimensions can be cut well, and as an equal it would win."""
    views, labels = with_noise_view(width)
    model, alone = (viewspan.CLRSC(5, random_state=0).fit(given) for given in (views, views[0]))
    assert model.view_weights_[0] == 1
    if width < 5:  # noise in many dimensions does no harm
        assert model.view_weights_[1] < 0.5
    without_noise = subspace_clustering_accuracy(labels, alone.labels_)
    assert subspace_clustering_accuracy(labels, model.labels_) >= without_noise - 2 >= 95


def test_as_an_equal_noise_in_few_dimensions_costs_much():
    scores = {"equal": [], "auto": []}
    for seed in range(4):
        views, labels = with_noise_view(3, seed)
        for how, found in scores.items():
            model = viewspan.CLRSC(5, view_weights=how, random_state=0).fit(views)
            found.append(subspace_clustering_accuracy(labels, model.labels_))
    assert np.mean(scores["auto"]) > np.mean(scores["equal"]) + 20


@pytest.mark.parametrize("seed", range(4))
def test_views_of_one_kind_are_equals(seed):
    views, _ = make_subspaces(noise=0.3, random_state=seed)
    np.testing.assert_array_equal(
        viewspan.CLRSC(5, random_state=0).fit(views).view_weights_, [1, 1]
    )


def test_the_order_of_views_does_not_change_their_weights():
    views, _ = with_noise_view(3)
    one, other = (viewspan.CLRSC(5, random_state=0).fit(which) for which in (views, views[::-1]))
    np.testing.assert_allclose(one.view_weights_, other.view_weights_[::-1], rtol=1e-3)


def groups(rng, labels, n_features, distance):
    centres = distance * rng.normal(size=(int(labels.max()) + 1, n_features))
    return centres[labels] + rng.normal(size=(len(labels), n_features))


@pytest.mark.parametrize("seed", range(3))
def test_a_view_with_groups_of_its_own_does_not_outvote_two_that_agree(seed):
    """Such as a batch, or the subject that a sample is of."""
    rng = np.random.default_rng(seed)
    labels, batch = np.repeat(np.arange(4), 40), rng.integers(4, size=160)
    views = [
        groups(rng, labels, 20, 1.2),
        groups(rng, labels, 20, 1.2),
        groups(rng, batch, 20, 1.6),
    ]
    model = viewspan.CLRSC(4, random_state=0).fit(views)
    assert (model.view_weights_ == 1).all()
    assert subspace_clustering_accuracy(labels, model.labels_) > 80


def test_views_that_complete_one_another_are_equals():
    """Each tells some clusters apart and not the others."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(6), 30)
    views = [
        groups(rng, np.minimum(labels, 4), 20, 2.0),
        groups(rng, np.maximum(labels - 3, 0), 20, 2.0),
    ]
    model = viewspan.CLRSC(6, random_state=0).fit(views)
    assert (model.view_weights_ == 1).all()
    assert subspace_clustering_accuracy(labels, model.labels_) > 95


def test_a_view_that_vanishes_along_the_path_is_no_error():
    """Even if it is the only one that counts."""
    rng = np.random.RandomState(0)
    views = [rng.normal(size=(100, 100)), rng.normal(size=(100, 200))]
    model = viewspan.CLRSC(2, view_weights=[0, 1], random_state=0).fit(views)
    assert any(result.cores[0].any() and not result.cores[1].any() for result in model.path_)
    assert len(model.labels_) == 100


def test_weights_do_not_depend_on_the_seed_of_the_cut():
    views, _ = with_noise_view(3)
    one, other = (viewspan.CLRSC(5, random_state=seed).fit(views) for seed in (0, 1))
    np.testing.assert_array_equal(one.view_weights_, other.view_weights_)
    assert abs(one.affinity_matrix_ - other.affinity_matrix_).max() < 1e-8


def test_chance_keeps_the_singular_values_and_what_is_missing():
    rng = np.random.default_rng(0)
    pattern = rng.normal(size=(4, 500)).astype(np.float32)
    pattern[:, 7] = 0
    noise = by_chance(Patterns([pattern], [np.array([8.0, 4.0, 2.0, 1.0])]), seed=0)
    column = noise.columns[0]
    assert not column[:, 7].any()
    np.testing.assert_allclose(np.linalg.norm(np.delete(column, 7, axis=1), axis=0), 1, rtol=1e-6)
    assert (np.diff(np.linalg.norm(column, axis=1)) < 0).all()  # more along the larger ones


def test_nothing_but_noise_leaves_views_equal():
    rng = np.random.default_rng(0)
    result = viewspan.solve([rng.normal(size=(60, 20)) for _ in range(3)], lam=5.0)
    weights = trust(patterns_of(result, mutual=False), 3)
    assert weights.max() == 1
    assert (weights > 0.2).all()


def test_given_weights_are_taken_in_both_graphs():
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
def test_wrong_weights_are_refused(weights, message):
    views, _ = with_noise_view(3)
    with pytest.raises(ValueError, match=message):
        viewspan.CLRSC(5, view_weights=weights).fit(views)


def test_small_clusters_are_counted_by_ratios_above_chance():
    falling = np.r_[1, 0.8, np.linspace(0.75, 0.5, 8), [0.4, 0.38, 0.36, 0.1, 0.09]]
    assert selection.count_clusters(falling, np.full(15, 0.37)) == 10
    assert selection.count_clusters(falling) == 13  # the fall below noise is the widest of all
    with pytest.warns(UserWarning, match="no clusters at all"):
        assert selection.count_clusters(falling, np.full(15, 0.95)) == 2


def test_little_more_than_chance_is_said_to_be_unclear():
    values, chance = np.array([1, 0.62, 0.3, 0.29, 0.28]), np.array([1, 0.6, 0.55, 0.5, 0.45])
    with pytest.warns(UserWarning, match="noise would give nearly such a graph"):
        assert selection.count_clusters(values, chance) == 2
    values[1] = 0.7
    assert selection.count_clusters(values, chance) == 2


def test_samples_that_one_view_lacks_are_not_called_isolated():
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 30)
    views = [groups(rng, labels, 20, 2.0), groups(rng, labels, 20, 2.0)]
    views[0][::4] = 0
    with pytest.warns(UserWarning, match="no say about them") as caught:
        viewspan.CLRSC(3, view_weights=[1, 0], random_state=0).fit(views)
    assert not [record for record in caught if "connected to no other" in str(record.message)]
