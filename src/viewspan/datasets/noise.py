"""Gaussian noise for the data of the studies."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_scalar

from viewspan._utils.typing import Array


def add_noise(clean: Sequence[Array], noise: float, rng: np.random.Generator) -> list[Array]:
    """Add Gaussian noise of the given standard deviation to every entry of every view.

    The random numbers do not depend on ``noise``: with the same seed, another noise level gives the
    same noise, scaled.
    """
    check_scalar(noise, "noise", Real, min_val=0)
    if not np.isfinite(noise):
        raise ValueError(f"noise must be a finite standard deviation. Got {noise!r} instead.")
    return [view + noise * rng.normal(size=view.shape) for view in clean]
