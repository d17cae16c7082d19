"""Normalised cuts (Shi and Malik 2000; Yu and Shi 2003) of a dense or sparse graph."""

from numbers import Integral
from typing import Any, get_args

import numpy as np
import scipy.sparse
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from viewspan._utils.threads import threads_for
from viewspan._utils.typing import Array, Graph, Labels
from viewspan._utils.warnings import warn
from viewspan.graph.cluster_count import count_clusters, most_clusters
from viewspan.graph.discretisation import AssignLabels, assign, n_eigenvectors
from viewspan.graph.spectrum import degrees, leading_eigenvectors
from viewspan.inputs.views import as_numbers

SYMMETRIC = 1e-8
"""A matrix that differs from its transpose by less, in proportion to its largest entry, is symmetric up to rounding."""
LARGEST = 1e290
"""Sums of larger numbers may overflow."""
IN_PIECES = 1e-10
"""An eigenvalue this close to 1 is another connected component, up to rounding."""


def ncut(
    affinity: Graph,
    n_clusters: int | None = None,
    *,
    assign_labels: AssignLabels = "discretize",
    random_state: Any = None,
) -> Labels:
    """Cut a graph into parts that hold together, by its normalised Laplacian.

    Parameters
    ----------
    affinity : array or sparse array (N, N)
        Symmetric, non-negative.
    n_clusters : int, optional
        Estimated from the widest gap between eigenvalues if not given.
    assign_labels : {"discretize", "cluster_qr", "kmeans", "modularity"}
        How the eigenvectors become labels: the nearest partition up to a rotation (Yu and Shi), a pivoted QR, or
        k-means of their directions (Ng, Jordan and Weiss). "modularity" is k-means, too; but where no clear gap follows
        the leading eigenvectors, another one of three times as many, weighted by a diffusion, is kept if its modularity
        is higher.
    random_state : int, RandomState or None
        For the start of the iterations.

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
    """Labels and the eigenvalues that were looked at, for an affinity that has been checked.

    Where edges are two steps through samples, k-means weights the landmarks by their degrees, which is what they stand
    for: a normalised cut is a k-means with these weights (Dhillon, Guan, Kulis 2004).
    """
    n_samples = affinity.shape[0]
    generator = check_random_state(random_state)
    count = (
        most_clusters(n_samples) + 1
        if n_clusters is None
        else n_eigenvectors(n_clusters, assign_labels)
    )
    with threads_for(1, n_samples):
        spectrum = leading_eigenvectors(affinity, min(count, n_samples), generator, steps=steps)
    eigenvalues = spectrum.eigenvalues
    if n_clusters is None:
        n_clusters = count_clusters(eigenvalues)
        if n_eigenvectors(n_clusters, assign_labels) > count:
            return cut(affinity, n_clusters, assign_labels=assign_labels, random_state=generator)[
                0
            ], eigenvalues
    pieces = separate_pieces(affinity, eigenvalues, n_clusters)
    if n_clusters == 1:
        return np.zeros(n_samples, dtype=np.int64), eigenvalues
    weights = degrees(affinity) if steps > 1 else None
    labels = assign(affinity, spectrum, n_clusters, assign_labels, generator, weights)
    labels = number_by_appearance(labels if pieces is None else whole_pieces(labels, pieces))
    if labels.max() + 1 < n_clusters:
        hint = (
            ""
            if assign_labels in {"kmeans", "modularity"}
            else ' assign_labels="kmeans" leaves none empty.'
        )
        warn(
            f"Only {labels.max() + 1} of {n_clusters} clusters got a sample: the graph has not so many groups.{hint}"
        )
    return labels, eigenvalues


def separate_pieces(affinity: Graph, eigenvalues: Array, n_clusters: int) -> Labels | None:
    """Which piece every sample is in, if there are more than clusters, so that none need be cut.

    As many pieces as clusters is the ideal case; any other number of several pieces is worth knowing.
    """
    if (eigenvalues > 1.0 - IN_PIECES).sum() in {0, 1, n_clusters}:
        return None
    count, pieces = pieces_of(affinity)
    if count in {1, n_clusters}:
        return None
    consequence = (
        "unrelated pieces share a label" if count > n_clusters else "some pieces are cut further"
    )
    warn(
        f"The graph is in {count} separate pieces and {n_clusters} clusters are asked for, so {consequence}. "
        "More neighbours connect more samples; in the paper's graph, a smaller lam or tau."
    )
    return pieces if count > n_clusters else None


def whole_pieces(labels: Labels, pieces: Labels) -> Labels:
    """Every sample with the label that most of its piece has: where the leading eigenvectors are all but zero on a
    piece, rounding would cut it.
    """
    n_clusters = int(labels.max()) + 1
    votes = np.bincount(
        n_clusters * pieces + labels, minlength=n_clusters * (int(pieces.max()) + 1)
    )
    found: Labels = votes.reshape(-1, n_clusters).argmax(axis=1)[pieces]
    return found


def pieces_of(affinity: Graph) -> tuple[int, Labels]:
    """Connected components, not counting edges that are rounding beside all others of a sample."""
    edges: Any = scipy.sparse.coo_array(affinity)
    degree = degrees(affinity)
    rows, columns = edges.coords
    holds = edges.data > IN_PIECES * np.minimum(degree[rows], degree[columns])
    kept: Any = scipy.sparse.coo_array(
        (holds[holds], (rows[holds], columns[holds])), shape=affinity.shape
    )
    count, pieces = connected_components(kept, directed=False)
    return int(count), pieces.astype(np.int64)


def number_by_appearance(labels: Labels) -> Labels:
    """Renumber from 0 in the order in which the labels first appear, so that equal partitions have equal labels."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].astype(np.int64)


def check_request(n_clusters: int | None, assign_labels: str, n_samples: int) -> None:
    whole = isinstance(n_clusters, Integral) and not isinstance(n_clusters, bool)
    if n_clusters is not None and not (whole and 1 <= n_clusters <= n_samples):
        raise ValueError(
            f"n_clusters must be an int from 1 to the number of samples, {n_samples}, or None. "
            f"Got {n_clusters!r} instead."
        )
    if assign_labels not in get_args(AssignLabels):
        allowed = ", ".join(map(repr, get_args(AssignLabels)))
        raise ValueError(f"assign_labels must be one of {allowed}. Got {assign_labels!r} instead.")


def check_affinity(affinity: Any) -> Graph:
    """A square, finite, non-negative, symmetric matrix."""
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
            f"affinity must be a square matrix (n_samples, n_samples). Got shape {matrix.shape} instead."
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
    if excess.max() > SYMMETRIC * max(float(matrix.max()), np.finfo(float).tiny):
        warn("affinity is not symmetric; the mean of it and its transpose is used.")
    largest = float(matrix.max())
    if largest > LARGEST:  # a cut knows no scale, and sums must not overflow
        matrix = matrix / largest
    symmetric: Graph = (matrix + matrix.T) / 2
    return symmetric
