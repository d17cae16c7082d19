"""Sums over views of the similarities of coefficient patterns, in blocks of rows.

No matrix of all pairs of samples is stored, so memory grows with the number of samples.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse

from viewspan._utils.linalg import ratio
from viewspan._utils.threads import in_threads
from viewspan._utils.typing import AnyArray, Array, Graph
from viewspan.graph.neighbors import (
    Neighbors,
    connect_neighbors,
    largest_of_rows,
    log_ranks,
    n_connected,
    sparse_rows,
)

BLOCK_ENTRIES, MIN_BLOCK_ROWS = 2**20, 64
"""Number of pairs of samples that are compared at once, if these are not too few rows."""
TIE_BREAK_WEIGHT = np.float32(1e-3)
"""Weight of the cosines in the sums of ranks. Many sums are equal; then the cosines decide."""
RANKED_PER_NEIGHBOR = 10
"""Ranks are compared down to this multiple of the number of neighbours; later ones are equal."""


class Sums(NamedTuple):
    """Sums over views of the similarities of some samples (rows) to others (columns).

    Attributes
    ----------
    plain, calibrated : arrays (n_rows, n_columns)
        Weighted sums of the cosines, and of √(effective rank) × the cosines.
    ranked : list of Neighbors
        The nearest columns in every view, with the weight of the view × the logarithm of the rank.
    """

    plain: AnyArray
    calibrated: AnyArray
    ranked: list[Neighbors]


def sums_of_views(
    cosines_of_views: Iterable[AnyArray], weights: Array, calibrations: Array, n_ranked: int
) -> Sums:
    """Add up the cosines of several views; they are overwritten.

    Parameters
    ----------
    cosines_of_views : iterable of arrays (n_rows, n_columns)
        One at a time, to save memory.
    weights : array (n_views,)
        The weights of the views, all positive.
    calibrations : array (n_views,)
        The square roots of the effective ranks.
    n_ranked : int
        Number of columns that are ranked for every row.
    """
    plain = calibrated = np.zeros((1, 1), dtype=np.float32)
    ranked: list[Neighbors] = []
    views = zip(cosines_of_views, weights, calibrations, strict=True)
    for cosines, weight, calibration in views:
        is_first = not ranked
        nearest = largest_of_rows(cosines, n_ranked)
        ranked.append(nearest._replace(values=np.float32(weight) * log_ranks(nearest, n_ranked)))
        cosines *= np.float32(weight)
        plain = cosines.copy() if is_first else np.add(plain, cosines, out=plain)
        cosines *= np.float32(calibration)
        calibrated = cosines if is_first else np.add(calibrated, cosines, out=calibrated)
    return Sums(plain, calibrated, ranked)


@dataclass(frozen=True)
class PatternSums:
    """Sums over views of the similarities between all samples, and the graphs of the largest sums.

    Attributes
    ----------
    patterns : list of arrays (n_samples, r_i)
        Unit patterns in every view, in rows; those of missing samples are 0.
    weights, calibrations : arrays (n_views,)
        As in :func:`sums_of_views`.
    n_neighbors : int
    observed : array (n_views, n_samples) of bool, optional
        Which samples the views have. If given, sums are divided by the weight of the views that two
        samples share.
    completions : list of sparse arrays (n_samples, n_samples), optional
        T of every view. If given, the cosines C of a view are replaced by T C Tᵀ.
    """

    patterns: Sequence[AnyArray]
    weights: Array
    calibrations: Array
    n_neighbors: int
    observed: AnyArray | None = None
    completions: Sequence[scipy.sparse.csr_array] | None = None

    @property
    def n_samples(self) -> int:
        return len(self.patterns[0])

    @property
    def n_ranked(self) -> int:
        """Number of samples that are ranked for every sample."""
        return max(1, min(RANKED_PER_NEIGHBOR * self.n_neighbors, self.n_samples - 1))

    def graph(self) -> Graph:
        """Return the mean of the three graphs that :func:`viewspan.pattern_graph` describes."""
        plain, calibrated, ranked = (
            Neighbors.stacked(blocks)
            for blocks in zip(*in_threads(self._by_sums, self._blocks()), strict=True)
        )
        ranks = sparse_rows(*ranked, self.n_samples)
        both = ranks, scipy.sparse.csr_array(ranks.T)
        by_ranks = in_threads(lambda rows: self._by_ranks(*both, rows), self._blocks())
        return connect_neighbors([plain, calibrated, Neighbors.stacked(by_ranks)])

    def _blocks(self) -> Iterator[slice]:
        height = max(MIN_BLOCK_ROWS, BLOCK_ENTRIES // self.n_samples)
        return (
            slice(start, min(start + height, self.n_samples))
            for start in range(0, self.n_samples, height)
        )

    def _by_sums(self, rows: slice) -> tuple[Neighbors, Neighbors, Neighbors]:
        """Return the neighbours by plain and by calibrated sums, and the ranks in all views."""
        sums = sums_of_views(self._cosines(rows), self.weights, self.calibrations, self.n_ranked)
        plain = largest_of_rows(self._divided(sums.plain, rows), self._n_connected)
        # the sums of a single view have the same order
        calibrated = (
            plain
            if len(self.patterns) == 1
            else largest_of_rows(self._divided(sums.calibrated, rows), self._n_connected)
        )
        columns, values = (np.hstack(parts) for parts in zip(*sums.ranked, strict=True))
        return plain, calibrated, Neighbors(columns.astype(np.int32), values)

    def _by_ranks(
        self, ranks: scipy.sparse.csr_array, transposed: scipy.sparse.csr_array, rows: slice
    ) -> Neighbors:
        """Return the neighbours by the sums of ranks in both directions.

        A pair without a rank in either direction cannot be among the nearest, because the
        logarithms of the first ranks exceed every tie-break. So it needs none.
        """
        total: AnyArray = ranks[rows].toarray()
        total += transposed[rows].toarray()
        clear_diagonal(total, rows)
        self._divided(total, rows)
        np.add(total, TIE_BREAK_WEIGHT * self._plain_sums(rows), out=total, where=total > 0)
        return largest_of_rows(total, self._n_connected)

    @property
    def _n_connected(self) -> int:
        return n_connected(self.n_neighbors, self.n_samples)

    def _divided(self, sums: AnyArray, rows: slice) -> AnyArray:
        """Divide sums by the weight of the shared views, in place, if samples are missing."""
        if self.observed is not None:
            shared = shared_view_weights(self.observed[:, rows], self.observed, self.weights)
            np.divide(sums, shared, out=sums, where=shared > 0)
        return sums

    def _cosines(self, rows: slice) -> Iterator[AnyArray]:
        """Yield the absolute cosines between some samples and all; 0 of a sample and itself."""
        for view, pattern in enumerate(self.patterns):
            if self.completions is None:
                found = absolute_cosines(pattern[rows], pattern)
            else:
                found = completed_cosines(pattern, self.completions[view], rows)
            yield clear_diagonal(found, rows)

    def _plain_sums(self, rows: slice) -> AnyArray:
        """Return the weighted sums of the cosines between some samples and all."""
        pairs = zip(self._cosines(rows), self.weights, strict=True)
        total = sum(np.float32(weight) * cosines for cosines, weight in pairs)
        return self._divided(np.asarray(total), rows)


def clear_diagonal(block: AnyArray, rows: slice) -> AnyArray:
    """Set the similarities of samples with themselves to 0, in place."""
    block[np.arange(len(block)), np.arange(rows.start, rows.stop)] = 0.0
    return block


def absolute_cosines(some: AnyArray, others: AnyArray) -> AnyArray:
    """Return the absolute cosines between unit rows."""
    cosines: AnyArray = some @ others.T
    return np.abs(cosines, out=cosines)


def completed_cosines(
    pattern: AnyArray, completion: scipy.sparse.csr_array, rows: slice
) -> AnyArray:
    """Return rows of T C Tᵀ for the cosines C of a pattern, with a zero diagonal, and T.

    Only the rows of C that these rows of T refer to are computed.
    """
    part = completion[rows]
    used, places = np.unique(part.indices, return_inverse=True)
    cosines = absolute_cosines(pattern[used], pattern)
    cosines[np.arange(len(used)), used] = 0.0
    shares = scipy.sparse.csr_array(
        (part.data, places, part.indptr), shape=(part.shape[0], len(used))
    )
    return np.ascontiguousarray((completion @ (shares @ cosines).T).T, dtype=np.float32)


def completion(graph: Graph, present: AnyArray) -> scipy.sparse.csr_array:
    """Return T, which replaces missing samples by the means of their present neighbours.

    Parameters
    ----------
    graph : sparse array (n_samples, n_samples)
        Its edge weights, as shares, are the rows of T for missing samples.
    present : array (n_samples,) of bool
        Which samples the view has. Their rows of T are those of the identity.
    """
    missing = scipy.sparse.diags_array((~present).astype(np.float32))
    neighbours = scipy.sparse.csr_array(
        missing @ graph @ scipy.sparse.diags_array(present.astype(np.float32))
    )
    shares = scipy.sparse.diags_array(ratio(1.0, np.asarray(neighbours.sum(axis=1), dtype=float)))
    identity = scipy.sparse.diags_array(present.astype(float))
    return scipy.sparse.csr_array(shares @ neighbours + identity, dtype=np.float32)


def shared_view_weights(some: AnyArray, others: AnyArray, weights: Array) -> AnyArray:
    """Return the weight of the views that some samples share with others.

    Parameters
    ----------
    some, others : arrays (n_views, n_samples) of bool
        Which samples the views have.
    weights : array (n_views,)
    """
    weighted = some.astype(np.float32) * weights[:, None].astype(np.float32)
    return weighted.T @ others.astype(np.float32)
