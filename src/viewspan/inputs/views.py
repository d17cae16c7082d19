"""The record of checked views, and reading them into memory."""

import mmap
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from viewspan._utils.sparse import is_sparse
from viewspan._utils.typing import AnyArray, Block
from viewspan.inputs.frames import is_dask
from viewspan.inputs.missing import check_finite, find_observed, zero_missing_rows

MIN_SAMPLES = 2
"""Smallest number of samples that can be clustered."""


@dataclass(frozen=True)
class Views:
    """Checked views.

    Attributes
    ----------
    arrays : list of arrays (n_samples, n_features_i)
        Arrays of real numbers as the user passed them: in memory, memory-mapped, sparse (CSR) or
        Dask arrays. :meth:`read` checks whether they are finite.
    names : list of str
        Names of the views in messages: the keys of a dict, or "view 0", "view 1", …
    single : bool
        Whether one array was passed instead of a collection.
    dtype : dtype
        float32 if all views are float32, else float64.
    missing : bool
        Whether samples may be missing from views, as rows of NaN.
    observed : array (n_views, n_samples) of bool, optional
        Whether each view has each sample; None if no sample is missing or the views have not been
        read.
        Missing samples are zeros in views that have been read.
    """

    arrays: list[Any]
    names: list[str]
    single: bool
    dtype: np.dtype[Any]
    missing: bool = False
    observed: AnyArray | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.arrays[0].shape[0])

    @property
    def n_features(self) -> tuple[int, ...]:
        """Number of features of every view."""
        return tuple(int(array.shape[1]) for array in self.arrays)

    def rows(self, start: int, stop: int) -> "Views":
        """Return a range of samples without copying them."""
        return replace(self, arrays=[array[start:stop] for array in self.arrays])

    def copy(self) -> "Views":
        """Return a copy that keeps its values if the user fills the same arrays anew."""
        return replace(self, arrays=[array.copy() for array in self.arrays])

    def read(self, *, first: int | None = None) -> "Views":
        """Read the views into memory as float64; raise ValueError if they are not finite.

        Sparse views stay sparse if they have more features than samples or are one block of many.

        Parameters
        ----------
        first : int, optional
            Position of the first sample if these views are one block of many, for messages.
        """
        arrays = [read_view(array, first) for array in self.arrays]
        observed = find_observed(arrays, self.names, first) if self.missing else None
        if observed is not None:
            pairs = zip(arrays, observed, strict=True)
            arrays = [zero_missing_rows(array, present) for array, present in pairs]
        for array, name in zip(arrays, self.names, strict=True):
            check_finite(array, name, first, missing=self.missing)
        return replace(self, arrays=arrays, observed=observed)

    def present_rows(self) -> list[Block]:
        """Return every view without its missing samples."""
        if self.observed is None:
            return self.arrays
        return [array[present] for array, present in zip(self.arrays, self.observed, strict=True)]


def read_view(array: Any, first: int | None) -> Block:
    """Return one view in memory as float64; ``first`` is None for a whole view."""
    if is_dask(array):
        array = array.compute()
    check_not_truncated(array)
    if not is_sparse(array):
        return np.asarray(array, dtype=np.float64)
    block: Block = scipy.sparse.csr_array(array, dtype=np.float64)
    n_samples, n_features = block.shape
    # a dense copy of a tall view is no larger than the square matrices of the fit
    return block.toarray() if n_features <= n_samples and first is None else block


def check_not_truncated(array: Any) -> None:
    """Raise OSError if the file of a memory map has become shorter since it was mapped.

    Reading beyond the end of the file would kill the process with SIGBUS. A file that is truncated
    during the read can still do that.
    """
    while array is not None and not hasattr(array, "_mmap"):
        array = getattr(array, "base", None)
    mapped = getattr(array, "_mmap", None)
    if array is None or mapped is None:
        return
    expected = array.offset - array.offset % mmap.ALLOCATIONGRANULARITY + len(mapped)
    if mapped.size() < expected:
        raise OSError(
            f"{array.filename} has become shorter while it was read: it has {mapped.size()} of "
            f"{expected} bytes. Write it again under another name and restart."
        )
