"""Plot of the most typical samples of every cluster as images."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from viewspan._utils.sparse import full, is_sparse
from viewspan._utils.typing import AnyArray, Array
from viewspan.graph.discretisation import unit_rows
from viewspan.inference.fitted_graph import FittedGraph
from viewspan.inputs.checks import is_one_view
from viewspan.inputs.fitted_inputs import view_names
from viewspan.plot.clusters import spaced_numbers
from viewspan.plot.colors import cluster_colors
from viewspan.plot.style import axes_or_new, hide_frame, label_text

MAX_NUMBERED_ROWS = 25
"""Largest number of rows that get the number of their cluster."""
IMAGE_SPACING = 0.12
"""Space between images, as a share of their width."""


def exemplars(
    model: Any,
    views: Any,
    *,
    view: int | str = 0,
    image_shape: tuple[int, int] = (8, 8),
    n: int = 8,
    ax: Axes | None = None,
) -> Axes:
    """Plot the most typical samples of every cluster as images, one row per cluster.

    The most typical samples are those with the highest confidence. Samples with equal confidence
    are sorted by their similarity to the cluster's centre in the spectral embedding. The contrast
    of every image is stretched to the full range.

    How to read it: the images in a row should look alike. Two rows that look alike may be one group
    that was split.

    Parameters
    ----------
    model : a fitted estimator
    views : as for ``fit``
        The views that were fitted.
    view : int or str
        Position or name of the view whose features are pixels: one grey value, or red, green and
        blue, per pixel.
    image_shape : (int, int)
        Rows and columns of an image.
    n : int
        Number of images per cluster.
    ax : matplotlib Axes, optional

    Returns
    -------
    Axes
    """
    position = view_position(model, view)
    samples = read_samples(model, views, position)
    images = as_images(samples, image_shape)
    usable = np.asarray(np.isfinite(samples).all(axis=1))
    rows_of_clusters = most_typical(model, views, usable, n)
    sheet = contact_sheet(images, rows_of_clusters, n)
    n_clusters, (height, width, _) = len(rows_of_clusters), sheet.shape
    with axes_or_new(ax, 5.0, float(np.clip(0.4 + 4.4 * height / width, 1.2, 14.0))) as ax:
        column_width, row_height = width / n, height / n_clusters
        ax.imshow(sheet, extent=(0, width, height, 0))
        for number, colour in enumerate(cluster_colors(n_clusters)):
            corner = (-0.3 * column_width, number * row_height)
            strip = Rectangle(
                corner, 0.16 * column_width, row_height - 1, color=colour, linewidth=0
            )
            ax.add_patch(strip)
        hide_frame(ax)
        numbered = spaced_numbers(n_clusters, MAX_NUMBERED_ROWS)
        ax.set_yticks((numbered + 0.5) * row_height - 0.5, [str(number) for number in numbered])
        ax.tick_params(axis="y", length=0)
        ax.set_xlim(-0.3 * column_width, width)
        ax.set_ylabel("cluster")
        ax.set_title(f"Most typical samples ({label_text(view_names(model)[position])})")
    return ax


def view_position(model: Any, view: int | str) -> int:
    """Return the position of a view that is given by its name or position."""
    names = view_names(model)
    if view in names:
        return names.index(str(view))
    if isinstance(view, str) or not -len(names) <= view < len(names):
        raise ValueError(
            f"view must be one of {names} or a position below {len(names)}. Got {view!r} instead."
        )
    return int(view) % len(names)


def read_samples(model: Any, views: Any, position: int) -> Array:
    """Return one of the fitted views as a dense array."""
    if is_one_view(views):
        chosen = views
    elif not isinstance(views, Mapping):
        chosen = views[position]
    elif hasattr(model, "view_names_in_"):
        chosen = views[model.view_names_in_[position]]
    else:
        chosen = list(views.values())[position]
    samples = full(chosen) if is_sparse(chosen) else np.asarray(chosen, dtype=float)
    n_fitted = len(model.labels_)
    if len(samples) != n_fitted:
        raise ValueError(
            f"views must be the {n_fitted} samples that were fitted. Got {len(samples)} samples "
            "instead."
        )
    return samples


def as_images(samples: Array, image_shape: tuple[int, int]) -> Array:
    """Reshape samples to (n_samples, rows, columns, 1 or 3 channels)."""
    n_pixels = image_shape[0] * image_shape[1]
    n_features = samples.shape[1]
    if n_features not in (n_pixels, 3 * n_pixels):
        raise ValueError(
            f"image_shape={tuple(image_shape)} needs {n_pixels} features for grey images or "
            f"{3 * n_pixels} for colour images. Got {n_features} features instead."
        )
    return samples.reshape(len(samples), *image_shape, n_features // n_pixels)


def most_typical(model: Any, views: Any, usable: AnyArray, n: int) -> list[AnyArray]:
    """Return the rows of at most ``n`` usable samples of every cluster, most typical first."""
    labels = np.asarray(model.labels_)
    graph: FittedGraph = model.fitted_graph_
    has_all_samples = not graph.landmarks and len(graph.labels) == len(labels)
    embedding = graph.embedding if has_all_samples else np.asarray(model.transform(views))
    directions = unit_rows(embedding)
    confidence = np.nan_to_num(np.asarray(model.confidence_, dtype=float))
    chosen = []
    for number in range(model.n_clusters_):
        rows = np.flatnonzero((labels == number) & usable)
        similarity = directions[rows] @ directions[rows].sum(axis=0)
        chosen.append(rows[np.lexsort((-similarity, -confidence[rows]))][:n])
    return chosen


def contact_sheet(images: Array, rows_of_clusters: list[AnyArray], n: int) -> Array:
    """Return one RGBA image of all chosen images, transparent between them."""
    _, height, width, _ = images.shape
    space = max(1, round(IMAGE_SPACING * width))
    sheet = np.zeros((len(rows_of_clusters) * (height + space), n * (width + space), 4))
    for number, rows in enumerate(rows_of_clusters):
        for column, image in enumerate(images[rows]):
            top, left = number * (height + space), column * (width + space)
            part = sheet[top : top + height, left : left + width]
            part[..., :3], part[..., 3] = stretch_contrast(image), 1.0
    return sheet


def stretch_contrast(image: Array) -> Array:
    """Scale an image to values from 0 to 1; a constant image becomes grey."""
    low, high = image.min(), image.max()
    return (image - low) / (high - low) if high > low else np.full_like(image, 0.5)
