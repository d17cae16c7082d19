"""What every view contributed to the clusters that were found."""

from collections.abc import Sequence

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio
from viewspan._utils.threads import threads_for
from viewspan._utils.typing import AnyArray, Array, Labels
from viewspan.graph.chance import each, sample
from viewspan.graph.patterns import Patterns, neighbour_graph, unit_columns
from viewspan.graph.quality import assortativity


def view_scores(
    spectra: Sequence[Spectrum],
    coordinates: Array,
    lam: Array,
    labels: Labels,
    observed: AnyArray | None = None,
) -> Array:
    """How far the clusters can be seen in every view alone.

    The neighbours of a sample are looked for in one view, by patterns of its own low-rank coefficients
    V diag((1 − λ/2s²)₊) Vᵀ, which no other view has touched. The score is how much more often than by chance they are
    of the sample's own cluster: 1 for always, 0 for chance.

    Parameters
    ----------
    spectra : list of Spectrum
        Of the views, in a basis.
    coordinates : array (n_samples, r)
        Of samples in the basis.
    lam : array (n_views,)
    labels : array (n_samples,)
    observed : array (n_views, n_samples) of bool, optional
    """
    columns = [
        alone(spectrum, coordinates, weight) for spectrum, weight in zip(spectra, lam, strict=True)
    ]
    if observed is not None:
        columns = [column * present for column, present in zip(columns, observed, strict=True)]
    patterns, chosen = sample(Patterns(columns, [spectrum.values for spectrum in spectra]))
    with threads_for(1, len(chosen)):
        return np.array([score(view, labels[chosen]) for view in each(patterns)])


def score(view: Patterns, labels: Labels) -> float:
    """Among the samples that the view has; 0 if they are too few to have neighbours."""
    present = view.columns[0].any(axis=0)
    if present.sum() < 2:
        return 0.0
    graph = neighbour_graph(Patterns([view.columns[0][:, present]], view.spectra), np.ones(1))
    return assortativity(graph, labels[present])


def alone(spectrum: Spectrum, coordinates: Array, lam: float) -> AnyArray:
    """Unit patterns of a view that is not coupled to others, up to a rotation."""
    kept = np.maximum(1.0 - ratio(lam, 2.0 * spectrum.values**2), 0.0)
    return unit_columns((kept[:, None] * spectrum.right) @ coordinates.T)
