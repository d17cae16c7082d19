"""The paper's real data: faces seen through two filters."""

from numbers import Integral

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_scalar

from viewspan._utils.optional import require
from viewspan._utils.typing import Array, Labels
from viewspan.datasets.files import locate, names
from viewspan.datasets.noise import corrupt

SHAPE = (48, 42)
"""Height and width, in pixels, to which the paper resizes the faces."""

LOG_SIZE, LOG_SIGMA = 10, 0.5


def fetch_yale_faces() -> tuple[npt.NDArray[np.uint8], Labels]:
    """One frontally lit face of each of 38 subjects, from the Extended Yale Face Database B.

    Looked for as ``faces/yaleB01_P00A-005E-10.pgm`` and so on in the folder that the environment variable
    ``VIEWSPAN_DATA`` names, then in the cache; otherwise downloaded from the authors' repository. Every file's SHA-256
    is checked wherever it comes from.

    Returns
    -------
    images : array (38, 192, 168)
        Grey values from 0 to 255.
    subjects : array (38,)
        The database's numbers of the subjects; there is no 14.
    """
    image = require("PIL.Image", "studies", purpose="Reading the face images")
    files = names("faces/")
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
    """Copies of a few faces, seen through two filters and corrupted by noise.

    Each subject's face is resized to 48 × 42 pixels, filtered in two ways, scaled to unit length and repeated
    ``n_copies`` times; then noise is added to each copy in each view.

    Parameters
    ----------
    n_subjects, n_copies : int
        The defaults are the paper's.
    noise : float
        Standard deviation of the Gaussian noise added to every entry.
    random_state : int, Generator or None
        With the same seed, another ``noise`` gives the same clean samples and the same noise, scaled.

    Returns
    -------
    views : dict of arrays (n_samples, 2016)
        ``laplacian``, after a Laplacian of Gaussian (10 × 10, σ = 0.5); ``sobel``, after Sobel's filter for horizontal
        edges. Both as MATLAB's ``fspecial`` and ``imfilter(…, 'replicate')`` have them, which the authors used.
    labels : array (n_samples,)
    """
    check_scalar(n_copies, "n_copies", Integral, min_val=1)
    images, subjects = fetch_yale_faces()
    check_scalar(n_subjects, "n_subjects", Integral, min_val=1, max_val=len(subjects))
    rng = np.random.default_rng(random_state)
    faces = [resize(images[j]) for j in rng.choice(len(subjects), n_subjects, replace=False)]
    filtered = {"laplacian": laplacian_of_gaussian, "sobel": sobel}
    clean = [
        np.repeat(normalize([look(face).ravel() for face in faces]), n_copies, axis=0)
        for look in filtered.values()
    ]
    views = dict(zip(filtered, corrupt(clean, noise, rng), strict=True))
    return views, np.repeat(np.arange(n_subjects), n_copies)


def resize(picture: npt.NDArray[np.uint8]) -> Array:
    """Bicubic with antialiasing, as MATLAB's ``imresize``; grey values become 0 to 1."""
    image = require("PIL.Image", "studies", purpose="Resizing the face images")
    height, width = SHAPE
    grey = image.fromarray(picture.astype(np.float32) / 255)
    return np.asarray(grey.resize((width, height), image.Resampling.BICUBIC), dtype=float)


def laplacian_of_gaussian(picture: Array) -> Array:
    """Correlate with (r² − 2σ²)/σ⁴ · exp(−r²/2σ²), made to sum to zero, on a 10 × 10 grid."""
    offsets = np.arange(LOG_SIZE) - (LOG_SIZE - 1) / 2
    squared = offsets[:, None] ** 2 + offsets[None, :] ** 2
    gaussian = np.exp(-squared / (2 * LOG_SIGMA**2))
    kernel = gaussian / gaussian.sum() * (squared - 2 * LOG_SIGMA**2) / LOG_SIGMA**4
    # An even kernel has no middle. MATLAB takes the pixel before it, scipy the one behind it.
    return ndimage.correlate(picture, kernel - kernel.mean(), mode="nearest", origin=-1)


def sobel(picture: Array) -> Array:
    """Strength of horizontal edges, positive where it gets darker downwards, as MATLAB has it."""
    return -ndimage.sobel(picture, axis=0, mode="nearest")
