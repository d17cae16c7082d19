"""The second step of subspace clustering: fit a subspace to every cluster in every view."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from viewspan._utils.linalg import ratio, svd
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.inputs.preparation import Treatment
from viewspan.weights.noise import MIN_SPECTRUM, noise_level

CLEAR_STEP = 2.0
"""A step between singular values is clear if the next one is smaller by this factor."""
ROUNDING = 1e-6
"""Singular values below this share of the largest are none."""
PARALLEL = 1e-10
"""A flat whose homogeneous coordinate is below this never comes near: it is a linear subspace."""


@dataclass(frozen=True)
class Subspace:
    """Where the samples of one cluster lie in one view: at origin + basis · y, in features divided by ``scale``.

    Attributes
    ----------
    dimension : int
        Singular values of the cluster above the noise; one less for a flat that may miss the origin.
    basis : array (n_features, dimension)
        Orthonormal columns.
    origin : array (n_features,)
        The point of the subspace that is nearest to zero; zero unless the view is affine.
    scale : array (n_features,)
        What features are divided by before they are compared: 1, unless they were scaled. Where it is 0, the feature
        was not used.
    """

    dimension: int
    basis: Array = field(repr=False)
    origin: Array = field(repr=False)
    scale: Array = field(repr=False)

    def project(self, samples: Array) -> Array:
        """The nearest points of the subspace, (n_samples, n_features), in the samples' own units."""
        return self._nearest(self._compared(samples)) * self.scale

    def distances(self, samples: Array) -> Array:
        """From samples to the subspace, as shares of the samples' lengths."""
        compared = self._compared(samples)
        largest = np.abs(compared).max(axis=1, initial=0.0)[
            :, None
        ]  # so that squares neither overflow nor vanish
        left, whole = ratio(compared - self._nearest(compared), largest), ratio(compared, largest)
        return ratio(np.linalg.norm(left, axis=1), np.linalg.norm(whole, axis=1))

    def _compared(self, samples: Array) -> Array:
        return ratio(samples, np.broadcast_to(self.scale, samples.shape))

    def _nearest(self, compared: Array) -> Array:
        """In units in which nothing overflows, whatever the magnitude of samples; powers of two cost no digit."""
        reach = np.maximum(
            np.abs(compared).max(axis=1, initial=0.0), np.abs(self.origin).max(initial=0.0)
        )
        power = np.frexp(reach)[1][:, None]
        relative, origin = np.ldexp(compared, -power), np.ldexp(self.origin, -power)
        return np.asarray(np.ldexp(origin + (relative - origin) @ self.basis @ self.basis.T, power))


class Reconstruction(NamedTuple):
    """Samples as the model explains them.

    Attributes
    ----------
    views : list or dict of arrays (n_samples, n_features_i)
        Every sample projected onto the subspace of its cluster; NaN where a view does not have it.
    residuals : array (n_views, n_samples)
        The part of the sample's length that is left: 0 if the subspace holds it, 1 if it is orthogonal to it.
    labels : array (n_samples,)
    """

    views: Any
    residuals: Array
    labels: Labels


def fit_subspace(samples: Array, noise: float, treatment: Treatment) -> Subspace:
    """To the samples of one cluster in one view.

    Parameters
    ----------
    samples : array (n_features, n)
        Prepared, one per column.
    noise : float
        σ of the view, for clusters that are too small to tell their own.
    treatment : Treatment
        How they were prepared.
    """
    left, values, _ = svd(samples)
    directions = left[
        :, : count_directions(values, samples.shape[1], noise, treatment.n_features_used)
    ]
    scale = treatment.scale
    if not treatment.affine:
        return Subspace(directions.shape[1], directions, np.zeros(len(directions)), scale)
    origin, basis = flat_of(directions, treatment.constant)
    return Subspace(basis.shape[1], basis, origin, scale)


def count_directions(values: Array, n_samples: int, noise: float, n_features: int) -> int:
    """Singular values that are more than noise, by the optimal hard threshold of Gavish and Donoho; at least one.

    Without noise, those that are more than rounding. Too few values to tell the noise from are cut where they fall most
    steeply (Ahn and Horenstein 2013), if that is clear.
    """
    short, long = sorted((n_samples, n_features))
    rounding = ROUNDING * float(values.max(initial=0.0))
    if values[:short].min(initial=np.inf) <= rounding:  # noise would have filled every direction
        noise = 0.0
    elif short >= MIN_SPECTRUM:  # signal makes estimates of noise too large, never too small
        own = noise_level(values, n_samples, n_features)
        noise = min(noise, own) if noise > 0 else own
    threshold = max(noise * np.sqrt(long) * hard_threshold(short / max(long, 1)), rounding)
    kept = values[values > threshold]
    if noise == 0.0 and 1 < short < MIN_SPECTRUM and len(kept) == short:
        steps = kept[:-1] / kept[1:]
        return int(steps.argmax()) + 1 if steps.max() >= CLEAR_STEP else short
    return max(1, len(kept))


def hard_threshold(ratio_of_sides: float) -> float:
    """λ*(β) = √(2(β + 1) + 8β / (β + 1 + √(β² + 14β + 1))), in units of σ√n."""
    beta = ratio_of_sides
    return float(np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1))))


def flat_of(directions: Array, constant: float) -> tuple[Array, Array]:
    """Origin and basis of the flat {y : (y, constant) in the span}, for a span in homogeneous coordinates."""
    top, height = directions[:-1], directions[-1]
    size = float(np.linalg.norm(height))
    if size < PARALLEL:
        return np.zeros(len(top)), np.linalg.qr(top)[0]
    along = height / size
    level = svd(np.eye(len(along)) - np.outer(along, along)).left[
        :, : len(along) - 1
    ]  # orthogonal to the height
    basis = np.linalg.qr(top @ level)[0]
    point = top @ along * (constant / size)
    return point - basis @ (basis.T @ point), basis


def reconstruct(
    arrays: Sequence[Array], labels: Labels, subspaces: Sequence[Sequence[Subspace]]
) -> tuple[list[Array], Array]:
    """Samples, one per row, projected onto the subspaces of their clusters; and what is left of them."""
    projected, residuals = [], np.zeros((len(arrays), len(labels)))
    for view, array in enumerate(arrays):
        nearest = np.zeros_like(array)
        for cluster, fitted in enumerate(subspaces):
            members = labels == cluster
            nearest[members] = fitted[view].project(array[members])
            residuals[view, members] = fitted[view].distances(array[members])
        projected.append(nearest)
    return projected, residuals


def absent_as_nan(arrays: Sequence[Array], residuals: Array, observed: AnyArray | None) -> None:
    """Nothing is said of what a view does not have."""
    if observed is None:
        return
    for array, row, present in zip(arrays, residuals, observed, strict=True):
        array[~present] = row[~present] = np.nan
