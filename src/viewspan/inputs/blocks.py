"""Process samples in blocks of rows, with threads of this process or with Dask tasks.

A block has at most 32 768 samples, whatever the size of the data or of Dask's chunks. Every block
knows the position of its first sample, so that no result depends on the block size.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from viewspan._utils.optional import require
from viewspan._utils.threads import OneThread, in_threads
from viewspan._utils.typing import AnyArray
from viewspan.inputs.frames import is_dask
from viewspan.inputs.views import Views

MAX_BLOCK_ENTRIES = 2**21
"""Largest number of entries of an array that is computed from one block."""
MIN_BLOCK_ROWS, MAX_BLOCK_ROWS = 256, 2**15
"""Limits of the number of samples in a block."""
MERGED_PER_TASK = 8
"""Number of partial results that one Dask task merges."""

BlockFunction = Callable[[Views, int], Any]
"""Function of a block: views that have been read, and the position of their first sample."""
Merge = Callable[[Any, Any], Any]
"""Function that merges the results of two blocks."""
Step = Callable[[int], None]
"""Function that is called with the number of samples that were processed."""


class BlockSource(Protocol):
    """Views that are processed block by block.

    In all methods, ``width`` is the largest number of entries per sample of an array that the
    function computes. It determines the block size.
    """

    @property
    def views(self) -> Views: ...

    def fold(self, function: BlockFunction, merge: Merge, width: int, step: Step) -> Any:
        """Return the merged results of all blocks."""

    def concatenate(self, function: BlockFunction, width: int, step: Step) -> AnyArray:
        """Return the results of all blocks as one array."""

    def concatenate_lazily(
        self, function: BlockFunction, width: int, dtype: Any, n_columns: int | None
    ) -> Any:
        """Return the results of all blocks as one array; for Dask views, one not yet computed.

        ``n_columns`` is the number of columns of the array, or None for a one-dimensional array.
        """


def source_of(views: Views) -> BlockSource:
    """Return a source that processes Dask arrays with Dask and other arrays with threads."""
    if any(is_dask(array) for array in views.arrays):
        return DaskSource(views)
    return ThreadedSource(views)


def block_bounds(n_samples: int, width: int) -> list[tuple[int, int]]:
    """Return the first row and the end of every block."""
    n_rows = int(np.clip(MAX_BLOCK_ENTRIES // max(width, 1), MIN_BLOCK_ROWS, MAX_BLOCK_ROWS))
    return [(start, min(start + n_rows, n_samples)) for start in range(0, n_samples, n_rows)]


def apply_to_rows(
    function: BlockFunction, views: Views, start: int, stop: int, first: int = 0
) -> Any:
    """Read some rows and apply the function; ``first`` is the position of row 0 of the views."""
    return function(views.rows(start, stop).read(first=first + start), first + start)


@dataclass(frozen=True)
class ThreadedSource:
    """Views whose blocks are processed by threads of this process."""

    views: Views

    def fold(self, function: BlockFunction, merge: Merge, width: int, step: Step) -> Any:
        return reduce(merge, self._results(function, width, step))

    def concatenate(self, function: BlockFunction, width: int, step: Step) -> AnyArray:
        return np.concatenate(list(self._results(function, width, step)))

    def concatenate_lazily(
        self, function: BlockFunction, width: int, dtype: Any, n_columns: int | None
    ) -> AnyArray:
        return self.concatenate(function, width, no_progress)

    def _results(self, function: BlockFunction, width: int, step: Step) -> Iterator[Any]:
        bounds = block_bounds(self.views.n_samples, width)
        results = in_threads(lambda rows: apply_to_rows(function, self.views, *rows), bounds)
        for (start, stop), result in zip(bounds, results, strict=True):
            yield result
            step(stop - start)


@dataclass(frozen=True)
class DaskSource:
    """Views whose chunks are processed by Dask tasks, with the scheduler that is active."""

    views: Views

    def fold(self, function: BlockFunction, merge: Merge, width: int, step: Step) -> Any:
        dask = require_dask()
        parts = [
            dask.delayed(fold_chunk)(function, merge, width, *chunk) for chunk in self._chunks()
        ]
        while len(parts) > 1:
            starts = range(0, len(parts), MERGED_PER_TASK)
            groups = [parts[start : start + MERGED_PER_TASK] for start in starts]
            parts = [dask.delayed(merge_all)(merge, group) for group in groups]
        found = parts[0].compute()
        step(self.views.n_samples)
        return found

    def concatenate(self, function: BlockFunction, width: int, step: Step) -> AnyArray:
        found = np.concatenate(require_dask().compute(*self._results(function, width)))
        step(self.views.n_samples)
        return found

    def concatenate_lazily(
        self, function: BlockFunction, width: int, dtype: Any, n_columns: int | None
    ) -> Any:
        arrays = require_dask("dask.array")
        columns = () if n_columns is None else (n_columns,)
        parts = zip(self._results(function, width), self._chunk_sizes(), strict=True)
        return arrays.concatenate(
            [arrays.from_delayed(part, (n_rows, *columns), dtype) for part, n_rows in parts]
        )

    def _results(self, function: BlockFunction, width: int) -> list[Any]:
        """Return the result of every chunk as a task."""
        dask = require_dask()
        # sends the function to every worker once instead of with every task
        shared = dask.delayed(function)
        return [dask.delayed(concatenate_chunk)(shared, width, *chunk) for chunk in self._chunks()]

    def _chunk_sizes(self) -> tuple[int, ...]:
        """Return the numbers of rows of the chunks of the Dask array that has most chunks."""
        sizes = [array.chunks[0] for array in self.views.arrays if is_dask(array)]
        return tuple(int(n_rows) for n_rows in max(sizes, key=len) if n_rows > 0)

    def _chunks(self) -> Iterator[tuple[Views, Any, int]]:
        """Yield, for every chunk, views without arrays, the arrays as tasks, and the first row."""
        dask = require_dask()
        sizes = self._chunk_sizes()
        starts = np.concatenate([[0], np.cumsum(sizes)])
        columns = [
            list(array.rechunk({0: sizes, 1: -1}).to_delayed().ravel())
            if is_dask(array)
            else [dask.delayed(array[start:stop]) for start, stop in pairwise(starts)]
            for array in self.views.arrays
        ]
        without_arrays = replace(self.views, arrays=[])
        for first, arrays in zip(starts[:-1], zip(*columns, strict=True), strict=True):
            yield without_arrays, list(arrays), int(first)


def require_dask(module: str = "dask") -> Any:
    """Import Dask, or raise ImportError with the way to install it."""
    return require(module, "dask", purpose="Clustering Dask arrays")


def fold_chunk(
    function: BlockFunction,
    merge: Merge,
    width: int,
    without_arrays: Views,
    arrays: list[Any],
    first: int,
) -> Any:
    """Return the merged results of the blocks of one chunk."""
    return reduce(merge, results_of_chunk(function, width, without_arrays, arrays, first))


def concatenate_chunk(
    function: BlockFunction, width: int, without_arrays: Views, arrays: list[Any], first: int
) -> AnyArray:
    """Return the results of the blocks of one chunk as one array."""
    return np.concatenate(list(results_of_chunk(function, width, without_arrays, arrays, first)))


def results_of_chunk(
    function: BlockFunction, width: int, without_arrays: Views, arrays: list[Any], first: int
) -> Iterator[Any]:
    """Yield the results of the blocks of one chunk."""
    views = replace(without_arrays, arrays=arrays)
    with OneThread():  # several tasks run at the same time
        for start, stop in block_bounds(views.n_samples, width):
            yield apply_to_rows(function, views, start, stop, first)


def merge_all(merge: Merge, parts: list[Any]) -> Any:
    """Merge a list of results."""
    return reduce(merge, parts)


def no_progress(n_samples: int) -> None:
    """Ignore the number of samples that were processed."""
