"""Check the weights λ and τ that a user gives."""

from numbers import Real

import numpy as np
import numpy.typing as npt

from viewspan._utils.typing import Array
from viewspan.inputs.parameters import as_numbers
from viewspan.objective.axes import Axes
from viewspan.objective.reduction import Reduction


def check_lam(lam: npt.ArrayLike, reduction: Reduction, axes: Axes) -> Array:
    """Return λ as (c,), or as (c, N) for a penalty that is a sum over samples."""
    n_views, n_samples = len(reduction.spectra), reduction.n_samples
    if isinstance(lam, str):
        raise ValueError(
            f"lam must be a number or an array of them. Got {lam!r} instead; "
            "only the estimators choose it."
        )
    weights = as_numbers(lam, "lam")
    if not np.all(np.isfinite(weights) & (weights >= 0)):
        raise ValueError(f"lam must be finite and at least 0. Got {lam!r} instead.")
    if weights.ndim == 0:
        return np.full(n_views, float(weights))
    shapes: dict[tuple[int, ...], str] = {(n_views,): "one per view"}
    if axes.penalty.per_sample:
        shapes[(n_views, n_samples)] = "one per view and sample"
    if weights.shape not in shapes:
        allowed = ", or ".join(f"{meaning} {shape}" for shape, meaning in shapes.items())
        raise ValueError(
            f"lam must be one number, or {allowed}. Got an array of shape {weights.shape} instead."
        )
    return weights


def spread_over_samples(lam: npt.ArrayLike, reduction: Reduction) -> Array:
    """Return λ (c, N) from one number, one per sample, or one per view and sample."""
    n_views, n_samples = len(reduction.spectra), reduction.n_samples
    weights = as_numbers(lam, "lam")
    if weights.shape not in {(), (n_samples,), (n_views, n_samples)}:
        raise ValueError(
            f"lam must be one number, or one per sample ({n_samples},), "
            f"or one per view and sample ({n_views}, {n_samples}). "
            f"Got an array of shape {weights.shape} instead."
        )
    return np.broadcast_to(weights, (n_views, n_samples)).copy()


def check_tau(tau: float) -> float:
    """Return τ as a float; raise ValueError if it is negative or not finite."""
    if not isinstance(tau, Real) or not (np.isfinite(float(tau)) and float(tau) >= 0):
        raise ValueError(f"tau must be finite and at least 0. Got {tau!r} instead.")
    return float(tau)
