"""Statistics of the features of a view, from which its preprocessing follows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import count_nonzero, divide_columns, full, is_sparse
from viewspan._utils.typing import Array, Block

MIN_RELATIVE_FEATURE = 4 * np.finfo(float).eps
"""Features below this share of the largest value are taken for rounding errors."""
MIN_RELATIVE_DEVIATION = 16 * np.finfo(float).eps
"""Standard deviations below this share of a feature's largest value are taken for rounding."""
MAX_SPARSE_SHARE = 0.1
"""Largest share of nonzero values of a sparse view."""
DOMINANT_SHARE = 0.5
"""Share of the energy that makes a feature dominant, in the limit of many features."""
MAX_CENTRED_MEAN = 0.01
"""Largest mean of a centred feature, in units of its root mean square divided by √N.

The mean of independent values is of the order of 1/√N of their size by chance. A mean that is a
hundred times smaller shows that the feature was centred.
"""


@dataclass(frozen=True)
class ColumnStatistics:
    """Statistics of the features of one view.

    Statistics of two sets of samples add up to those of both. Sums are relative to the largest
    value of the feature, so that they neither overflow nor underflow.

    Attributes
    ----------
    n_samples : int
    n_zero : int
        Number of samples whose features are all zero.
    largest : array (n_features,)
        Largest absolute value of every feature.
    sums : array (n_features,)
        Sum of the values, divided by the largest.
    squares : array (n_features,)
        Sum of the squared values, divided by the square of the largest.
    deviations : array (n_features,)
        Sum of the squared deviations from the mean, divided by the square of the largest. The
        difference of the two sums above would lose it where the mean is large.
    n_nonzero : int
        Number of values that are not zero.
    """

    n_samples: int
    n_zero: int
    largest: Array
    sums: Array
    squares: Array
    deviations: Array
    n_nonzero: int

    @classmethod
    def of(cls, block: Block) -> "ColumnStatistics":
        """Return the statistics of samples in rows."""
        if block.shape[0] == 0:  # a view whose samples are all missing
            nothing = np.zeros(block.shape[1])
            return cls(0, 0, nothing, nothing, nothing, nothing, 0)
        largest = as_vector(abs(block).max(axis=0))
        relative = divide_columns(block, largest) if is_sparse(block) else ratio(block, largest)
        nonzero = as_vector(abs(block).max(axis=1)) > 0
        return cls(
            n_samples=block.shape[0],
            n_zero=int((~nonzero).sum()),
            largest=largest,
            sums=as_vector(relative.sum(axis=0)),
            squares=as_vector((relative**2).sum(axis=0)),
            deviations=squared_deviations(relative),
            n_nonzero=count_nonzero(block),
        )

    def __add__(self, other: "ColumnStatistics") -> "ColumnStatistics":
        """Return the statistics of the samples of both (Chan, Golub and LeVeque 1983)."""
        largest = np.maximum(self.largest, other.largest)
        mine, theirs = ratio(self.largest, largest), ratio(other.largest, largest)
        n_samples = self.n_samples + other.n_samples
        apart = theirs * other.relative_mean - mine * self.relative_mean
        between = self.n_samples * other.n_samples / max(n_samples, 1) * apart**2
        return ColumnStatistics(
            n_samples,
            self.n_zero + other.n_zero,
            largest,
            mine * self.sums + theirs * other.sums,
            mine**2 * self.squares + theirs**2 * other.squares,
            mine**2 * self.deviations + theirs**2 * other.deviations + between,
            self.n_nonzero + other.n_nonzero,
        )

    def impute_zero_features(self) -> "ColumnStatistics":
        """Return statistics in which features that are zero have the median scale of the others."""
        seen = self.largest_significant > 0
        if seen.all() or not seen.any():
            return self
        largest, squares, deviations = (
            np.where(seen, values, np.median(values[seen]))
            for values in (self.largest, self.squares, self.deviations)
        )
        return replace(self, largest=largest, squares=squares, deviations=deviations)

    @property
    def largest_overall(self) -> float:
        """Largest absolute value of all features."""
        return float(self.largest.max(initial=0.0))

    @property
    def largest_significant(self) -> Array:
        """Largest absolute values; 0 for features that are rounding errors beside the largest."""
        significant = self.largest > MIN_RELATIVE_FEATURE * self.largest_overall
        return np.where(significant, self.largest, 0.0)

    @property
    def energy(self) -> Array:
        """Sum of squares of every feature, relative to the square of the largest value of all."""
        overall = np.full_like(self.largest, self.largest_overall)
        return self.squares * ratio(self.largest, overall) ** 2

    @property
    def relative_rms(self) -> Array:
        """Root mean square of every feature, relative to its largest value.

        It is 0 for features that are rounding errors beside the largest.
        """
        rms = np.sqrt(self.squares / max(self.n_samples, 1))
        return np.where(self.largest_significant > 0, rms, 0.0)

    @property
    def rms(self) -> Array:
        """Root mean square of every feature; 0 for rounding errors beside the largest."""
        return self.relative_rms * self.largest

    @property
    def relative_mean(self) -> Array:
        """Mean of every feature, divided by its largest value."""
        return self.sums / max(self.n_samples, 1)

    @property
    def relative_std(self) -> Array:
        """Standard deviation of every feature, divided by its largest value.

        It is 0 for features that are constant up to rounding, or rounding errors beside the
        largest.
        """
        std = np.sqrt(self.deviations / max(self.n_samples, 1))
        varies = (std > MIN_RELATIVE_DEVIATION) & (self.largest_significant > 0)
        return np.where(varies, std, 0.0)

    def is_sparse(self) -> bool:
        """Return whether at most a tenth of the values differ from zero."""
        return self.n_nonzero <= MAX_SPARSE_SHARE * self.n_samples * len(self.largest)

    @property
    def rms_sample_length(self) -> float:
        """Root mean square of the lengths of the samples."""
        mean_energy = self.energy.sum() / max(self.n_samples, 1)
        return self.largest_overall * float(np.sqrt(mean_energy))

    def has_dominant_feature(self) -> bool:
        """Return whether one feature has most of the energy of the view.

        The threshold is half of the energy, and higher by the share 1/n_features, so that the even
        share of one of few features does not count.

        A dominant feature is in another unit than the others, such as an age in years beside scores
        from 0 to 3. Samples of unit length would hardly differ in anything else, so the features of
        the view are scaled. They are not centred, because clusters on both sides of the mean would
        look like one line through it.
        """
        energy, n_features = self.energy, len(self.largest)
        threshold = DOMINANT_SHARE * (1 + 1 / n_features)
        return n_features > 1 and bool(energy.max() > threshold * energy.sum())

    def is_centered(self) -> bool:
        """Return whether all features have means that are much smaller than chance would leave.

        Centring moves the origin to the mean, and there is no reason for subspaces of the data to
        contain the mean.
        """
        if self.largest_overall == 0:
            return False
        means = ratio(np.abs(self.sums) / self.n_samples, self.relative_rms)
        return bool((means <= MAX_CENTRED_MEAN / np.sqrt(self.n_samples)).all())


def squared_deviations(values: Block) -> Array:
    """Return the sum of the squared deviations of every feature from its mean."""
    n_samples = values.shape[0]
    mean = as_vector(values.sum(axis=0)) / n_samples
    if is_sparse(values):
        found: Array = np.maximum(as_vector((values**2).sum(axis=0)) - n_samples * mean**2, 0.0)
        return found
    return as_vector(np.square(values - mean).sum(axis=0))


def as_vector(values: Any) -> Array:
    """Return the sums or maxima of a dense or sparse array as a one-dimensional array."""
    return full(values).ravel()
