"""The graph of coefficient patterns."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.graph.results import random_cores, result_of
from tests.problems import two_subspaces
from viewspan._utils.linalg import Spectrum
from viewspan.graph import similarity
from viewspan.graph.neighbors import Neighbors, connect_neighbors
from viewspan.graph.patterns import (
    Patterns,
    calibrations,
    coefficient_columns,
    effective_rank,
    is_significant,
    neighbor_graph,
    patterns_of,
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


def dense_cosines(pattern):
    cosines = np.abs(pattern.T @ pattern)
    np.fill_diagonal(cosines, 0.0)
    return cosines


def dense_ranks(cosines, n_ranked):
    """Return log((n_ranked + 1) / rank) of the nearest samples of every row."""
    order = np.argsort(-cosines, axis=1, kind="stable")[:, :n_ranked]
    ranks = np.zeros_like(cosines)
    np.put_along_axis(ranks, order, np.log((n_ranked + 1) / np.arange(1, n_ranked + 1)), axis=1)
    return np.where(cosines > 0, ranks, 0.0)


def nearest_of_all(sums, n_neighbors):
    order = np.argsort(-sums, axis=1, kind="stable")[:, :n_neighbors]
    return Neighbors(order, np.take_along_axis(sums, order, axis=1))


def mean_of_three_graphs(cosines, spectra, weights, n_neighbors, n_ranked, shared=None):
    """Return the graph from its definition, with matrices of all pairs of samples."""
    ranks = [dense_ranks(c, n_ranked) for c in cosines]
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
    return connect_neighbors([nearest_of_all(total, n_neighbors) for total in sums]).toarray()


def random_patterns(n_samples=25, seed=0, observed=None, n_views=2):
    rng = np.random.default_rng(seed)
    found = [unit_columns(rng.normal(size=(rank, n_samples))) for rank in (3, 5)]
    if observed is not None:
        found = [column * present for column, present in zip(found, observed, strict=True)]
    return Patterns(found[:n_views], [np.array([3.0, 2.0, 1.0]), np.ones(5)][:n_views], observed)


@pytest.mark.parametrize(
    ("n_samples", "n_neighbors", "n_ranked"),
    [(25, 2, 20), (25, 4, 24), (7, 2, 6), (7, 3, 6), (900, 6, 60)],
)
@pytest.mark.parametrize("weights", [[1.0, 0.5], [1.0, 0.0], [0.7]])
@pytest.mark.parametrize("seed", range(3))
def test_the_graph_is_the_mean_of_three(n_samples, n_neighbors, n_ranked, weights, seed):
    patterns = random_patterns(n_samples, seed, n_views=len(weights))
    found = neighbor_graph(patterns, np.array(weights), n_neighbors).toarray()
    cosines = [dense_cosines(pattern) for pattern in patterns.columns]
    expected = mean_of_three_graphs(cosines, patterns.spectra, weights, n_neighbors, n_ranked)
    # rounding may swap cosines that are equal in single precision, which many samples have
    assert np.mean(~np.isclose(found, expected, rtol=1e-5)) < 1e-4
    np.testing.assert_allclose(found, found.T)
    assert not found.diagonal().any()


def test_ranks_that_are_equal_are_ordered_by_the_cosines():
    """With few neighbours in few views, most sums of ranks have equals."""
    rng = np.random.default_rng(0)
    angles = rng.uniform(0, np.pi, (2, 120))
    columns = [np.array([np.cos(a), np.sin(a)], dtype=np.float32) for a in angles]
    patterns = Patterns(columns, [np.ones(2)] * 2)
    cosines = [dense_cosines(pattern.astype(float)) for pattern in columns]
    expected = mean_of_three_graphs(cosines, patterns.spectra, [1.0, 1.0], 2, 20)
    found = neighbor_graph(patterns, np.ones(2), 2).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_zeros_and_duplicates_have_the_graph_of_the_definition():
    """Entries of patterns are 0 or ±1, so that all cosines are exact and most are equal."""
    rng = np.random.default_rng(0)
    columns = [np.zeros((4, 40), dtype=np.float32) for _ in range(2)]
    for column in columns:
        column[rng.integers(0, 4, 40), range(40)] = rng.choice([-1.0, 1.0], 40)
        column[:, :3] = 0.0
    patterns = Patterns(columns, [np.ones(4)] * 2)
    cosines = [dense_cosines(pattern) for pattern in columns]
    expected = mean_of_three_graphs(cosines, patterns.spectra, [1.0, 1.0], 3, 30)
    found = neighbor_graph(patterns, np.ones(2), 3).toarray()
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert not found[:3].any()


@pytest.mark.parametrize("missing", [False, True])
def test_the_graph_does_not_depend_on_the_size_of_blocks(monkeypatch, missing):
    observed = np.random.default_rng(1).uniform(size=(2, 80)) < 0.7 if missing else None
    patterns, weights = random_patterns(80, observed=observed), np.array([1.0, 0.5])
    expected = neighbor_graph(patterns, weights, 4).toarray()
    monkeypatch.setattr(similarity, "BLOCK_ENTRIES", 80 * 7)
    monkeypatch.setattr(similarity, "MIN_BLOCK_ROWS", 1)
    np.testing.assert_allclose(neighbor_graph(patterns, weights, 4).toarray(), expected, rtol=1e-5)


@pytest.mark.parametrize("n_samples", [1, 2, 3])
def test_very_few_samples_have_a_graph(n_samples):
    found = neighbor_graph(random_patterns(n_samples), np.ones(2)).toarray()
    assert found.shape == (n_samples, n_samples)
    assert not found.diagonal().any()
    assert found.any(axis=1).all() == (n_samples > 1)


def test_there_are_fifteen_neighbours_by_default():
    patterns = random_patterns(40)
    default, fifteen = (neighbor_graph(patterns, np.ones(2), *n).toarray() for n in ((), (15,)))
    np.testing.assert_array_equal(default, fifteen)


@pytest.mark.parametrize("n_samples", [25, 300])
def test_cosines_of_missing_samples_are_completed_from_a_first_graph(n_samples):
    observed = np.random.default_rng(1).uniform(size=(2, n_samples)) < 0.7
    patterns = random_patterns(n_samples, observed=observed)
    weights, n_ranked = np.array([1.0, 0.5]), min(40, n_samples - 1)
    cosines = [dense_cosines(pattern) for pattern in patterns.columns]
    present = observed.astype(float)
    shared = present.T @ (weights[:, None] * present)
    first = mean_of_three_graphs(cosines, patterns.spectra, weights, 4, n_ranked, shared)
    completed = [
        completed_from_definition(c, view, first) for c, view in zip(cosines, observed, strict=True)
    ]
    expected = mean_of_three_graphs(completed, patterns.spectra, weights, 4, n_ranked)
    found = neighbor_graph(patterns, weights, 4).toarray()
    assert np.mean(~np.isclose(found, expected, rtol=1e-4, atol=1e-6)) < 1e-4


def completed_from_definition(cosines, present, graph):
    """Return T C Tᵀ: missing samples are replaced by the means of their present neighbours."""
    shares = graph * present
    sums = shares.sum(axis=1, keepdims=True)
    shares = np.divide(shares, sums, out=np.zeros_like(shares), where=sums > 0)
    shares[present] = np.eye(len(graph))[present]
    found = shares @ cosines @ shares.T
    np.fill_diagonal(found, 0.0)
    return found


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


def test_views_are_calibrated_by_the_roots_of_effective_ranks():
    np.testing.assert_allclose(calibrations([np.ones(4), np.array([2.0, 1.0])]), [2, np.sqrt(1.8)])


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


@pytest.mark.parametrize("basis", [True, False])
def test_known_spectra_give_the_same_cosines(basis):
    rng = np.random.default_rng(0)
    cores = np.stack([rng.normal(size=(20, rank)) @ rng.normal(size=(rank, 20)) for rank in (3, 6)])
    right = np.linalg.qr(rng.normal(size=(30, 20)))[0] if basis else None
    result = replace(result_of(cores), left=right, right=right)
    known = [Spectrum(*(part[:7] for part in np.linalg.svd(core)[1:])) for core in cores]
    found, expected = (
        patterns_of(each, mutual=False) for each in (replace(result, spectra=known), result)
    )
    for mine, theirs, rank in zip(found.columns, expected.columns, (3, 6), strict=True):
        assert mine.shape == (rank, 30 if basis else 20)
        np.testing.assert_allclose(mine.T @ mine, theirs.T @ theirs, atol=1e-6)
