"""Subspaces of clusters: dimensions, bases and residuals of projected samples."""

import numpy as np
import pytest

import viewspan
from tests.problems import many_subspaces, two_subspaces
from viewspan.datasets import make_subspaces
from viewspan.inference.subspaces import affine_subspace, count_directions, hard_threshold


@pytest.mark.parametrize("noise", [0.0, 0.02, 0.1])
@pytest.mark.parametrize("seed", range(2))
def test_dimensions_of_the_subspaces_of_the_paper(noise, seed):
    views, _ = make_subspaces(noise=noise, random_state=seed)
    model = viewspan.CLRSC(5, random_state=0).fit(views)
    assert [[subspace.dimension for subspace in cluster] for cluster in model.subspaces_] == [
        [4, 4]
    ] * 5


def test_hard_thresholds_of_the_reference():
    """Gavish and Donoho: 4/√3 for square matrices, √2 for very long ones."""
    assert hard_threshold(1.0) == pytest.approx(4 / np.sqrt(3))
    assert hard_threshold(0.0) == pytest.approx(np.sqrt(2))


def test_noise_and_zeros_have_one_direction():
    rng = np.random.default_rng(0)
    values = np.linalg.svd(rng.normal(size=(40, 60)), compute_uv=False)
    assert count_directions(values, 40, 1.0, 60) == 1
    assert count_directions(np.zeros(5), 5, 0.0, 7) == 1


def test_reconstruction_removes_as_much_noise_as_a_projection_can():
    """A fitted subspace of dimension d keeps the share √(d/D + d/n) of noise in D features."""
    views, _ = make_subspaces(noise=0.1, random_state=0)
    clean, _ = make_subspaces(noise=0.0, random_state=0)
    model = viewspan.CLRSC(5, random_state=0).fit(views)
    explained = model.reconstruct(views)
    np.testing.assert_array_equal(explained.labels, model.labels_)
    for denoised, truth, noisy in zip(explained.views, clean, views, strict=True):
        left = np.linalg.norm(denoised - truth) / np.linalg.norm(noisy - truth)
        assert left == pytest.approx(np.sqrt(4 / 100 + 4 / 20), rel=0.1)


def test_reconstruction_of_unseen_samples_keeps_names_and_units():
    views, _ = two_subspaces(size=40, noise=0.0)
    given = {"metres": 1e3 * views[0], "grams": 1e-3 * views[1]}
    seen, unseen = ({name: view[part::2] for name, view in given.items()} for part in (0, 1))
    explained = viewspan.CLRSC(2, random_state=0).fit(seen).reconstruct(unseen)
    assert list(explained.views) == ["metres", "grams"]
    for name, view in unseen.items():
        np.testing.assert_allclose(
            explained.views[name], view, rtol=1e-6, atol=1e-8 * np.abs(view).max()
        )
    assert explained.residuals.max() < 1e-6


def test_reconstruction_of_one_view_is_one_array():
    view = two_subspaces(noise=0.0)[0][0]
    explained = viewspan.LRR(2, random_state=0).fit(view).reconstruct(view)
    np.testing.assert_allclose(explained.views, view, atol=1e-8)
    assert explained.residuals.shape == (1, 30)


def test_reconstruction_of_scaled_features_is_in_their_own_units():
    views, _ = two_subspaces(noise=0.0)
    views[0] = views[0] * np.r_[1e4, np.ones(10), 1e-3]
    model = viewspan.CLRSC(2, random_state=0).fit(views)
    assert model.features_scaled_[0]
    explained = model.reconstruct(views)
    np.testing.assert_allclose(explained.views[0], views[0], rtol=1e-6, atol=1e-9)


def test_concatenated_views_have_separate_subspaces():
    views, _ = two_subspaces(noise=0.0)
    model = viewspan.LRR(2, fusion="concat", random_state=0).fit(views)
    assert [[subspace.basis.shape for subspace in cluster] for cluster in model.subspaces_] == [
        [(12, 2)] * 2
    ] * 2
    assert model.reconstruct(views).residuals.max() < 1e-8


def test_subspaces_of_landmarks_and_batches():
    views, _ = many_subspaces(noise=0.0)
    model = viewspan.CLRSC(5, graph="landmarks", n_landmarks=200, random_state=0).fit(views)
    assert {subspace.dimension for cluster in model.subspaces_ for subspace in cluster} == {3}
    assert model.reconstruct(views).residuals.max() < 1e-6
    assert (model.view_scores_ > 0.5).all()
    with pytest.raises(
        AttributeError, match=r"outlier_scores_ needs a graph of all samples.*reconstruct\(views\)"
    ):
        _ = model.outlier_scores_
    batches = viewspan.CLRSC(5, random_state=0)
    for part in range(3):
        batches.partial_fit([view[part::3] for view in views])
    batches.partial_fit()
    assert {subspace.dimension for cluster in batches.subspaces_ for subspace in cluster} == {3}


def test_an_affine_subspace_at_infinity_becomes_linear():
    directions = np.eye(4)[:, :2]
    origin, basis = affine_subspace(directions, 1.0)
    np.testing.assert_array_equal(origin, 0.0)
    np.testing.assert_allclose(np.abs(basis), np.eye(3)[:, :2])


@pytest.mark.parametrize("parameters", [{}, {"graph": "landmarks", "n_landmarks": 30}], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("offset", [0.0, 5.0])
def test_exact_subspaces_that_span_most_of_the_view(offset, dtype, parameters):
    """Their singular values are not taken for noise."""
    rng = np.random.default_rng(0)
    view = np.vstack(
        [
            rng.normal(size=(50, 3)) @ rng.normal(size=(3, 14)) + offset * rng.normal(size=14)
            for _ in range(3)
        ]
    ).astype(dtype)
    model = viewspan.LRR(3, affine=offset > 0, random_state=0, **parameters).fit(view)
    assert [cluster[0].dimension for cluster in model.subspaces_] == [3, 3, 3]
    assert model.reconstruct(view).residuals.max() < 1e-5


def test_residuals_of_samples_of_extreme_magnitude():
    views, _ = two_subspaces(noise=0.0)
    model = viewspan.CLRSC(2, random_state=0).fit(views)
    noise = np.random.default_rng(0).normal(size=(30, 12))
    residuals = model.reconstruct([1e-170 * noise, 1e170 * noise]).residuals
    assert residuals.mean() > 0.8
    assert residuals.max() <= 1.0
