"""Labels from eigenvectors."""

import numpy as np
import pytest
from sklearn.cluster import k_means
from sklearn.metrics import adjusted_rand_score

from viewspan.graph.cluster_count import CLEAR_GAP_FACTOR
from viewspan.graph.discretisation import (
    alternate,
    assign,
    default_assignment,
    diffusion_embedding,
    first_rotation,
    has_clear_gap,
    kmeans_of_directions,
    n_eigenvectors,
    nearest_partition,
    pivoted_qr,
    unit_rows,
)
from viewspan.graph.spectrum import Eigenpairs


def generator(seed=0):
    return np.random.RandomState(seed)


def noisy_groups(seed=0, size=20, noise=0.1):
    """Return rows of various lengths near three orthogonal directions, and their labels."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), size)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    rows = (np.eye(3)[labels] + noise * rng.normal(size=(3 * size, 3))) @ rotation
    return rows * rng.uniform(0.5, 2.0, size=(3 * size, 1)), labels


def test_default_assignment_depends_on_the_graph():
    assert default_assignment("auto", by_patterns=True) == "modularity"
    assert default_assignment("auto", by_patterns=False) == "discretize"
    for by_patterns in (True, False):
        assert default_assignment("kmeans", by_patterns=by_patterns) == "kmeans"


@pytest.mark.parametrize(("n_clusters", "few", "many"), [(1, 2, 3), (2, 3, 6), (5, 6, 15)])
def test_modularity_uses_three_eigenvectors_per_cluster(n_clusters, few, many):
    assert n_eigenvectors(n_clusters, "kmeans") == few
    assert n_eigenvectors(n_clusters, "discretize") == few
    assert n_eigenvectors(n_clusters, "modularity") == many


@pytest.mark.parametrize(
    ("gaps", "clear"),
    [
        ([CLEAR_GAP_FACTOR * 0.125, 0.125], True),
        ([CLEAR_GAP_FACTOR * 0.125 - 0.01, 0.125], False),
        ([], True),  # no eigenvalue follows
        ([0.0, 0.0], True),
        ([0.1, 0.0, 0.0, 0.0, 0.7], True),  # the last one is beyond the diffusion
    ],
)
def test_a_clear_gap_is_wider_than_all_later_ones(gaps, clear):
    eigenvalues = np.array([1.0, *(0.875 - np.cumsum([0.0, *gaps]))])
    assert has_clear_gap(eigenvalues, 2) == clear


@pytest.mark.parametrize("how", ["discretize", "cluster_qr", "kmeans", "modularity"])
def test_clear_groups_are_found_from_the_leading_eigenvectors_alone(how):
    rows, labels = noisy_groups()
    misleading = np.random.default_rng(1).normal(size=(60, 1)) * 100
    spectrum = Eigenpairs(np.array([1.0, 0.99, 0.98, 0.1]), np.hstack([rows, misleading]))
    graph = 0.1 + (labels[:, None] == labels)
    found = assign(graph, spectrum, 3, how, generator())
    assert found.dtype == np.int64
    assert adjusted_rand_score(labels, found) == 1.0


def test_every_assignment_uses_its_own_algorithm():
    """On noise, the algorithms find different partitions."""
    rows = np.random.default_rng(0).normal(size=(60, 4))
    spectrum = Eigenpairs(np.array([1.0, 0.99, 0.98, 0.1]), rows)
    expected = {
        "discretize": nearest_partition(rows[:, :3], generator()),
        "cluster_qr": pivoted_qr(rows[:, :3]),
        "kmeans": kmeans_of_directions(rows[:, :3], 3, generator()),
    }
    assert len({tuple(labels) for labels in expected.values()}) == 3
    for how, labels in expected.items():
        found = assign(np.ones((60, 60)), spectrum, 3, how, generator())
        np.testing.assert_array_equal(found, labels)


def two_partitions():
    """Return two partitions of 12 samples: leading eigenvectors show one, later ones the other."""
    first, second = np.repeat([0, 1], 6), np.tile([0, 1], 6)
    embedding = np.hstack([np.eye(2)[first], 30.0 * np.eye(2)[second], np.zeros((12, 2))])
    return first, second, Eigenpairs(np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5]), embedding)


def test_without_a_gap_the_partition_of_higher_modularity_is_kept():
    first, second, spectrum = two_partitions()
    for labels, other in ((first, second), (second, first)):
        graph = 0.1 + 1.0 * (labels[:, None] == labels)
        found = assign(graph, spectrum, 2, "modularity", generator())
        assert adjusted_rand_score(labels, found) == 1.0
        assert adjusted_rand_score(other, found) < 0.5


def test_later_eigenvectors_are_ignored_with_a_gap_and_by_kmeans():
    first, second, spectrum = two_partitions()
    graph = 0.1 + 1.0 * (second[:, None] == second)
    clear = spectrum._replace(eigenvalues=np.array([1.0, 0.9, 0.2, 0.19, 0.18, 0.17]))
    for which, how in ((clear, "modularity"), (spectrum, "kmeans")):
        found = assign(graph, which, 2, how, generator())
        assert adjusted_rand_score(first, found) == 1.0


def test_kmeans_is_that_of_scikit_learn_on_unit_rows():
    rows = np.random.default_rng(0).normal(size=(200, 5))
    found = kmeans_of_directions(rows, 7, generator(3))
    expected = k_means(unit_rows(rows), 7, random_state=generator(3), n_init=30)[1]
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == np.int64


def test_kmeans_ignores_the_lengths_of_rows():
    """Three samples far out in the direction of a group belong to that group."""
    rows = np.repeat([[1.0, 0.0], [0.0, 1.0], [50.0, 0.0]], [20, 20, 3], axis=0)
    labels = kmeans_of_directions(rows, 2, generator())
    assert labels[0] == labels[-1] != labels[20]


def test_kmeans_weights_samples():
    """The middle one of three directions changes its cluster if the first one is heavy."""
    angles = np.array([0.0, 0.4, 0.9])
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    weights = np.array([1000.0, 10.0, 1.0])
    plain = kmeans_of_directions(rows, 2, generator())
    heavy = kmeans_of_directions(rows, 2, generator(), weights)
    assert plain[0] == plain[1] != plain[2]
    assert heavy[0] != heavy[1] == heavy[2]
    spectrum = Eigenpairs(np.array([1.0, 0.9, 0.0]), np.hstack([rows, np.zeros((3, 1))]))
    for how in ("kmeans", "modularity"):
        found = assign(np.eye(3), spectrum, 2, how, generator(), weights)
        np.testing.assert_array_equal(found, heavy)


def test_the_diffusion_is_weighted_and_continues_with_the_generator():
    rng = np.random.default_rng(0)
    spectrum = Eigenpairs(np.linspace(1.0, 0.5, 9), rng.normal(size=(80, 9)))
    weights = rng.uniform(size=80) ** 8
    one = generator()
    first = kmeans_of_directions(spectrum.embedding[:, :3], 3, one, weights)
    second = kmeans_of_directions(diffusion_embedding(spectrum, 3), 3, one, weights)
    assert adjusted_rand_score(first, second) < 0.9
    for labels in (first, second):
        graph = 0.1 + 1.0 * (labels[:, None] == labels)
        found = assign(graph, spectrum, 3, "modularity", generator(), weights)
        np.testing.assert_array_equal(found, labels)


def test_the_first_eigenvector_beyond_the_clusters_decays_to_one_over_e():
    values = np.array([1.0, 0.8, 0.6, 0.4, 0.2, 0.0, -0.5, -0.6])
    found = diffusion_embedding(Eigenpairs(values, np.ones((3, 8))), 2)
    expected = np.exp(-np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]) / 0.4)
    np.testing.assert_allclose(found, np.tile(expected, (3, 1)))


def test_eigenvalues_that_are_one_up_to_rounding_do_not_decay():
    eigenvalues = np.array([1.0, 1.0 - 1e-16, 0.9, 0.5, 0.0, -1.0, -1.0])
    weights = diffusion_embedding(Eigenpairs(eigenvalues, np.ones((1, 7))), 2)[0]
    np.testing.assert_allclose(weights, np.exp([0, 0, -1, -5, -10, -20]), rtol=1e-8)


def test_pivoted_qr_finds_groups_and_ignores_signs():
    rows, labels = noisy_groups(noise=0.2)
    found = pivoted_qr(rows)
    assert adjusted_rand_score(labels, found) == 1.0
    rows[::2] *= -1
    np.testing.assert_array_equal(pivoted_qr(rows), found)


def test_unit_rows_keep_rows_of_zeros():
    found = unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]]))
    np.testing.assert_allclose(found, [[0.6, 0.8], [0.0, 0.0]])


def test_the_first_rotation_takes_the_most_orthogonal_rows():
    rows = unit_rows(
        np.array(
            [[1.0, 0.1, 0.0], [0.9, 0.2, 0.3], [0.0, 1.0, 0.1], [0.1, -0.9, 0.5], [0.1, 0.1, 1.0]]
        )
    )
    np.testing.assert_array_equal(first_rotation(rows, 0), rows[[0, 3, 4]].T)
    np.testing.assert_array_equal(first_rotation(rows, 2), rows[[2, 0, 4]].T)


def nearest_rotation(rows, labels):
    """Return the rotation nearest to a partition, and their agreement."""
    sums = np.stack([rows[labels == k].sum(axis=0) for k in range(rows.shape[1])])
    left, values, right = np.linalg.svd(sums)
    return (left @ right).T, values.sum()


def test_the_alternation_reaches_a_fixed_point():
    rows, labels = noisy_groups(noise=0.3)
    rows = unit_rows(rows)
    found, agreement = alternate(rows, first_rotation(rows, 5))
    assert adjusted_rand_score(labels, found) > 0.9
    rotation, expected = nearest_rotation(rows, found)
    assert agreement == pytest.approx(expected)
    np.testing.assert_array_equal((rows @ rotation).argmax(axis=1), found)


def test_the_alternation_takes_several_steps_from_a_poor_rotation():
    rng = np.random.default_rng(3)
    rows = unit_rows(np.eye(4)[np.repeat(np.arange(4), 30)] + 0.45 * rng.normal(size=(120, 4)))
    changed = []
    for seed in range(10):
        start, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))
        labels, agreement = alternate(rows, start)
        rotation, expected = nearest_rotation(rows, labels)
        assert agreement == pytest.approx(expected, rel=1e-9)
        np.testing.assert_array_equal((rows @ rotation).argmax(axis=1), labels)
        changed.append((labels != (rows @ start).argmax(axis=1)).sum())
    assert max(changed) > 20


@pytest.mark.parametrize(("n_rows", "n_starts"), [(60, 10), (6, 6)])
def test_the_nearest_partition_is_the_best_of_ten_starts(n_rows, n_starts):
    rows = unit_rows(np.random.default_rng(0).normal(size=(n_rows, 4)))
    starts = generator(3).choice(n_rows, size=n_starts, replace=False)
    runs = [alternate(rows, first_rotation(rows, start)) for start in starts]
    agreements = [agreement for _, agreement in runs]
    assert max(agreements) > min(agreements) + 1e-3
    found = nearest_partition(rows, generator(3))
    np.testing.assert_array_equal(found, runs[int(np.argmax(agreements))][0])
