"""Copies of fitted models with other graphs or histories, and the points that plots draw."""

from dataclasses import replace

import numpy as np

import viewspan
from viewspan import plot


def with_graph(model, affinity, labels):
    """Return a copy of the model with another affinity and other labels."""
    graph = replace(
        model.fitted_graph_, affinity=affinity, labels=labels, samples=np.arange(len(labels))
    )

    class OtherGraph(viewspan.CLRSC):
        fitted_graph_ = graph

    other = OtherGraph(**model.get_params())
    vars(other).update(vars(model))
    other.labels_, other.n_clusters_ = labels, graph.n_clusters
    return other


def with_history(model, gaps):
    """Return a copy of the model whose solver had these gaps at its checks."""
    checks = [
        model.history_[0]._replace(n_iter=10 * step, gap=gap)
        for step, gap in enumerate(gaps, start=1)
    ]

    class OtherHistory(viewspan.CLRSC):
        history_ = checks

    other = OtherHistory(**model.get_params())
    vars(other).update(vars(model))
    return other


def drawn_points(draw, model):
    """Return the positions of the points that a plot draws, and the rows of their samples."""
    collections = [part for part in draw(model).collections if part.get_gid() == "points"]
    (points,) = collections
    return np.asarray(points.get_offsets()), plot.drawn_rows(model)
