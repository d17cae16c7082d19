"""Nearly equal views count once, and views that share nothing with others are reported."""

import warnings

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from viewspan.datasets import make_subspaces
from viewspan.fit.agreement import agreement_scores, compare_views, kernel, n_copies

LABELS = np.repeat(np.arange(3), 50)


def groups(seed, n_features=8, distance=2.0):
    rng = np.random.default_rng(seed)
    return distance * rng.normal(size=(3, n_features))[LABELS] + rng.normal(size=(150, n_features))


def noise(seed):
    return np.random.default_rng(100 + seed).normal(size=(150, 8))


def test_kernels_are_centred_and_have_norm_one():
    found = kernel(groups(0), "positions")
    np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-12)
    assert np.linalg.norm(found) == pytest.approx(1.0)
    np.testing.assert_array_equal(kernel(np.zeros((5, 2)), "directions"), 0.0)


def test_opposite_samples_have_the_same_directions():
    view = groups(0)
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(150, 1))
    np.testing.assert_allclose(kernel(view, "directions"), kernel(signs * view, "directions"))


@pytest.mark.parametrize("change", [0.0, 1e-3])
def test_nearly_equal_views_are_counted(change):
    rng = np.random.default_rng(0)
    copies = [noise(0) + change * rng.normal(size=(150, 8)) for _ in range(3)]
    kernels = [kernel(view, "positions") for view in [groups(0), *copies]]
    assert n_copies(kernels) == (1, 3, 3, 3)


def test_scores_are_about_zero_for_views_in_random_orders():
    scores = []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(150)
        pair = groups(seed), groups(seed + 1)[order]
        scores += agreement_scores([kernel(view, "positions") for view in pair]).tolist()
    assert abs(np.mean(scores)) < 0.5 and np.max(scores) < 4.5


def test_five_copies_of_noise_count_as_one_view():
    with pytest.warns(UserWarning, match="agree on nothing more than chance"):
        model = viewspan.CLRSC(3, random_state=0).fit([groups(0), *[noise(0)] * 5])
    assert adjusted_rand_score(LABELS, model.labels_) > 0.9
    assert model.view_weights_[1:].sum() <= 1.0


@pytest.mark.parametrize("seed", range(4))
def test_a_view_in_another_order_is_reported(seed):
    order = np.random.default_rng(seed).permutation(150)
    views = {"a": groups(seed), "b": groups(seed + 1), "c": groups(seed + 2)[order]}
    with pytest.warns(UserWarning, match="^c agrees with the other views no more than chance"):
        viewspan.CLRSC(3, random_state=0).fit(views)


@pytest.mark.parametrize("seed", range(4))
def test_views_of_the_same_samples_are_not_reported(seed):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        viewspan.CLRSC(3, random_state=0).fit([groups(seed), groups(seed + 1)])
        viewspan.CLRSC(5, random_state=0).fit(make_subspaces(noise=0.2, random_state=seed)[0])


def test_a_single_view_and_few_samples_are_not_compared():
    assert compare_views([groups(0)], ["positions"], ["a"]) == (1,)
    few = [noise(0)[:10], noise(1)[:10]]
    assert compare_views(few, ["positions"] * 2, ["a", "b"]) == (1, 1)
