"""Synthetic data: random subspaces as the paper defines them."""

from itertools import pairwise

import numpy as np
import pytest

from viewspan.datasets import make_subspaces


def blocks(view, count):
    return np.split(view, count)


def test_the_defaults_give_the_papers_data():
    views, labels = make_subspaces(random_state=0)
    assert [view.shape for view in views] == [(100, 100), (100, 100)]
    assert np.bincount(labels).tolist() == [20] * 5
    for view in views:
        assert [np.linalg.matrix_rank(block) for block in blocks(view, 5)] == [4] * 5
        assert np.linalg.matrix_rank(view) == 20


def test_every_basis_is_the_same_rotation_of_the_previous_one():
    """U_{i+1} = T U_i, so the angles between consecutive subspaces are all equal."""
    views, _ = make_subspaces(n_subspaces=4, dim=3, n_features=12, random_state=1)
    for view in views:
        bases = [np.linalg.svd(block)[2][:3] for block in blocks(view, 4)]
        cosines = [np.linalg.svd(a @ b.T, compute_uv=False) for a, b in pairwise(bases)]
        np.testing.assert_allclose(cosines[1:], [cosines[0]] * 2, atol=1e-10)


def test_the_views_are_independent():
    (first, second), _ = make_subspaces(random_state=0)
    assert np.linalg.matrix_rank(np.hstack([first.T, second.T])) == 40


def test_one_seed_gives_the_same_samples_and_noise_at_every_level():
    clean, _ = make_subspaces(random_state=3)
    low, _ = make_subspaces(noise=0.1, random_state=3)
    high, _ = make_subspaces(noise=0.3, random_state=3)
    for a, b, c in zip(clean, low, high, strict=True):
        np.testing.assert_allclose(3 * (b - a), c - a, atol=1e-12)
        assert (b - a).std() == pytest.approx(0.1, rel=0.05)
    other, _ = make_subspaces(random_state=4)
    assert not np.allclose(clean[0], other[0])


@pytest.mark.parametrize(
    ("arguments", "parameter"),
    [
        ({"noise": -0.1}, "noise"),
        ({"noise": np.nan}, "noise"),
        ({"dim": 5, "n_features": 4}, "n_features"),
        ({"n_subspaces": 0}, "n_subspaces"),
        ({"n_views": 1.5}, "n_views"),
    ],
)
def test_errors_name_the_parameter(arguments, parameter):
    with pytest.raises((TypeError, ValueError), match=parameter):
        make_subspaces(**arguments)


def test_samples_are_standard_normal_in_their_subspace():
    views, _ = make_subspaces(
        n_subspaces=1, dim=2, n_features=3, n_samples_per_subspace=4000, n_views=1, random_state=0
    )
    squared = (views[0] ** 2).sum(axis=1)  # χ² with two degrees of freedom: mean 2, variance 4
    assert squared.mean() == pytest.approx(2, rel=0.1)
    assert squared.var() == pytest.approx(4, rel=0.2)
