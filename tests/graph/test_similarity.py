"""Sums over views of the similarities of patterns."""

import numpy as np
import pytest
import scipy.sparse

from viewspan.graph.patterns import unit_columns
from viewspan.graph.similarity import (
    PatternSums,
    absolute_cosines,
    completed_cosines,
    completion,
    shared_view_weights,
    sums_of_views,
)

WEIGHTS, CALIBRATIONS = np.array([1.0, 0.5]), np.array([2.0, 3.0])


def unit_rows(n_samples, rank, seed):
    return unit_columns(np.random.default_rng(seed).normal(size=(rank, n_samples))).T


def test_sums_are_of_three_kinds():
    first, second = (absolute_cosines(unit_rows(9, 3, s), unit_rows(6, 3, 5 + s)) for s in (0, 1))
    views = [first.copy(), second.copy()]
    plain, calibrated, ranked = sums_of_views(views, WEIGHTS, CALIBRATIONS, 4)
    np.testing.assert_allclose(plain, first + 0.5 * second, rtol=1e-5)
    np.testing.assert_allclose(calibrated, 2 * first + 1.5 * second, rtol=1e-5)
    for cosines, weight, found in zip((first, second), WEIGHTS, ranked, strict=True):
        np.testing.assert_array_equal(found.columns, np.argsort(-cosines, axis=1)[:, :4])
        expected = weight * np.log(5 / np.arange(1, 5))
        np.testing.assert_allclose(found.values, np.tile(expected, (9, 1)), rtol=1e-6)
    assert plain.dtype == calibrated.dtype == np.float32


def test_cosines_have_no_sign():
    pattern = np.array([[1.0, 0.6, -1.0], [0.0, 0.8, 0.0]], dtype=np.float32).T
    expected = [[1, 0.6, 1], [0.6, 1, 0.6], [1, 0.6, 1]]
    np.testing.assert_allclose(absolute_cosines(pattern, pattern), expected)


@pytest.mark.parametrize("with_missing", [False, True])
def test_cosines_decide_between_equal_sums_of_ranks(with_missing):
    observed = np.random.default_rng(0).uniform(size=(2, 12)) < 0.6
    patterns = [unit_rows(12, rank, rank) for rank in (2, 4)]
    if with_missing:
        patterns = [p * present[:, None] for p, present in zip(patterns, observed, strict=True)]
    sums = PatternSums(patterns, WEIGHTS, CALIBRATIONS, 3, observed if with_missing else None)
    plain = sum(w * np.abs(p @ p.T) for w, p in zip(WEIGHTS, patterns, strict=True))
    shared = np.ones((12, 12))
    if with_missing:
        shared = observed.T @ (WEIGHTS[:, None] * observed)
        plain = np.divide(plain, shared, out=np.zeros((12, 12)), where=shared > 0)
    np.fill_diagonal(plain, 0.0)
    equal = scipy.sparse.csr_array(np.where(shared > 0, shared, 1.0).astype(np.float32))
    found = sums._by_ranks(equal, equal.T.tocsr(), slice(4, 10))
    np.testing.assert_array_equal(found.columns, np.argsort(-plain[4:10], axis=1)[:, :3])


def test_shared_views_are_counted_by_weight():
    observed = np.array([[True, True, False], [True, False, True]])
    found = shared_view_weights(observed[:, 1:], observed, np.array([1.0, 0.5]))
    np.testing.assert_array_equal(found, [[1.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    assert found.dtype == np.float32


def test_a_missing_sample_is_the_mean_of_its_present_neighbours():
    pattern, present = unit_rows(4, 3, 0), np.array([True, True, False, True])
    pattern[2] = 0.0
    graph = scipy.sparse.csr_array(
        np.array([[0, 1, 3, 0], [1, 0, 1, 2], [3, 1, 0, 0], [0, 2, 0, 0.0]])
    )
    expected = np.eye(4)
    expected[2] = [0.75, 0.25, 0.0, 0.0]
    shares = completion(graph, present)
    np.testing.assert_allclose(shares.toarray(), expected)
    cosines = absolute_cosines(pattern, pattern)
    np.fill_diagonal(cosines, 0.0)
    for rows in (slice(0, 4), slice(1, 3), slice(2, 3)):
        found = completed_cosines(pattern, shares, rows)
        np.testing.assert_allclose(found, (expected @ cosines @ expected.T)[rows], atol=1e-7)
        assert found.dtype == np.float32
    isolated = completion(scipy.sparse.csr_array((4, 4)), present)
    assert not completed_cosines(pattern, isolated, slice(2, 3)).any()
