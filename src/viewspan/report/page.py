"""The page: facts and pictures, in one file that asks nothing of the network."""

import platform
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from sklearn.utils.validation import check_is_fitted

from viewspan import plot
from viewspan._utils.text import shortened, visible
from viewspan._version import __version__
from viewspan.estimators.base import SubspaceClusterer
from viewspan.plot.references import drawn_labels
from viewspan.report import facts
from viewspan.report.pictures import Hover, Picture, draw, draw_points

FEWEST_ACROSS = 10
"""Pictures of one cluster; more if they are tall."""
ALL_EXEMPLARS = 1_200_000
"""Bytes of pictures of samples."""
LONGEST_ID = 80
"""Letters of a name that are shown to those who point at it."""
MOST_DIMENSIONS = 60
"""Clusters whose subspaces are drawn."""


def html_report(
    model: SubspaceClusterer,
    *,
    ids: Any = None,
    views: Any = None,
    image_shapes: Mapping[str, Sequence[int]] | None = None,
    scores: Mapping[str, float] | None = None,
    seconds: Mapping[str, float] | None = None,
    notes: Sequence[str] = (),
    command: str | None = None,
) -> str:
    """What a fitted model found, as one self-contained page of HTML.

    Parameters
    ----------
    model : CLRSC, LRR, SSC or MLAP
        Fitted.
    ids : array-like (n_samples,), optional
        Names of the samples; the numbers of the rows if not given.
    views : as for ``fit``, optional
        The samples that were fitted; needed for pictures of them.
    image_shapes : dict of view → (rows, columns), optional
        The views whose samples are pictures.
    scores, seconds : dict, optional
        Numbers to show by their names.
    notes : list of str
        Sentences to show.
    command : str, optional
        That repeats it.

    Returns
    -------
    str
    """
    check_is_fitted(model, "result_")
    names = np.arange(len(model.labels_)).astype(str) if ids is None else np.asarray(ids, dtype=str)
    if len(names) != len(model.labels_):
        raise ValueError(
            f"ids must be names of all {len(model.labels_)} samples. Got {len(names)} instead."
        )
    pictures, hover = draw_all(model, views, image_shapes or {})
    loader = Environment(
        loader=PackageLoader("viewspan.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=as_seen,
    )
    page = loader.get_template("report.html").render(
        head=f"{len(model.labels_)} samples, {model.n_views_in_} view{'s' * (model.n_views_in_ > 1)}, "
        f"{model.n_clusters_} cluster{'s' * (model.n_clusters_ > 1)}",
        method=facts.method_sentence(model),
        certificate=facts.certificate_sentence(model),
        ties=facts.ties_sentence(model),
        chosen=f"τ = {model.tau_:.3g}",
        views=facts.facts_of_views(model),
        parameters=repr(model),
        pictures=pictures,
        hover={
            "samples": samples_of(model, names),
            "places": {name: places_of(where) for name, where in hover.items()},
        },
        colours=plot.cluster_colours(model.n_clusters_),
        unsure=facts.least_sure(model, names),
        n_samples=len(model.labels_),
        n_unsure=int((np.asarray(model.confidence_) < facts.UNSURE).sum()),
        scores=dict(scores or {}),
        seconds=dict(seconds or {}),
        notes=list(notes),
        command=command,
        versions=f"viewspan {__version__}, Python {platform.python_version()}, numpy {np.__version__}",
    )
    return str(page)


def as_seen(value: Any) -> Any:
    """Words of the user's without characters that act; pictures, and what was made for scripts, as they are."""
    return visible(value, keep="\n\t") if type(value) is str else value


def draw_all(
    model: SubspaceClusterer, views: Any, image_shapes: Mapping[str, Sequence[int]]
) -> tuple[list[Picture], dict[str, Hover]]:
    """Every picture that there is something to show in."""
    ties, tied = draw_points("ties", partial(plot.ties, model))
    chart, embedded = draw_points("embedding", partial(plot.embedding, model))
    found = [
        draw("sizes", partial(plot.sizes, model)),
        chart,
        ties,
        draw("affinity", partial(plot.affinity, model)),
    ]
    found.append(draw("eigenvalues", partial(plot.eigenvalues, model)))
    found.append(draw("view_contributions", partial(plot.view_contributions, model)))
    if len(model.view_similarity_) > 1:
        found.append(draw("view_similarity", partial(plot.view_similarity, model)))
    found.append(draw("convergence", partial(plot.convergence, model)))
    found.append(draw("confidence", partial(plot.confidence, model)))
    if model.n_clusters_ <= MOST_DIMENSIONS:
        found.append(draw("subspace_dimensions", partial(plot.subspace_dimensions, model)))
    for view, shape in image_shapes.items():
        size: Any = tuple(shape)[:2]
        across = int(
            np.clip(np.ceil(FEWEST_ACROSS * size[0] / size[1]), FEWEST_ACROSS, 2 * FEWEST_ACROSS)
        )
        function = partial(plot.exemplars, model, views, view=view, image_shape=size, n=across)
        found.append(draw("exemplars", function, ALL_EXEMPLARS // len(image_shapes)))
    return found, {"ties": tied, "embedding": embedded}


def samples_of(model: SubspaceClusterer, ids: Any) -> list[list[Any]]:
    """Id, cluster and confidence of every point that can be pointed at; landmarks may be nobody that is known."""
    rows = plot.drawn_rows(model)
    sure = np.asarray(model.confidence_)
    drawn = zip(rows, drawn_labels(model), strict=True)
    return [
        [name_of(ids[row]), int(label), round(float(sure[row]), 2)]
        if row >= 0
        else [None, int(label), None]
        for row, label in drawn
    ]


def name_of(name: Any) -> str:
    return shortened(visible(str(name)), LONGEST_ID)


def places_of(hover: Hover) -> list[tuple[float, float]]:
    return list(zip(*hover, strict=True))
