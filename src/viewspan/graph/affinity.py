"""The paper's graph over the samples."""

from collections.abc import Iterator, Sequence

import numpy as np

from viewspan._typing import Array
from viewspan.solvers.result import Result


def affinity(coefficients: Result | Sequence[Array] | Array) -> Array:
    r"""Unite the coefficients of all views in one symmetric graph.

    .. math:: \mathbb W_{ij} = \sqrt{\sum_k (Z_k)_{ij}^2} + \sqrt{\sum_k (Z_k)_{ji}^2}

    Parameters
    ----------
    coefficients : Result, or list of arrays (N, N), or one array (N, N)
        From a result, the Z_k are built one at a time: no more than two N × N arrays are held.

    Returns
    -------
    array (N, N)
    """
    blocks = one_by_one(coefficients)
    squares = next(blocks) ** 2
    for block in blocks:
        squares += block**2
    united: Array = np.sqrt(squares, out=squares)
    return united + united.T


def one_by_one(coefficients: Result | Sequence[Array] | Array) -> Iterator[Array]:
    if isinstance(coefficients, Result):
        return (coefficients.coefficient(view) for view in range(len(coefficients.cores)))
    if isinstance(coefficients, np.ndarray) and coefficients.ndim == 2:
        coefficients = [coefficients]
    blocks = [np.asarray(block, dtype=float) for block in coefficients]
    check_square(blocks)
    return iter(blocks)


def check_square(blocks: Sequence[Array]) -> None:
    shapes = {block.shape for block in blocks}
    if len(shapes) != 1 or any(block.ndim != 2 or block.shape[0] != block.shape[1] for block in blocks):
        listed = ", ".join(str(block.shape) for block in blocks) or "none"
        raise ValueError(f"affinity needs square coefficient matrices of one size. Got shapes: {listed}.")
