"""Fit with a graph of all samples."""

from viewspan.fit.memory import check_memory, dense_fit_bytes, dense_fit_remedy
from viewspan.fit.progress import Stages
from viewspan.fit.settings import FitSettings
from viewspan.fit.state import FittedState
from viewspan.fit.steps import (
    check_n_distinct,
    cluster_solutions,
    solve_path,
    warn_about_duplicates,
    warn_about_one_line,
)
from viewspan.inference.known_samples import KnownSamples
from viewspan.inputs.missing import warn_about_unlinked_views
from viewspan.inputs.preparation import concatenate, prepare
from viewspan.inputs.views import Views


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
    preparation, prepared = prepare(
        read, settings.scale_features, settings.affine, settings.normalize
    )
    joined = concatenate(prepared) if settings.concatenated else prepared
    reduction = settings.axes.reduce(joined.arrays, settings.solver, joined.observed)
    warn_about_one_line(reduction, n_clusters)
    stages.step()

    results = solve_path(reduction, settings, views.dtype, stages)

    return cluster_solutions(
        results,
        reduction,
        preparation,
        n_clusters,
        settings,
        generator,
        stages,
        known=known,
        lengths=preparation.lengths(read) if settings.normalize else None,
    )
