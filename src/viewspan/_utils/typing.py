"""Type names used everywhere."""

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

Array = npt.NDArray[np.float64]
"""A float64 array: what the solver computes with."""

AnyArray = npt.NDArray[Any]
"""An array of any dtype."""

Block = Any
"""Samples of one view, one per row, in memory: a float64 array or a sparse one."""

Labels = npt.NDArray[np.int64]
"""Cluster numbers from 0."""

Graph = Array | scipy.sparse.csr_array
"""A symmetric matrix of non-negative weights, full or sparse."""
