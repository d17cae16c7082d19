"""Gaussian corruption, the same for all studies."""

from collections.abc import Sequence
from numbers import Real

import numpy as np
from sklearn.utils.validation import check_scalar

from viewspan._utils.typing import Array


def corrupt(clean: Sequence[Array], noise: float, rng: np.random.Generator) -> list[Array]:
    """Add Gaussian noise of this standard deviation to every entry.

    The draw does not depend on ``noise``, so one seed gives the same pattern at every level.
    """
    check_scalar(noise, "noise", Real, min_val=0)
    if not np.isfinite(noise):
        raise ValueError(f"noise must be a finite standard deviation. Got {noise!r} instead.")
    return [view + noise * rng.normal(size=view.shape) for view in clean]
