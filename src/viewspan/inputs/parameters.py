"""Checks of numeric parameters."""

from numbers import Number
from typing import Any

import numpy as np
import numpy.typing as npt

from viewspan._utils.typing import Array


def as_numbers(values: Any, name: str) -> Array:
    """Return real numbers as an array of floats; raise ValueError for anything else.

    Text is not converted, even if it looks like a number.
    """
    try:
        array = np.asarray(values)
        kind = array.dtype.kind
        if kind in "biuf" or (
            kind == "O" and all(isinstance(value, Number) for value in array.flat)
        ):
            return np.asarray(array, dtype=float)
    except (TypeError, ValueError):  # ragged lists, and objects that are not numbers
        pass
    raise ValueError(f"{name} must be a number or an array of numbers. Got {values!r:.80} instead.")


def check_view_weights(weights: npt.ArrayLike | None, n_views: int) -> Array:
    """Return the view weights, scaled to a maximum of 1; None stands for equal weights."""
    if weights is None:
        return np.ones(n_views)
    array = as_numbers(weights, "view_weights")
    if array.shape != (n_views,):
        raise ValueError(
            f"view_weights must have one number per view, {n_views} in total. "
            f"Got shape {array.shape} instead."
        )
    if not (np.isfinite(array).all() and (array >= 0).all() and array.any()):
        raise ValueError(
            "view_weights must be finite and at least 0, and one of them must be positive. "
            f"Got {array.tolist()} instead."
        )
    scaled: Array = array / array.max()
    return scaled
