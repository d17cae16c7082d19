"""Normalised cuts (Shi and Malik 2000; Yu and Shi 2003) of a dense or sparse graph."""

from numbers import Integral
from typing import Any, get_args

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from viewspan._utils.threads import with_one_thread
from viewspan._utils.typing import Array, Graph, Labels
from viewspan._utils.warnings import warn
from viewspan.graph.cluster_count import count_clusters, most_clusters
from viewspan.graph.discretisation import (
    LEAVING_NO_CLUSTER_EMPTY,
    AssignLabels,
    assign,
    n_eigenvectors,
)
from viewspan.graph.spectrum import degrees, leading_eigenvectors
from viewspan.inputs.parameters import as_numbers

SYMMETRY_TOLERANCE = 1e-8
"""Largest asymmetry, relative to the largest entry, that counts as rounding."""
MAX_ENTRY = 1e290
"""Sums of larger entries may overflow."""
COMPONENT_TOLERANCE = 1e-10
"""Eigenvalues this close to 1 belong to connected components; weaker edges are rounding."""


@with_one_thread
def ncut(
    affinity: Graph,
    n_clusters: int | None = None,
    *,
    assign_labels: AssignLabels = "discretize",
    random_state: Any = None,
) -> Labels:
    """Cut a graph into clusters by its normalised Laplacian.

    Parameters
    ----------
    affinity : array or sparse array (N, N)
        Symmetric and non-negative.
    n_clusters : int, optional
        Estimated from the widest gap between eigenvalues if not given.
    assign_labels : {"discretize", "cluster_qr", "kmeans", "modularity"}
        How the eigenvectors become labels. "discretize" takes the nearest partition up to a
        rotation (Yu and Shi), "cluster_qr" a pivoted QR factorisation, and "kmeans" clusters the
        directions of the rows (Ng, Jordan and Weiss). "modularity" is k-means, too. If no clear gap
        follows the leading eigenvectors, it also clusters three times as many, weighted by a
        diffusion, and returns the partition of higher modularity.
    random_state : int, RandomState or None
        Random seed of the starts of all iterations.

    Returns
    -------
    array (N,) of int
        Labels, numbered from 0 in the order of first appearance.
    """
    matrix = check_affinity(affinity)
    check_request(n_clusters, assign_labels, matrix.shape[0])
    labels, _ = cut(matrix, n_clusters, assign_labels=assign_labels, random_state=random_state)
    return labels


def cut(
    affinity: Graph,
    n_clusters: int | None,
    *,
    assign_labels: AssignLabels,
    random_state: Any,
    steps: int = 1,
) -> tuple[Labels, Array]:
    """Cut a graph that has been checked; return labels and leading eigenvalues.

    Parameters
    ----------
    affinity : array or sparse array (N, N)
    n_clusters : int or None
    assign_labels : str
        See :func:`ncut`.
    random_state : int, RandomState or None
    steps : int
        2 for a graph between landmarks, whose edges are two steps through samples. Then k-means
        weights the landmarks by their degrees, that is, by the samples that they stand for: a
        normalised cut is a k-means with these weights (Dhillon, Guan and Kulis 2004).
    """
    n_samples = affinity.shape[0]
    generator = check_random_state(random_state)
    count = (
        most_clusters(n_samples) + 1
        if n_clusters is None
        else n_eigenvectors(n_clusters, assign_labels)
    )
    spectrum = leading_eigenvectors(affinity, min(count, n_samples), generator, steps=steps)
    eigenvalues = spectrum.eigenvalues
    if n_clusters is None:
        n_clusters = count_clusters(eigenvalues)
        if n_eigenvectors(n_clusters, assign_labels) > count:
            labels, _ = cut(
                affinity, n_clusters, assign_labels=assign_labels, random_state=generator
            )
            return labels, eigenvalues
    components = components_to_keep(affinity, eigenvalues, n_clusters)
    if n_clusters == 1:
        return np.zeros(n_samples, dtype=np.int64), eigenvalues
    weights = degrees(affinity) if steps > 1 else None
    labels = assign(affinity, spectrum, n_clusters, assign_labels, generator, weights)
    if components is not None:
        labels = majority_labels(labels, components)
    labels = number_by_appearance(labels)
    warn_of_empty_clusters(labels, n_clusters, assign_labels)
    return labels, eigenvalues


def warn_of_empty_clusters(labels: Labels, n_clusters: int, assign_labels: AssignLabels) -> None:
    found = labels.max() + 1
    if found < n_clusters:
        advice = (
            ""
            if assign_labels in LEAVING_NO_CLUSTER_EMPTY
            else ' assign_labels="kmeans" leaves none empty.'
        )
        warn(
            f"Only {found} of {n_clusters} clusters got a sample: the graph has fewer groups."
            f"{advice}"
        )


def components_to_keep(affinity: Graph, eigenvalues: Array, n_clusters: int) -> Labels | None:
    """Return the component of every sample if no component should be cut, else None.

    No component should be cut if there are more of them than clusters. Warns if there are several
    components, but not as many as clusters.
    """
    if (eigenvalues > 1.0 - COMPONENT_TOLERANCE).sum() in {0, 1, n_clusters}:
        return None
    count, components = components_of(affinity)
    if count in {1, n_clusters}:
        return None
    consequence = (
        "unrelated components share a label"
        if count > n_clusters
        else "some components are cut further"
    )
    warn(
        f"The graph has {count} connected components, but {n_clusters} clusters are requested, so "
        f"{consequence}. To connect more samples, increase n_neighbors, or in the paper's graph "
        "lower lam or tau."
    )
    return components if count > n_clusters else None


def majority_labels(labels: Labels, components: Labels) -> Labels:
    """Give every component the label that most of its samples have.

    The leading eigenvectors may be nearly zero on a component; then rounding would cut it.
    """
    n_clusters = int(labels.max()) + 1
    votes = np.bincount(
        n_clusters * components + labels, minlength=n_clusters * (int(components.max()) + 1)
    )
    found: Labels = votes.reshape(-1, n_clusters).argmax(axis=1)[components]
    return found


def components_of(affinity: Graph) -> tuple[int, Labels]:
    """Return the number of connected components, and the component of every sample.

    Edges that are rounding compared with the degrees of their samples are ignored.
    """
    edges: Any = scipy.sparse.coo_array(affinity)
    degree = degrees(affinity)
    rows, columns = edges.coords
    kept = edges.data > COMPONENT_TOLERANCE * np.minimum(degree[rows], degree[columns])
    strong: Any = scipy.sparse.coo_array(
        (kept[kept], (rows[kept], columns[kept])), shape=affinity.shape
    )
    count, components = connected_components(strong, directed=False)
    return int(count), components.astype(np.int64)


def number_by_appearance(labels: Labels) -> Labels:
    """Renumber labels from 0 in the order of first appearance.

    Equal partitions then have equal labels.
    """
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def check_request(n_clusters: int | None, assign_labels: str, n_samples: int) -> None:
    """Raise ValueError if the number of clusters or the assignment is invalid."""
    is_int = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
    if n_clusters is not None and not (is_int and 1 <= n_clusters <= n_samples):
        raise ValueError(
            f"n_clusters must be an int from 1 to the number of samples, {n_samples}, or None. "
            f"Got {n_clusters!r} instead."
        )
    if assign_labels not in get_args(AssignLabels):
        allowed = ", ".join(map(repr, get_args(AssignLabels)))
        raise ValueError(f"assign_labels must be one of {allowed}. Got {assign_labels!r} instead.")


def check_affinity(affinity: Any) -> Graph:
    """Return a square, finite, non-negative and symmetric matrix, or raise ValueError.

    Warns if the matrix is not symmetric.
    """
    sparse = scipy.sparse.issparse(affinity)
    if sparse and affinity.dtype.kind not in "biuf":
        raise ValueError(f"affinity must hold real numbers. Got {affinity.dtype} instead.")
    matrix: Any = (
        scipy.sparse.csr_array(affinity, dtype=float)
        if sparse
        else as_numbers(affinity, "affinity")
    )
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "affinity must be a square matrix (n_samples, n_samples). "
            f"Got shape {matrix.shape} instead."
        )
    if matrix.shape[0] == 0:
        raise ValueError("affinity is empty: there is no sample to cluster.")
    entries: Array = matrix.data if sparse else matrix
    if not np.isfinite(entries).all():
        raise ValueError("affinity contains NaN or infinity.")
    if (entries < 0).any():
        raise ValueError(
            f"affinity must not be negative; its smallest entry is {entries.min():.3g}. "
            "Take absolute values if signs do not matter."
        )
    excess = abs(matrix - matrix.T)
    if excess.max() > SYMMETRY_TOLERANCE * max(float(matrix.max()), np.finfo(float).tiny):
        warn("affinity is not symmetric; the mean of it and its transpose is used.")
    largest = float(matrix.max())
    if largest > MAX_ENTRY:  # cuts do not depend on the scale, and sums must not overflow
        matrix = matrix / largest
    symmetric: Graph = (matrix + matrix.T) / 2
    return symmetric
