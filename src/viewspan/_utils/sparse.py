"""What dense and sparse arrays have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.typing import AnyArray, Array, Block


def is_sparse(array: Any) -> bool:
    """Whether this is one of scipy's."""
    return bool(scipy.sparse.issparse(array))


def points_inside(starts: AnyArray, places: AnyArray, stored: int, shape: tuple[int, int]) -> bool:
    """Whether the pointers of a compressed array ascend from nothing to what is stored, and its indices are those of
    lines that exist; compiled code would go wherever they point.
    """
    lines, width = shape
    ascend = (
        len(starts) == lines + 1 and int(starts[0]) == 0 and bool((starts[1:] >= starts[:-1]).all())
    )
    whole = ascend and int(starts[-1]) <= min(len(places), stored)
    return whole and (len(places) == 0 or bool(places.min() >= 0 and places.max() < width))


def full(array: Any) -> Array:
    """As a dense array."""
    return np.asarray(array.toarray() if is_sparse(array) else array, dtype=np.float64)


def side_by_side(blocks: Sequence[Block]) -> Block:
    """Features of all blocks; sparse if one of them is."""
    return joined(blocks, np.hstack, scipy.sparse.hstack)


def below_each_other(blocks: Sequence[Block]) -> Block:
    """Samples of all blocks; sparse if one of them is."""
    return joined(blocks, np.vstack, scipy.sparse.vstack)


def joined(blocks: Sequence[Block], dense: Any, sparse: Any) -> Block:
    if any(is_sparse(block) for block in blocks):
        return scipy.sparse.csr_array(sparse(list(blocks), format="csr"))
    return dense(list(blocks))


def over_rows(block: Block, divisors: Array) -> Block:
    """Rows divided by one number each, of a sparse block; 0 where that is 0."""
    return with_data(block, ratio(block.data, np.repeat(divisors.ravel(), np.diff(block.indptr))))


def over_columns(block: Block, divisors: Array) -> Block:
    """Columns divided by one number each, of a sparse block; 0 where that is 0."""
    return with_data(block, ratio(block.data, divisors[block.indices]))


def with_data(block: Block, data: Array) -> Block:
    return scipy.sparse.csr_array((data, block.indices, block.indptr), shape=block.shape)
