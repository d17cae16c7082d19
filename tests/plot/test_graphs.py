"""Plots of the affinity matrix, its eigenvalues and the spectral embedding."""

import numpy as np
import pytest
import scipy.sparse

import viewspan
from tests.plot.changed_models import drawn_points
from viewspan import plot
from viewspan._utils.sparse import full
from viewspan.datasets import make_subspaces
from viewspan.plot.graphs import block_means, blocks_of_clusters, opacity


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("max_blocks", [10, 33, 1000])
def test_block_means_are_mean_edge_weights(form, max_blocks):
    rng = np.random.default_rng(0)
    affinity = rng.random((60, 60)) * (rng.random((60, 60)) < 0.2)
    affinity, labels = affinity + affinity.T, rng.integers(0, 4, 60)
    blocks = blocks_of_clusters(form(affinity), labels, 4, max_blocks)
    means, sizes = block_means(form(affinity), blocks)
    assert len(blocks) <= max_blocks and sorted(np.concatenate(blocks)) == list(range(60))
    assert all(len(set(labels[block])) == 1 for block in blocks)
    assert list(sizes) == [len(block) for block in blocks]
    expected = [[affinity[np.ix_(rows, columns)].mean() for columns in blocks] for rows in blocks]
    np.testing.assert_allclose(means, expected, atol=1e-15)


def test_affinity_image_shows_edge_weights_as_opacity(model):
    affinity, labels = model.affinity_matrix_, model.labels_
    image = plot.affinity(model, max_size=40).images[0].get_array()
    means, _ = block_means(affinity, blocks_of_clusters(affinity, labels, 5, 40))
    np.testing.assert_allclose(image[..., 3], opacity(means))
    assert len(np.unique(image[..., :3].reshape(-1, 3), axis=0)) == 1
    assert ((image[..., 3] > 0) == (means > 0)).all()


def test_samples_of_a_cluster_are_sorted_along_a_chain():
    order = np.random.default_rng(0).permutation(30)
    affinity = np.zeros((30, 30))
    affinity[order[:-1], order[1:]] = affinity[order[1:], order[:-1]] = 1.0
    blocks = blocks_of_clusters(affinity, np.zeros(30, dtype=np.int64), 1, 30)
    assert list(np.concatenate(blocks)) in (list(order), list(order[::-1]))


@pytest.mark.filterwarnings("ignore:The graph has 5 connected components")
@pytest.mark.parametrize("n_clusters", [5, 3, None])
def test_eigenvalues_mark_the_gap_after_the_clusters(n_clusters):
    fitted = viewspan.CLRSC(n_clusters, random_state=0).fit(make_subspaces(random_state=0)[0])
    k = n_clusters or 5
    ax = plot.eigenvalues(fitted)
    inside, outside = (line.get_ydata() for line in ax.lines[:2])
    assert len(inside) == k and len(outside) >= 6
    (band,) = [patch for patch in ax.patches if patch.get_gid() == "gap"]
    low, high = band.get_y(), band.get_y() + band.get_height()
    np.testing.assert_allclose([low, high], [outside[0], inside[-1]])
    text = ax.texts[0].get_text()
    assert text.startswith(f"k = {k} ({'given' if n_clusters else 'estimated'}), gap")
    assert ("at k = 5" in text) == (n_clusters == 3)


def test_eigenvalues_of_landmarks_are_square_roots(landmarks):
    """An edge between landmarks is two steps of the graph between samples and landmarks."""
    ax = plot.eigenvalues(landmarks)
    drawn = np.concatenate([line.get_ydata() for line in ax.lines[:2]])
    affinity = np.asarray(full(landmarks.affinity_matrix_))
    scale = np.sqrt(affinity.sum(axis=1))
    expected = np.linalg.eigvalsh(affinity / scale / scale[:, None])[::-1]
    np.testing.assert_allclose(drawn, np.sqrt(expected[: len(drawn)]))


@pytest.mark.parametrize("fitted", ["model", "landmarks", "single"])
def test_nearest_points_of_the_embedding_share_a_cluster(fitted, request):
    fitted = request.getfixturevalue(fitted)
    positions, rows = drawn_points(plot.embedding, fitted)
    labels = fitted.labels_[rows]
    distances = np.linalg.norm(positions[:, None] - positions[None], axis=2)
    np.fill_diagonal(distances, np.inf)
    assert (labels[distances.argmin(axis=1)] == labels).mean() > 0.8


def test_embedding_of_a_subset_has_its_size_in_the_title(model):
    ax = plot.embedding(model, max_points=50)
    assert len(ax.collections[0].get_offsets()) == len(plot.drawn_rows(model, max_points=50)) == 50
    assert "50 of" in ax.get_title(loc="left")
