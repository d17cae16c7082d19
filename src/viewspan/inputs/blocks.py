"""Samples in blocks of rows, and the two ways of going over them: threads of this process, or whatever runs Dask's
tasks.

A function of a block never sees more than a few thousand samples, whatever the size of the data or of Dask's chunks,
and the blocks know where they stand among all samples, so that nothing depends on how the data is cut.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from viewspan._utils.optional import require
from viewspan._utils.threads import SingleThreadedBlas, in_threads
from viewspan._utils.typing import AnyArray
from viewspan.inputs.frames import is_dask
from viewspan.inputs.views import Views

ENTRIES = 2**21
"""Of the largest array that is made of one block."""
FEWEST_ROWS, MOST_ROWS = 256, 2**15
TOGETHER = 8
"""So many partial results are merged at once where they may be on several machines."""

OnBlock = Callable[[Views, int], Any]
"""What is done with a block, given as views that have been read and the position of its first sample."""
Merge = Callable[[Any, Any], Any]
Step = Callable[[int], None]
"""Told how many samples were done."""


class Source(Protocol):
    """Views, and a way of going over them."""

    @property
    def views(self) -> Views: ...

    def fold(self, function: OnBlock, merge: Merge, width: int, step: Step) -> Any:
        """Merge what the function makes of all blocks; ``width`` is the most entries it makes of one sample."""

    def join(self, function: OnBlock, width: int, step: Step) -> AnyArray:
        """One array of what the function makes of all blocks."""

    def lazily(self, function: OnBlock, width: int, dtype: Any, n_columns: int | None) -> Any:
        """The same as an array that is computed when it is asked for, if there is such a thing."""


def source_of(views: Views) -> Source:
    return OnDask(views) if any(is_dask(array) for array in views.arrays) else InThreads(views)


def bounds(n_samples: int, width: int) -> list[tuple[int, int]]:
    """Where blocks begin and end."""
    n_rows = int(np.clip(ENTRIES // max(width, 1), FEWEST_ROWS, MOST_ROWS))
    return [(start, min(start + n_rows, n_samples)) for start in range(0, n_samples, n_rows)]


def on_rows(function: OnBlock, views: Views, start: int, stop: int, first: int = 0) -> Any:
    return function(views.rows(start, stop).read(first=first + start), first + start)


@dataclass(frozen=True)
class InThreads:
    """Threads of this process, each with a block of its own."""

    views: Views

    def fold(self, function: OnBlock, merge: Merge, width: int, step: Step) -> Any:
        return reduce(merge, self._each(function, width, step))

    def join(self, function: OnBlock, width: int, step: Step) -> AnyArray:
        return np.concatenate(list(self._each(function, width, step)))

    def lazily(self, function: OnBlock, width: int, dtype: Any, n_columns: int | None) -> AnyArray:
        return self.join(function, width, ignore)

    def _each(self, function: OnBlock, width: int, step: Step) -> Iterator[Any]:
        parts = bounds(self.views.n_samples, width)
        done = in_threads(lambda part: on_rows(function, self.views, *part), parts)
        for (start, stop), result in zip(parts, done, strict=True):
            yield result
            step(stop - start)


@dataclass(frozen=True)
class OnDask:
    """Dask's tasks, one per chunk of rows; the engine is whatever scheduler is there."""

    views: Views

    def fold(self, function: OnBlock, merge: Merge, width: int, step: Step) -> Any:
        dask = require("dask", "dask", purpose="Clustering Dask arrays")
        parts = [
            dask.delayed(fold_chunk)(function, merge, width, *chunk) for chunk in self._chunks()
        ]
        while len(parts) > 1:
            groups = [parts[start : start + TOGETHER] for start in range(0, len(parts), TOGETHER)]
            parts = [dask.delayed(merge_all)(merge, group) for group in groups]
        found = parts[0].compute()
        step(self.views.n_samples)
        return found

    def join(self, function: OnBlock, width: int, step: Step) -> AnyArray:
        dask = require("dask", "dask", purpose="Clustering Dask arrays")
        found = np.concatenate(dask.compute(*self._parts(function, width)))
        step(self.views.n_samples)
        return found

    def lazily(self, function: OnBlock, width: int, dtype: Any, n_columns: int | None) -> Any:
        arrays = require("dask.array", "dask", purpose="Clustering Dask arrays")
        more = () if n_columns is None else (n_columns,)
        parts = zip(self._parts(function, width), self._heights(), strict=True)
        return arrays.concatenate(
            [arrays.from_delayed(part, (n_rows, *more), dtype) for part, n_rows in parts]
        )

    def _parts(self, function: OnBlock, width: int) -> list[Any]:
        """What the function makes of every chunk, as tasks."""
        dask = require("dask", "dask", purpose="Clustering Dask arrays")
        shared = dask.delayed(function)  # sent to every worker once, not with every task
        return [dask.delayed(join_chunk)(shared, width, *chunk) for chunk in self._chunks()]

    def _heights(self) -> tuple[int, ...]:
        """Rows of the chunks: those of the Dask array that has most of them, without empty ones."""
        given = [array.chunks[0] for array in self.views.arrays if is_dask(array)]
        return tuple(int(height) for height in max(given, key=len) if height > 0)

    def _chunks(self) -> Iterator[tuple[Views, Any, int]]:
        """The views without their arrays, the arrays of one chunk as tasks, and the position of its first sample."""
        dask = require("dask", "dask", purpose="Clustering Dask arrays")
        heights = self._heights()
        starts = np.concatenate([[0], np.cumsum(heights)])
        columns = [
            list(array.rechunk({0: heights, 1: -1}).to_delayed().ravel())
            if is_dask(array)
            else [dask.delayed(array[start:stop]) for start, stop in pairwise(starts)]
            for array in self.views.arrays
        ]
        frame = replace(self.views, arrays=[])
        for first, arrays in zip(starts[:-1], zip(*columns, strict=True), strict=True):
            yield frame, list(arrays), int(first)


def fold_chunk(
    function: OnBlock, merge: Merge, width: int, frame: Views, arrays: list[Any], first: int
) -> Any:
    views = replace(frame, arrays=arrays)
    with SingleThreadedBlas():  # several tasks run at the same time
        return reduce(
            merge,
            (on_rows(function, views, *part, first) for part in bounds(views.n_samples, width)),
        )


def join_chunk(
    function: OnBlock, width: int, frame: Views, arrays: list[Any], first: int
) -> AnyArray:
    views = replace(frame, arrays=arrays)
    with SingleThreadedBlas():
        return np.concatenate(
            [on_rows(function, views, *part, first) for part in bounds(views.n_samples, width)]
        )


def merge_all(merge: Merge, parts: list[Any]) -> Any:
    return reduce(merge, parts)


def ignore(n_samples: int) -> None:
    """No one wants to know."""
