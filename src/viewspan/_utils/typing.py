"""Type aliases shared by all modules."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

Array = npt.NDArray[np.float64]
"""Array of float64."""

AnyArray = npt.NDArray[Any]
"""Array of any dtype."""

Block = Any
"""Samples of one view in memory, one per row: a float64 array or a sparse array."""

Labels = npt.NDArray[np.int64]
"""Cluster labels, numbered from 0."""

Graph = Array | scipy.sparse.csr_array
"""Matrix of non-negative edge weights, dense or sparse.

Graphs between samples are symmetric. Graphs from samples to landmarks have a row for every sample
and a column for every landmark.
"""
