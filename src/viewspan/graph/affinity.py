"""The paper's affinity graph."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from viewspan._utils.linalg import ratio
from viewspan._utils.threads import with_one_thread
from viewspan._utils.typing import AnyArray, Array
from viewspan.inputs.parameters import check_view_weights
from viewspan.solvers.result import Result


@with_one_thread
def affinity(
    coefficients: Result | Sequence[Array] | Array, *, view_weights: npt.ArrayLike | None = None
) -> Array:
    r"""Combine the coefficients of all views into one symmetric graph.

    .. math:: \mathbb{W}_{ij} = \sqrt{\sum_k w_k^2 (Z_k)_{ij}^2} + \sqrt{\sum_k w_k^2 (Z_k)_{ji}^2}

    If samples are missing from views, the sums are means over the views that samples i and j share.
    If they share no view, the means are over all views: the coupling has filled in the coefficients
    of missing samples.

    Parameters
    ----------
    coefficients : Result, or list of arrays (N, N), or one array (N, N)
        The Z_k of a result are built one at a time, so that at most two N × N arrays are held.
    view_weights : array-like (n_views,), optional
        w; all 1 by default, as in the paper.

    Returns
    -------
    array (N, N)
    """
    blocks = weighted_coefficients(coefficients, view_weights)
    observed = coefficients.observed if isinstance(coefficients, Result) else None
    squares = (
        sum_of_squares(blocks)
        if observed is None
        else mean_of_squares(blocks, observed, view_weights)
    )
    lengths: Array = np.sqrt(squares, out=squares)
    return lengths + lengths.T


def sum_of_squares(blocks: Iterator[Array]) -> Array:
    squares = next(blocks) ** 2
    for block in blocks:
        squares += block**2
    return squares


def mean_of_squares(
    blocks: Iterator[Array], observed: AnyArray, view_weights: npt.ArrayLike | None
) -> Array:
    """Return means over the views that two samples share, or over all views if they share none."""
    weights = check_view_weights(view_weights, len(observed)) ** 2
    everywhere = shared = np.zeros((1, 1))
    for block, present in zip(blocks, observed, strict=True):
        everywhere = everywhere + block**2
        shared = shared + np.outer(present, present) * block**2
    counts = (observed * weights[:, None]).T @ observed.astype(float)
    return np.where(counts > 0, ratio(1.0, counts) * shared, everywhere / weights.sum())


def weighted_coefficients(
    coefficients: Result | Sequence[Array] | Array, view_weights: npt.ArrayLike | None
) -> Iterator[Array]:
    """Yield w_k Z_k for every view k."""
    if isinstance(coefficients, Result):
        weights = check_view_weights(view_weights, coefficients.n_views)
        if coefficients.scales is not None:
            # Z_k = α_k Z, so the sum over views is one square, (Σ_k w_k² α_k²) Z²
            weights = np.array([np.linalg.norm(weights * coefficients.scales)])
        return (weight * coefficients.coefficient(view) for view, weight in enumerate(weights))
    if isinstance(coefficients, np.ndarray) and coefficients.ndim == 2:
        coefficients = [coefficients]
    blocks = [np.asarray(block, dtype=float) for block in coefficients]
    check_square(blocks)
    weights = check_view_weights(view_weights, len(blocks))
    return (weight * block for weight, block in zip(weights, blocks, strict=True))


def check_square(blocks: Sequence[Array]) -> None:
    """Raise ValueError unless all matrices are square and have the same size."""
    shapes = {block.shape for block in blocks}
    if len(shapes) != 1 or any(
        block.ndim != 2 or block.shape[0] != block.shape[1] for block in blocks
    ):
        listed = ", ".join(str(block.shape) for block in blocks) or "none"
        raise ValueError(
            f"affinity needs square coefficient matrices of one size. Got shapes: {listed}."
        )
