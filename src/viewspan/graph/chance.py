"""What a graph would look like by chance, to see what of it is more than that."""

import numpy as np

from viewspan._utils.threads import threads_for
from viewspan._utils.typing import AnyArray, Array
from viewspan.graph.patterns import Patterns, neighbour_graph, unit_columns
from viewspan.graph.spectrum import leading_eigenvalues

ENOUGH = 1000
"""So many samples tell what a view is worth."""
DRAWS = 3
"""Of noise, for a mean."""
ALIKE = 0.9
"""Views that count nearly as much as the first are its equals: so much is chance."""


def trust(patterns: Patterns, n_clusters: int) -> Array:
    r"""How much every view should count in the graph, the largest being 1.

    Samples in few dimensions have near neighbours whatever they are, and their graph can be cut well even if they are
    noise. Let :math:`c_i` be how well noise with the singular values of view i could be cut, and :math:`e_i` how much
    better the view can be (:func:`cohesion`). A view counts :math:`1 - c_i`, what chance leaves open, unless its
    evidence :math:`e_i` speaks for it: the larger of the two, each as a share of the largest over views.

    The first share does not look at the data beyond its spectrum, so views of one kind are equals: one that holds
    together better than the others, as by batch or site, counts no more than they do.
    """
    n_views = len(patterns.columns)
    if n_views == 1 or n_clusters < 2:
        return np.ones(n_views)
    seen, _ = sample(patterns)
    with threads_for(1, seen.columns[0].shape[1]):
        found = np.array([cohesion(view, n_clusters) for view in each(seen)])
        noise = [
            [cohesion(by_chance(view, seed), n_clusters) for seed in range(DRAWS)]
            for view in each(seen)
        ]
    chance = np.mean(noise, axis=1)
    weights = np.maximum(share(1.0 - chance), share(found - chance))
    return np.where(weights >= ALIKE, 1.0, weights) if weights.any() else np.ones(n_views)


def cohesion(view: Patterns, n_clusters: int) -> float:
    """The mean of the leading eigenvalues of a graph: k minus their sum is a lower bound of its normalised cut."""
    values = leading_eigenvalues(
        neighbour_graph(view, np.ones(1)), n_clusters, np.random.RandomState(0)
    )
    return float(values.mean())


def each(patterns: Patterns) -> list[Patterns]:
    """The views, one by one."""
    pairs = zip(patterns.columns, patterns.spectra, strict=True)
    return [Patterns([column], [spectrum]) for column, spectrum in pairs]


def share(amounts: Array) -> Array:
    """Of the largest; nothing below zero."""
    positive: Array = np.maximum(amounts, 0.0)
    return positive / (positive.max() or 1.0)


def by_chance(patterns: Patterns, seed: int) -> Patterns:
    """Noise with the same singular values in every view, and no sample where there was none."""
    generator = np.random.RandomState(
        seed
    )  # not that of the cut, on which the graph must not depend

    def noise(pattern: AnyArray, spectrum: Array) -> AnyArray:
        drawn = spectrum[:, None] * generator.normal(size=(len(spectrum), pattern.shape[1]))
        return unit_columns(drawn * pattern.any(axis=0))

    drawn = [noise(*view) for view in zip(patterns.columns, patterns.spectra, strict=True)]
    return patterns._replace(columns=drawn)


def sample(patterns: Patterns) -> tuple[Patterns, AnyArray]:
    """At most so many samples as are enough, and which."""
    n_samples = patterns.columns[0].shape[1]
    chosen = np.sort(np.random.RandomState(0).permutation(n_samples)[:ENOUGH])
    observed = None if patterns.observed is None else patterns.observed[:, chosen]
    return Patterns(
        [pattern[:, chosen] for pattern in patterns.columns], patterns.spectra, observed
    ), chosen
