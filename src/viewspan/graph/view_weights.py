"""Automatic view weights: compare the graph of every view with the graph of noise."""

import numpy as np

from viewspan._utils.typing import AnyArray, Array
from viewspan.graph.patterns import Patterns, is_significant, neighbor_graph, unit_columns
from viewspan.graph.spectrum import leading_eigenvalues

MAX_COMPARED_SAMPLES = 500
"""Number of samples that suffices to weight a view; larger data are subsampled."""
FULL_EVIDENCE = 0.75
"""Share of the largest evidence from which on a view counts fully."""
EQUAL_WEIGHT_THRESHOLD = 0.9
"""View weights from this value on become 1, because such differences arise by chance."""


def automatic_view_weights(patterns: Patterns, n_clusters: int) -> Array:
    r"""Return the weight of every view in the graph; the largest is 1.

    Samples with few dimensions have near neighbours even if they are noise, and their graph can be
    cut well. Let :math:`c_i` be the cohesion (see :func:`cohesion`) of noise with the singular
    values of view i, and :math:`e_i` the excess of the view's own cohesion over it. Both
    :math:`1 - c_i` and :math:`e_i` are divided by their largest value over views. The weight of a
    view is the first quotient, or 4/3 of the second one if that is larger, and at most 1.

    The first quotient depends on the data only through the singular values. So views of one kind
    get equal weights, even if one of them is more cohesive because of a batch or site effect. Views
    with three quarters of the largest excess count fully: evidence tells noise from clusters, but
    hardly which of two views shows the right ones.

    Parameters
    ----------
    patterns : Patterns
    n_clusters : int

    Returns
    -------
    array (n_views,)
    """
    n_views = len(patterns.columns)
    if n_views == 1 or n_clusters < 2:
        return np.ones(n_views)
    compared, _ = subsample(patterns)
    found = np.array([cohesion(view, n_clusters) for view in single_views(compared)])
    chance = np.array(
        [cohesion(noise_patterns(view, seed=0), n_clusters) for view in single_views(compared)]
    )
    evidence = np.minimum(share_of_largest(found - chance) / FULL_EVIDENCE, 1.0)
    weights = np.maximum(share_of_largest(1.0 - chance), evidence)
    if not weights.any():
        return np.ones(n_views)
    return np.where(weights >= EQUAL_WEIGHT_THRESHOLD, 1.0, weights)


def cohesion(view: Patterns, n_clusters: int) -> float:
    """Return the mean of the leading eigenvalues of a view's graph.

    The number of clusters minus the sum of these eigenvalues is a lower bound of the normalised
    cut, so a graph of high cohesion can be cut well.
    """
    values = leading_eigenvalues(
        neighbor_graph(view, np.ones(1)), n_clusters, np.random.RandomState(0)
    )
    return float(values.mean())


def single_views(patterns: Patterns) -> list[Patterns]:
    """Return the patterns of every view separately."""
    pairs = zip(patterns.columns, patterns.spectra, strict=True)
    return [Patterns([column], [spectrum]) for column, spectrum in pairs]


def share_of_largest(amounts: Array) -> Array:
    """Return amounts divided by the largest; negative ones become 0."""
    positive: Array = np.maximum(amounts, 0.0)
    return positive / (positive.max() or 1.0)


def noise_patterns(patterns: Patterns, seed: int) -> Patterns:
    """Return noise with the same singular values and the same missing samples in every view."""
    # not the generator of the cut: the graph must not depend on its seed
    generator = np.random.RandomState(seed)

    def noise(pattern: AnyArray, spectrum: Array) -> AnyArray:
        drawn = spectrum[:, None] * generator.normal(size=(len(spectrum), pattern.shape[1]))
        significant = is_significant(spectrum, spectrum.dtype)
        return unit_columns(drawn[significant] * pattern.any(axis=0))

    drawn = [noise(*view) for view in zip(patterns.columns, patterns.spectra, strict=True)]
    return patterns._replace(columns=drawn)


def subsample(patterns: Patterns) -> tuple[Patterns, AnyArray]:
    """Return the patterns of at most ``MAX_COMPARED_SAMPLES`` samples, and which samples these are.

    The samples are drawn at random with a fixed seed and keep their order.
    """
    n_samples = patterns.columns[0].shape[1]
    chosen = np.sort(np.random.RandomState(0).permutation(n_samples)[:MAX_COMPARED_SAMPLES])
    observed = None if patterns.observed is None else patterns.observed[:, chosen]
    return Patterns(
        [pattern[:, chosen] for pattern in patterns.columns], patterns.spectra, observed
    ), chosen
