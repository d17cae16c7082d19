"""HTML page with the facts and plots of a fitted model."""

import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, PackageLoader, StrictUndefined
from sklearn.utils.validation import check_is_fitted

from viewspan import plot
from viewspan._utils.text import shortened, visible
from viewspan._utils.threads import OneThread
from viewspan._utils.typing import AnyArray
from viewspan._version import __version__
from viewspan.estimators.base import SubspaceClusterer
from viewspan.fit.progress import CallbackListener, Progress, Stages
from viewspan.plot.clusters import UNCERTAIN_BELOW
from viewspan.plot.embedding import MAX_CLUSTERS_WITHOUT_TSNE
from viewspan.plot.nodes import drawn_labels
from viewspan.report import facts
from viewspan.report.svg_plots import SvgPlot, draw_svg

MIN_EXEMPLARS, MAX_EXEMPLARS = 10, 20
"""Number of example images per cluster. Tall images are narrow, so more of them fit in a row."""
MAX_EXEMPLAR_BYTES = 1_200_000
"""Size limit of all example images together."""
MAX_ID_LENGTH = 80
"""Largest number of characters of a sample's name in the tooltip."""
MAX_CLUSTERS_WITH_DIMENSIONS = 60
"""Largest number of clusters whose subspace dimensions are shown."""
STAGE = "drawing the report"
"""Name of the stage in :class:`~viewspan.Progress`."""
TSNE_STEPS = 30
"""Duration of t-SNE in units of other plots, for the remaining time."""


class Drawing(NamedTuple):
    """A plot that is to be drawn, and its duration in steps of the progress."""

    draw: Callable[[], SvgPlot]
    n_steps: int = 1


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
    callback: Callable[[Progress], None] | None = None,
) -> str:
    """Return a report of a fitted model as one self-contained HTML page.

    Parameters
    ----------
    model : CLRSC, LRR, SSC or MLAP
        A fitted model.
    ids : array-like (n_samples,), optional
        Names of the samples (default: their row numbers).
    views : as for ``fit``, optional
        The views that were fitted. Required with ``image_shapes``.
    image_shapes : dict of view → (rows, columns), optional
        Views whose samples are images, to be shown as examples of every cluster.
    scores : dict of name → score, optional
        Comparisons with the true labels, for example the accuracy in percent.
    seconds : dict of name → seconds, optional
        Computing times.
    notes : list of str
        Sentences that are shown at the top of the page.
    command : str, optional
        The command that produced the result.
    callback : callable, optional
        Called with a :class:`~viewspan.Progress` at the beginning and after every plot.

    Returns
    -------
    str
        The page needs no other files and makes no network requests.
    """
    check_is_fitted(model, "result_")
    n_samples = len(model.labels_)
    names = np.arange(n_samples).astype(str) if ids is None else np.asarray(ids, dtype=str)
    if len(names) != n_samples:
        raise ValueError(
            f"ids must have one name for each of the {n_samples} samples. "
            f"Got {len(names)} names instead."
        )
    plots = draw_plots(model, views, image_shapes or {}, callback)
    environment = Environment(
        loader=PackageLoader("viewspan.report", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=without_control_characters,
    )
    page = environment.get_template("report.html").render(
        head=headline(model),
        method=facts.method_sentences(model),
        certificate=facts.certificate_sentence(model),
        edges=facts.edges_sentence(model),
        tau=f"{model.tau_:.3g}" if model.tau_ else None,
        views=facts.facts_of_views(model),
        parameters=repr(model),
        plots=plots,
        hover={
            "samples": hover_samples(model, names),
            "positions": {svg_plot.name: svg_plot.points for svg_plot in plots if svg_plot.points},
        },
        colours=plot.cluster_colors(model.n_clusters_),
        uncertain=facts.least_confident(model, names),
        n_samples=n_samples,
        n_uncertain=int((np.asarray(model.confidence_) < UNCERTAIN_BELOW).sum()),
        scores=dict(scores or {}),
        seconds=dict(seconds or {}),
        notes=list(notes),
        command=command,
        versions=f"viewspan {__version__}, Python {platform.python_version()}, "
        f"numpy {np.__version__}",
    )
    return str(page)


def headline(model: SubspaceClusterer) -> str:
    counts = {
        "sample": len(model.labels_),
        "view": model.n_views_in_,
        "cluster": model.n_clusters_,
    }
    return ", ".join(f"{count} {noun}{'s' * (count > 1)}" for noun, count in counts.items())


def without_control_characters(value: Any) -> Any:
    """Show control characters in strings as symbols, and leave markup and other values alone."""
    return visible(value, keep="\n\t") if type(value) is str else value


def draw_plots(
    model: SubspaceClusterer,
    views: Any,
    image_shapes: Mapping[str, Sequence[int]],
    callback: Callable[[Progress], None] | None = None,
) -> list[SvgPlot]:
    """Draw all plots that apply to the model, in the order of the page.

    BLAS gets one thread: the matrices are small, and on a busy machine several threads are much
    slower than one.
    """
    drawings = [*drawings_of_model(model), *drawings_of_images(model, views, image_shapes)]
    stages = Stages([] if callback is None else [CallbackListener(callback)])
    stages.begin(STAGE, sum(drawing.n_steps for drawing in drawings))
    plots = []
    with OneThread():
        for drawing in drawings:
            plots.append(drawing.draw())
            stages.step(drawing.n_steps)
    return plots


def drawings_of_model(model: SubspaceClusterer) -> Iterator[Drawing]:
    functions = [plot.sizes, plot.embedding, plot.edge_shares, plot.affinity, plot.eigenvalues]
    functions.append(plot.view_contributions)
    if len(model.view_similarity_) > 1:
        functions.append(plot.view_similarity)
    functions += [plot.convergence, plot.confidence]
    if model.n_clusters_ <= MAX_CLUSTERS_WITH_DIMENSIONS:
        functions.append(plot.subspace_dimensions)
    for function in functions:
        draw = partial(draw_svg, function.__name__, partial(function, model))
        is_slow = function is plot.embedding and model.n_clusters_ > MAX_CLUSTERS_WITHOUT_TSNE
        yield Drawing(draw, TSNE_STEPS if is_slow else 1)


def drawings_of_images(
    model: SubspaceClusterer, views: Any, image_shapes: Mapping[str, Sequence[int]]
) -> Iterator[Drawing]:
    """Yield a drawing of example images for every view whose samples are images."""
    for number, (view, shape) in enumerate(image_shapes.items(), start=1):
        rows, columns = tuple(shape)[:2]
        n = int(np.clip(np.ceil(MIN_EXEMPLARS * rows / columns), MIN_EXEMPLARS, MAX_EXEMPLARS))
        images = partial(plot.exemplars, model, views, view=view, image_shape=(rows, columns), n=n)
        max_bytes = MAX_EXEMPLAR_BYTES // len(image_shapes)
        yield Drawing(
            partial(
                draw_svg,
                "exemplars",
                images,
                element_id=f"exemplars-{number}",
                max_bytes=max_bytes,
            )
        )


def hover_samples(model: SubspaceClusterer, ids: AnyArray) -> list[list[Any]]:
    """Return the id, cluster and confidence of every drawn point for the tooltips.

    The id and confidence of a landmark whose row is unknown are None.
    """
    confidence = np.asarray(model.confidence_)
    return [
        [tooltip_name(ids[row]), int(label), round(float(confidence[row]), 2)]
        if row >= 0
        else [None, int(label), None]
        for row, label in zip(plot.drawn_rows(model), drawn_labels(model), strict=True)
    ]


def tooltip_name(name: Any) -> str:
    return shortened(visible(str(name)), MAX_ID_LENGTH)
