"""One partition from several graphs of the same samples."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from viewspan._utils.typing import Array, Graph, Labels
from viewspan.graph.cluster_count import count_clusters, eigengap, most_clusters
from viewspan.graph.discretisation import AssignLabels
from viewspan.graph.landmarks import graph_between_landmarks
from viewspan.graph.ncut import cut
from viewspan.graph.neighbors import mean_graph
from viewspan.graph.spectrum import leading_eigenvalues


def cut_consensus(
    graphs: Sequence[Graph],
    n_clusters: int | None,
    *,
    assign_labels: AssignLabels,
    generator: np.random.RandomState,
    chance: Sequence[Graph] = (),
    to_landmarks: bool = False,
) -> tuple[Labels, Array, Graph]:
    """Cut the weighted mean of several graphs.

    The weight of a graph is its eigengap at the number of clusters. Noise turns the leading
    eigenvectors by an angle proportional to 1/gap (Davis and Kahan), so these weights are the
    inverse standard deviations. A graph without a gap is ignored.

    If ``n_clusters`` is None, it is estimated from the mean of the graphs' eigenvalues.

    Parameters
    ----------
    graphs : list of arrays or sparse arrays (n_samples, n_nodes)
    n_clusters : int or None
    assign_labels : str
        How eigenvectors become labels.
    generator : RandomState
    chance : list of graphs
        Graphs of noise. Only eigenvalues that exceed theirs count as clusters.
    to_landmarks : bool
        Whether the graphs connect samples with landmarks. Then the graph between landmarks is cut,
        in which an edge is two steps.

    Returns
    -------
    labels : array (n_nodes,)
    eigenvalues : array
        Leading eigenvalues, averaged over the graphs.
    graph : array or sparse array (n_nodes, n_nodes)
        The graph that was cut.
    """
    steps = 2 if to_landmarks else 1
    cut_nodes = partial(cut, assign_labels=assign_labels, random_state=generator, steps=steps)
    if len(graphs) == 1 and n_clusters is not None:
        nodes = graph_between_nodes(graphs[0], to_landmarks)
        return *cut_nodes(nodes, n_clusters), nodes
    n_nodes = graphs[0].shape[1]
    count = min((most_clusters(n_nodes) if n_clusters is None else n_clusters) + 1, n_nodes)

    def eigenvalues_of(graph: Graph) -> Array:
        nodes = graph_between_nodes(graph, to_landmarks)
        return leading_eigenvalues(nodes, count, generator, steps=steps)

    spectra = [eigenvalues_of(graph) for graph in graphs]
    expected = [eigenvalues_of(graph) for graph in chance]
    eigenvalues: Array = np.mean(spectra, axis=0)
    if n_clusters is None:
        n_clusters = count_clusters(eigenvalues, np.mean(expected, axis=0) if expected else None)
    mean = mean_graph(graphs, [eigengap(values, n_clusters) for values in spectra])
    nodes = graph_between_nodes(mean, to_landmarks)
    labels, _ = cut_nodes(nodes, n_clusters)
    return labels, eigenvalues, nodes


def graph_between_nodes(graph: Graph, to_landmarks: bool) -> Graph:
    """Return the graph that is cut: between the samples, or between the landmarks."""
    return graph_between_landmarks(graph) if to_landmarks else graph
