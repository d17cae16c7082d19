"""What is said of a model in words and numbers."""

from typing import NamedTuple

import numpy as np

from viewspan._utils.typing import AnyArray
from viewspan.estimators.base import SubspaceClusterer
from viewspan.plot.references import names_of_views

UNSURE = 0.5
"""Below this, a sample has most of its ties elsewhere."""
MOST_UNSURE = 12
METHODS = {
    "CLRSC": "Collaborative low-rank subspace clustering",
    "LRR": "Low-rank representation",
    "SSC": "Sparse subspace clustering",
    "MLAP": "Multi-task low-rank affinity pursuit",
}
FITS = {
    "frobenius": "expecting some noise in every value",
    "l12": "expecting that some samples may be wrong",
    "l1": "expecting that single values may be wrong",
}


class ViewFacts(NamedTuple):
    """One row of the table of views."""

    name: str
    features: int
    lam: str
    weight: str
    score: str
    treatment: str


class Unsure(NamedTuple):
    """A sample whose label should not be relied upon."""

    id: str
    label: int
    confidence: float


def certificate_sentence(model: SubspaceClusterer) -> str:
    """What was proven of the solution."""
    result = model.result_
    steps = "a closed form" if model.n_iter_ == 1 else f"{model.n_iter_} iterations"
    if result.status == "stationary":
        return (
            f"The problem is not convex: after {steps} no step lowers the objective. It is within "
            f"{percent(model.dual_gap_)} of what views without any coupling would reach."
        )
    proven = f"The objective is proven to be within {percent(model.dual_gap_)} of the best possible one ({steps})."
    if model.dual_gap_ > model.tol:
        proven += f" That is more than was asked for ({percent(model.tol)})."
    return proven


def percent(share: float) -> str:
    """With two digits that count."""
    value = 100.0 * max(float(share), 0.0)
    digits = 0 if value == 0 else int(np.clip(1 - np.floor(np.log10(value)), 0, 10))
    return f"{value:.{digits}f} %"


def method_sentence(model: SubspaceClusterer) -> str:
    """How it was clustered."""
    kind = type(model).__name__
    text = f"{METHODS.get(kind, kind)} ({kind})"
    fit = getattr(model, "datafit", "frobenius")
    text += f", {FITS.get(fit, fit)}"
    if getattr(model, "coupling", None) == "rank_one":
        text += ", with one matrix of coefficients for all views"
    if getattr(model, "missing", "forbid") == "allow":
        text += "; samples may be absent from views"
    who = "read from the data" if model.n_clusters is None else "given"
    landmarks = model.fitted_graph_.landmarks
    n_nodes = len(model.fitted_graph_.labels)
    graph = f" {n_nodes} landmarks stand for all samples in the pictures." if landmarks else ""
    return f"{text}. The number of clusters, {model.n_clusters_}, was {who}.{graph}"


def ties_sentence(model: SubspaceClusterer) -> str:
    """What joins two samples in the graph."""
    if model.fitted_graph_.edges == "patterns":
        return "Two samples are tied if the same other samples explain both."
    return "Two samples are tied if one helps to explain the other."


def facts_of_views(model: SubspaceClusterer) -> list[ViewFacts]:
    """Name, features, weights and treatment of every view."""
    names = names_of_views(model)
    features = (
        model.n_features_in_ if isinstance(model.n_features_in_, tuple) else (model.n_features_in_,)
    )
    weights, scores = np.asarray(model.view_weights_), np.asarray(model.view_scores_)
    lam = np.asarray(model.lam_, dtype=float)
    found = []
    for place, (name, count) in enumerate(zip(names, features, strict=True)):
        one = lam[min(place, len(lam) - 1)]
        treated = [
            word
            for word, done in (("scaled", model.features_scaled_), ("affine", model.affine_))
            if done[place]
        ]
        found.append(
            ViewFacts(
                name,
                int(count),
                f"{float(np.mean(one)):.3g}",
                f"{weights[place]:.2f}" if len(weights) == len(names) else "",
                f"{round(float(scores[place]), 2) + 0.0:.2f}",
                ", ".join(treated) or "as it was",
            )
        )
    return found


def least_sure(model: SubspaceClusterer, ids: AnyArray) -> list[Unsure]:
    """Those with the smallest confidence, least first."""
    sure = np.asarray(model.confidence_)
    order = np.argsort(sure, kind="stable")[:MOST_UNSURE]
    return [
        Unsure(str(ids[row]), int(model.labels_[row]), float(sure[row]))
        for row in order
        if sure[row] < UNSURE
    ]
