"""Leading eigenvalues and eigenvectors of the normalised affinity D^-½ 𝕎 D^-½."""

import inspect
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
import scipy.sparse.linalg

from viewspan._utils.linalg import NumericalError, eigenvalues, eigh, leading_eigh, ratio
from viewspan._utils.typing import Array, Graph
from viewspan._utils.warnings import warn
from viewspan.graph.neighbors import scale_both_sides

MAX_FULL_DECOMPOSITION = 400
"""Largest graph for which computing all eigenvectors is as fast as iterating for a few."""
REPEATED_EIGENVALUE_TOLERANCE = 1e-8
"""Eigenvalues that differ by less may be one repeated eigenvalue."""
MIN_RELATIVE_DEGREE = 1e-12
"""A degree below this share of the largest degree is rounding and counts as 0."""
DEFLATION_SHIFT = 2.0
"""Known eigenvalues are lowered to minus this; a normalised graph has none below -1."""

EIGENPAIR_TOLERANCE = 1e-10
"""Relative residual of an eigenpair of a large graph. Eigenvalues are then exact to rounding."""
LANCZOS_VECTORS_PER_PAIR = 3
"""Lanczos vectors for every eigenpair. With fewer, more iterations are needed."""

LANCZOS_SEED: dict[str, Any] = (
    {"rng": 0} if "rng" in inspect.signature(scipy.sparse.linalg.eigsh).parameters else {}
)
"""Seed of restarts within ``eigsh``. From scipy 1.17 on, they are random without it."""


class Eigenpairs(NamedTuple):
    """Leading eigenpairs of D^-½ 𝕎 D^-½, largest eigenvalue first.

    Attributes
    ----------
    eigenvalues : array (count,)
    embedding : array (n_samples, count)
        D^-½ × the eigenvectors.
    """

    eigenvalues: Array
    embedding: Array


def leading_eigenvectors(
    affinity: Graph, count: int, generator: np.random.RandomState, *, steps: int = 1
) -> Eigenpairs:
    """Return the leading eigenpairs of a normalised graph; warn about isolated samples.

    Parameters
    ----------
    affinity : array or sparse array (n_samples, n_samples)
    count : int
    generator : RandomState
        Draws the start of the iteration.
    steps : int
        2 if an edge of this graph stands for two steps in another graph. The eigenvalues are then
        those of a single step.
    """
    degree = degrees(affinity)
    if not degree.any():
        raise ValueError(
            "The affinity is all zeros: no sample is represented by another. lam or tau is too "
            "large for this data; lower them. If they are automatic, the views cannot be told from "
            "noise."
        )
    isolated = int((degree == 0).sum())
    if isolated:
        warn(
            f"{isolated} of {len(degree)} samples are connected to no other and get an arbitrary "
            "label. A smaller lam or tau connects more samples."
        )
    scale = ratio(1.0, np.sqrt(degree))
    values, vectors = symmetric_eigenpairs(scaled(affinity, scale), count, generator)
    # libraries choose signs differently: make the largest entry of every vector positive
    largest = vectors[np.abs(vectors).argmax(axis=0), np.arange(count)]
    vectors = vectors * np.where(largest < 0, -1.0, 1.0)
    return Eigenpairs(per_step(values, steps), vectors * scale[:, None])


def leading_eigenvalues(
    affinity: Graph, count: int, generator: np.random.RandomState, *, steps: int = 1
) -> Array:
    """Return the leading eigenvalues of a normalised graph, largest first, at most ``count``.

    Unlike :func:`leading_eigenvectors`, do not warn about isolated samples.
    """
    scale = ratio(1.0, np.sqrt(degrees(affinity)))
    matrix, count = scaled(affinity, scale), min(count, len(scale))
    if len(scale) <= MAX_FULL_DECOMPOSITION:
        values = eigenvalues(np.asarray(matrix))[: -count - 1 : -1]
    else:
        values, _ = symmetric_eigenpairs(matrix, count, generator)
    return per_step(values, steps)


def per_step(eigenvalues: Array, steps: int) -> Array:
    """Return the eigenvalues of a single step from those of several steps."""
    return eigenvalues if steps == 1 else np.maximum(eigenvalues, 0.0) ** (1.0 / steps)


def degrees(affinity: Graph) -> Array:
    """Return the sums of rows in float64, and 0 for sums that are only rounding.

    Raise NumericalError if a sum is not finite: NaN must not pass for an isolated sample.
    """
    degree: Array = np.asarray(affinity.sum(axis=1, dtype=np.float64))
    if not np.isfinite(degree).all():
        raise NumericalError(
            f"The affinities of {int((~np.isfinite(degree)).sum())} of {len(degree)} samples are "
            "not finite: the solution overflows or is not finite itself. Rescale views or weights "
            "(lam, tau) of extreme size."
        )
    degree[degree <= MIN_RELATIVE_DEGREE * degree.max(initial=0.0)] = 0.0
    return degree


def scaled(affinity: Graph, scale: Array) -> Graph:
    """Return diag(scale) · affinity · diag(scale), as a dense array if it is small."""
    if not scipy.sparse.issparse(affinity):
        return affinity * scale * scale[:, None]
    product = scale_both_sides(scipy.sparse.csr_array(affinity), scale)
    return product.toarray() if len(scale) <= MAX_FULL_DECOMPOSITION else product


def symmetric_eigenpairs(
    matrix: Graph, count: int, generator: np.random.RandomState
) -> tuple[Array, Array]:
    """Return the largest eigenvalues of a symmetric matrix and their eigenvectors.

    The Lanczos method is used for a few eigenpairs of a large matrix. If it fails, or if the matrix
    is small, a dense decomposition is used.
    """
    n_samples = matrix.shape[0]
    if n_samples > MAX_FULL_DECOMPOSITION and 10 * count < n_samples:
        try:
            return iterative_eigenpairs(matrix, count, generator)
        except (scipy.sparse.linalg.ArpackError, np.linalg.LinAlgError):
            pass  # continue with a dense decomposition
    full: Array = matrix.toarray() if scipy.sparse.issparse(matrix) else np.asarray(matrix)
    if n_samples > MAX_FULL_DECOMPOSITION:
        return leading_eigh(full, count)
    values, vectors = eigh(full)
    return values[: -count - 1 : -1], vectors[:, : -count - 1 : -1]


def iterative_eigenpairs(
    matrix: Graph, count: int, generator: np.random.RandomState
) -> tuple[Array, Array]:
    """Return the largest eigenpairs by the Lanczos method.

    The method finds one copy of a repeated eigenvalue. So if two of the eigenvalues found are
    nearly equal, deflate the matrix by all pairs found and search again for missed ones.
    """
    n_samples = matrix.shape[0]
    values, vectors = np.empty(0), np.empty((n_samples, 0))
    for _ in range(count + 1):  # every search but the last adds at least one of the largest
        start: Any = generator.uniform(-1.0, 1.0, n_samples)
        rest: Any = deflated(matrix, values, vectors)
        more_values, more_vectors = scipy.sparse.linalg.eigsh(
            rest,
            k=count,
            which="LA",
            v0=start,
            tol=EIGENPAIR_TOLERANCE,
            ncv=max(LANCZOS_VECTORS_PER_PAIR * count, 20),
            **LANCZOS_SEED,
        )
        missed = len(values) == 0 or more_values.max() > values[-1] + REPEATED_EIGENVALUE_TOLERANCE
        if not missed:
            return values, vectors
        values, vectors = np.hstack([values, more_values]), np.hstack([vectors, more_vectors])
        order = np.argsort(-values)[:count]
        values, vectors = values[order], vectors[:, order]
        if (values[:-1] - values[1:]).min(initial=np.inf) > REPEATED_EIGENVALUE_TOLERANCE:
            return values, vectors
    raise NumericalError("The Lanczos iteration keeps finding eigenvalues that it had missed.")


def deflated(matrix: Graph, values: Array, vectors: Array) -> Any:
    """Return an operator for the matrix with known eigenvalues moved below all others.

    Moved to zero, they would still lie above negative eigenvalues and be found again. The matrix is
    not formed.
    """
    if len(values) == 0:
        return matrix
    return scipy.sparse.linalg.LinearOperator(
        matrix.shape,
        matvec=lambda x: matrix @ x - vectors @ ((values + DEFLATION_SHIFT) * (vectors.T @ x)),
        dtype=np.float64,
    )
