"""Noise level of a view and the λ that follows from it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.reduction import Reduction
from viewspan.objective.weight_rule import PenaltyStrength, WeightRule

LAM_FLOOR = 2e-4
"""Smallest λ as a share of ‖X_i‖₂²: LRR then drops singular values below 1 % of the largest."""
MIN_SPECTRUM = 8
"""Smallest number of singular values from which noise is estimated."""
N_MEDIAN_POINTS = 4097
"""Number of points at which the density of the Marchenko–Pastur law is summed."""
MAX_CRITICAL_SHARE = 0.5
"""Largest automatic weight as a share of the one that makes all coefficients zero."""


def noise_level(singular: Array, n_samples: int, n_features: int) -> float:
    """Estimate σ of the noise in a view from its median singular value [1]_.

    The median belongs to the noise as long as the signal has fewer than half of all directions. A
    view whose numerical rank is below half of its size has a median of zero and counts as free of
    noise. So does a view with too few samples or features for a median.

    References
    ----------
    .. [1] M. Gavish, D. L. Donoho, "The optimal hard threshold for singular values is 4/√3",
       IEEE Trans. Inf. Theory, 2014.
    """
    short, long = sorted((n_samples, n_features))
    values = np.zeros(short)
    values[: min(short, len(singular))] = singular[:short]
    rank = int((values > values.max(initial=0.0) * long * np.finfo(float).eps).sum())
    if 2 * rank < short or short < MIN_SPECTRUM:
        return 0.0
    return float(np.median(values)) / float(np.sqrt(long * marchenko_pastur_median(short / long)))


def marchenko_pastur_median(ratio_of_sides: float) -> float:
    """Return the median of the Marchenko–Pastur law for a matrix with this ratio of sides ≤ 1."""
    low, high = (1 - np.sqrt(ratio_of_sides)) ** 2, (1 + np.sqrt(ratio_of_sides)) ** 2
    # x = middle − half-width·cos(θ) removes the square-root ends of the density
    angle = (np.arange(N_MEDIAN_POINTS) + 0.5) * np.pi / N_MEDIAN_POINTS
    points = (low + high) / 2 - (high - low) / 2 * np.cos(angle)
    mass = np.cumsum(np.sin(angle) ** 2 / points)
    return float(np.interp(mass[-1] / 2, mass, points))


def automatic_lam(
    spectra: Sequence[Array],
    counts: Sequence[int],
    n_features: Sequence[int],
    floors: Sequence[float] | None = None,
) -> Array:
    r"""Return λ_i = 2 × the energy of the noise in one sample of view i, for the fit ‖E‖_F².

    A direction over the samples in which the signal has the energy x² is observed with
    s² = x² + Dσ². Wiener's filter keeps the share x²/s² = 1 − Dσ²/s² of it, and LRR's closed form
    keeps 1 − λ/2s². They agree at λ = 2Dσ².

    The noise cannot exceed the energy of the view. λ is at least a share of ‖X_i‖₂², below which
    directions of the view are of no use even where nothing looks like noise, and at most half of
    the weight that makes all coefficients zero. ``floors`` are these shares, by default LAM_FLOOR.
    """
    weights = []
    floors = [LAM_FLOOR] * len(spectra) if floors is None else floors
    for values, n_samples, width, floor in zip(spectra, counts, n_features, floors, strict=True):
        energy, largest = float((values**2).sum()), float(values.max(initial=0.0)) ** 2
        noise = min(width * noise_level(values, n_samples, width) ** 2, energy / n_samples)
        weights.append(min(max(2 * noise, floor * largest), largest))
    return np.array(weights)


@dataclass(frozen=True)
class NoiseRule(WeightRule):
    """λ for quadratic fits and nuclear penalties: it follows the noise of each view.

    With an automatic τ, the last two of the four problems are not coupled. Their graphs keep
    details that only one view has, and they have closed forms.

    Attributes
    ----------
    floors : tuple of float, optional
        Smallest λ of every view as a share of ‖X_i‖₂²; LAM_FLOOR by default.
    """

    floors: tuple[float, ...] | None = None
    multiples = (1.0, 2.0, 0.5, 0.25)
    uncoupled_up_to = 0.5

    def lam(self, reduction: Reduction, datafit: Datafit, multiple: float = 1.0) -> Array:
        base = automatic_lam(
            reduction.singular_values(),
            reduction.counts,
            reduction.n_features_used,
            self.floors,
        )
        lam: Array = multiple * (0.5 * curvature_of(datafit) * base)
        return lam

    def strength(
        self, reduction: Reduction, datafit: Datafit, lam: Array
    ) -> PenaltyStrength | None:
        """Return √r̄ × the mean λ.

        r̄ is the mean over views of the rank Σ_s (1 − λ_i/(w s²))₊ that each would have alone.
        All coefficients are zero if τ is at least ‖A‖₂, where A has the rows vec((wG_i − λ_i I)₊).
        ‖A‖₂ is at least the length of every row. Views that are zero are ignored.
        """
        curvature = curvature_of(datafit)
        pairs = [
            (values, weight)
            for values, weight in zip(reduction.singular_values(), lam, strict=True)
            if values.any()
        ]
        if not pairs:
            return PenaltyStrength(0.0, 0.0)
        kept = [np.maximum(curvature * values**2 - weight, 0.0) for values, weight in pairs]
        ranks = [
            float(ratio(left, left + weight).sum())
            for left, (_, weight) in zip(kept, pairs, strict=True)
        ]
        norm = float(np.sqrt(np.mean(ranks)) * np.mean([weight for _, weight in pairs]))
        limit = MAX_CRITICAL_SHARE * max(float(np.linalg.norm(left)) for left in kept)
        return PenaltyStrength(norm, limit)


def curvature_of(datafit: Datafit) -> float:
    """Return w of a quadratic fit."""
    if datafit.curvature is None:
        raise TypeError(f"{datafit!r} is not quadratic.")
    return datafit.curvature
