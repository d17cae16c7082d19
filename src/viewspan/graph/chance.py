"""What a graph would look like by chance, to see what of it is more than that."""

import numpy as np

from viewspan._typing import Array, Graph
from viewspan.graph.patterns import Patterns, neighbour_graph, unit_columns
from viewspan.graph.spectrum import leading_eigenvalues

CANDIDATES = (1.0, 2.0)
"""Powers of a view's evidence that are tried as its weight."""
WORTHWHILE = 0.1
"""Unequal weights must raise the evidence by this share: between views of one kind, differences are chance."""
ENOUGH = 1000
"""So many samples tell what a view is worth."""


def trust(patterns: Patterns, n_clusters: int) -> Array:
    """How much every view should count in the graph, the largest being 1.

    A view is worth what its own graph has beyond chance (:func:`evidence`). Weights in proportion to that, and to its
    square, are compared with equal ones by the evidence of the graph that all views give together: views that complete
    one another hold together best as equals, and one that blurs what the others see does not.
    """
    equal = np.ones(len(patterns.columns))
    if len(equal) == 1 or n_clusters < 2:
        return equal
    generator = np.random.RandomState(0)  # the graph must not depend on the seed of the cut
    seen = sample(patterns, generator)
    noise = by_chance(seen, generator)
    alone = [evidence(seen, noise, weights, n_clusters) for weights in np.eye(len(equal))]
    worth = np.maximum(alone, 0.0)
    if not worth.any():
        return equal
    choices = [(worth / worth.max()) ** power for power in CANDIDATES]
    together = [evidence(seen, noise, weights, n_clusters) for weights in (equal, *choices)]
    best = int(np.argmax(together))
    return choices[best - 1] if together[best] - together[0] > WORTHWHILE * abs(together[0]) else equal


def evidence(patterns: Patterns, noise: Patterns, weights: Array, n_clusters: int) -> float:
    """The mean of the leading eigenvalues of a graph, minus that of its counterpart by chance.

    k minus the sum of k leading eigenvalues is a lower bound of the normalised cut into k parts, so this is how much
    better the graph can be cut than noise. Noise in few dimensions can be cut well, too: without the comparison, a view
    of three features would seem to be the best of all.
    """
    generator = np.random.RandomState(0)
    real, chance = (
        leading_eigenvalues(neighbour_graph(which, weights), n_clusters, generator) for which in (patterns, noise)
    )
    return float(real.mean() - chance.mean())


def chance_graph(patterns: Patterns, weights: Array) -> Graph:
    return neighbour_graph(by_chance(patterns, np.random.RandomState(0)), weights)


def by_chance(patterns: Patterns, generator: np.random.RandomState) -> Patterns:
    """Noise with the same singular values in every view, and no sample where there was none."""
    columns = []
    for pattern, spectrum in zip(patterns.columns, patterns.spectra, strict=True):
        noise = spectrum[:, None] * generator.normal(size=(len(spectrum), pattern.shape[1]))
        columns.append(unit_columns(noise * pattern.any(axis=0)))
    return Patterns(columns, patterns.spectra)


def sample(patterns: Patterns, generator: np.random.RandomState) -> Patterns:
    """At most so many samples as are enough."""
    n_samples = patterns.columns[0].shape[1]
    chosen = np.sort(generator.permutation(n_samples)[:ENOUGH])
    return Patterns([pattern[:, chosen] for pattern in patterns.columns], patterns.spectra)
