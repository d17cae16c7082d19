"""Faces through two filters."""

import numpy as np
import pytest

from viewspan.datasets import fetch_yale_faces, make_face_appearances
from viewspan.datasets.faces import laplacian_of_gaussian, resize, sobel


def test_the_images(faces):
    images, subjects = fetch_yale_faces()
    assert images.shape == (38, 192, 168)
    assert images.dtype == np.uint8
    assert subjects.tolist() == [*range(1, 14), *range(15, 40)]


def test_the_papers_numbers(faces):
    views, labels = make_face_appearances(random_state=0)
    assert {name: view.shape for name, view in views.items()} == {
        "laplacian": (100, 2016),
        "sobel": (100, 2016),
    }
    assert np.bincount(labels).tolist() == [20] * 5
    for view in views.values():
        np.testing.assert_allclose(np.linalg.norm(view, axis=1), 1)
        assert len(np.unique(view.round(12), axis=0)) == 5


def test_noise_comes_after_the_normalisation(faces):
    clean, _ = make_face_appearances(random_state=0)
    noisy, _ = make_face_appearances(noise=0.05, random_state=0)
    for name in clean:
        assert (noisy[name] - clean[name]).std() == pytest.approx(0.05, rel=0.02)


def test_the_laplacian_sees_no_constant_and_stands_where_matlab_puts_it():
    """fspecial('log', 10) at a single bright pixel p answers from p − 5 to p + 4, by the formula of its help page."""
    np.testing.assert_allclose(laplacian_of_gaussian(np.full((20, 20), 7.0)), 0, atol=1e-12)
    picture = np.zeros((30, 30))
    picture[15, 15] = 1.0
    answer = laplacian_of_gaussian(picture)
    rows = np.flatnonzero(np.abs(answer).sum(axis=1) > 0)
    assert (rows.min(), rows.max()) == (10, 19)
    kernel = answer[10:20, 10:20]
    np.testing.assert_allclose(kernel, kernel[::-1, ::-1], atol=1e-12)
    assert kernel.sum() == pytest.approx(0, abs=1e-12)
    # r² = 1/2 at the four middle points, where (r² − 2σ²) = 0; at r² = 5/2 it is 2, divided by σ⁴ and the sum of
    # the Gaussian. What is subtracted to make the sum zero is the same everywhere.
    offsets = np.arange(10) - 4.5
    total = np.exp(-(offsets**2) * 2).sum() ** 2
    expected = 2 * np.exp(-5.0) / total / 0.5**4
    assert kernel[4, 3] - kernel[4, 4] == pytest.approx(expected, rel=1e-10)


def test_sobel_answers_to_horizontal_edges_only():
    step = np.repeat([0.0, 1.0], 10)[:, None] * np.ones((1, 20))
    assert sobel(step).min() == -4  # darker above: negative, as with fspecial('sobel')
    assert sobel(step).max() == 0
    np.testing.assert_array_equal(sobel(step.T), 0)


def test_resizing_keeps_the_brightness():
    grey = resize(np.full((192, 168), 51, dtype=np.uint8))
    assert grey.shape == (48, 42)
    np.testing.assert_allclose(grey, 0.2, rtol=1e-6)


def test_more_subjects_than_there_are(faces):
    with pytest.raises(ValueError, match="n_subjects"):
        make_face_appearances(n_subjects=39)


def test_filters_repeat_the_border():
    """A picture that is constant along one side looks the same as if it went on."""
    picture = np.random.default_rng(0).normal(size=(20, 20))
    wider = np.pad(picture, 8, mode="edge")
    for look in (laplacian_of_gaussian, sobel):
        np.testing.assert_allclose(look(picture), look(wider)[8:-8, 8:-8], atol=1e-12)


def test_resizing_averages():
    """Stripes finer than the new pixels become grey; without antialiasing some would stay black or white."""
    stripes = np.tile(np.array([0, 255], dtype=np.uint8), (192, 84))
    np.testing.assert_allclose(resize(stripes)[:, 2:-2], 0.5, atol=0.02)
