"""The leading eigenvectors of a graph's normalised Laplacian."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from viewspan._utils.linalg import NumericalError, eigh, leading_eigh, ratio
from viewspan._utils.typing import Array, Graph
from viewspan._utils.warnings import warn

DENSE = 400
"""Up to this many samples all eigenvectors at once are as fast as a few by iteration."""
REPEATED = 1e-8
"""Eigenvalues nearer to each other than this may be copies."""
NOTHING = 1e-12
"""A degree below this share of the largest is rounding."""
BELOW = 2.0
"""Eigenvalues of a normalised graph are from -1 to 1: less this, they are below all others."""


class Spectrum(NamedTuple):
    """Leading eigenpairs of D^-½ 𝕎 D^-½, largest first; the embedding's rows are scaled back by D^-½."""

    eigenvalues: Array
    embedding: Array


def leading_eigenvectors(
    affinity: Graph, count: int, generator: np.random.RandomState, *, steps: int = 1
) -> Spectrum:
    """Of a graph; ``steps`` is 2 for one whose edges are two steps in another graph, whose eigenvalues are told."""
    degree = degrees(affinity)
    if not degree.any():
        raise ValueError(
            "The affinity is zero everywhere: no sample explains another. lam or tau is too large for this data; "
            "lower them. Where they are automatic, nothing in the views stands out of noise."
        )
    isolated = int((degree == 0).sum())
    if isolated:
        warn(
            f"{isolated} of {len(degree)} samples are connected to no other and get an arbitrary label. "
            "A smaller lam or tau connects more samples."
        )
    scale = ratio(1.0, np.sqrt(degree))
    values, vectors = symmetric_eigenpairs(scaled(affinity, scale), count, generator)
    vectors = vectors * np.where(
        vectors[np.abs(vectors).argmax(axis=0), np.arange(count)] < 0, -1.0, 1.0
    )
    return Spectrum(per_step(values, steps), vectors * scale[:, None])


def leading_eigenvalues(
    affinity: Graph, count: int, generator: np.random.RandomState, *, steps: int = 1
) -> Array:
    """Of D^-½ 𝕎 D^-½, largest first, as many as there are; nothing is said about samples without a neighbour."""
    scale = ratio(1.0, np.sqrt(degrees(affinity)))
    return per_step(
        symmetric_eigenpairs(scaled(affinity, scale), min(count, len(scale)), generator)[0], steps
    )


def per_step(eigenvalues: Array, steps: int) -> Array:
    return eigenvalues if steps == 1 else np.maximum(eigenvalues, 0.0) ** (1.0 / steps)


def degrees(affinity: Graph) -> Array:
    """Sums of rows, 0 where they are rounding; a float32 graph is cut in float64. NaN is not taken for nothing."""
    degree: Array = np.asarray(affinity.sum(axis=1, dtype=np.float64))
    if not np.isfinite(degree).all():
        raise NumericalError(
            f"The affinities of {int((~np.isfinite(degree)).sum())} of {len(degree)} samples are not finite: the "
            "solution is not, or overflows. Rescale views or weights (lam, tau) of extreme size."
        )
    degree[degree <= NOTHING * degree.max(initial=0.0)] = 0.0
    return degree


def scaled(affinity: Graph, scale: Array) -> Graph:
    """diag(scale) · affinity · diag(scale), as a full matrix where that is small."""
    if not scipy.sparse.issparse(affinity):
        return affinity * scale * scale[:, None]
    diagonal = scipy.sparse.diags_array(scale)
    product = scipy.sparse.csr_array(diagonal @ affinity @ diagonal)
    return product.toarray() if len(scale) <= DENSE else product


def symmetric_eigenpairs(
    matrix: Graph, count: int, generator: np.random.RandomState
) -> tuple[Array, Array]:
    """The largest eigenpairs: iteratively from a seeded start where that is faster, densely otherwise or when
    the iteration fails.
    """
    n_samples = matrix.shape[0]
    if n_samples > DENSE and 10 * count < n_samples:
        try:
            return iterative_eigenpairs(matrix, count, generator)
        except (scipy.sparse.linalg.ArpackError, np.linalg.LinAlgError):
            pass  # the dense road below arrives
    full: Array = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    if n_samples > DENSE:
        return leading_eigh(full, count)
    values, vectors = eigh(full)
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def iterative_eigenpairs(
    matrix: Graph, count: int, generator: np.random.RandomState
) -> tuple[Array, Array]:
    """By the Lanczos method, which sees one copy of a repeated eigenvalue: where two are found to be equal, what was
    found is taken away and the rest is looked at again.
    """
    n_samples = matrix.shape[0]
    values, vectors = np.empty(0), np.empty((n_samples, 0))
    for _ in range(count + 1):  # every look but the last finds one more of those that are wanted
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
    raise NumericalError("The Lanczos iteration goes on to find eigenvalues that it has missed.")


def without(matrix: Graph, values: Array, vectors: Array) -> Any:
    """The matrix with eigenpairs that are known moved below all others, without forming it; at zero they would still
    be above negative ones and be found again.
    """
    if len(values) == 0:
        return matrix
    return scipy.sparse.linalg.LinearOperator(
        matrix.shape,
        matvec=lambda x: matrix @ x - vectors @ ((values + BELOW) * (vectors.T @ x)),
        dtype=np.float64,
    )
