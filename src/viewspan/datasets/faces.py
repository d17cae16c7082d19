"""Real data of the paper: images of faces after two filters."""

from numbers import Integral

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_scalar

from viewspan._utils.optional import require
from viewspan._utils.typing import Array, Labels
from viewspan.datasets.files import list_files, locate
from viewspan.datasets.noise import add_noise

RESIZED_SHAPE = (48, 42)
"""Height and width in pixels to which the paper resizes the images."""

KERNEL_SIZE, KERNEL_SIGMA = 10, 0.5
"""Width of the Laplacian-of-Gaussian kernel, and standard deviation of its Gaussian, in pixels."""


def fetch_yale_faces() -> tuple[npt.NDArray[np.uint8], Labels]:
    """Load one frontally lit face of each of 38 subjects of the Extended Yale Face Database B.

    The files ``faces/yaleB01_P00A-005E-10.pgm`` and so on are taken from the folder that the
    environment variable ``VIEWSPAN_DATA`` names, or else from the cache, or else they are
    downloaded from the repository of the paper's authors. Their SHA-256 is always checked.

    Returns
    -------
    images : array (38, 192, 168)
        Grey values from 0 to 255.
    subjects : array (38,)
        Numbers of the subjects in the database, which has no subject 14.
    """
    image = require("PIL.Image", "studies", purpose="Reading the face images")
    files = list_files("faces/")
    pictures = []
    for path in locate(files):
        with image.open(path) as picture:
            pictures.append(np.asarray(picture))
    subjects = [int(name.removeprefix("faces/yaleB")[:2]) for name in files]
    return np.stack(pictures), np.array(subjects)


def make_face_appearances(
    *,
    n_subjects: int = 5,
    n_copies: int = 20,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[dict[str, Array], Labels]:
    """Generate noisy copies of a few faces, with one view for each of two filters.

    The faces of random subjects are resized to 48 × 42 pixels, filtered in two ways, scaled to unit
    length and repeated ``n_copies`` times. Gaussian noise is then added to every entry.

    Parameters
    ----------
    n_subjects, n_copies : int
        Numbers of subjects and of samples per subject. The defaults are those of the paper.
    noise : float
        Standard deviation of the Gaussian noise.
    random_state : int, Generator or None
        Random seed or generator. With the same seed, another ``noise`` gives the same clean samples
        and the same noise, scaled.

    Returns
    -------
    views : dict of arrays (n_samples, 2016)
        ``laplacian``: the images after a Laplacian of Gaussian (10 × 10, σ = 0.5). ``sobel``: the
        images after a Sobel filter for horizontal edges. Both filters are equal to MATLAB's
        ``fspecial`` and ``imfilter(…, 'replicate')``, which the authors used.
    labels : array (n_samples,)
        Subject of every sample, numbered from 0.
    """
    check_scalar(n_copies, "n_copies", Integral, min_val=1)
    images, subjects = fetch_yale_faces()
    check_scalar(n_subjects, "n_subjects", Integral, min_val=1, max_val=len(subjects))
    rng = np.random.default_rng(random_state)
    faces = [resize(images[j]) for j in rng.choice(len(subjects), n_subjects, replace=False)]
    filters = {"laplacian": laplacian_of_gaussian, "sobel": sobel}
    clean = [
        np.repeat(normalize([apply(face).ravel() for face in faces]), n_copies, axis=0)
        for apply in filters.values()
    ]
    views = dict(zip(filters, add_noise(clean, noise, rng), strict=True))
    return views, np.repeat(np.arange(n_subjects), n_copies)


def resize(picture: npt.NDArray[np.uint8]) -> Array:
    """Resize an image as MATLAB's ``imresize`` does, and scale its grey values to [0, 1].

    The interpolation is bicubic with antialiasing.
    """
    image = require("PIL.Image", "studies", purpose="Resizing the face images")
    height, width = RESIZED_SHAPE
    grey = image.fromarray(picture.astype(np.float32) / 255)
    return np.asarray(grey.resize((width, height), image.Resampling.BICUBIC), dtype=float)


def laplacian_of_gaussian(picture: Array) -> Array:
    """Correlate an image with a 10 × 10 Laplacian of Gaussian.

    The kernel is (r² − 2σ²)/σ⁴ · exp(−r²/2σ²), shifted to sum to zero.
    """
    offsets = np.arange(KERNEL_SIZE) - (KERNEL_SIZE - 1) / 2
    squared = offsets[:, None] ** 2 + offsets[None, :] ** 2
    gaussian = np.exp(-squared / (2 * KERNEL_SIGMA**2))
    kernel = gaussian / gaussian.sum() * (squared - 2 * KERNEL_SIGMA**2) / KERNEL_SIGMA**4
    # An even kernel has no central pixel. MATLAB takes the one before the middle, scipy the one
    # after it; origin=-1 gives MATLAB's result.
    return ndimage.correlate(picture, kernel - kernel.mean(), mode="nearest", origin=-1)


def sobel(picture: Array) -> Array:
    """Return the horizontal edges, positive where the image gets darker downwards, as in MATLAB."""
    return -ndimage.sobel(picture, axis=0, mode="nearest")
