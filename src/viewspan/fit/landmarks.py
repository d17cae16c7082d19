"""Fit with a graph of landmarks, which does not grow with the square of the samples."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan._utils.warnings import warn
from viewspan.fit.memory import LANDMARK_REMEDY, check_memory, landmark_fit_bytes
from viewspan.fit.one_pass import OnePass, Summary, add_summaries, reduction_of
from viewspan.fit.progress import Stages
from viewspan.fit.readings import Readings, choose_preparation, choose_readings, sample_of
from viewspan.fit.settings import FitSettings
from viewspan.fit.state import FittedState
from viewspan.fit.steps import (
    check_n_distinct,
    cluster_solutions,
    plan_path,
    solve_path,
    warn_about_one_line,
)
from viewspan.graph.landmarks import choose_landmarks
from viewspan.graph.patterns import patterns_of
from viewspan.inference.assignment import UNKNOWN
from viewspan.inputs.blocks import BlockSource, source_of
from viewspan.inputs.fingerprints import count_distinct
from viewspan.inputs.preparation import Preparation, columns_of, concatenate
from viewspan.inputs.views import Views
from viewspan.objective.reduction import Reduction, select_basis_rows

LARGEST_SEED = 2**31


def fit_landmarks(views: Views, settings: FitSettings, stages: Stages) -> FittedState:
    """Cluster landmarks in one graph and give every sample the label of its nearest landmarks."""
    n_bytes = landmark_fit_bytes(views.n_samples, views.n_features, settings)
    check_memory(n_bytes, settings.method, views.n_samples, LANDMARK_REMEDY)
    settings.check_enough_landmarks()
    generator = settings.generator()
    wide = sum(views.n_features) >= views.n_samples
    reduce = reduce_in_memory if wide else reduce_in_one_pass
    preparation, readings, reduction, sample = reduce(views, settings, generator, stages)
    state = cut_reduction(
        preparation, readings, reduction, sample, settings, generator, views.dtype, stages
    )
    return label_all(state, source_of(views), stages)


def reduce_in_memory(
    views: Views, settings: FitSettings, generator: np.random.RandomState, stages: Stages
) -> tuple[Preparation, Readings, Reduction, list[Any]]:
    """Return preparation, readings, reduction and a random sample of views with many features."""
    stages.begin("reading")
    read = views.read()
    columns = columns_of(read)
    readings = choose_readings(read, columns, settings).without_second()
    preparation = choose_preparation(columns, readings.leading, settings)
    preparation.check(read.names)
    prepared = preparation.apply(read)
    joined = concatenate(prepared) if settings.concatenated else prepared
    rows = np.sort(generator.permutation(views.n_samples)[: settings.reservoir_capacity])
    full = settings.axes.reduce(joined.arrays, settings.solver, joined.observed)
    reduction = select_basis_rows(full, rows)
    stages.step()
    return preparation, readings, reduction, [array[rows] for array in joined.arrays]


def reduce_in_one_pass(
    views: Views, settings: FitSettings, generator: np.random.RandomState, stages: Stages
) -> tuple[Preparation, Readings, Reduction, list[Any]]:
    """Return the same with a reservoir sample, from passes over blocks of samples."""
    preparation, readings, summary = summarize(views, settings, generator, stages)
    return preparation, readings, *reduce_summary(preparation, summary, settings)


def summarize(
    views: Views, settings: FitSettings, generator: np.random.RandomState, stages: Stages
) -> tuple[Preparation, Readings, Summary]:
    """Summarise all samples in one to three passes.

    Positions, scaled or constant features need a second pass, because the first one provides their
    statistics. If λ is given and the Gram matrix is ill-conditioned, a last pass computes a
    triangular factor instead, because a small λ depends on small singular values.
    """
    source = source_of(views)
    seed = int(generator.randint(LARGEST_SEED))
    first = OnePass(None, settings.normalize, "gram", settings.reservoir_capacity, seed)
    summary = run_pass(source, first, stages)
    readings = choose_readings(sample_of(views), summary.columns, settings).without_second()
    preparation = choose_preparation(summary.columns, readings.leading, settings)
    preparation.check(views.names)
    if preparation.changes_features:
        summary = run_pass(source, replace(first, preparation=preparation), stages)
    if not settings.weights.lam_is_automatic and summary.is_ill_conditioned():
        exact = replace(first, preparation=preparation, moment_form="triangle")
        summary = run_pass(source, exact, stages)
    return preparation, readings, summary


def run_pass(source: BlockSource, one_pass: OnePass, stages: Stages) -> Summary:
    """Go over all samples once."""
    stages.begin("reading", source.views.n_samples)
    width = sum(source.views.n_features)
    summary: Summary = source.fold(one_pass, add_summaries, width, stages.step)
    return summary


def reduce_summary(
    preparation: Preparation, summary: Summary, settings: FitSettings
) -> tuple[Reduction, list[Any]]:
    """Return the reduction of all samples, and their reservoir sample."""
    summary = replace(summary, sample=summary.sample.in_order())
    widths = [treatment.n_features for treatment in preparation.treatments]
    used = preparation.with_columns(summary.columns).n_features_used
    if settings.concatenated:
        widths, used = [sum(widths)], (sum(used),)
    return reduction_of(summary, widths, used), summary.sample.blocks


def cut_reduction(
    preparation: Preparation,
    readings: Readings,
    reduction: Reduction,
    sample: Sequence[Any],
    settings: FitSettings,
    generator: np.random.RandomState,
    dtype: np.dtype[Any],
    stages: Stages,
    *,
    dense: bool = False,
) -> FittedState:
    """Solve the reduced problem and cut the graph of landmarks, or of the whole sample if dense.

    The bases of the reduction have one row for every sample of ``sample``.
    """
    n_rows = sample[0].shape[0]
    limit = 2 if settings.n_clusters is None else settings.n_clusters
    n_distinct = count_distinct(Views(list(sample), [], False, np.dtype(float)), limit)
    n_clusters = check_n_distinct(settings.n_clusters, n_distinct)
    warn_about_one_line(reduction, n_clusters)

    parts = plan_path(reduction, None, readings, settings)
    results = solve_path(parts, settings, dtype, stages)

    landmarks: AnyArray | None = None
    if not dense:
        patterns = patterns_of(results[0], mutual=settings.graph.mutual)
        landmarks = choose_landmarks(patterns, min(settings.n_landmarks, n_rows), generator)
    return cluster_solutions(
        results,
        reduction,
        preparation,
        readings,
        n_clusters,
        settings,
        generator,
        stages,
        landmarks=landmarks,
    )


def label_all(state: FittedState, source: BlockSource, stages: Stages) -> FittedState:
    """Give every sample the label of its nearest landmarks."""
    stages.begin("labelling", source.views.n_samples)
    found = source.concatenate(state.assigner.assigned_to, state.assigner.width, stages.step)
    n_unknown = int((found["label"] == UNKNOWN).sum())
    if n_unknown:
        warn(f"{n_unknown} of {len(found)} samples are connected to no other and get label 0.")
    labels = np.maximum(found["label"], 0)
    n_found, n_wanted = len(np.unique(labels)), state.graph.n_clusters
    if n_found < n_wanted:
        warn(
            f"Only {n_found} of {n_wanted} clusters got a sample: every sample is labelled by its "
            "nearest landmarks, and these are too few. Take more n_landmarks, fewer n_neighbors, "
            "or graph='dense'."
        )
    return replace(state, labels=labels, confidence=found["confidence"].copy())
