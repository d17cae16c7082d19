"""The number of clusters from eigenvalues."""

import warnings

import numpy as np
import pytest

from viewspan.graph.cluster_count import (
    CHANCE_MARGIN,
    count_above,
    count_clusters,
    eigengap,
    is_above_chance,
    most_clusters,
)


@pytest.fixture(autouse=True)
def _every_warning_is_expected():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize(
    ("eigenvalues", "count"),
    [
        ([1, 0.9, 0.85, 0.2, 0.1], 3),
        ([1, 0.5, 0.1, 0.05], 2),
        ([1, 0.2, 0.1], 2),  # the first gap is never counted
        ([1, 0.3], 1),
        ([1.0], 1),
    ],
)
def test_the_widest_gap_counts_clusters(eigenvalues, count):
    assert count_clusters(np.array(eigenvalues, dtype=float)) == count


def test_an_unclear_gap_warns_and_names_both_numbers():
    values = np.array([1, 0.95, 0.9, 0.5, 0.48, 0.1, 0.09])
    message = (
        r"^The number of clusters is not clear from the data: 3 is the best guess, with a gap "
        r"between eigenvalues of 0\.4, but 5 has 0\.38\. Give n_clusters if you know it\.$"
    )
    with pytest.warns(UserWarning, match=message):
        assert count_clusters(values) == 3


def test_a_gap_twice_as_wide_as_any_other_is_clear():
    assert count_clusters(np.array([1.0, 0.75, 0.25, 0.0])) == 2
    with pytest.warns(UserWarning, match="2 is the best guess"):
        assert count_clusters(np.array([1.0, 0.75, 0.26, 0.0])) == 2


def test_small_clusters_are_counted_by_ratios_above_chance():
    falling = np.r_[1, 0.8, np.linspace(0.75, 0.5, 8), [0.4, 0.38, 0.36, 0.1, 0.09]]
    assert count_clusters(falling, np.full(15, 0.37)) == 10
    assert count_clusters(falling) == 13  # the fall below chance is the widest of all


def test_an_unclear_ratio_is_called_a_log_ratio():
    values, chance = np.array([1.0, 0.9, 0.5, 0.3, 0.29]), np.full(5, 0.2)
    with pytest.warns(
        UserWarning, match=r"2 is the best guess, with a log-ratio of .* 0\.59, but 3"
    ):
        assert count_clusters(values, chance) == 2


def test_eigenvalues_below_chance_warn_that_there_may_be_no_clusters():
    with pytest.warns(UserWarning, match="noise would give such a graph.*no clusters at all"):
        assert count_clusters(np.linspace(1.0, 0.5, 6), np.full(6, 0.95)) == 2


def test_eigenvalues_hardly_above_chance_warn():
    values, chance = np.array([1, 0.62, 0.3, 0.29, 0.28]), np.array([1, 0.6, 0.55, 0.5, 0.45])
    with pytest.warns(UserWarning, match="2 is the best guess, but a graph of noise has almost"):
        assert count_clusters(values, chance) == 2
    values[1] = 0.7
    assert count_clusters(values, chance) == 2


def test_the_margin_above_chance_is_a_share_of_the_way_to_one():
    assert is_above_chance(0.5 + 0.51 * CHANCE_MARGIN, 0.5)
    assert not is_above_chance(0.5 + 0.49 * CHANCE_MARGIN, 0.5)


@pytest.mark.parametrize(
    ("chance", "expected"), [([1, 0.8, 0.6, 0.4], 2), ([1, 0.95, 0, 0], 1), ([1, 0, 0, 0], 3)]
)
def test_eigenvalues_above_chance_are_counted_in_a_row(chance, expected):
    assert count_above(np.array([1.0, 0.9, 0.5, 0.45]), np.array(chance, dtype=float)) == expected


@pytest.mark.parametrize(
    ("n_samples", "most"), [(2, 1), (5, 4), (11, 10), (12, 10), (16, 12), (100, 30)]
)
def test_an_estimate_considers_a_few_times_the_root_of_the_samples(n_samples, most):
    assert most_clusters(n_samples) == most


@pytest.mark.parametrize(("n_clusters", "expected"), [(1, 0.5), (2, 0.3), (3, 1.0)])
def test_the_eigengap_follows_the_clusters(n_clusters, expected):
    assert eigengap(np.array([1.0, 0.5, 0.2]), n_clusters) == pytest.approx(expected)


def test_an_eigengap_is_never_negative():
    assert eigengap(np.array([0.5, 0.6]), 1) == 0.0
