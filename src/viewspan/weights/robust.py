"""λ for fits that allow some samples, or some entries, to be wrong.

A sample that no other sample represents can represent itself, which costs λ, or be left as a
residual, which costs f(x_j): its length for the ℓ1,2 fit, the sum of its entries for ℓ1. It is left
as a residual, and so recognised as an outlier, if λ is well above f(x_j).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import AnyArray, Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.reduction import Reduction, rms_length
from viewspan.objective.weight_rule import PenaltyStrength, WeightRule
from viewspan.weights.noise import MAX_CRITICAL_SHARE, automatic_lam

OUTLIER_FACTOR = 1.5
"""Smallest λ in units of the median f(x_j): half more than an outlier costs as a residual."""
SHORTEST_RESIDUAL = 0.1
"""Shortest typical residual as a share of a sample's length."""
COLLAPSE_FACTOR = 1.5
"""λ as a multiple of the weight below which every sample only represents itself."""
TINY = np.finfo(float).tiny


class RobustRule(WeightRule):
    """λ_i = c_i × the median of f(x_j), with c_i = max(1.5, matched λ / sample length).

    The matched λ is the weight at which the gradient of the ℓ1,2 fit is as large as that of the
    quadratic fit (:func:`matched_lam`). c_i is at most half of the value that makes all
    coefficients zero. No multiple is above 1, because λ is already large enough for outliers.
    """

    multiples = (1.0, 0.5, 0.25, 0.125)
    uncoupled_up_to = 0.125

    def lam(self, reduction: Reduction, datafit: Datafit, multiple: float = 1.0) -> Array:
        costs = np.array([median_of_positive(view) for view in sample_costs(reduction, datafit)])
        lam: Array = multiple * (outlier_factors(reduction) * costs)
        return lam

    def strength(
        self, reduction: Reduction, datafit: Datafit, lam: Array
    ) -> PenaltyStrength | None:
        """Return √r̄ × the mean λ, as for the quadratic fit.

        r_i = Σ_s (1 − c_i ℓ_i²/s²)₊ is the rank that the view would have with residuals as long as
        a sample, ℓ_i. Views that are zero are ignored.
        """
        thresholds = outlier_factors(reduction) * np.square(sample_lengths(reduction))
        triples = zip(reduction.singular_values(), thresholds, lam, strict=True)
        views = [triple for triple in triples if triple[0].any()]
        if not views:
            return PenaltyStrength(0.0, 0.0)
        ranks = [
            max(1.0, float(np.maximum(1.0 - ratio(least, values**2), 0.0).sum()))
            for values, least, _ in views
        ]
        norm = float(np.sqrt(np.mean(ranks)) * np.mean([weight for _, _, weight in views]))
        return PenaltyStrength(norm, np.inf)


@dataclass(frozen=True)
class MatchedRule(WeightRule):
    """λ at which the gradient of an ℓ1,2 fit is that of the quadratic fit at its automatic λ."""

    multiples: tuple[float, ...] = (1.0,)

    def lam(self, reduction: Reduction, datafit: Datafit, multiple: float = 1.0) -> Array:
        spectra, counts = reduction.singular_values(), reduction.counts
        base = automatic_lam(spectra, counts, reduction.n_features_used)
        return matched_lam(spectra, multiple * base, counts)


def matched_lam(spectra: Sequence[Array], lam: Array, counts: Sequence[int]) -> Array:
    """Return the weight at which the gradient of the ℓ1,2 fit is that of ‖E‖_F² at λ.

    At residuals of length ε the two fits have slopes 1 and 2ε, so λ becomes λ/2ε. ε is the
    root mean square length of the residuals that the closed form leaves at λ, and at least a tenth
    of a sample's length. The weight is at most half of the one that makes all coefficients zero,
    which is ‖X‖₂² divided by a sample's length.

    If λ removes no direction, ε is proportional to λ, and λ/2ε is the weight at which all residuals
    vanish. Below it Z = I, and every sample is a cluster of its own. The weight is therefore at
    least 1.5 times that (:func:`collapse_weight`). If this exceeds the upper limit, the limit is
    raised to the geometric mean of the two critical weights.
    """
    weights = []
    for values, weight, n_samples in zip(spectra, lam, counts, strict=True):
        squares, length = values**2, rms_length([values], n_samples) or 1.0
        left = np.where(
            2 * squares > weight, weight**2 / (4 * np.maximum(squares, TINY)), squares
        ).sum()
        residual = max(float(np.sqrt(left / n_samples)), SHORTEST_RESIDUAL * length)
        collapse = collapse_weight(values, n_samples)
        zero = float(squares.max(initial=0.0)) / length
        wanted = max(weight / (2 * residual), COLLAPSE_FACTOR * collapse)
        weights.append(min(wanted, max(MAX_CRITICAL_SHARE * zero, float(np.sqrt(collapse * zero)))))
    return np.array(weights)


def collapse_weight(singular: Array, n_samples: int) -> float:
    """Return an upper bound of the λ for which Z = I is optimal in the ℓ1,2 fit: 1 / rms(1/s).

    Z = I leaves no residual. It is optimal if some Y with columns of length at most 1 has
    XᵀY = λI. The shortest such Y is λX(XᵀX)⁻¹, whose columns have the mean square length
    λ² Σ s⁻² / N. The longest of them decides, so the bound is nearly exact for samples of one
    length in all directions. Dependent samples have no such Y.
    """
    largest = float(singular.max(initial=0.0))
    smallest_resolved = largest * n_samples * np.finfo(float).eps
    if len(singular) < n_samples or float(singular.min()) <= smallest_resolved:
        return 0.0
    return 1.0 / float(np.sqrt(np.mean(singular**-2.0)))


def outlier_factors(reduction: Reduction) -> Array:
    """Return the factors c_i of :class:`RobustRule`, one per view."""
    spectra, counts = reduction.singular_values(), reduction.counts
    noise = matched_lam(spectra, automatic_lam(spectra, counts, reduction.n_features_used), counts)
    factors = []
    for values, wanted, length in zip(spectra, noise, sample_lengths(reduction), strict=True):
        largest = MAX_CRITICAL_SHARE * float(values.max(initial=0.0)) ** 2 / length**2
        factors.append(min(max(OUTLIER_FACTOR, wanted / length), largest))
    return np.array(factors)


def sample_lengths(reduction: Reduction) -> list[float]:
    """Return the median length of the samples in each view."""
    return [
        median_of_positive(np.sqrt(np.einsum("ij,ij->j", target, target)))
        for target in reduction.targets
    ]


def sample_costs(reduction: Reduction, datafit: Datafit) -> list[Array]:
    """Return f(x_j) for every view and sample."""
    return [
        np.array([datafit.value(column[:, None]) for column in target.T])
        for target in reduction.targets
    ]


def median_of_positive(values: Sequence[float] | AnyArray) -> float:
    """Return the median of the positive values, which leaves out missing samples; 1 if none is."""
    positive = np.asarray(values)[np.asarray(values) > 0]
    return float(np.median(positive)) if len(positive) else 1.0
