"""What dense and sparse arrays have in common."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._typing import Array, Block


def is_sparse(array: Any) -> bool:
    """Whether this is one of scipy's."""
    return bool(scipy.sparse.issparse(array))


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


def times_rows(block: Block, factors: Array) -> Block:
    """diag(factors) · block, of a sparse one."""
    return scipy.sparse.csr_array(scipy.sparse.diags_array(factors.ravel()) @ block)


def times_columns(block: Block, factors: Array) -> Block:
    """block · diag(factors), of a sparse one."""
    return scipy.sparse.csr_array(block @ scipy.sparse.diags_array(factors))
