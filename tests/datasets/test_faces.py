"""Face images, their filters, and the data that are generated from them."""

import numpy as np
import pytest

from viewspan.datasets import fetch_yale_faces, make_face_appearances
from viewspan.datasets.faces import laplacian_of_gaussian, resize, sobel


def test_the_database_has_38_subjects(faces):
    images, subjects = fetch_yale_faces()
    assert images.shape == (38, 192, 168)
    assert images.dtype == np.uint8
    assert subjects.tolist() == [*range(1, 14), *range(15, 40)]


def test_the_defaults_give_the_papers_data(faces):
    views, labels = make_face_appearances(random_state=0)
    assert {name: view.shape for name, view in views.items()} == {
        "laplacian": (100, 2016),
        "sobel": (100, 2016),
    }
    assert np.bincount(labels).tolist() == [20] * 5
    for view in views.values():
        np.testing.assert_allclose(np.linalg.norm(view, axis=1), 1)
        assert len(np.unique(view.round(12), axis=0)) == 5


def test_noise_is_added_after_the_normalisation(faces):
    clean, _ = make_face_appearances(random_state=0)
    noisy, _ = make_face_appearances(noise=0.05, random_state=0)
    for name in clean:
        assert (noisy[name] - clean[name]).std() == pytest.approx(0.05, rel=0.02)


def test_the_laplacian_equals_that_of_matlab():
    """The response of fspecial('log', 10) to one bright pixel p reaches from p − 5 to p + 4.

    The values follow from the formula in MATLAB's documentation.
    """
    np.testing.assert_allclose(laplacian_of_gaussian(np.full((20, 20), 7.0)), 0, atol=1e-12)
    picture = np.zeros((30, 30))
    picture[15, 15] = 1.0
    response = laplacian_of_gaussian(picture)
    rows = np.flatnonzero(np.abs(response).sum(axis=1) > 0)
    assert (rows.min(), rows.max()) == (10, 19)
    kernel = response[10:20, 10:20]
    np.testing.assert_allclose(kernel, kernel[::-1, ::-1], atol=1e-12)
    assert kernel.sum() == pytest.approx(0, abs=1e-12)
    # r² − 2σ² is 0 at the four central points, where r² = 1/2, and 2 where r² = 5/2. The constant
    # that makes the sum zero cancels in the difference of two entries.
    offsets = np.arange(10) - 4.5
    total = np.exp(-(offsets**2) * 2).sum() ** 2
    expected = 2 * np.exp(-5.0) / total / 0.5**4
    assert kernel[4, 3] - kernel[4, 4] == pytest.approx(expected, rel=1e-10)


def test_sobel_responds_to_horizontal_edges_only():
    step = np.repeat([0.0, 1.0], 10)[:, None] * np.ones((1, 20))
    assert sobel(step).min() == -4  # negative if darker above, as with fspecial('sobel')
    assert sobel(step).max() == 0
    np.testing.assert_array_equal(sobel(step.T), 0)


def test_resizing_keeps_the_brightness():
    grey = resize(np.full((192, 168), 51, dtype=np.uint8))
    assert grey.shape == (48, 42)
    np.testing.assert_allclose(grey, 0.2, rtol=1e-6)


def test_more_subjects_than_the_database_has_raise_an_error(faces):
    with pytest.raises(ValueError, match="n_subjects"):
        make_face_appearances(n_subjects=39)


def test_filters_repeat_the_border():
    """Padding a picture with its border changes no response inside the picture."""
    picture = np.random.default_rng(0).normal(size=(20, 20))
    wider = np.pad(picture, 8, mode="edge")
    for apply in (laplacian_of_gaussian, sobel):
        np.testing.assert_allclose(apply(picture), apply(wider)[8:-8, 8:-8], atol=1e-12)


def test_resizing_uses_antialiasing():
    """Stripes that are finer than the new pixels become grey."""
    stripes = np.tile(np.array([0, 255], dtype=np.uint8), (192, 84))
    np.testing.assert_allclose(resize(stripes)[:, 2:-2], 0.5, atol=0.02)
