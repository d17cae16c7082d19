"""Summary of samples from one pass over them: column statistics, Gram matrix, reservoir sample.

The summaries of blocks add up to the summary of all samples, in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from viewspan._utils.linalg import eigh, spectrum, triangle
from viewspan._utils.sparse import full, is_sparse, stack_samples
from viewspan._utils.typing import Array, Block
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import Preparation
from viewspan.inputs.views import Views
from viewspan.objective.reduction import Reduction, from_triangle

Keys = npt.NDArray[np.uint64]
"""Pseudo-random keys of samples."""
MomentForm = Literal["gram", "triangle"]
"""Form in which a summary holds moments: the Gram matrix XᵀX, or R with RᵀR = XᵀX."""

MIN_SQUARE_SHARE = 1e-11
"""Eigenvalues of a Gram matrix below this share of the largest are rounding errors."""


@dataclass(frozen=True)
class Reservoir:
    """Reservoir sample: the preprocessed samples with the smallest keys.

    The key of a sample is a hash of its position among all samples, so the same samples are kept
    however the data is split into blocks.

    Attributes
    ----------
    capacity : int
        Largest number of samples that are kept.
    keys : array (n_kept,) of uint64
    positions : array (n_kept,) of int
        Positions of the kept samples among all samples.
    blocks : list of arrays (n_kept, n_features_i)
        The kept samples in every view.
    """

    capacity: int
    keys: Keys
    positions: npt.NDArray[np.int64]
    blocks: list[Block]

    @classmethod
    def of(cls, blocks: Sequence[Block], first: int, capacity: int, seed: int) -> "Reservoir":
        """Return the reservoir sample of one block, whose first sample has position ``first``."""
        positions = np.arange(first, first + blocks[0].shape[0])
        return cls(capacity, keys_of(positions, seed), positions, list(blocks)).trim()

    def __add__(self, other: "Reservoir") -> "Reservoir":
        blocks = [stack_samples(pair) for pair in zip(self.blocks, other.blocks, strict=True)]
        keys = np.concatenate([self.keys, other.keys])
        positions = np.concatenate([self.positions, other.positions])
        return Reservoir(self.capacity, keys, positions, blocks).trim()

    def trim(self) -> "Reservoir":
        """Return the samples with the smallest keys, as many as the capacity allows."""
        if len(self.keys) <= self.capacity:
            return self
        kept = np.argpartition(self.keys, self.capacity)[: self.capacity]
        return self.select(kept)

    def in_order(self) -> "Reservoir":
        """Return the samples in the order of their positions."""
        return self.select(np.argsort(self.positions))

    def select(self, rows: npt.NDArray[np.int64]) -> "Reservoir":
        """Return some of the samples."""
        return Reservoir(
            self.capacity,
            self.keys[rows],
            self.positions[rows],
            [block[rows] for block in self.blocks],
        )


def keys_of(positions: npt.NDArray[np.int64], seed: int) -> Keys:
    """Return pseudo-random numbers that depend on position and seed alone.

    They are those of the generator SplitMix64 (Steele, Lea and Flood 2014).
    """
    with np.errstate(over="ignore"):
        keys = (positions.astype(np.uint64) + np.uint64(seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = keys ^ (keys >> np.uint64(31))
    return mixed


@dataclass(frozen=True)
class Summary:
    """Summary of some samples.

    Attributes
    ----------
    columns : list of ColumnStatistics
        Statistics of every view before preprocessing.
    moments : array (ΣD, ΣD)
        XᵀX of the preprocessed views side by side; or R with RᵀR = XᵀX, which keeps the digits that
        squaring would lose.
    moment_form : {"gram", "triangle"}
        Form of ``moments``.
    sample : Reservoir
        Reservoir sample of the preprocessed views.
    """

    columns: list[ColumnStatistics]
    moments: Array
    moment_form: MomentForm
    sample: Reservoir

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return self.columns[0].n_samples

    def __add__(self, other: "Summary") -> "Summary":
        columns = [mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True)]
        if self.moment_form == "gram":
            moments = self.moments + other.moments
        else:
            moments = triangle(np.vstack([self.moments, other.moments]))
        return Summary(columns, moments, self.moment_form, self.sample + other.sample)

    def is_ill_conditioned(self) -> bool:
        """Return whether squaring may have lost some directions."""
        squares = eigh(self.moments)[0]
        return self.moment_form == "gram" and bool(squares[0] <= MIN_SQUARE_SHARE * squares[-1])


@dataclass(frozen=True)
class OnePass:
    """Function that returns the summary of a block.

    Attributes
    ----------
    preparation : Preparation or None
        Preprocessing. None in the first pass, when the column statistics that determine it are not
        known yet: samples are then scaled to unit length if ``normalize`` is true.
    normalize : bool
    moment_form : {"gram", "triangle"}
    capacity : int
        Capacity of the reservoir sample.
    seed : int
        Seed of the keys of the reservoir sample.
    offset : int
        Number of samples in earlier batches.
    """

    preparation: Preparation | None
    normalize: bool
    moment_form: MomentForm
    capacity: int
    seed: int
    offset: int = 0

    def __call__(self, views: Views, first: int) -> Summary:
        """Return the summary of a block whose first sample has position ``first``."""
        columns = [ColumnStatistics.of(block) for block in views.arrays]
        preparation = self.preparation or Preparation.choose(columns, False, False, self.normalize)
        blocks = preparation.apply(views).arrays
        # values that are too large raise an error when the column statistics are checked
        with np.errstate(over="ignore", invalid="ignore"):
            moments = gram(blocks) if self.moment_form == "gram" else padded_triangle(blocks)
        sample = Reservoir.of(blocks, self.offset + first, self.capacity, self.seed)
        return Summary(columns, moments, self.moment_form, sample)


def gram(blocks: Sequence[Block]) -> Array:
    """Return XᵀX of the blocks side by side, without making sparse blocks dense."""
    return np.block([[cross_product(left, right) for right in blocks] for left in blocks])


def cross_product(left: Block, right: Block) -> Array:
    """Return XᵀY as a dense array."""
    if is_sparse(right) and not is_sparse(left):
        return cross_product(right, left).T
    return full(left.T @ right)


def padded_triangle(blocks: Sequence[Block]) -> Array:
    """Return R of the blocks side by side, padded with zero rows to a square matrix."""
    rows = np.hstack([full(block) for block in blocks])
    n_lacking = rows.shape[1] - rows.shape[0]
    if n_lacking > 0:
        rows = np.vstack([rows, np.zeros((n_lacking, rows.shape[1]))])
    return triangle(rows)


def reduction_of(
    summary: Summary, widths: Sequence[int], n_features_used: tuple[int, ...]
) -> Reduction:
    """Return the reduction of all samples, whose basis has rows for the reservoir sample alone.

    Parameters
    ----------
    summary : Summary
    widths : list of int
        Number of features of every view after preprocessing.
    n_features_used : tuple of int
        Number of features of every view that are not zero for every sample.
    """
    triangles = summary.moment_form == "triangle"
    moments = summary.moments
    diagonal = (moments**2).sum(axis=0) if triangles else moments.diagonal()
    view_diagonals = np.split(diagonal, np.cumsum(widths)[:-1])
    sizes = [float(np.sqrt(part.sum())) or 1.0 for part in view_diagonals]
    scale = np.repeat(sizes, widths)
    if triangles:
        _, coordinates = from_triangle(moments / scale, sizes, widths, summary.n_samples)
    else:
        _, coordinates = from_triangle(
            square_root(moments / scale / scale[:, None]), sizes, widths, 0
        )
    basis = coordinates(summary.sample.blocks)
    spectra = [spectrum(part) for part in coordinates.loadings]
    factors = [view.matrix for view in spectra]
    return Reduction(
        basis, basis, spectra, factors, factors, summary.n_samples, n_features_used, coordinates
    )


def square_root(moments: Array) -> Array:
    """Return a matrix R with RᵀR = M, without directions that squaring may have lost."""
    squares, vectors = eigh(moments)
    kept = squares > MIN_SQUARE_SHARE * max(squares[-1], 0.0)
    kept[-1], squares[-1] = True, max(squares[-1], 0.0)  # keeps one direction of zero samples
    found: Array = np.sqrt(squares[kept])[:, None] * vectors[:, kept].T
    return found


def add_summaries(first: Summary, second: Summary) -> Summary:
    """Return the summary of the samples of two summaries."""
    return first + second
