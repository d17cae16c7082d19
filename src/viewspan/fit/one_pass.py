"""What one pass over the samples keeps of them: sums over features, the Gram matrix, and a fair sample.

Summaries of parts add up to the summary of the whole, in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from viewspan._utils.linalg import eigh, spectrum, triangle
from viewspan._utils.sparse import below_each_other, full, is_sparse
from viewspan._utils.typing import Array, Block
from viewspan.inputs.preparation import Columns, Preparation
from viewspan.inputs.views import Views
from viewspan.objective.reduction import Reduction, from_triangle

Keys = npt.NDArray[np.uint64]
Moments = Literal["squares", "triangles"]

SQUARED = 1e-11
"""Squares of singular values below this share of the largest are not trusted to a Gram matrix of many samples."""


@dataclass(frozen=True)
class Reservoir:
    """The prepared samples with the smallest keys.

    A key is a hash of a sample's position among all, so the same samples are kept however the data is cut.
    """

    capacity: int
    keys: Keys
    positions: npt.NDArray[np.int64]
    blocks: list[Block]

    @classmethod
    def of(cls, blocks: Sequence[Block], first: int, capacity: int, seed: int) -> "Reservoir":
        positions = np.arange(first, first + blocks[0].shape[0])
        return cls(capacity, keys_of(positions, seed), positions, list(blocks)).trimmed()

    def __add__(self, other: "Reservoir") -> "Reservoir":
        blocks = [below_each_other(pair) for pair in zip(self.blocks, other.blocks, strict=True)]
        keys = np.concatenate([self.keys, other.keys])
        return Reservoir(
            self.capacity, keys, np.concatenate([self.positions, other.positions]), blocks
        ).trimmed()

    def trimmed(self) -> "Reservoir":
        if len(self.keys) <= self.capacity:
            return self
        kept = np.argpartition(self.keys, self.capacity)[: self.capacity]
        return self.chosen(kept)

    def in_order(self) -> "Reservoir":
        """As they stood among all samples."""
        return self.chosen(np.argsort(self.positions))

    def chosen(self, rows: npt.NDArray[np.int64]) -> "Reservoir":
        return Reservoir(
            self.capacity,
            self.keys[rows],
            self.positions[rows],
            [block[rows] for block in self.blocks],
        )


def keys_of(positions: npt.NDArray[np.int64], seed: int) -> Keys:
    """Random numbers that depend on nothing but the position (the finaliser of SplitMix64; Steele, Lea, Flood 2014)."""
    with np.errstate(over="ignore"):
        keys = (positions.astype(np.uint64) + np.uint64(seed + 1)) * np.uint64(0x9E3779B97F4A7C15)
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: Keys = keys ^ (keys >> np.uint64(31))
    return mixed


@dataclass(frozen=True)
class Summary:
    """Of some samples.

    Attributes
    ----------
    columns : list of Columns
        Of every view, as it was given.
    moments : array (ΣD, ΣD)
        XᵀX of the prepared views side by side; or R with RᵀR = XᵀX, where squaring would lose digits.
    by : {"squares", "triangles"}
        Which of the two.
    sample : Reservoir
    """

    columns: list[Columns]
    moments: Array
    by: Moments
    sample: Reservoir

    @property
    def n_samples(self) -> int:
        return self.columns[0].n_samples

    def __add__(self, other: "Summary") -> "Summary":
        columns = [mine + theirs for mine, theirs in zip(self.columns, other.columns, strict=True)]
        if self.by == "squares":
            moments = self.moments + other.moments
        else:
            moments = triangle(np.vstack([self.moments, other.moments]))
        return Summary(columns, moments, self.by, self.sample + other.sample)

    def is_ill_conditioned(self) -> bool:
        """Whether some directions are so weak that squares may have lost them."""
        squares = eigh(self.moments)[0]
        return self.by == "squares" and bool(squares[0] <= SQUARED * squares[-1])


@dataclass(frozen=True)
class OnePass:
    """Makes the summary of a block.

    Attributes
    ----------
    preparation : Preparation or None
        None for unit lengths, or nothing, as ``normalize`` says; what else is to be done is not known before the sums
        over features are.
    normalize : bool
    by : {"squares", "triangles"}
    capacity : int
        Of the fair sample.
    seed : int
        Of its keys.
    offset : int
        Samples before the first one.
    """

    preparation: Preparation | None
    normalize: bool
    by: Moments
    capacity: int
    seed: int
    offset: int = 0

    def __call__(self, views: Views, first: int) -> Summary:
        columns = [Columns.of(block) for block in views.arrays]
        preparation = self.preparation or Preparation.choose(columns, False, False, self.normalize)
        blocks = preparation.apply(views).arrays
        with np.errstate(
            over="ignore", invalid="ignore"
        ):  # values that are too large are refused by their columns
            moments = gram(blocks) if self.by == "squares" else padded_triangle(blocks)
        return Summary(
            columns,
            moments,
            self.by,
            Reservoir.of(blocks, self.offset + first, self.capacity, self.seed),
        )


def gram(blocks: Sequence[Block]) -> Array:
    """XᵀX of the blocks side by side, without making sparse ones dense."""
    return np.block([[cross(left, right) for right in blocks] for left in blocks])


def cross(left: Block, right: Block) -> Array:
    if is_sparse(right) and not is_sparse(left):
        return cross(right, left).T
    return full(left.T @ right)


def padded_triangle(blocks: Sequence[Block]) -> Array:
    """R of the blocks side by side, square also where there are fewer samples than features."""
    rows = np.hstack([full(block) for block in blocks])
    missing = rows.shape[1] - rows.shape[0]
    return triangle(np.vstack([rows, np.zeros((missing, rows.shape[1]))]) if missing > 0 else rows)


def reduction_of(
    summary: Summary, widths: Sequence[int], n_features_used: tuple[int, ...]
) -> Reduction:
    """The reduction of all samples, with the rows of the basis that belong to the fair sample.

    ``widths`` are the features of every view after its preparation.
    """
    diagonal = (
        (summary.moments**2).sum(axis=0)
        if summary.by == "triangles"
        else summary.moments.diagonal()
    )
    sizes = [
        float(np.sqrt(part.sum())) or 1.0 for part in np.split(diagonal, np.cumsum(widths)[:-1])
    ]
    scale = np.repeat(sizes, widths)
    if summary.by == "triangles":
        _, coordinates = from_triangle(summary.moments / scale, sizes, widths, summary.n_samples)
    else:
        _, coordinates = from_triangle(
            root(summary.moments / scale / scale[:, None]), sizes, widths, 0
        )
    basis, spectra = (
        coordinates(summary.sample.blocks),
        [spectrum(part) for part in coordinates.loadings],
    )
    factors = [view.matrix for view in spectra]
    return Reduction(
        basis, basis, spectra, factors, factors, summary.n_samples, n_features_used, coordinates
    )


def root(moments: Array) -> Array:
    """Some R with RᵀR = M; directions that squaring may have lost are zero."""
    squares, vectors = eigh(moments)
    kept = squares > SQUARED * max(squares[-1], 0.0)
    kept[-1], squares[-1] = True, max(squares[-1], 0.0)  # zero samples have one direction, too
    found: Array = np.sqrt(squares[kept])[:, None] * vectors[:, kept].T
    return found


def add_summaries(first: Summary, second: Summary) -> Summary:
    """Return the summary of the samples of two summaries."""
    return first + second
