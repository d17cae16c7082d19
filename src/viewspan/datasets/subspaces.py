"""Synthetic data of the paper: samples on a union of random subspaces."""

from numbers import Integral

import numpy as np
from scipy.stats import ortho_group, special_ortho_group
from sklearn.utils.validation import check_scalar

from viewspan._utils.typing import Array, Labels
from viewspan.datasets.noise import add_noise


def make_subspaces(
    *,
    n_subspaces: int = 5,
    dim: int = 4,
    n_features: int = 100,
    n_samples_per_subspace: int = 20,
    n_views: int = 2,
    noise: float = 0.0,
    random_state: int | np.random.Generator | None = None,
) -> tuple[list[Array], Labels]:
    """Generate samples on subspaces whose bases are rotations of one another.

    In each view independently, U_1 is a random orthonormal basis (n_features × dim), T a random
    rotation, and U_{i+1} = T U_i. The samples of subspace i are U_i q with q ~ N(0, I). Gaussian
    noise is then added to every entry.

    Parameters
    ----------
    n_subspaces, dim, n_features, n_samples_per_subspace, n_views : int
        Size of the data. The defaults are those of the paper.
    noise : float
        Standard deviation of the Gaussian noise.
    random_state : int, Generator or None
        Random seed or generator. With the same seed, another ``noise`` gives the same clean samples
        and the same noise, scaled.

    Returns
    -------
    views : list of arrays (n_samples, n_features)
        Views, one sample per row.
    labels : array (n_samples,)
        Subspace of every sample.

    Examples
    --------
    >>> from viewspan.datasets import make_subspaces
    >>> views, labels = make_subspaces(noise=0.1, random_state=0)
    >>> [view.shape for view in views]
    [(100, 100), (100, 100)]
    """
    counts = {
        "n_subspaces": n_subspaces,
        "dim": dim,
        "n_samples_per_subspace": n_samples_per_subspace,
        "n_views": n_views,
    }
    for name, value in counts.items():
        check_scalar(value, name, Integral, min_val=1)
    check_scalar(n_features, "n_features", Integral, min_val=max(dim, 2))
    rng = np.random.default_rng(random_state)
    clean = [
        _rotated_subspaces(rng, n_subspaces, dim, n_features, n_samples_per_subspace)
        for _ in range(n_views)
    ]
    return add_noise(clean, noise, rng), np.repeat(np.arange(n_subspaces), n_samples_per_subspace)


def _rotated_subspaces(
    rng: np.random.Generator, n_subspaces: int, dim: int, n_features: int, n_each: int
) -> Array:
    """Return one view without noise."""
    rotation = special_ortho_group.rvs(n_features, random_state=rng)
    basis = ortho_group.rvs(n_features, random_state=rng)[:, :dim]
    samples = []
    for _ in range(n_subspaces):
        samples.append(rng.normal(size=(n_each, dim)) @ basis.T)
        basis = rotation @ basis
    return np.vstack(samples)
