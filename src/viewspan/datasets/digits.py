"""scikit-learn's bundled digits, seen in three ways."""

import numpy as np
from scipy import ndimage
from sklearn.datasets import load_digits

from viewspan._utils.typing import Array, Labels

SIGMA = 0.5
"""Width of the Gaussian, in pixels, as in the paper's face study."""


def load_digits_views() -> tuple[dict[str, Array], Labels]:
    """1797 handwritten digits of 8 × 8 pixels as three appearances, and which digit each one is.

    Returns
    -------
    views : dict of arrays (1797, 64)
        ``pixels``; ``laplacian``, the images after a Laplacian of Gaussian; ``sobel``, the strength of their edges.
    labels : array (1797,)
    """
    images, labels = load_digits(return_X_y=True)
    pictures = images.reshape(-1, 8, 8)
    laplacian = np.stack([ndimage.gaussian_laplace(picture, SIGMA) for picture in pictures])
    horizontal, vertical = (ndimage.sobel(pictures, axis=axis) for axis in (1, 2))
    views = {"pixels": pictures, "laplacian": laplacian, "sobel": np.hypot(horizontal, vertical)}
    return {name: view.reshape(len(view), -1) for name, view in views.items()}, labels.astype(
        np.int64
    )
