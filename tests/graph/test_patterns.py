"""The graph of coefficient patterns."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.graph.results import random_cores, result_of
from tests.problems import two_subspaces
from viewspan.graph.neighbors import (
    connect_neighbors,
    rank_similarity,
)
from viewspan.graph.patterns import (
    Patterns,
    absolute_cosines,
    coefficient_columns,
    completed_cosines,
    effective_rank,
    is_significant,
    neighbor_graph,
    patterns_of,
    shared_view_weights,
    unit_columns,
)
from viewspan.inputs.checks import check_views
from viewspan.inputs.preparation import prepare


def solved(views, lam=0.05, tau=0.1):
    return viewspan.solve(
        prepare(check_views(views, caller="test").read(), False, False, True)[1].arrays,
        lam,
        tau,
        tol=1e-6,
    )


def test_noise_free_subspaces_are_not_connected():
    views, labels = two_subspaces(noise=0.0, size=20)
    graph = viewspan.pattern_graph(solved(views)).toarray()
    assert (graph[labels[:, None] != labels] < 1e-3).all()
    assert (graph.sum(axis=1) > 0.5).all()


def test_the_signs_of_samples_do_not_matter():
    views, _ = two_subspaces()
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(views[0]), 1))
    one = viewspan.pattern_graph(solved(views)).toarray()
    other = viewspan.pattern_graph(solved([signs * view for view in views])).toarray()
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_scale_of_coefficients_does_not_matter():
    result = solved(two_subspaces()[0])
    larger = replace(result, cores=result.cores * np.array([8.0, 0.25])[:, None, None])
    one, other = (viewspan.pattern_graph(which).toarray() for which in (result, larger))
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_order_of_samples_does_not_matter():
    result = solved(two_subspaces(noise=0.5)[0])
    order = np.random.default_rng(1).permutation(30)
    other = replace(result, left=result.left[order], right=result.right[order])
    one, other = (viewspan.pattern_graph(which).toarray() for which in (result, other))
    np.testing.assert_allclose(one[np.ix_(order, order)], other, atol=1e-6)


def test_a_sample_without_coefficients_has_no_neighbours():
    views, _ = two_subspaces()
    views = [np.vstack([view, np.zeros((1, 12))]) for view in views]
    with pytest.warns(UserWarning, match="zero for 1 of 31"):
        result = solved(views)
    assert viewspan.pattern_graph(result).toarray()[-1].sum() == 0


def test_four_samples_are_enough():
    views, _ = two_subspaces(size=2)
    graph = viewspan.pattern_graph(solved(views)).toarray()
    assert graph.shape == (4, 4)
    assert not graph.diagonal().any()


def test_mutual_patterns_connect_samples_that_are_represented_by_themselves():
    views, labels = two_subspaces()
    result = viewspan.MLAP(2, random_state=0).fit(views[:1]).result_
    (coefficients,) = result.coefficients
    assert (np.diag(coefficients) > 0.999).any()
    one_sided = viewspan.pattern_graph(result)
    assert adjusted_rand_score(labels, viewspan.ncut(one_sided, 2, random_state=0)) < 1.0
    mutual = viewspan.pattern_graph(result, mutual=True)
    assert adjusted_rand_score(labels, viewspan.ncut(mutual, 2, random_state=0)) == 1.0


@pytest.mark.parametrize("wrong", [0, -3, 1.5, "3", None])
def test_an_invalid_number_of_neighbours_raises(wrong):
    message = rf"^n_neighbors must be an int of at least 1\. Got {wrong!r} instead\.$"
    with pytest.raises(ValueError, match=message):
        viewspan.pattern_graph(result_of(random_cores()), wrong)
    assert viewspan.pattern_graph(result_of(random_cores()), np.int64(1)).nnz > 0


def test_views_that_share_one_matrix_have_one_pattern():
    result = result_of(random_cores()[:1], scales=np.array([1.0, 0.5, 0.2]))
    found = viewspan.pattern_graph(result, 3, view_weights=[0.1, 1.0, 1.0]).toarray()
    expected = neighbor_graph(patterns_of(result, mutual=False), np.ones(1), 3).toarray()
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("mutual", [False, True])
def test_the_public_function_builds_the_graph_of_the_patterns(mutual):
    result = result_of(random_cores())
    found = viewspan.pattern_graph(result, 3, view_weights=[0.5, 1.0], mutual=mutual).toarray()
    patterns = patterns_of(result, mutual=mutual)
    expected = neighbor_graph(patterns, np.array([0.5, 1.0]), 3).toarray()
    np.testing.assert_array_equal(found, expected)


def random_patterns(n_samples=25, seed=0, observed=None):
    rng = np.random.default_rng(seed)
    found = [unit_columns(rng.normal(size=(rank, n_samples))) for rank in (3, 5)]
    if observed is not None:
        found = [column * present for column, present in zip(found, observed, strict=True)]
    return Patterns(found, [np.array([3.0, 2.0, 1.0]), np.ones(5)], observed)


def mean_of_three_graphs(cosines, spectra, weights, n_neighbors, n_ranked, shared=None):
    """Return the graph from its definition."""
    ranks = [rank_similarity(c, n_ranked) for c in cosines]
    plain = sum(w * c for w, c in zip(weights, cosines, strict=True))
    calibrated = sum(
        w * np.sqrt(effective_rank(s)) * c
        for w, s, c in zip(weights, spectra, cosines, strict=True)
    )
    ranked = sum(w * r for w, r in zip(weights, ranks, strict=True))
    if shared is not None:
        plain, calibrated, ranked = (
            np.divide(sums, shared, out=sums.copy(), where=shared > 0)
            for sums in (plain, calibrated, ranked)
        )
    ranked = ranked + ranked.T + 1e-3 * plain
    sums = [total.astype(np.float32) for total in (plain, calibrated, ranked)]
    return connect_neighbors(sums, n_neighbors).toarray()


@pytest.mark.parametrize(
    ("n_samples", "n_neighbors", "n_ranked"), [(25, 2, 20), (25, 4, 24), (7, 2, 6), (7, 3, 6)]
)
@pytest.mark.parametrize("weights", [[1.0, 0.5], [1.0, 0.0]])
@pytest.mark.parametrize("seed", range(3))
def test_the_graph_is_the_mean_of_three(n_samples, n_neighbors, n_ranked, weights, seed):
    patterns = random_patterns(n_samples, seed)
    found = neighbor_graph(patterns, np.array(weights), n_neighbors).toarray()
    cosines = [absolute_cosines(pattern) for pattern in patterns.columns]
    expected = mean_of_three_graphs(cosines, patterns.spectra, weights, n_neighbors, n_ranked)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(found, found.T)
    assert not found.diagonal().any()


def test_there_are_fifteen_neighbours_by_default():
    patterns = random_patterns(40)
    default, fifteen = (neighbor_graph(patterns, np.ones(2), *n).toarray() for n in ((), (15,)))
    np.testing.assert_array_equal(default, fifteen)


def test_cosines_of_missing_samples_are_completed_from_a_first_graph():
    observed = np.random.default_rng(1).uniform(size=(2, 25)) < 0.7
    patterns, weights = random_patterns(observed=observed), np.array([1.0, 0.5])
    cosines = [absolute_cosines(pattern) for pattern in patterns.columns]
    shared = shared_view_weights(observed, weights)
    first = mean_of_three_graphs(cosines, patterns.spectra, weights, 4, 24, shared)
    completed = [
        completed_cosines(c, present, scipy.sparse.csr_array(first))
        for c, present in zip(cosines, observed, strict=True)
    ]
    expected = mean_of_three_graphs(completed, patterns.spectra, weights, 4, 24)
    found = neighbor_graph(patterns, weights, 4).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_shared_views_are_counted_by_weight():
    observed = np.array([[True, True, False], [True, False, True]])
    found = shared_view_weights(observed, np.array([1.0, 0.5]))
    np.testing.assert_array_equal(found, [[1.5, 1.0, 0.5], [1.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    assert found.dtype == np.float32


def test_a_missing_sample_is_the_mean_of_its_present_neighbours():
    cosines = np.array(
        [[0.0, 0.8, 0.0, 0.2], [0.8, 0.0, 0.0, 0.4], [0.0] * 4, [0.2, 0.4, 0.0, 0.0]],
        dtype=np.float32,
    )
    present = np.array([True, True, False, True])
    graph = scipy.sparse.csr_array(
        np.array([[0, 1, 3, 0], [1, 0, 1, 2], [3, 1, 0, 0], [0, 2, 0, 0.0]])
    )
    found = completed_cosines(cosines, present, graph)
    np.testing.assert_allclose(found[2, 3], 0.75 * 0.2 + 0.25 * 0.4)
    np.testing.assert_allclose(found[2, 0], 0.25 * 0.8)
    np.testing.assert_allclose(found[np.ix_(present, present)], cosines[np.ix_(present, present)])
    np.testing.assert_allclose(found, found.T)
    assert not found.diagonal().any()
    assert found.dtype == np.float32
    isolated = completed_cosines(cosines, present, scipy.sparse.csr_array((4, 4)))
    assert not isolated[2].any()


def test_columns_are_those_of_the_coefficients_up_to_a_rotation():
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(9, 3)))[0]
    result = result_of(random_cores(3), basis, basis)
    for view in range(2):
        full, reduced = result.coefficient(view), coefficient_columns(result, view, False)
        assert reduced.shape == (3, 9)
        np.testing.assert_allclose(reduced.T @ reduced, full.T @ full, atol=1e-12)
        np.testing.assert_allclose(coefficient_columns(result, view, True), full + full.T)
    unreduced = result_of(random_cores())
    np.testing.assert_array_equal(coefficient_columns(unreduced, 1, False), unreduced.cores[1])


def test_patterns_are_unit_columns_without_missing_samples():
    observed = np.random.default_rng(1).uniform(size=(2, 9)) < 0.7
    result = result_of(random_cores(), observed=observed)
    found = patterns_of(result, mutual=False)
    for view in range(2):
        expected = unit_columns(result.cores[view]) * observed[view]
        np.testing.assert_array_equal(found.columns[view], expected)
        np.testing.assert_allclose(found.spectra[view], np.linalg.svd(result.cores[view])[1])
    assert found.observed is observed
    assert patterns_of(result_of(random_cores()), mutual=True).observed is None


def test_columns_of_rounding_become_zero():
    matrix = np.array([[3.0, 1e-12, 0.0, 1e-9], [4.0, 0.0, 0.0, 0.0]])
    found = unit_columns(matrix)
    np.testing.assert_allclose(found, [[0.6, 0.0, 0.0, 1.0], [0.8, 0.0, 0.0, 0.0]], rtol=1e-6)
    assert found.dtype == np.float32
    assert unit_columns(np.zeros((2, 0))).shape == (2, 0)
    np.testing.assert_array_equal(unit_columns(np.array([[1.0, 1e-10]])), [[1.0, 0.0]])
    np.testing.assert_array_equal(unit_columns(1e-20 * np.eye(2)), np.eye(2))


def test_single_precision_does_not_overflow():
    matrix = np.array([[3e30, 1e30], [4e30, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(unit_columns(matrix), [[0.6, 1], [0.8, 0]])


def test_the_effective_rank_counts_weak_directions_in_part():
    assert effective_rank(np.ones(5)) == 5.0
    assert effective_rank(np.array([2.0, 1.0])) == pytest.approx(9 / 5)
    assert effective_rank(np.array([0.1, 0.05])) == pytest.approx(9 / 5)
    assert effective_rank(np.zeros(3)) == 0.0


def test_cosines_have_no_sign_and_a_zero_diagonal():
    pattern = np.array([[1.0, 0.6, -1.0], [0.0, 0.8, 0.0]], dtype=np.float32)
    expected = [[0, 0.6, 1], [0.6, 0, 0.6], [1, 0.6, 0]]
    np.testing.assert_allclose(absolute_cosines(pattern), expected)


def test_columns_of_low_rank_have_few_rows():
    basis = np.linalg.qr(np.random.default_rng(1).normal(size=(12, 8)))[0]
    core = random_cores(8)[0]
    left, values, right = np.linalg.svd(core)
    low = left[:, :3] * values[:3] @ right[:3]
    for dtype, tolerance in ((np.float64, 1e-12), (np.float32, 1e-5)):
        result = result_of([low.astype(dtype)], basis, basis)
        found, full = coefficient_columns(result, 0, False), result.coefficient(0)
        assert found.shape == (3, 12)
        np.testing.assert_allclose(found.T @ found, full.T @ full, atol=tolerance)
    assert coefficient_columns(result_of([np.zeros((8, 8))], basis, basis), 0, False).shape[0] == 1


def test_singular_values_of_rounding_are_not_significant():
    values = np.array([2.0, 1e-5, 1e-9, 1e-12])
    np.testing.assert_array_equal(is_significant(values, np.dtype(float)), [1, 1, 1, 0])
    np.testing.assert_array_equal(is_significant(values, np.dtype(np.float32)), [1, 1, 0, 0])
    np.testing.assert_array_equal(is_significant(np.zeros(2), np.dtype(float)), [1, 0])
