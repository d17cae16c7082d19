"""Views of the handwritten digits."""

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

from viewspan.datasets import load_digit_halves, load_digits_views


def test_digits_views_are_pixels_and_two_filters():
    views, labels = load_digits_views()
    assert list(views) == ["pixels", "laplacian", "sobel"]
    assert {view.shape for view in views.values()} == {(1797, 64)}
    assert set(labels) == set(range(10))
    images = {name: view[0].reshape(8, 8) for name, view in views.items()}
    expected = ndimage.gaussian_laplace(images["pixels"], 0.5)
    np.testing.assert_allclose(images["laplacian"], expected)
    assert (images["sobel"] >= 0).all()


def test_digit_halves_make_whole_digits():
    views, labels = load_digit_halves()
    assert list(views) == ["left", "right", "broken"]
    joined = np.concatenate(
        [views[name].reshape(-1, 8, 4) for name in ("left", "right")], axis=2
    ).reshape(-1, 64)
    digits, expected = load_digits(return_X_y=True)
    np.testing.assert_array_equal(joined, digits)
    np.testing.assert_array_equal(labels, expected)


def test_the_broken_view_is_the_same_every_time():
    first, second = (load_digit_halves()[0]["broken"] for _ in range(2))
    assert first.shape == (1797, 4)
    np.testing.assert_array_equal(first, second)
