"""Functions for arrays that may be dense or sparse."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import AnyArray, Array, Block


def is_sparse(array: Any) -> bool:
    """Return whether an array is a scipy sparse array or matrix."""
    return bool(scipy.sparse.issparse(array))


def has_valid_structure(
    indptr: AnyArray, indices: AnyArray, n_stored: int, shape: tuple[int, int]
) -> bool:
    """Return whether the pointers and indices of a compressed sparse array are valid.

    Pointers must ascend from 0 to at most the number of stored values, and indices must lie inside
    the array. Compiled code does not check this and would read other memory.

    Parameters
    ----------
    indptr : array (n_lines + 1,) of int
        Where every compressed line starts.
    indices : array of int
        The index of every stored value within its line.
    n_stored : int
        Number of stored values.
    shape : (int, int)
        Number of lines and their width.
    """
    lines, width = shape
    ascend = (
        len(indptr) == lines + 1 and int(indptr[0]) == 0 and bool((indptr[1:] >= indptr[:-1]).all())
    )
    enough_stored = ascend and int(indptr[-1]) <= min(len(indices), n_stored)
    return enough_stored and (
        len(indices) == 0 or bool(indices.min() >= 0 and indices.max() < width)
    )


def full(array: Any) -> Array:
    """Return a dense float64 array."""
    return np.asarray(array.toarray() if is_sparse(array) else array, dtype=np.float64)


def count_nonzero(array: Any) -> int:
    """Return the number of values that are not zero."""
    return int(np.count_nonzero(array.data if is_sparse(array) else array))


def stack_features(blocks: Sequence[Block]) -> Block:
    """Concatenate the features of blocks; the result is sparse if any block is."""
    return stack(blocks, np.hstack, scipy.sparse.hstack)


def stack_samples(blocks: Sequence[Block]) -> Block:
    """Concatenate the samples of blocks; the result is sparse if any block is."""
    return stack(blocks, np.vstack, scipy.sparse.vstack)


def stack(
    blocks: Sequence[Block], stack_dense: Callable[..., Any], stack_sparse: Callable[..., Any]
) -> Block:
    if any(is_sparse(block) for block in blocks):
        return scipy.sparse.csr_array(stack_sparse(list(blocks), format="csr"))
    return stack_dense(list(blocks))


def divide_rows(block: Block, divisors: Array) -> Block:
    """Divide every row of a sparse block by its own divisor; rows with divisor 0 become 0."""
    return with_data(block, ratio(block.data, np.repeat(divisors.ravel(), np.diff(block.indptr))))


def divide_columns(block: Block, divisors: Array) -> Block:
    """Divide every column of a sparse block by its own divisor; columns with divisor 0 become 0."""
    return with_data(block, ratio(block.data, divisors[block.indices]))


def with_data(block: Block, data: Array) -> Block:
    """Return a sparse array with the pattern of ``block`` and other stored values."""
    return scipy.sparse.csr_array((data, block.indices, block.indptr), shape=block.shape)
