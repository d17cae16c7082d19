"""λ and τ for fits that let some samples, or some entries, be wrong.

A sample that nothing else explains can rebuild itself, which costs λ, or be left as a residual, which costs f(x_j): its
length for the ℓ1,2 fit, the sum of its entries for ℓ1. An outlier is seen as one if λ is well above that. How far above
is c_i, the same for both fits, in units of a typical f(x_j).
"""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import AnyArray, Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.reduction import Reduction
from viewspan.objective.selection import COUPLING, HALF, automatic_lam, lam_for_l12

PATH, ALONE = (1.0, 0.5, 0.25, 0.125), 0.125
"""Multiples of λ whose graphs are averaged; no larger ones, because λ is already large enough to leave outliers out. At
the last one views are not coupled.
"""
FLOOR = 1.5
"""c_i is at least this: half again of what an outlier pays for itself."""


def robust_lam(reduction: Reduction, datafit: Datafit) -> Array:
    """λ_i = c_i × the median of f(x_j), with c_i = max(1.5, what the noise asks for), at most half of what makes all
    coefficients zero.

    What the noise asks for is the weight at which the ℓ1,2 fit pulls as hard as the quadratic one does
    (:func:`viewspan.objective.selection.lam_for_l12`), in units of a sample's length.
    """
    lam: Array = multiples_of_a_sample(reduction) * np.array(
        [typical(view) for view in sizes(reduction, datafit)]
    )
    return lam


def robust_tau(reduction: Reduction, lam: Array) -> float:
    """τ = ½ √r̄ × the mean λ, half of the penalty's pull, as for the quadratic fit; r_i = Σ_s (1 − c_i ℓ_i²/s²)₊ is the
    rank that the view would have with residuals as long as a sample, ℓ_i.
    """
    thresholds = multiples_of_a_sample(reduction) * np.square(lengths(reduction))
    triples = zip(reduction.singular_values(), thresholds, lam, strict=True)
    views = [triple for triple in triples if triple[0].any()]  # one that is zero has no say
    if not views:
        return 0.0
    ranks = [
        max(1.0, float(np.maximum(1.0 - ratio(least, values**2), 0.0).sum()))
        for values, least, _ in views
    ]
    return COUPLING * float(np.sqrt(np.mean(ranks)) * np.mean([weight for _, _, weight in views]))


def multiples_of_a_sample(reduction: Reduction) -> Array:
    """c_i."""
    spectra, counts = reduction.singular_values(), reduction.counts
    noise = lam_for_l12(spectra, automatic_lam(spectra, counts, reduction.n_features_used), counts)
    found = []
    for values, wanted, length in zip(spectra, noise, lengths(reduction), strict=True):
        largest = HALF * float(values.max(initial=0.0)) ** 2 / length**2
        found.append(min(max(FLOOR, wanted / length), largest))
    return np.array(found)


def lengths(reduction: Reduction) -> list[float]:
    return [typical(np.sqrt(np.einsum("ij,ij->j", target, target))) for target in reduction.targets]


def sizes(reduction: Reduction, datafit: Datafit) -> list[Array]:
    """f(x_j) of every view and sample."""
    return [
        np.array([datafit.value(column[:, None]) for column in target.T])
        for target in reduction.targets
    ]


def typical(values: Sequence[float] | AnyArray) -> float:
    """The median of those that are not zero, as absent samples are; 1 if there are none."""
    positive = np.asarray(values)[np.asarray(values) > 0]
    return float(np.median(positive)) if len(positive) else 1.0
