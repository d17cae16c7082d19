"""Fit with a graph of all samples."""

from viewspan.fit.memory import check_memory, dense_fit_bytes, dense_fit_remedy
from viewspan.fit.progress import Stages
from viewspan.fit.readings import choose_preparation, choose_readings
from viewspan.fit.settings import FitSettings
from viewspan.fit.state import FittedState
from viewspan.fit.steps import (
    check_n_distinct,
    cluster_solutions,
    plain_patterns,
    plan_path,
    solve_path,
    warn_about_duplicates,
    warn_about_one_line,
)
from viewspan.inference.known_samples import KnownSamples
from viewspan.inputs.missing import warn_about_unlinked_views
from viewspan.inputs.preparation import Preparation, columns_of, concatenate
from viewspan.inputs.views import Views
from viewspan.objective.reduction import Reduction


def fit_dense(views: Views, settings: FitSettings, stages: Stages) -> FittedState:
    """Cluster all samples in one graph."""
    n_bytes = dense_fit_bytes(views.n_samples, views.n_features, settings)
    check_memory(n_bytes, settings.method, views.n_samples, dense_fit_remedy(settings))
    generator = settings.generator()

    stages.begin("reading")
    read = views.read()
    warn_about_unlinked_views(read.observed, read.names)
    known = KnownSamples.of(read)
    n_clusters = check_n_distinct(settings.n_clusters, known.n_distinct)
    warn_about_duplicates(read.n_samples, known.n_distinct, few_mislead=settings.duplicates_mislead)
    columns = columns_of(read)
    readings = choose_readings(read, columns, settings)
    preparation = choose_preparation(columns, readings.leading, settings)
    preparation.check(read.names)
    reduction = reduce_prepared(read, preparation, settings)
    warn_about_one_line(reduction, n_clusters)
    second = None
    if readings.second is not None:
        other = choose_preparation(columns, readings.second, settings)
        second = reduce_prepared(read, other, settings)
    stages.step()

    parts = plan_path(reduction, second, readings, settings)
    results = solve_path(parts, settings, views.dtype, stages)

    return cluster_solutions(
        results,
        reduction,
        preparation,
        readings,
        n_clusters,
        settings,
        generator,
        stages,
        others=plain_patterns(results[0], reduction, second, readings),
        known=known,
        lengths=preparation.lengths(read) if settings.normalize else None,
    )


def reduce_prepared(read: Views, preparation: Preparation, settings: FitSettings) -> Reduction:
    """Return the reduction of views that have been read, after preprocessing."""
    prepared = preparation.apply(read)
    joined = concatenate(prepared) if settings.concatenated else prepared
    return settings.axes.reduce(joined.arrays, settings.solver, joined.observed)
