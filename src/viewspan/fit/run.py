"""Fit checked views: choose between a graph of all samples and one of landmarks."""

from collections.abc import Sequence

from viewspan._utils import memory
from viewspan.fit.dense import fit_dense
from viewspan.fit.landmarks import fit_landmarks
from viewspan.fit.memory import dense_fit_bytes
from viewspan.fit.progress import Stages
from viewspan.fit.settings import MAX_DENSE_SAMPLES, FitSettings
from viewspan.fit.state import FittedState
from viewspan.inputs.views import Views


def fit_views(views: Views, settings: FitSettings, stages: Stages) -> FittedState:
    """Cluster checked views."""
    settings.check_n_clusters(views.n_samples)
    settings.check_landmarks()
    if wants_landmarks(views.n_samples, views.n_features, settings):
        return fit_landmarks(views, settings, stages)
    return fit_dense(views, settings, stages)


def wants_landmarks(n_samples: int, n_features: Sequence[int], settings: FitSettings) -> bool:
    """Return whether the graph is one of landmarks.

    With ``graph="auto"`` it is if there are many samples or a graph of all would not fit in memory,
    and the coefficients can be reduced.
    """
    if settings.graph_kind != "auto" or settings.obstacle_to_landmarks is not None:
        return settings.graph_kind == "landmarks"
    needed = dense_fit_bytes(n_samples, n_features, settings)
    return n_samples > MAX_DENSE_SAMPLES or needed > memory.available()
