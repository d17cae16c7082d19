"""Preprocessing that makes samples comparable: common units, an origin and unit length.

A view can be read in two ways. Read as directions, its features keep their units and only the
direction of a sample from the origin counts. Read as positions, its features are standardised, and
a constant feature makes the place of a sample count.

The statistics of the features determine the preprocessing, which then treats every sample on its
own. Therefore the result does not depend on whether samples are read at once or in blocks.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np

from viewspan._utils.linalg import ratio
from viewspan._utils.sparse import stack_features
from viewspan._utils.typing import Array, Block
from viewspan._utils.warnings import warn
from viewspan.inputs.column_statistics import ColumnStatistics, as_vector
from viewspan.inputs.missing import zero_missing_rows
from viewspan.inputs.scaling import (
    add_constant_feature,
    equalize_features,
    relative_lengths,
    standardize_features,
    unit_samples,
)
from viewspan.inputs.views import Views

Reading = Literal["directions", "positions"]
READINGS: tuple[Reading, ...] = get_args(Reading)
"""Ways to read a view."""

MAX_UNSCALED_VALUE = 1e60
"""Limit of the largest value of a view that is not normalised; its reciprocal is the other."""
MAX_SIMILAR_RATIO = 3.0
"""Scales that differ by a larger factor are not similar."""


@dataclass(frozen=True)
class Treatment:
    """Preprocessing of one view.

    Attributes
    ----------
    columns : ColumnStatistics
    scaled : bool
        Whether features are scaled to a common mean square.
    affine : bool
        Whether a constant feature is added.
    normalize : bool
        Whether samples are scaled to unit length.
    centered : bool
        Whether features are shifted to mean zero before they are scaled.
    ignores_zeros : bool
        Whether samples of zeros stay zero although a constant feature is added.
    """

    columns: ColumnStatistics
    scaled: bool
    affine: bool
    normalize: bool
    centered: bool = False
    ignores_zeros: bool = False

    def __call__(self, block: Block) -> Block:
        """Return the preprocessed samples."""
        given = block
        if self.centered:
            block = standardize_features(block, self.columns)
        elif self.scaled:
            block = equalize_features(block, self.columns)
        if self.affine:
            block = add_constant_feature(block, self.constant)
        if self.ignores_zeros:
            block = keep_zero_samples(given, block)
        return unit_samples(block) if self.normalize else block

    def lengths(self, block: Block) -> Array:
        """Return the lengths of samples before they are normalised, divided by the longest."""
        return relative_lengths(replace(self, normalize=False)(block))

    @property
    def constant(self) -> float:
        """Value of the constant feature: the root mean square length of a sample.

        With it, an affine subspace becomes a linear one with one more dimension.
        """
        if self.scaled:
            return float(np.sqrt((self.scale > 0).sum()))
        return self.columns.rms_sample_length

    @property
    def center(self) -> Array:
        """Values that are subtracted from the features."""
        columns = self.columns
        return columns.relative_mean * columns.largest if self.centered else 0.0 * columns.largest

    @property
    def scale(self) -> Array:
        """Divisors of the features; 0 for features that are ignored."""
        if self.centered:
            return self.columns.relative_std * self.columns.largest
        return self.columns.rms if self.scaled else np.ones(len(self.columns.largest))

    @property
    def n_features(self) -> int:
        """Number of features after preprocessing."""
        return len(self.columns.largest) + self.affine

    @property
    def n_features_used(self) -> int:
        """Number of features after preprocessing that are not zero for every sample."""
        used = self.scale if self.scaled else self.columns.largest
        return int((used > 0).sum()) + (self.affine and self.constant > 0)


@dataclass(frozen=True)
class Preparation:
    """Preprocessing of all views."""

    treatments: list[Treatment]

    @classmethod
    def choose(
        cls,
        columns: Sequence[ColumnStatistics],
        scale_features: bool | Literal["auto"],
        affine: bool | Literal["auto"],
        normalize: bool,
        readings: Sequence[Reading] | None = None,
    ) -> "Preparation":
        """Choose the preprocessing from parameters of the estimator and statistics of the views.

        Views are read as directions unless ``readings`` says otherwise. For these, "auto" scales
        views with a dominant feature, and adds a constant to views that are centred. Without
        ``normalize`` it does neither, because the user wants to keep units and origin. Positions of
        sparse views are not centred, because that would hardly move them and make them dense.
        Samples of zeros are ignored in both readings, because they usually stand for missing ones.
        """

        def choose_treatment(view: ColumnStatistics, reading: Reading) -> Treatment:
            if reading == "positions":
                centered = not view.is_sparse()
                return Treatment(view, True, True, normalize, centered, ignores_zeros=True)
            scaled, constant = scale_features, affine
            if scaled == "auto":
                scaled = normalize and view.has_dominant_feature()
            if constant == "auto":
                constant = normalize and view.is_centered()
            return Treatment(view, bool(scaled), bool(constant), normalize)

        directions: list[Reading] = ["directions"] * len(columns)
        pairs = zip(columns, readings or directions, strict=True)
        return cls([choose_treatment(*pair) for pair in pairs])

    @property
    def scaled(self) -> list[bool]:
        """Whether the features of every view are scaled."""
        return [treatment.scaled for treatment in self.treatments]

    @property
    def affine(self) -> list[bool]:
        """Whether every view has a constant feature."""
        return [treatment.affine for treatment in self.treatments]

    @property
    def changes_features(self) -> bool:
        """Whether any view is scaled or has a constant feature."""
        return any(self.scaled) or any(self.affine)

    @property
    def n_features_used(self) -> tuple[int, ...]:
        """Number of features of every view that are not zero for every sample."""
        return tuple(treatment.n_features_used for treatment in self.treatments)

    def with_columns(self, columns: Sequence[ColumnStatistics]) -> "Preparation":
        """Return the same choices with other column statistics."""
        pairs = zip(self.treatments, columns, strict=True)
        return Preparation([replace(treatment, columns=view) for treatment, view in pairs])

    def resembles(self, other: "Preparation") -> bool:
        """Return whether the other preprocessing makes the same choices with similar scales."""
        if (self.scaled, self.affine) != (other.scaled, other.affine):
            return False
        pairs = list(zip(self.treatments, other.treatments, strict=True))
        scales = [(mine.scale, theirs.scale) for mine, theirs in pairs if mine.scaled]
        scales += [
            (np.array([mine.constant]), np.array([theirs.constant]))
            for mine, theirs in pairs
            if mine.affine
        ]
        return all(are_similar(*pair) for pair in scales)

    def apply(self, views: Views) -> Views:
        """Return preprocessed views from views that have been read."""
        pairs = zip(self.treatments, views.arrays, strict=True)
        arrays = [treatment(array) for treatment, array in pairs]
        if views.observed is not None:
            # a constant feature must be zero for missing samples, too
            observed = zip(arrays, views.observed, strict=True)
            arrays = [zero_missing_rows(array, present) for array, present in observed]
        return replace(views, arrays=arrays)

    def lengths(self, views: Views) -> list[Array]:
        """Return sample lengths before normalisation, divided by the longest of the view."""
        pairs = zip(self.treatments, views.arrays, strict=True)
        return [treatment.lengths(array) for treatment, array in pairs]

    def check(self, names: Sequence[str]) -> None:
        """Warn about zeros and tiny features; raise ValueError for values that are too extreme."""
        for name, treatment in zip(names, self.treatments, strict=True):
            columns = treatment.columns
            if not treatment.normalize:
                check_magnitude(name, columns.largest_overall)
            elif treatment.ignores_zeros or not (treatment.affine and treatment.constant > 0):
                warn_about_zeros(name, columns)
            if treatment.scaled:
                warn_about_tiny_features(name, columns)
        all_zero = not any(view.columns.largest_overall > 0 for view in self.treatments)
        if self.treatments[0].normalize and all_zero:
            raise ValueError("Every value of every view is zero: there is nothing to cluster.")


def prepare(
    views: Views,
    scale_features: bool | Literal["auto"],
    affine: bool | Literal["auto"],
    normalize: bool,
) -> tuple[Preparation, Views]:
    """Choose the preprocessing of views that have been read, and apply it.

    Returns
    -------
    preparation : Preparation
    prepared : Views
    """
    preparation = Preparation.choose(columns_of(views), scale_features, affine, normalize)
    preparation.check(views.names)
    return preparation, preparation.apply(views)


def keep_zero_samples(given: Block, prepared: Block) -> Block:
    """Return prepared samples in which those that were given as zeros are zeros."""
    nonzero = as_vector(abs(given).max(axis=1)) > 0
    return prepared if nonzero.all() else zero_missing_rows(prepared, nonzero)


def columns_of(views: Views) -> list[ColumnStatistics]:
    """Return the column statistics of views that have been read, without missing samples."""
    return [ColumnStatistics.of(array) for array in views.present_rows()]


def concatenate(views: Views) -> Views:
    """Join all views to one view, with their features side by side."""
    return replace(views, arrays=[stack_features(views.arrays)], names=["+".join(views.names)])


def are_similar(first: Array, second: Array) -> bool:
    """Return whether all positive numbers differ by a factor below MAX_SIMILAR_RATIO."""
    ratios = ratio(first, second)[first > 0]
    return bool(((ratios < MAX_SIMILAR_RATIO) & (ratios > 1 / MAX_SIMILAR_RATIO)).all())


def warn_about_zeros(name: str, columns: ColumnStatistics) -> None:
    """Warn if a view is zero, or zero for some samples."""
    if columns.n_zero == columns.n_samples > 0:
        warn(f"{name} is all zeros and is ignored.")
    elif columns.n_zero:
        warn(
            f"{name} is zero for {columns.n_zero} of {columns.n_samples} samples and is ignored "
            "for them."
        )


def warn_about_tiny_features(name: str, columns: ColumnStatistics) -> None:
    """Warn about features that scaling ignores because they look like rounding errors."""
    n_tiny = int(((columns.largest > 0) & (columns.largest_significant == 0)).sum())
    if n_tiny:
        warn(
            f"{name}: {n_tiny} of {len(columns.largest)} features are as small as rounding errors "
            "of its largest values and are ignored. If they are data, convert the features to a "
            "common unit, or move them to a view of their own."
        )


def check_magnitude(name: str, largest: float) -> None:
    """Raise ValueError if squares of values of this size may overflow or underflow."""
    if not MAX_UNSCALED_VALUE**-1 < largest < MAX_UNSCALED_VALUE and largest > 0:
        raise ValueError(
            f"{name} has values around {largest:.0e}, which is too extreme for a view that is not "
            "normalised; rescale it or, in an estimator, set normalize=True."
        )
