"""Plots of cluster sizes, confidence and example images."""

import matplotlib.pyplot as plt
import numpy as np
import pytest

import viewspan
from tests.plot.changed_models import with_graph
from viewspan import plot


def test_bar_lengths_are_cluster_sizes(model):
    ax = plot.sizes(model)
    counts = list(np.bincount(model.labels_))
    assert [bar.get_width() for bar in ax.patches] == counts
    assert [text.get_text() for text in ax.texts] == [str(count) for count in counts]


def test_sizes_of_many_clusters_label_only_the_extremes(model):
    counts = np.full(90, 3)
    counts[20], counts[60] = 9, 1
    many = with_graph(model, np.eye(counts.sum()), np.repeat(np.arange(90), counts))
    _, ax = plt.subplots(figsize=(5, 4))
    texts = [text.get_text() for text in plot.sizes(many, ax=ax).texts]
    assert {"cluster 20: 9", "cluster 60: 1"} <= set(texts) and len(texts) < 10


def test_confidence_histogram_counts_every_sample(model):
    ax = plot.confidence(model)
    bars = [bar for bar in ax.patches if bar.get_width() < 0.1]
    assert sum(bar.get_height() for bar in bars) == 100
    uncertain = int((model.confidence_ < 0.5).sum())
    assert ax.texts[0].get_text() == f"{uncertain} of 100 uncertain"
    left = sum(bar.get_height() for bar in bars if bar.get_x() + bar.get_width() / 2 < 0.5)
    assert left == uncertain


@pytest.mark.parametrize("shape", [(6, 8), (4, 4)], ids=["grey", "colour"])
def test_exemplars_are_the_most_confident_samples(model, views, shape):
    """The 48 features are 6 × 8 grey pixels, or 4 × 4 pixels in colour."""
    ax = plot.exemplars(model, views, view="b", image_shape=shape, n=3)
    sheet = ax.images[0].get_array()
    height, width = sheet.shape[0] // 5, sheet.shape[1] // 3
    for number in range(5):
        cluster = np.flatnonzero(model.labels_ == number)
        best = cluster[model.confidence_[cluster].argmax()]
        if (model.confidence_[cluster] == model.confidence_[best]).sum() > 1:
            continue  # several samples are equally confident, so the embedding decides
        image = views["b"][best].reshape(*shape, -1)
        expected = np.broadcast_to((image - image.min()) / np.ptp(image), (*shape, 3))
        part = sheet[number * height : number * height + shape[0], : shape[1]]
        np.testing.assert_allclose(part[..., :3], expected)
    assert height > shape[0] and width > shape[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"image_shape": (7, 7)}, r"image_shape=\(7, 7\) needs 49 features .* or 147 .* Got 48"),
        ({"view": "c"}, r"view must be one of \['a', 'b'\]"),
        ({"view": 2}, "a position below 2. Got 2"),
    ],
)
def test_invalid_options_of_exemplars_raise_and_leave_no_figure(model, views, options, message):
    with pytest.raises(ValueError, match=message):
        plot.exemplars(model, views, **{"image_shape": (6, 8), **options})
    assert not plt.get_fignums()


def test_missing_samples_are_not_exemplars(views):
    given = {name: view.copy() for name, view in views.items()}
    given["a"][::3] = np.nan
    fitted = viewspan.CLRSC(5, missing="allow", random_state=0).fit(given)
    sheet = plot.exemplars(fitted, given, view="a", image_shape=(6, 8), n=20).images[0].get_array()
    n_images = sheet[..., 3].sum() / 48
    assert np.isfinite(sheet).all() and 60 < n_images <= 66
