"""One partition from several graphs of the same samples."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from viewspan._utils.threads import threads_for
from viewspan._utils.typing import Array, Graph, Labels
from viewspan.graph.cluster_count import count_clusters, eigengap, most_clusters
from viewspan.graph.discretisation import AssignLabels
from viewspan.graph.landmarks import through_samples
from viewspan.graph.ncut import cut
from viewspan.graph.patterns import average
from viewspan.graph.spectrum import leading_eigenvalues


def as_it_is(graph: Graph) -> Graph:
    return graph


def cut_consensus(
    graphs: Sequence[Graph],
    n_clusters: int | None,
    *,
    assign_labels: AssignLabels,
    generator: np.random.RandomState,
    chance: Sequence[Graph] = (),
    to_landmarks: bool = False,
) -> tuple[Labels, Array, Graph]:
    """Labels, the eigenvalues that were looked at, and the graph that was cut.

    Several graphs are averaged, each weighted by the square of its eigengap at the number of clusters: noise turns the
    leading eigenvectors by an angle proportional to 1/gap (Davis and Kahan), so these are weights of inverse variance,
    and a graph that noise has broken has no gap and no say. The number of clusters, if it is not given, is read from
    the mean of the eigenvalues, beside those of graphs that chance would give, if there are any.

    Graphs from samples to landmarks are cut in the graph of the landmarks, in which an edge is two steps.
    """
    form, steps = (through_samples, 2) if to_landmarks else (as_it_is, 1)
    finish = partial(cut, assign_labels=assign_labels, random_state=generator, steps=steps)
    if len(graphs) == 1 and n_clusters is not None:
        united = form(graphs[0])
        return *finish(united, n_clusters), united
    n_samples = graphs[0].shape[1]
    count = min((most_clusters(n_samples) if n_clusters is None else n_clusters) + 1, n_samples)
    with threads_for(1, n_samples):
        spectra = [
            leading_eigenvalues(form(graph), count, generator, steps=steps) for graph in graphs
        ]
        expected = [
            leading_eigenvalues(form(graph), count, generator, steps=steps) for graph in chance
        ]
    eigenvalues: Array = np.mean(spectra, axis=0)
    if n_clusters is None:
        n_clusters = count_clusters(eigenvalues, np.mean(expected, axis=0) if expected else None)
    united = form(average(graphs, [eigengap(values, n_clusters) ** 2 for values in spectra]))
    labels, _ = finish(united, n_clusters)
    return labels, eigenvalues, united
