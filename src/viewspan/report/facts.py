"""Sentences and tables about a fitted model."""

from typing import NamedTuple

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan.estimators.base import SubspaceClusterer
from viewspan.inputs.fitted_inputs import per_view, view_names
from viewspan.plot.clusters import UNCERTAIN_BELOW
from viewspan.plot.solver import has_closed_form

MAX_LISTED_SAMPLES = 12
"""Largest number of uncertain samples in the table."""
SMALLEST_PERCENT = 1e-8
"""Smallest positive percentage that is shown; smaller ones are rounded up to it."""
METHODS = {
    "CLRSC": "Collaborative low-rank subspace clustering",
    "LRR": "Low-rank representation",
    "SSC": "Sparse subspace clustering",
    "MLAP": "Multi-task low-rank affinity pursuit",
}
"""Full names of the methods by class name."""
AXES = ("datafit", "penalty", "coupling")
"""Parameters that may be objects. Objects of user-defined classes are not saved with a model."""


class ViewFacts(NamedTuple):
    """One row of the table of views."""

    name: str
    features: int
    lam: str
    weight: str
    score: str
    preprocessing: str


class UncertainSample(NamedTuple):
    """One row of the table of uncertain samples."""

    id: str
    label: int
    confidence: float


def certificate_sentence(model: SubspaceClusterer) -> str:
    """Return the certified gap of the solution in words."""
    n_iter = f"{model.n_iter_} iteration{'s' * (model.n_iter_ != 1)}"
    gap = percent(model.dual_gap_)
    if model.result_.status == "stationary":
        return (
            f"The optimisation problem is not convex. The solver stopped at a stationary point "
            f"after {n_iter}, and the objective is within {gap} of the optimum without coupling."
        )
    steps = "closed form" if has_closed_form(model) else n_iter
    sentence = f"The objective is proven to be within {gap} of its optimum ({steps})."
    if model.dual_gap_ > model.tol:
        sentence += f" This is more than the requested tolerance of {percent(model.tol)}."
    return sentence


def percent(share: float) -> str:
    """Return a share as a percentage with two significant digits.

    Very small positive shares are rounded up to ``SMALLEST_PERCENT``.
    """
    value = 100.0 * max(float(share), 0.0)
    if 0.0 < value < SMALLEST_PERCENT:
        return f"{SMALLEST_PERCENT:.8f} %"
    digits = 0 if value == 0 else int(np.clip(1 - np.floor(np.log10(value)), 0, 10))
    return f"{value:.{digits}f} %"


def method_sentences(model: SubspaceClusterer) -> str:
    """Return the method, its data fit and the number of clusters in words."""
    class_name = type(model).__name__
    method = f"{METHODS.get(class_name, class_name)} ({class_name})"
    not_saved = [axis for axis in AXES if getattr(model, axis, "") is None]
    if not_saved:
        method += f" with a {not_saved[0]} of a class that was not saved"
    else:
        datafit = model.axes().datafit
        method += f" with a data fit for {datafit.purpose or repr(datafit)}"
    if model.result_.scales is not None:
        method += ", and with one coefficient matrix for all views, up to a factor"
    origin = "estimated from the data" if model.n_clusters is None else "given"
    sentences = [f"{method}.", f"The number of clusters, {model.n_clusters_}, was {origin}."]
    if getattr(model, "missing", "forbid") == "allow":
        sentences.append("Samples may be missing from some views.")
    graph = model.fitted_graph_
    if graph.landmarks:
        sentences.append(f"The graph plots show {len(graph.labels)} landmarks, not all samples.")
    return " ".join(sentences)


def edges_sentence(model: SubspaceClusterer) -> str:
    """Return the meaning of the edges of the graph in words."""
    graph = model.fitted_graph_
    if graph.edges == "patterns":
        nodes = "landmarks" if graph.landmarks else "neighbours"
        return (
            f"The graph connects every sample with its nearest {nodes}, which are those with the "
            "most similar coefficients."
        )
    return (
        "The edge weight between two samples is the size of the coefficients with which they "
        "represent each other."
    )


def facts_of_views(model: SubspaceClusterer) -> list[ViewFacts]:
    """Return the rows of the table of views."""
    names, n_features = view_names(model), per_view(model.n_features_in_)
    weights, scores = np.asarray(model.view_weights_), np.asarray(model.view_scores_)
    # views that were solved as one have a single λ and no weights
    lam = np.asarray(model.lam_, dtype=float)
    has_weights = len(weights) == len(names)
    return [
        ViewFacts(
            name=name,
            features=int(count),
            lam=f"{float(np.mean(lam[min(position, len(lam) - 1)])):.3g}",
            weight=f"{weights[position]:.2f}" if has_weights else "",
            # adding 0.0 turns -0.0 into 0.0
            score=f"{round(float(scores[position]), 2) + 0.0:.2f}",
            preprocessing=preprocessing_of(model, position),
        )
        for position, (name, count) in enumerate(zip(names, n_features, strict=True))
    ]


def preprocessing_of(model: SubspaceClusterer, position: int) -> str:
    leading, *second = model.readings_[position]
    steps: list[str] = [leading]
    if leading == "directions" and model.features_scaled_[position]:
        steps.append("features scaled")
    if leading == "directions" and model.affine_[position]:
        steps.append("affine")
    return ", ".join(steps) + "".join(f"; also as {reading}" for reading in second)


def least_confident(model: SubspaceClusterer, ids: AnyArray) -> list[UncertainSample]:
    """Return the uncertain samples with the lowest confidence, lowest first."""
    confidence = np.asarray(model.confidence_)
    rows = np.argsort(confidence, kind="stable")[:MAX_LISTED_SAMPLES]
    return [
        UncertainSample(str(ids[row]), int(model.labels_[row]), float(confidence[row]))
        for row in rows
        if confidence[row] < UNCERTAIN_BELOW
    ]
