"""Scaling of the features and samples of a view.

Values are divided by their largest before they are squared, so that squares neither overflow nor
underflow.
"""

from typing import Any

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import divide_columns, divide_rows, full, is_sparse, stack_features
from viewspan._utils.typing import Array, Block
from viewspan.inputs.column_statistics import ColumnStatistics, as_vector


def equalize_features(block: Block, columns: ColumnStatistics) -> Block:
    """Scale all features to mean square 1; those that are rounding errors become 0."""
    largest, relative_rms = columns.largest_significant, columns.relative_rms
    if is_sparse(block):
        return divide_columns(divide_columns(block, largest), relative_rms)
    return ratio(block, largest) * ratio(1.0, relative_rms)


def standardize_features(block: Block, columns: ColumnStatistics) -> Array:
    """Shift all features to mean 0 and scale them to variance 1; constant ones become 0."""
    relative = ratio(full(block), columns.largest_significant) - columns.relative_mean
    return relative * ratio(1.0, columns.relative_std)


def add_constant_feature(block: Block, constant: float) -> Block:
    """Add a feature that has the same value for all samples."""
    return stack_features([block, np.full((block.shape[0], 1), constant)])


def unit_samples(block: Block) -> Block:
    """Scale every sample to unit length, whatever its magnitude; zeros stay zeros."""
    largest = as_vector(abs(block).max(axis=1))[:, None]
    if is_sparse(block):
        relative: Any = divide_rows(block, largest)
        return divide_rows(relative, np.sqrt(as_vector((relative**2).sum(axis=1))))
    relative = ratio(block, largest)
    lengths = np.sqrt(np.einsum("ij,ij->i", relative, relative))[:, None]
    return relative * ratio(1.0, lengths)


def relative_lengths(block: Block) -> Array:
    """Return the lengths of samples, divided by the longest."""
    relative = block / (abs(block).max() or 1.0)
    lengths = np.sqrt(as_vector((relative**2).sum(axis=1)))
    return np.asarray(lengths / (lengths.max(initial=0.0) or 1.0))
