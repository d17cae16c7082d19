"""Plot of edge weights to the clusters, and the order of clusters on its circle."""

from itertools import permutations

import matplotlib as mpl
import numpy as np
import pytest

import viewspan
from tests.plot.changed_models import drawn_points, with_graph
from tests.problems import many_subspaces
from viewspan import plot
from viewspan.plot.circular_order import circular_order, cluster_links
from viewspan.plot.nodes import drawn_labels


def test_positions_are_means_weighted_by_edge_shares(model):
    """Clusters 0 to 3 are pairs of samples, and the last sample has edges to cluster 0 as well."""
    affinity = np.kron(np.eye(4), 1.0 - np.eye(2))
    affinity[7, 0] = affinity[0, 7] = 3.0
    affinity[7, 7] = 5.0  # loops are ignored
    labels = np.repeat(np.arange(4), 2)
    positions, rows = drawn_points(plot.edge_shares, with_graph(model, affinity, labels))
    assert list(rows) == list(range(8))
    clusters = positions[[1, 2, 4, 6]]
    np.testing.assert_allclose(np.linalg.norm(clusters, axis=1), 1.0)
    np.testing.assert_allclose(positions[7], 0.75 * clusters[0] + 0.25 * clusters[3])
    # clusters 0 and 3 are linked, so they are neighbours on the circle
    assert np.linalg.norm(clusters[0] - clusters[3]) == pytest.approx(np.sqrt(2))


@pytest.mark.parametrize("fitted", ["model", "landmarks", "single"])
def test_points_are_one_collection_in_the_order_of_drawn_rows(fitted, request):
    fitted = request.getfixturevalue(fitted)
    ax = plot.edge_shares(fitted, max_points=37)
    (points,) = [collection for collection in ax.collections if collection.get_gid() == "points"]
    rows = plot.drawn_rows(fitted, max_points=37)
    np.testing.assert_array_equal(drawn_labels(fitted, max_points=37), fitted.labels_[rows])
    assert len(set(rows)) == 37 and ", 37 of " in ax.get_title(loc="left")
    colours = np.array(plot.cluster_colors(fitted.n_clusters_))[fitted.labels_[rows]]
    expected = mpl.colors.to_rgba_array(colours)[:, :3]
    np.testing.assert_allclose(points.get_facecolors()[:, :3], expected)


def test_confident_samples_are_close_to_their_clusters(model):
    """On a circle of radius 1, edges to other clusters move a sample by at most 2."""
    numbers = np.array([text.get_position() for text in plot.edge_shares(model).texts])
    clusters = numbers / np.linalg.norm(numbers, axis=1, keepdims=True)
    positions, rows = drawn_points(plot.edge_shares, model)
    distances = np.linalg.norm(positions - clusters[model.labels_[rows]], axis=1)
    assert (distances <= 2 * (1 - model.confidence_[rows]) + 1e-12).all()
    assert (distances[model.confidence_[rows] < 0.9] > 0).all()


def test_two_clusters_are_the_ends_of_an_axis(single):
    positions, rows = drawn_points(plot.edge_shares, single)
    own = np.where(single.labels_[rows] == 1, positions[:, 0], 1 - positions[:, 0])
    np.testing.assert_allclose(own, single.confidence_[rows])
    assert np.ptp(positions[:, 1]) > 0


def test_landmarks_of_a_reservoir_sample_have_unknown_rows_and_no_names():
    """The reservoir sample holds 10 000 samples, so this needs a few more."""
    views, _ = many_subspaces(10_050, width=8)
    fitted = viewspan.LRR(5, n_landmarks=60, random_state=0).fit(views)
    assert (plot.drawn_rows(fitted) == -1).all()
    texts = [text.get_text() for text in plot.edge_shares(fitted, ids=range(10_050)).texts]
    assert texts == [str(cluster) for cluster in range(5)]


def test_names_of_the_least_confident_samples_are_written(model):
    names = [f"sample {row}" for row in range(100)]
    written = [text.get_text() for text in plot.edge_shares(model, ids=names).texts[5:]]
    least_confident = np.argsort(model.confidence_, kind="stable")[: len(written)]
    assert written == [names[row] for row in least_confident] != []


def test_too_few_names_raise(model):
    with pytest.raises(ValueError, match=r"one name for every sample\. Got 3 names"):
        plot.edge_shares(model, ids=["a", "b", "c"])


@pytest.mark.parametrize("count", [7, 12], ids=["exact", "greedy"])
def test_circular_order_recovers_a_ring(count):
    order = np.random.default_rng(count).permutation(count)
    links = np.zeros((count, count))
    links[order, np.roll(order, 1)] = links[np.roll(order, 1), order] = 1.0
    found = circular_order(links)
    assert sorted(found) == list(range(count))
    assert links[found, np.roll(found, 1)].sum() == count


def test_circular_order_of_many_clusters_is_nearly_optimal():
    links = np.triu(np.random.default_rng(0).random((9, 9)), 1)
    links += links.T
    orders = np.array([(0, *rest) for rest in permutations(range(1, 9))])
    best = links[orders, np.roll(orders, 1, axis=1)].sum(axis=1).max()
    found = circular_order(links)
    assert best * 0.95 <= links[found, np.roll(found, 1)].sum() <= best + 1e-12


def test_cluster_links_are_normalised_edge_weights():
    affinity = np.array([[0, 2, 0], [2, 0, 2], [0, 2, 0.0]])
    link = 2 / np.sqrt(12)
    links = cluster_links(affinity, np.array([0, 0, 1]), 2)
    np.testing.assert_allclose(links, [[0, link], [link, 0]])
