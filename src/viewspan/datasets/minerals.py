"""Semi-synthetic data of the paper: mixtures of thermal-infrared mineral spectra."""

from numbers import Integral

import numpy as np
from scipy.io import loadmat
from sklearn.utils.validation import check_array, check_scalar

from viewspan._utils.typing import Array, Labels
from viewspan.datasets.files import locate
from viewspan.datasets.noise import add_noise

LIBRARY_FILE = "minerals/TIRlib.mat"


def fetch_minerals() -> tuple[Array, Array]:
    """Load the library of 120 pure thermal-infrared mineral spectra.

    The file ``minerals/TIRlib.mat`` is taken from the folder that the environment variable
    ``VIEWSPAN_DATA`` names, or else from the cache, or else it is downloaded from the repository of
    the paper's authors. Its SHA-256 is always checked.

    Returns
    -------
    spectra : array (120, 321)
        One spectrum per row.
    wavelengths : array (321,)
        Wavelengths of the columns.
    """
    (path,) = locate([LIBRARY_FILE])
    content = loadmat(path)
    return np.ascontiguousarray(content["A"].T, dtype=float), content["wv"].ravel().astype(float)


def make_mineral_mixtures(
    *,
    library: Array | None = None,
    n_clusters: int = 5,
    n_spectra: int = 5,
    n_copies: int = 10,
    n_views: int = 2,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[list[Array], Labels]:
    """Generate noisy copies of random mixtures of pure spectra.

    For every cluster and view, ``n_spectra`` random spectra are mixed with uniform random weights
    that are scaled to sum to 1. The mixture is repeated ``n_copies`` times, and Gaussian noise is
    added to every entry.

    Parameters
    ----------
    library : array (n_pure, n_bands), optional
        Pure spectra, one per row. The default is the library of :func:`fetch_minerals`.
    n_clusters, n_spectra, n_views : int
        Numbers of clusters, of spectra per mixture and of views.
    n_copies : int
        Number of samples per cluster: 10 in the paper, 20 in the authors' program.
    noise : float
        Standard deviation of the Gaussian noise.
    random_state : int, Generator or None
        Random seed or generator. With the same seed, another ``noise`` gives the same clean samples
        and the same noise, scaled.

    Returns
    -------
    views : list of arrays (n_samples, n_bands)
        Views, one sample per row.
    labels : array (n_samples,)
        Cluster of every sample.
    """
    for name, value in {"n_clusters": n_clusters, "n_copies": n_copies, "n_views": n_views}.items():
        check_scalar(value, name, Integral, min_val=1)
    pure = fetch_minerals()[0] if library is None else check_array(library, input_name="library")
    check_scalar(n_spectra, "n_spectra", Integral, min_val=1, max_val=len(pure))
    rng = np.random.default_rng(random_state)
    clean = [
        np.repeat([_mixture(rng, pure, n_spectra) for _ in range(n_clusters)], n_copies, axis=0)
        for _ in range(n_views)
    ]
    return add_noise(clean, noise, rng), np.repeat(np.arange(n_clusters), n_copies)


def _mixture(rng: np.random.Generator, pure: Array, n_spectra: int) -> Array:
    chosen = rng.choice(len(pure), n_spectra, replace=False)
    weights = rng.uniform(size=n_spectra)
    mixture: Array = weights / weights.sum() @ pure[chosen]
    return mixture
