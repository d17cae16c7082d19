"""Every step from eigenvectors to labels."""

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from viewspan.graph import discretisation as discretize
from viewspan.graph.discretisation import (
    alternate,
    assign,
    by_direction,
    diffused,
    has_gap,
    n_eigenvectors,
    pivoted_qr,
    rotate,
    spread,
    suited,
    unit_rows,
)
from viewspan.graph.spectrum import Spectrum
from viewspan.objective.selection import CLEAR


def noisy_groups(seed=0, size=20, noise=0.1):
    """Rows near three orthogonal directions, rotated, of various lengths; and which."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(3), size)
    rotation, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    rows = (np.eye(3)[labels] + noise * rng.normal(size=(3 * size, 3))) @ rotation
    return rows * rng.uniform(0.5, 2.0, size=(3 * size, 1)), labels


def test_a_way_is_taken_as_asked_for_and_auto_suits_the_graph():
    assert suited("auto", by_patterns=True) == "modularity"
    assert suited("auto", by_patterns=False) == "discretize"
    assert suited("kmeans", by_patterns=True) == suited("kmeans", by_patterns=False) == "kmeans"


@pytest.mark.parametrize(("count", "few", "many"), [(1, 2, 3), (2, 3, 6), (5, 6, 15)])
def test_as_many_eigenvectors_as_each_way_looks_at(count, few, many):
    assert n_eigenvectors(count, "kmeans") == n_eigenvectors(count, "discretize") == few
    assert n_eigenvectors(count, "modularity") == many


def test_a_gap_is_clear_if_no_later_one_is_nearly_as_wide():
    assert has_gap(
        np.array([1.0, 0.9, 0.9 - 0.1 * CLEAR, 0.8 - 0.1 * CLEAR]) + 1e-12 * np.array([0, 1, 0, 0]),
        2,
    )
    assert not has_gap(np.array([1.0, 0.9, 0.905 - 0.1 * CLEAR, 0.8 - 0.1 * CLEAR]), 2)
    assert has_gap(np.array([1.0, 0.9]), 2)  # nothing follows
    assert has_gap(np.array([1.0, 0.9, 0.9, 0.9]), 2)  # none is wider than none
    assert has_gap(
        np.array([1.0, 0.9, 0.8, 0.8, 0.8, 0.8, 0.1]), 2
    )  # beyond what a diffusion looks at


@pytest.mark.parametrize("way", ["discretize", "cluster_qr", "kmeans", "modularity"])
def test_every_way_finds_clear_groups_from_the_leading_eigenvectors_alone(way):
    rows, labels = noisy_groups()
    misleading = np.random.default_rng(1).normal(size=(60, 1)) * 100
    spectrum = Spectrum(np.array([1.0, 0.99, 0.98, 0.1]), np.hstack([rows, misleading]))
    graph = 0.1 + (labels[:, None] == labels)
    found = assign(graph, spectrum, 3, way, np.random.RandomState(0))
    assert found.dtype == np.int64
    assert adjusted_rand_score(labels, found) == 1.0


def two_views_of_it():
    """Leading eigenvectors that show two groups of 12, and more of them that show two others."""
    first, second = np.repeat([0, 1], 6), np.tile([0, 1], 6)
    embedding = np.hstack([np.eye(2)[first], 30.0 * np.eye(2)[second], np.zeros((12, 2))])
    return first, second, Spectrum(np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.5]), embedding)


def test_without_a_gap_the_partition_of_higher_modularity_is_kept():
    first, second, spectrum = two_views_of_it()
    for labels, other in ((first, second), (second, first)):
        graph = 0.1 + 1.0 * (labels[:, None] == labels)
        found = assign(graph, spectrum, 2, "modularity", np.random.RandomState(0))
        assert adjusted_rand_score(labels, found) == 1.0
        assert adjusted_rand_score(other, found) < 0.5
    clear = spectrum._replace(eigenvalues=np.array([1.0, 0.9, 0.2, 0.19, 0.18, 0.17]))
    assert (
        adjusted_rand_score(first, assign(graph, clear, 2, "modularity", np.random.RandomState(0)))
        == 1.0
    )
    assert (
        adjusted_rand_score(first, assign(graph, spectrum, 2, "kmeans", np.random.RandomState(0)))
        == 1.0
    )


def test_k_means_weighs_samples():
    """The middle one of three goes to the nearer, unless it weighs so much that the other must give way."""
    angles = np.array([0.0, 0.4, 0.9])
    rows, weights = (
        np.stack([np.cos(angles), np.sin(angles)], axis=1),
        np.array([1000.0, 10.0, 1.0]),
    )
    plain, heavy = (
        by_direction(rows, 2, np.random.RandomState(0), which) for which in (None, weights)
    )
    assert plain[0] == plain[1] != plain[2]
    assert heavy[0] != heavy[1] == heavy[2]
    spectrum = Spectrum(np.array([1.0, 0.9, 0.0]), np.hstack([rows, np.zeros((3, 1))]))
    for way in ("kmeans", "modularity"):
        found = assign(np.eye(3), spectrum, 2, way, np.random.RandomState(0), weights)
        assert found[0] != found[1] == found[2]


def test_a_diffusion_is_weighed_in_both_runs_of_k_means(monkeypatch):
    seen = []
    monkeypatch.setattr(
        discretize, "by_direction", lambda *a: seen.append(a) or np.zeros(12, dtype=np.int64)
    )
    _, _, spectrum = two_views_of_it()
    weights, generator = np.arange(12.0), np.random.RandomState(0)
    assign(np.ones((12, 12)), spectrum, 2, "modularity", generator, weights)
    assert [call[0].shape[1] for call in seen] == [2, 6]
    assert all(call[1:] == (2, generator, weights) for call in seen)


def test_a_diffusion_has_a_decay_of_one_at_the_first_eigenvector_beyond_the_clusters():
    values = np.array([1.0, 0.8, 0.6, 0.4, 0.2, 0.0, -0.5, -0.6])
    found = diffused(Spectrum(values, np.ones((3, 8))), 2)
    np.testing.assert_allclose(
        found, np.tile(np.exp(-np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]) / 0.4), (3, 1))
    )


def test_the_most_independent_rows_stand_for_the_clusters():
    rows, labels = noisy_groups(noise=0.2)
    found = pivoted_qr(rows)
    assert adjusted_rand_score(labels, found) == 1.0
    rows[::2] *= -1  # an eigenvector knows no sign
    np.testing.assert_array_equal(pivoted_qr(rows), found)


def test_rows_of_unit_length_and_none_of_nothing():
    np.testing.assert_allclose(
        unit_rows(np.array([[3.0, 4.0], [0.0, 0.0]])), [[0.6, 0.8], [0.0, 0.0]]
    )


def test_the_first_rotation_takes_rows_that_are_as_orthogonal_as_can_be():
    rows = unit_rows(
        np.array(
            [[1.0, 0.1, 0.0], [0.9, 0.2, 0.3], [0.0, 1.0, 0.1], [0.1, -0.9, 0.5], [0.1, 0.1, 1.0]]
        )
    )
    np.testing.assert_array_equal(spread(rows, 0), rows[[0, 3, 4]].T)
    np.testing.assert_array_equal(spread(rows, 2), rows[[2, 0, 4]].T)


def test_the_alternation_reaches_a_fixed_point_whose_agreement_is_told():
    rows, labels = noisy_groups(noise=0.3)
    rows = unit_rows(rows)
    found, agreement = alternate(rows, spread(rows, 5))
    assert adjusted_rand_score(labels, found) > 0.9
    sums = np.stack([rows[found == k].sum(axis=0) for k in range(3)])
    left, values, right = np.linalg.svd(sums)
    assert agreement == pytest.approx(values.sum())
    np.testing.assert_array_equal((rows @ (left @ right).T).argmax(axis=1), found)


def test_the_best_of_the_starts_is_kept(monkeypatch):
    agreements = iter([0.5, 2.0, 1.0])
    starts = []

    def run(rows, rotation):
        starts.append(rotation)
        return np.full(3, len(starts)), next(agreements)

    monkeypatch.setattr(discretize, "alternate", run)
    assert rotate(np.eye(3), np.random.RandomState(0)).tolist() == [2, 2, 2]
    assert len({tuple(start[:, 0]) for start in starts}) == 3  # every row once, there are not ten


def test_starts_are_ten_different_rows_of_the_generators_choice(monkeypatch):
    starts = []
    monkeypatch.setattr(discretize, "spread", lambda rows, start: starts.append(start) or np.eye(3))
    rotate(noisy_groups()[0], np.random.RandomState(3))
    assert starts == np.random.RandomState(3).choice(60, size=10, replace=False).tolist()
