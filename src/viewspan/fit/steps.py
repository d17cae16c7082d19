"""Steps that all fits share: solve along the path of λ, cut the graphs, check the data."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from viewspan._utils.typing import AnyArray, Array
from viewspan._utils.warnings import warn
from viewspan.fit.progress import Stages
from viewspan.fit.readings import Candidate, Readings
from viewspan.fit.settings import FitSettings
from viewspan.fit.state import FittedState
from viewspan.graph.partition import Partition, partition
from viewspan.graph.patterns import Patterns, patterns_of, unit_columns
from viewspan.graph.quality import own_shares
from viewspan.inference.known_samples import KnownSamples
from viewspan.inputs.parameters import check_view_weights
from viewspan.inputs.preparation import Preparation
from viewspan.objective.axes import Axes
from viewspan.objective.couplings import COUPLINGS
from viewspan.objective.reduction import Reduction, weighted
from viewspan.solvers.reduced import solve_reduced
from viewspan.solvers.result import Result
from viewspan.weights.choose import Weights

NO_SAMPLES = KnownSamples.none()
COUPLED_MULTIPLES = (1.0, 2.0)
"""Multiples of λ for the leading readings, if there are second ones."""
SECOND_MULTIPLES = (1.0, 0.5)
"""Multiples of λ for the second readings, which are not coupled."""
GRAPH_TOLERANCE = 0.02
"""Relative gap of solutions that serve the graph alone.

The closed form with a ridge in place of the coupling sometimes reaches it without an iteration.
"""


class PathPart(NamedTuple):
    """Views in one reading, and the problems that are solved with them.

    Attributes
    ----------
    reduction : Reduction
    axes : Axes
    weights : Weights
    multiples : tuple of float
        Multiples of λ at which the problem is solved.
    """

    reduction: Reduction
    axes: Axes
    weights: Weights
    multiples: tuple[float, ...]


def plan_path(
    leading: Reduction, second: Reduction | None, readings: Readings, settings: FitSettings
) -> list[PathPart]:
    """Return what is solved: the leading readings, and the second ones without coupling."""
    axes = settings.axes
    weights = settings.weights.with_floors(floors_of(readings.leading, leading))
    if second is None or readings.second is None:
        multiples = weights.multiples if settings.graph.by_patterns else (1.0,)
        return [PathPart(leading, axes, weights, multiples)]
    uncoupled = replace(axes, coupling=COUPLINGS["none"])
    others = settings.weights.with_floors(floors_of(readings.second, second))
    return [
        PathPart(leading, axes, weights, COUPLED_MULTIPLES),
        PathPart(second, uncoupled, replace(others, tau="auto"), SECOND_MULTIPLES),
    ]


def plain_patterns(
    result: Result, leading: Reduction, second: Reduction | None, readings: Readings
) -> list[Patterns]:
    """Return the prepared samples themselves as patterns, if views show clusters in them.

    This is the limit of a model that keeps every direction in proportion to its size. A view whose
    samples show too little has its patterns in the first solution.
    """
    if not any(readings.plain):
        return []
    found = patterns_of(result, mutual=False)
    columns, spectra = list(found.columns), list(found.spectra)
    for view, candidate in enumerate(readings.leading):
        if readings.plain[view]:
            positions = leading if candidate.reading == "positions" else second
            assert positions is not None  # plain samples are positions, one of the two readings
            matrix, basis = positions.spectra[view].matrix, positions.left
            columns[view] = unit_columns(matrix if basis is None else matrix @ basis.T)
            spectra[view] = positions.spectra[view].values
    return [Patterns(columns, spectra)]


def floors_of(candidates: Sequence[Candidate], reduction: Reduction) -> tuple[float, ...]:
    """Return the smallest λ of every view of a reduction; joined views have a common one."""
    return tuple(candidate.floor for candidate in candidates)[: len(reduction.spectra)]


def solve_path(
    parts: Sequence[PathPart], settings: FitSettings, dtype: np.dtype[Any], stages: Stages
) -> list[Result]:
    """Solve at the given λ, or at several multiples of the automatic one.

    The first solution is reported. The others serve the graph alone and are less exact; those
    without any coefficient are left out.
    """
    stages.begin("solving", sum(len(part.multiples) for part in parts))
    results: list[Result] = []
    for part in parts:
        view_weights = shared_view_weights(settings, len(part.reduction.spectra))
        reduction = weighted(part.reduction, view_weights)
        weights = replace(part.weights, shared_view_weights=view_weights)
        for multiple in part.multiples:
            lam, tau = weights.at(reduction, part.axes, multiple)
            result = solve_reduced(
                reduction,
                lam,
                tau,
                part.axes,
                tol=max(settings.tol, GRAPH_TOLERANCE) if results else settings.tol,
                solver=settings.solver,
                max_iter=settings.max_iter,
                callback=stages.on_check,
                warn_at_max_iter=not results,
            )
            if result.cores.any() or not results:
                results.append(result.astype(dtype))
            stages.step()
    return results


def cluster_solutions(
    results: list[Result],
    reduction: Reduction,
    preparation: Preparation,
    readings: Readings,
    n_clusters: int | None,
    settings: FitSettings,
    generator: np.random.RandomState,
    stages: Stages,
    *,
    others: Sequence[Patterns] = (),
    landmarks: AnyArray | None = None,
    known: KnownSamples = NO_SAMPLES,
    lengths: list[Array] | None = None,
) -> FittedState:
    """Build and cut the graphs of the solutions, and return the record of the fit.

    The last three arguments are fields of the record; its labels are those of the graph's nodes.
    ``others`` are patterns that are no solutions, whose graphs are averaged, too.
    """
    stages.begin("comparing", len(results) + len(others) + 1)
    graph_settings = replace(settings.graph, copies=readings.copies)
    found = partition(
        results,
        n_clusters,
        graph_settings,
        generator,
        landmarks=landmarks,
        others=others,
        step=stages.step,
    )
    stages.step()
    return FittedState(
        preparation=preparation,
        reduction=reduction,
        results=[replace(result, spectra=None) for result in results],
        partition=found,
        graph_settings=graph_settings,
        labels=found.labels,
        confidence=own_shares(found.graph, found.labels),
        view_weights=reported_view_weights(settings, reduction, found),
        concatenated=settings.concatenated,
        landmarks=landmarks,
        known=known,
        lengths=lengths,
        readings=readings.names,
    )


def shared_view_weights(settings: FitSettings, n_views: int) -> Array:
    """Return the weights that multiply views which share one matrix; 1 for all others."""
    return check_view_weights(settings.shared_view_weights, n_views)


def reported_view_weights(
    settings: FitSettings, reduction: Reduction, partition: Partition
) -> Array:
    """Return the view weights: those of the fit if views share one matrix, else of the graph."""
    if settings.axes.coupling.shares_coefficients:
        return shared_view_weights(settings, len(reduction.spectra))
    return partition.view_weights


def check_n_distinct(n_clusters: int | None, n_distinct: int) -> int | None:
    """Return the number of clusters to look for, given the number of distinct samples.

    It is 1 if n_clusters is None and all samples are equal. Warns if there are fewer distinct
    samples than clusters.
    """
    if n_clusters is None:
        return 1 if n_distinct == 1 else None
    if n_distinct < n_clusters:
        warn(
            f"n_clusters={n_clusters} is more than there are distinct samples ({n_distinct}): "
            "equal samples are split arbitrarily.",
            ConvergenceWarning,
        )
    return n_clusters


def warn_about_duplicates(n_samples: int, n_distinct: int, *, few_mislead: bool) -> None:
    """Warn if half of the samples are duplicates, or if any are and ``few_mislead`` is true."""
    n_duplicates = n_samples - n_distinct
    if n_duplicates and (few_mislead or 2 * n_duplicates >= n_samples):
        warn(
            f"{n_duplicates} of {n_samples} samples are duplicates of others in every view, and "
            "may form clusters of their own. Fit one of each, and give the duplicates its label."
        )


def warn_about_one_line(reduction: Reduction, n_clusters: int | None) -> None:
    """Warn if all samples lie in one subspace of one dimension in every view."""
    if n_clusters == 1:
        return
    rounding = np.finfo(float).eps * reduction.n_samples
    if all((view.values[1:] <= rounding * view.values[0]).all() for view in reduction.spectra):
        warn(
            "In every view all samples lie on one line through the origin, which is one subspace: "
            "any split of them is arbitrary. Subspaces need views of at least two features; lines "
            "that miss the origin need affine=True.",
            ConvergenceWarning,
        )
