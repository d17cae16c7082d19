"""Fit samples that arrive in batches."""

from dataclasses import dataclass, replace

import numpy as np

from viewspan._utils.warnings import warn
from viewspan.fit.landmarks import LARGEST_SEED, cut_reduction, reduce_summary
from viewspan.fit.memory import (
    LANDMARK_REMEDY,
    check_memory,
    dense_fit_bytes,
    dense_fit_remedy,
    landmark_fit_bytes,
)
from viewspan.fit.one_pass import MomentForm, OnePass, Summary, add_summaries
from viewspan.fit.progress import Stages
from viewspan.fit.readings import (
    Readings,
    choose_floors,
    choose_preparation,
    choose_readings,
    sample_of,
)
from viewspan.fit.run import wants_landmarks
from viewspan.fit.settings import FitSettings
from viewspan.fit.state import FittedState
from viewspan.inputs.blocks import no_progress, source_of
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import Preparation, columns_of
from viewspan.inputs.views import MIN_SAMPLES, Views


@dataclass(frozen=True)
class Batches:
    """Summary of the batches so far.

    Attributes
    ----------
    preparation : Preparation
        Chosen from the first batch, because earlier samples cannot be read again.
    readings : Readings
        Chosen from the first batch, too; the smallest λ is chosen from the reservoir sample.
    one_pass : OnePass
        Makes the summary of a batch.
    summary : Summary
        Column statistics, moments and reservoir sample of all batches.
    last : Views
        A copy of the last batch, whose labels are reported.
    """

    preparation: Preparation
    readings: Readings
    one_pass: OnePass
    summary: Summary
    last: Views

    @classmethod
    def start(cls, views: Views, settings: FitSettings) -> "Batches":
        """Take in the first batch."""
        n_samples = max(settings.reservoir_capacity, sum(views.n_features))
        n_bytes = landmark_fit_bytes(n_samples, views.n_features, settings)
        check_memory(n_bytes, settings.method, n_samples, LANDMARK_REMEDY)
        width = sum(views.n_features)
        columns = source_of(views).fold(columns_of_block, add_columns, width, no_progress)
        columns = [view.impute_zero_features() for view in columns]
        readings = choose_readings(sample_of(views), columns, settings).without_second()
        preparation = choose_preparation(columns, readings.leading, settings)
        moment_form: MomentForm = "gram" if settings.weights.lam_is_automatic else "triangle"
        seed = int(settings.generator().randint(LARGEST_SEED))
        one_pass = OnePass(
            preparation, settings.normalize, moment_form, settings.reservoir_capacity, seed
        )
        return cls(preparation, readings, one_pass, summary_of(views, one_pass), views.copy())

    def add(self, views: Views) -> "Batches":
        """Take in one more batch."""
        one_pass = replace(self.one_pass, offset=self.summary.n_samples)
        summary = self.summary + summary_of(views, one_pass)
        return replace(self, one_pass=one_pass, summary=summary, last=views.copy())

    @property
    def n_samples(self) -> int:
        """Number of samples in all batches."""
        return self.summary.n_samples

    def solve(self, settings: FitSettings, stages: Stages) -> FittedState:
        """Cluster all samples so far. The labels are those of the graph's nodes."""
        self._check(settings)
        n_features = self.last.n_features
        few = self.n_samples <= settings.reservoir_capacity
        dense = few and not wants_landmarks(self.n_samples, n_features, settings)
        if dense:
            n_bytes = dense_fit_bytes(self.n_samples, n_features, settings)
            check_memory(n_bytes, settings.method, self.n_samples, dense_fit_remedy(settings))
        else:
            settings.check_enough_landmarks()
        generator = settings.generator()
        generator.randint(LARGEST_SEED)  # the reservoir's seed, as in a fit of all samples at once
        reduction, sample = reduce_summary(self.preparation, self.summary, settings)
        readings = choose_floors(self.readings, sample, settings)
        dtype = np.dtype(np.float64)
        return cut_reduction(
            self.preparation,
            readings,
            reduction,
            sample,
            settings,
            generator,
            dtype,
            stages,
            dense=dense,
        )

    def _check(self, settings: FitSettings) -> None:
        if self.n_samples < MIN_SAMPLES:
            raise ValueError(
                f"{settings.method} needs at least {MIN_SAMPLES} samples, and one has arrived."
            )
        settings.check_n_clusters(self.n_samples)
        if settings.graph_kind == "dense" and self.n_samples > settings.reservoir_capacity:
            raise ValueError(
                f"graph='dense' needs all samples, and of {self.n_samples} in batches "
                f"{settings.reservoir_capacity} were kept; take graph='landmarks' or 'auto'."
            )
        overall = choose_preparation(self.summary.columns, self.readings.leading, settings)
        overall.check(self.last.names)
        if not overall.resembles(self.preparation):
            warn(
                "The first batch is not representative: it determined the preprocessing, and all "
                "batches together would give another. Pass a first batch with samples of all "
                "kinds, or scale the features beforehand."
            )


def columns_of_block(views: Views, _: int) -> list[ColumnStatistics]:
    """Return the column statistics of a block."""
    return columns_of(views)


def add_columns(
    first: list[ColumnStatistics], second: list[ColumnStatistics]
) -> list[ColumnStatistics]:
    """Merge the column statistics of two blocks."""
    return [mine + theirs for mine, theirs in zip(first, second, strict=True)]


def summary_of(views: Views, one_pass: OnePass) -> Summary:
    """Return the summary of a batch."""
    found: Summary = source_of(views).fold(
        one_pass, add_summaries, sum(views.n_features), no_progress
    )
    return found
