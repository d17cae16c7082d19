"""Fit a subspace to every cluster in every view, and project samples onto the subspaces."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from viewspan._utils.linalg import ratio, svd
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.inputs.preparation import Treatment
from viewspan.weights.noise import MIN_SPECTRUM, noise_level

MIN_CLEAR_RATIO = 2.0
"""Smallest ratio of two successive singular values that counts as a clear gap."""
MIN_RELATIVE_SINGULAR_VALUE = 1e-6
"""Singular values below this share of the largest are rounding errors."""
MIN_HOMOGENEOUS_COORDINATE = 1e-10
"""Below this homogeneous coordinate, an affine subspace lies at infinity and is taken as linear."""


@dataclass(frozen=True)
class Subspace:
    """Subspace of one cluster in one view: the points origin + basis · y.

    The points are in scaled units: (features − ``center``) / ``scale``.

    Attributes
    ----------
    dimension : int
        Number of singular values of the cluster above the noise; one less for an affine subspace.
    basis : array (n_features, dimension)
        Orthonormal columns.
    origin : array (n_features,)
        The point of the subspace that is nearest to zero; zero unless the view is affine.
    scale : array (n_features,)
        Divisors of the features: 1 unless features were scaled, 0 for features that were ignored.
    center : array (n_features,)
        Means of the features if the view was read as positions, else 0.
    """

    dimension: int
    basis: Array = field(repr=False)
    origin: Array = field(repr=False)
    scale: Array = field(repr=False)
    center: Array = field(repr=False)

    def project(self, samples: Array) -> Array:
        """Return the nearest points of the subspace in the units of the samples.

        Parameters
        ----------
        samples : array (n_samples, n_features)

        Returns
        -------
        array (n_samples, n_features)
        """
        return self._nearest(self._scaled(samples)) * self.scale + self.center

    def distances(self, samples: Array) -> Array:
        """Return the distances of samples to the subspace, as shares of their lengths when scaled.

        Parameters
        ----------
        samples : array (n_samples, n_features)

        Returns
        -------
        array (n_samples,)
        """
        scaled = self._scaled(samples)
        # divided by the largest, so that squares neither overflow nor underflow
        largest = np.abs(scaled).max(axis=1, initial=0.0)[:, None]
        residuals = ratio(scaled - self._nearest(scaled), largest)
        relative = ratio(scaled, largest)
        return ratio(np.linalg.norm(residuals, axis=1), np.linalg.norm(relative, axis=1))

    def _scaled(self, samples: Array) -> Array:
        """Return samples with their features shifted and divided by the scale."""
        return ratio(samples - self.center, np.broadcast_to(self.scale, samples.shape))

    def _nearest(self, scaled: Array) -> Array:
        """Return the nearest points of the subspace to scaled samples.

        Samples are divided by powers of two, which is exact, so that nothing overflows.
        """
        largest = np.maximum(
            np.abs(scaled).max(axis=1, initial=0.0), np.abs(self.origin).max(initial=0.0)
        )
        power = np.frexp(largest)[1][:, None]
        relative, origin = np.ldexp(scaled, -power), np.ldexp(self.origin, -power)
        return np.asarray(np.ldexp(origin + (relative - origin) @ self.basis @ self.basis.T, power))


class Reconstruction(NamedTuple):
    """Samples projected onto the subspaces of their clusters.

    Attributes
    ----------
    views : list or dict of arrays (n_samples, n_features_i)
        The projected samples; NaN for missing samples.
    residuals : array (n_views, n_samples)
        Distance of every sample to the subspace, as a share of its length: 0 if the sample is in
        the subspace, 1 if it is orthogonal to it, NaN if it is missing.
    labels : array (n_samples,)
        Clusters of the samples.
    """

    views: Any
    residuals: Array
    labels: Labels


def fit_subspace(samples: Array, noise: float, treatment: Treatment) -> Subspace:
    """Fit a subspace to the samples of one cluster in one view.

    Parameters
    ----------
    samples : array (n_features, n)
        Preprocessed samples, one per column.
    noise : float
        Standard deviation σ of the noise of the view, for clusters that are too small to estimate
        their own.
    treatment : Treatment
        Preprocessing of the samples.
    """
    left, values, _ = svd(samples)
    count = count_directions(values, samples.shape[1], noise, treatment.n_features_used)
    directions = left[:, :count]
    origin, basis = np.zeros(len(directions)), directions
    if treatment.affine:
        origin, basis = affine_subspace(directions, treatment.constant)
    return Subspace(basis.shape[1], basis, origin, treatment.scale, treatment.center)


def count_directions(values: Array, n_samples: int, noise: float, n_features: int) -> int:
    """Count the singular values above the noise; at least one.

    The limit is the optimal hard threshold of Gavish and Donoho (2014) or, without noise, the size
    of rounding errors. If there are too few values to estimate the noise, they are cut at their
    largest ratio (Ahn and Horenstein 2013), if it is clear.
    """
    short, long = sorted((n_samples, n_features))
    rounding = MIN_RELATIVE_SINGULAR_VALUE * float(values.max(initial=0.0))
    if values[:short].min(initial=np.inf) <= rounding:
        noise = 0.0  # noise would have made all singular values positive
    elif short >= MIN_SPECTRUM:
        # the smaller estimate is better, because signal only makes estimates larger
        own = noise_level(values, n_samples, n_features)
        noise = min(noise, own) if noise > 0 else own
    threshold = max(noise * np.sqrt(long) * hard_threshold(short / max(long, 1)), rounding)
    kept = values[values > threshold]
    if noise == 0.0 and 1 < short < MIN_SPECTRUM and len(kept) == short:
        ratios = kept[:-1] / kept[1:]
        return int(ratios.argmax()) + 1 if ratios.max() >= MIN_CLEAR_RATIO else short
    return max(1, len(kept))


def hard_threshold(ratio_of_sides: float) -> float:
    """Return the optimal hard threshold of singular values, in units of σ√n.

    It is λ*(β) = √(2(β + 1) + 8β / (β + 1 + √(β² + 14β + 1))) for matrices whose sides have the
    ratio β (Gavish and Donoho 2014).
    """
    beta = ratio_of_sides
    return float(np.sqrt(2 * (beta + 1) + 8 * beta / (beta + 1 + np.sqrt(beta**2 + 14 * beta + 1))))


def affine_subspace(directions: Array, constant: float) -> tuple[Array, Array]:
    """Return origin and basis of the affine subspace {y : (y, constant) in the span}.

    Parameters
    ----------
    directions : array (n_features + 1, d)
        Orthonormal basis of the span, in homogeneous coordinates.
    constant : float
        Homogeneous coordinate of the samples.

    Returns
    -------
    origin : array (n_features,)
    basis : array (n_features, d - 1)
        Of shape (n_features, d) if the span has no such point; then the subspace is linear.
    """
    top, height = directions[:-1], directions[-1]
    size = float(np.linalg.norm(height))
    if size < MIN_HOMOGENEOUS_COORDINATE:
        return np.zeros(len(top)), np.linalg.qr(top)[0]
    along = height / size
    orthogonal = svd(np.eye(len(along)) - np.outer(along, along)).left[:, : len(along) - 1]
    basis = np.linalg.qr(top @ orthogonal)[0]
    point = top @ along * (constant / size)
    return point - basis @ (basis.T @ point), basis


def reconstruct(
    arrays: Sequence[Array], labels: Labels, subspaces: Sequence[Sequence[Subspace]]
) -> tuple[list[Array], Array]:
    """Project samples onto the subspaces of their clusters.

    Parameters
    ----------
    arrays : list of arrays (n_samples, n_features_i)
    labels : array (n_samples,)
    subspaces : list of lists of Subspace
        The subspaces of every cluster in every view.

    Returns
    -------
    projected : list of arrays (n_samples, n_features_i)
    residuals : array (n_views, n_samples)
        Distances of the samples to the subspaces, as shares of their lengths.
    """
    projected, residuals = [], np.zeros((len(arrays), len(labels)))
    for view, array in enumerate(arrays):
        nearest = np.zeros_like(array)
        for cluster, fitted in enumerate(subspaces):
            members = labels == cluster
            nearest[members] = fitted[view].project(array[members])
            residuals[view, members] = fitted[view].distances(array[members])
        projected.append(nearest)
    return projected, residuals


def set_missing_to_nan(
    arrays: Sequence[Array], residuals: Array, observed: AnyArray | None
) -> None:
    """Set projections and residuals of missing samples to NaN, in place."""
    if observed is None:
        return
    for array, row, present in zip(arrays, residuals, observed, strict=True):
        array[~present] = row[~present] = np.nan
