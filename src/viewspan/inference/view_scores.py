"""View scores: how well the clusters are visible in every view alone."""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.patterns import Patterns, neighbor_graph, unit_columns
from viewspan.graph.quality import assortativity
from viewspan.graph.view_weights import single_views, subsample


def view_scores(
    spectra: Sequence[Spectrum],
    coordinates: Array,
    lam: Array,
    labels: Labels,
    observed: AnyArray | None = None,
) -> Array:
    """Return how well the clusters are visible in every view alone.

    The nearest neighbours of a sample are found in one view, by the patterns of the low-rank
    coefficients V diag((1 − λ/2s²)₊) Vᵀ of this view, which do not depend on other views. The score
    measures how often the neighbours are in the cluster of the sample: 1 for always, 0 for as
    often as by chance.

    Parameters
    ----------
    spectra : list of Spectrum
        Spectra of the views in a joint basis.
    coordinates : array (n_samples, r)
        Coordinates of the samples in the basis.
    lam : array (n_views,)
    labels : array (n_samples,)
    observed : array (n_views, n_samples) of bool, optional
        Whether each view has each sample; None if no sample is missing.

    Returns
    -------
    array (n_views,)
    """
    pairs = zip(spectra, lam, strict=True)
    columns = [uncoupled_patterns(spectrum, coordinates, weight) for spectrum, weight in pairs]
    if observed is not None:
        columns = [column * present for column, present in zip(columns, observed, strict=True)]
    patterns, chosen = subsample(Patterns(columns, [spectrum.values for spectrum in spectra]))
    return np.array([score(view, labels[chosen]) for view in single_views(patterns)])


def score(view: Patterns, labels: Labels) -> float:
    """Return the score of one view among the samples that it has; 0 if it has fewer than two."""
    present = view.columns[0].any(axis=0)
    if present.sum() < 2:
        return 0.0
    graph = neighbor_graph(Patterns([view.columns[0][:, present]], view.spectra), np.ones(1))
    return assortativity(graph, labels[present])


def uncoupled_patterns(spectrum: Spectrum, coordinates: Array, lam: float) -> AnyArray:
    """Return the unit patterns, up to a rotation, of a view that is not coupled to others."""
    shrunk = np.maximum(1.0 - ratio(lam, 2.0 * spectrum.values**2), 0.0)
    return unit_columns((shrunk[:, None] * spectrum.right) @ coordinates.T)
