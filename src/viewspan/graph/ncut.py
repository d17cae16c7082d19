"""Normalised cuts (Shi and Malik 2000; Yu and Shi 2003) of a dense or sparse graph."""

from numbers import Integral
from typing import Any, NamedTuple, get_args

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from scipy.sparse.csgraph import connected_components
from sklearn.utils import check_random_state

from viewspan._linalg import eigh, ratio
from viewspan._threads import threads_for
from viewspan._typing import Array, Graph, Labels
from viewspan._warnings import warn
from viewspan.graph.discretize import AssignLabels, assign
from viewspan.selection import count_clusters

DENSE = 400
"""Up to this many samples all eigenvectors at once are as fast as a few by iteration."""
REPEATED = 1e-8
"""Eigenvalues nearer to each other than this may be copies."""
NOTHING = 1e-12
"""A degree below this share of the largest is rounding."""
SYMMETRIC = 1e-8
"""A matrix that differs from its transpose by less, in proportion to its largest entry, is symmetric up to rounding."""
IN_PIECES = 1e-10
"""An eigenvalue this close to 1 is another connected component, up to rounding."""


class Spectrum(NamedTuple):
    """Leading eigenpairs of D^-½ 𝕎 D^-½, largest first; the embedding's rows are scaled back by D^-½."""

    eigenvalues: Array
    embedding: Array


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
    assign_labels : {"discretize", "cluster_qr", "kmeans"}
        How the eigenvectors become labels: the nearest partition up to a rotation (Yu and Shi), a pivoted QR, or
        k-means.
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
    affinity: Graph, n_clusters: int | None, *, assign_labels: AssignLabels, random_state: Any
) -> tuple[Labels, Array]:
    """Labels and the eigenvalues that were looked at, for an affinity that has been checked."""
    n_samples = affinity.shape[0]
    generator = check_random_state(random_state)
    count = most_clusters(n_samples) if n_clusters is None else n_clusters
    with threads_for(1, n_samples):
        spectrum = leading_eigenvectors(affinity, min(count + 1, n_samples), generator)
    if n_clusters is None:
        n_clusters = count_clusters(spectrum.eigenvalues)
    warn_if_in_pieces(affinity, spectrum.eigenvalues, n_clusters)
    if n_clusters == 1:
        return np.zeros(n_samples, dtype=np.int64), spectrum.eigenvalues
    labels = number_by_appearance(assign(spectrum.embedding[:, :n_clusters], assign_labels, generator))
    if labels.max() + 1 < n_clusters:
        warn(
            f"Only {labels.max() + 1} of {n_clusters} clusters got a sample: the graph has not so many groups. "
            'assign_labels="kmeans" leaves none empty.'
        )
    return labels, spectrum.eigenvalues


def cut_value(affinity: Graph, labels: Labels) -> float:
    """Σ_k (weight that leaves cluster k) / (degree of cluster k): what a normalised cut makes small."""
    members = np.eye(int(labels.max()) + 1)[labels]
    kept = np.einsum("ik,ik->k", members, affinity @ members)
    degrees = members.T @ np.asarray(affinity.sum(axis=1))
    return float(members.shape[1] - ratio(kept, degrees).sum())


def most_clusters(n_samples: int) -> int:
    """How many clusters an estimate considers."""
    return min(n_samples - 1, max(10, int(3 * np.sqrt(n_samples))))


def leading_eigenvectors(affinity: Graph, count: int, generator: np.random.RandomState) -> Spectrum:
    degree = np.asarray(affinity.sum(axis=1, dtype=np.float64))  # a float32 graph is cut in float64
    degree[degree <= NOTHING * degree.max(initial=0.0)] = 0.0
    if not degree.any():
        raise ValueError(
            "The affinity is zero everywhere: no sample explains another. "
            "lam or tau is too large for this data; lower them."
        )
    isolated = int((degree == 0).sum())
    if isolated:
        warn(
            f"{isolated} of {len(degree)} samples are connected to no other and get an arbitrary label. "
            "A smaller lam or tau connects more samples."
        )
    scale = ratio(1.0, np.sqrt(degree))
    normalised = scaled(affinity, scale)
    values, vectors = symmetric_eigenpairs(normalised, count, generator)
    vectors = vectors * np.where(vectors[np.abs(vectors).argmax(axis=0), np.arange(count)] < 0, -1.0, 1.0)
    return Spectrum(values, vectors * scale[:, None])


def scaled(affinity: Graph, scale: Array) -> Graph:
    """diag(scale) · affinity · diag(scale), as a full matrix where that is small."""
    if not scipy.sparse.issparse(affinity):
        return affinity * scale * scale[:, None]
    diagonal = scipy.sparse.diags_array(scale)
    product = scipy.sparse.csr_array(diagonal @ affinity @ diagonal)
    return product.toarray() if len(scale) <= DENSE else product


def symmetric_eigenpairs(matrix: Graph, count: int, generator: np.random.RandomState) -> tuple[Array, Array]:
    """The largest eigenpairs: iteratively from a seeded start where that is faster, densely otherwise or when
    the iteration fails.
    """
    n_samples = matrix.shape[0]
    if n_samples > DENSE and 10 * count < n_samples:
        try:
            return iterative_eigenpairs(matrix, count, generator)
        except (scipy.sparse.linalg.ArpackError, np.linalg.LinAlgError):
            pass  # the dense road below always arrives
    matrix = matrix.toarray() if scipy.sparse.issparse(matrix) else matrix
    if n_samples <= DENSE:
        values, vectors = eigh(matrix)
        return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]
    values, vectors = scipy.linalg.eigh(matrix, subset_by_index=(n_samples - count, n_samples - 1))
    return values[::-1], vectors[:, ::-1]


def iterative_eigenpairs(matrix: Graph, count: int, generator: np.random.RandomState) -> tuple[Array, Array]:
    """By the Lanczos method, which sees one copy of a repeated eigenvalue: where two are found to be equal, what was
    found is taken away and the rest is looked at again.
    """
    n_samples = matrix.shape[0]
    values, vectors = np.empty(0), np.empty((n_samples, 0))
    while True:
        start: Any = generator.uniform(-1.0, 1.0, n_samples)
        rest: Any = without(matrix, values, vectors)
        more_values, more_vectors = scipy.sparse.linalg.eigsh(rest, k=count, which="LA", v0=start)
        missed = len(values) == 0 or more_values.max() > values[-1] + REPEATED
        if not missed:
            return values, vectors
        values, vectors = np.hstack([values, more_values]), np.hstack([vectors, more_vectors])
        order = np.argsort(-values)[:count]
        values, vectors = values[order], vectors[:, order]
        if (values[:-1] - values[1:]).min(initial=np.inf) > REPEATED:
            return values, vectors


def without(matrix: Graph, values: Array, vectors: Array) -> Any:
    """The matrix minus eigenpairs that are known, without forming it."""
    if len(values) == 0:
        return matrix
    return scipy.sparse.linalg.LinearOperator(
        matrix.shape, matvec=lambda x: matrix @ x - vectors @ (values * (vectors.T @ x)), dtype=np.float64
    )


def warn_if_in_pieces(affinity: Graph, eigenvalues: Array, n_clusters: int) -> None:
    """As many pieces as clusters is the ideal case; any other number of several pieces is worth knowing."""
    if (eigenvalues > 1.0 - IN_PIECES).sum() in {0, 1, n_clusters}:
        return
    count, _ = connected_components(affinity > 0, directed=False)
    if count not in {1, n_clusters}:
        consequence = "unrelated pieces share a label" if count > n_clusters else "some pieces are cut further"
        warn(
            f"The graph is in {count} separate pieces and {n_clusters} clusters are asked for, so {consequence}. "
            "More neighbours connect more samples; in the paper's graph, a smaller lam or tau."
        )


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
    matrix: Any = scipy.sparse.csr_array(affinity, dtype=float) if sparse else np.asarray(affinity, dtype=float)
    if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"affinity must be a square matrix (n_samples, n_samples). Got shape {matrix.shape} instead.")
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
    symmetric: Graph = (matrix + matrix.T) / 2
    return symmetric
