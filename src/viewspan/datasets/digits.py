"""Multi-view data sets made from the handwritten digits of scikit-learn."""

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

from viewspan._utils.typing import Array, Labels

SIGMA = 0.5
"""Standard deviation of the Gaussian in pixels, as in the paper's study of faces."""


def load_digits_views() -> tuple[dict[str, Array], Labels]:
    """Load 1797 handwritten digits of 8 × 8 pixels as three views: pixels and two edge filters.

    Returns
    -------
    views : dict of arrays (1797, 64)
        ``pixels``, the images; ``laplacian``, the images after a Laplacian of Gaussian filter;
        ``sobel``, the magnitude of their Sobel gradients.
    labels : array (1797,)
        The digits.
    """
    values, labels = load_digits(return_X_y=True)
    images = values.reshape(-1, 8, 8)
    laplacian = np.stack([ndimage.gaussian_laplace(image, SIGMA) for image in images])
    horizontal, vertical = (ndimage.sobel(images, axis=axis) for axis in (1, 2))
    views = {"pixels": images, "laplacian": laplacian, "sobel": np.hypot(horizontal, vertical)}
    return {name: _flat(view) for name, view in views.items()}, labels.astype(np.int64)


def load_digit_halves() -> tuple[dict[str, Array], Labels]:
    """Load 1797 handwritten digits as three views: left half, right half and noise.

    Returns
    -------
    views : dict of arrays
        ``left`` and ``right`` (1797, 32), the halves of the images; ``broken`` (1797, 4), uniform
        noise as from a broken sensor.
    labels : array (1797,)
        The digits.
    """
    digits = load_digits()
    images, labels = digits.images, digits.target.astype(np.int64)
    noise = np.random.default_rng(0).uniform(0, 16, size=(len(labels), 4))
    views = {"left": _flat(images[:, :, :4]), "right": _flat(images[:, :, 4:]), "broken": noise}
    return views, labels


def _flat(images: Array) -> Array:
    return images.reshape(len(images), -1)
