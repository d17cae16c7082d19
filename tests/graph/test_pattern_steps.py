"""From coefficients to neighbours, every step from its definition."""

import numpy as np
import pytest
import scipy.sparse

import viewspan
from viewspan.graph import patterns as module
from viewspan.graph.affinity import affinity, check_square
from viewspan.graph.patterns import (
    DEPTH,
    TIES,
    Counted,
    Patterns,
    average,
    blocks_of_rows,
    closeness_by_rank,
    columns,
    completed,
    cosines_of,
    effective_rank,
    largest_of_block,
    nearest,
    neighbour_graph,
    normalise,
    patterns_of,
    shared_views,
    strongest,
    unit_columns,
)
from viewspan.solvers.result import Result


def result_of(cores, left=None, right=None, scales=None, observed=None):
    return Result(
        cores,
        left,
        right,
        None,
        1.0,
        1.0,
        "optimal",
        1,
        [],
        np.ones(2),
        1.0,
        scales=scales,
        observed=observed,
    )


def random_cores(size=9, seed=0, width=None):
    return np.random.default_rng(seed).normal(size=(2, size, width or size))


def random_patterns(n_samples=25, seed=0, observed=None):
    rng = np.random.default_rng(seed)
    found = [unit_columns(rng.normal(size=(rank, n_samples))) for rank in (3, 5)]
    if observed is not None:
        found = [column * present for column, present in zip(found, observed, strict=True)]
    return Patterns(found, [np.array([3.0, 2.0, 1.0]), np.ones(5)], observed)


def by_hand(cosines, spectra, weights, n_neighbors, shared=None):
    """The three sums, and the mean of their graphs."""
    depth = min(DEPTH * n_neighbors, len(cosines[0]) - 1)
    ranks = [closeness_by_rank(c, depth) for c in cosines]
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
    ranked = ranked + ranked.T + TIES * plain
    graphs = [
        normalise(nearest(sums.astype(np.float32), n_neighbors))
        for sums in (plain, calibrated, ranked)
    ]
    return average(graphs, [1.0, 1.0, 1.0]).toarray()


@pytest.mark.parametrize("n_neighbors", [2, 4])
@pytest.mark.parametrize("weights", [[1.0, 0.5], [1.0, 0.0]])
def test_the_graph_is_the_mean_of_three(n_neighbors, weights):
    patterns = random_patterns()
    found = neighbour_graph(patterns, np.array(weights), n_neighbors).toarray()
    cosines = [cosines_of(pattern) for pattern in patterns.columns]
    np.testing.assert_allclose(
        found, by_hand(cosines, patterns.spectra, weights, n_neighbors), rtol=1e-5
    )
    np.testing.assert_allclose(found, found.T)
    assert not found.diagonal().any()


def test_without_a_word_there_are_fifteen_neighbours():
    patterns = random_patterns(40)
    found, asked = (neighbour_graph(patterns, np.ones(2), *n).toarray() for n in ((), (15,)))
    np.testing.assert_array_equal(found, asked)
    one = (
        Counted(40, patterns.spectra, np.ones(2), 15)
        .graph(map(cosines_of, patterns.columns))
        .toarray()
    )
    np.testing.assert_array_equal(one, asked)


def test_absent_samples_are_completed_from_their_neighbours():
    observed = np.random.default_rng(1).uniform(size=(2, 25)) < 0.7
    patterns, weights = random_patterns(observed=observed), np.array([1.0, 0.5])
    cosines = [cosines_of(pattern) for pattern in patterns.columns]
    first = by_hand(cosines, patterns.spectra, weights, 4, shared=shared_views(observed, weights))
    whole = [
        completed(c, present, scipy.sparse.csr_array(first))
        for c, present in zip(cosines, observed, strict=True)
    ]
    found = neighbour_graph(patterns, weights, 4).toarray()
    np.testing.assert_allclose(
        found, by_hand(whole, patterns.spectra, weights, 4), rtol=1e-4, atol=1e-6
    )


def test_views_are_shared_by_weight():
    observed = np.array([[True, True, False], [True, False, True]])
    found = shared_views(observed, np.array([1.0, 0.5]))
    np.testing.assert_array_equal(found, [[1.5, 1.0, 0.5], [1.0, 1.0, 0.0], [0.5, 0.0, 0.5]])
    assert found.dtype == np.float32


def test_an_absent_sample_is_the_mean_of_its_present_neighbours():
    cosines = np.array(
        [[0.0, 0.8, 0.0, 0.2], [0.8, 0.0, 0.0, 0.4], [0.0] * 4, [0.2, 0.4, 0.0, 0.0]],
        dtype=np.float32,
    )
    present = np.array([True, True, False, True])
    graph = scipy.sparse.csr_array(
        np.array([[0, 1, 3, 0], [1, 0, 1, 2], [3, 1, 0, 0], [0, 2, 0, 0.0]])
    )
    found = completed(cosines, present, graph)
    np.testing.assert_allclose(found[2, 3], 0.75 * 0.2 + 0.25 * 0.4)
    np.testing.assert_allclose(found[2, 0], 0.25 * 0.8)
    np.testing.assert_allclose(found[np.ix_(present, present)], cosines[np.ix_(present, present)])
    np.testing.assert_allclose(found, found.T)
    assert not found.diagonal().any()
    assert found.dtype == np.float32
    alone = completed(cosines, present, scipy.sparse.csr_array((4, 4)))
    assert not alone[2].any()


def test_columns_are_those_of_the_coefficients_up_to_a_rotation():
    cores, basis = random_cores(3), np.linalg.qr(np.random.default_rng(1).normal(size=(9, 3)))[0]
    result = result_of(cores, basis, basis)
    for view in range(2):
        whole, short = result.coefficient(view), columns(result, view, False)
        np.testing.assert_allclose(short.T @ short, whole.T @ whole, atol=1e-12)
        np.testing.assert_allclose(columns(result, view, True), whole + whole.T)
    plain = result_of(random_cores())
    assert columns(plain, 1, False) is plain.cores[1] or np.array_equal(
        columns(plain, 1, False), plain.cores[1]
    )


def test_patterns_of_a_result():
    observed = np.random.default_rng(1).uniform(size=(2, 9)) < 0.7
    result = result_of(random_cores(), observed=observed)
    found = patterns_of(result, mutual=False)
    for view in range(2):
        np.testing.assert_array_equal(
            found.columns[view], unit_columns(result.cores[view]) * observed[view]
        )
        np.testing.assert_allclose(found.spectra[view], np.linalg.svd(result.cores[view])[1])
    assert found.observed is observed
    assert patterns_of(result_of(random_cores()), mutual=True).observed is None


def test_one_matrix_for_all_views_is_one_pattern():
    result = result_of(random_cores()[:1], scales=np.array([1.0, 0.5, 0.2]))
    found = viewspan.pattern_graph(result, 3, view_weights=[0.1, 1.0, 1.0]).toarray()
    expected = neighbour_graph(patterns_of(result, mutual=False), np.ones(1), 3).toarray()
    np.testing.assert_array_equal(found, expected)
    mutual = viewspan.pattern_graph(
        result_of(random_cores()), 3, view_weights=[0.5, 1.0], mutual=True
    ).toarray()
    expected = neighbour_graph(
        patterns_of(result_of(random_cores()), mutual=True), np.array([0.5, 1.0]), 3
    ).toarray()
    np.testing.assert_array_equal(mutual, expected)


@pytest.mark.parametrize("wrong", [0, 1.5, "3", None])
def test_neighbours_are_whole_numbers_from_one_on(wrong):
    message = rf"^n_neighbors must be an int of at least 1\. Got {wrong!r} instead\.$"
    with pytest.raises(ValueError, match=message):
        viewspan.pattern_graph(result_of(random_cores()), wrong)
    assert viewspan.pattern_graph(result_of(random_cores()), np.int64(1)).nnz > 0


def test_unit_columns_have_no_direction_of_rounding():
    matrix = np.array([[3.0, 1e-12, 0.0, 1e-9], [4.0, 0.0, 0.0, 0.0]])
    np.testing.assert_allclose(
        unit_columns(matrix), [[0.6, 0.0, 0.0, 1.0], [0.8, 0.0, 0.0, 0.0]], rtol=1e-6
    )
    assert unit_columns(matrix).dtype == np.float32
    assert unit_columns(np.zeros((2, 0))).shape == (2, 0)
    edge = np.array([[1.0, 1e-10]])
    np.testing.assert_array_equal(unit_columns(edge), [[1.0, 0.0]])


def test_single_precision_does_not_overflow():
    np.testing.assert_allclose(
        unit_columns(np.array([[3e30, 1e30], [4e30, 0.0]], dtype=np.float32)), [[0.6, 1], [0.8, 0]]
    )


def test_the_effective_rank():
    assert effective_rank(np.ones(5)) == 5.0
    assert effective_rank(np.array([2.0, 1.0])) == pytest.approx(9 / 5)
    assert effective_rank(np.array([0.1, 0.05])) == pytest.approx(9 / 5)
    assert effective_rank(np.zeros(3)) == 0.0


def test_cosines_have_no_sign_and_none_is_with_oneself():
    pattern = np.array([[1.0, 0.6, -1.0], [0.0, 0.8, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(cosines_of(pattern), [[0, 0.6, 1], [0.6, 0, 0.6], [1, 0.6, 0]])


def test_the_largest_come_first_and_equal_ones_in_their_order():
    matrix = np.array([[0.1, 0.9, 0.5, 0.9], [0.0, 0.0, 0.0, 1.0]])
    found, values = largest_of_block(matrix, 3)
    np.testing.assert_array_equal(values, [[0.9, 0.9, 0.5], [1.0, 0.0, 0.0]])
    assert set(found[0, :2]) == {1, 3}
    assert found[1, 0] == 3
    assert largest_of_block(matrix, 9)[0].shape == (2, 4)


@pytest.mark.parametrize(
    ("many", "shape", "heights"),
    [(400, (50, 10), [10] * 5), (100, (5, 30), [1] * 5), (480, (7, 40), [3, 3, 1])],
)
def test_blocks_are_a_quarter_of_many_and_cover_all_rows(monkeypatch, many, shape, heights):
    monkeypatch.setattr(module, "MANY", many)
    matrix = np.zeros(shape)
    assert [len(matrix[rows]) for rows in blocks_of_rows(matrix)] == heights


def test_weights_of_the_strongest_fall_and_nothing_is_no_neighbour():
    closeness = np.array([[0.3, 0.9, 0.0], [0.0, 0.2, 0.0]], dtype=np.float32)
    np.testing.assert_allclose(
        strongest(closeness, 2).toarray(), [[0.5, 1.0, 0.0], [0.0, 1.0, 0.0]]
    )
    assert strongest(closeness, 2).nnz == 3
    np.testing.assert_allclose(
        strongest(closeness, 7).toarray(), [[2 / 3, 1.0, 0.0], [0.0, 1.0, 0.0]]
    )


@pytest.mark.parametrize(
    ("n_samples", "asked", "found"), [(3, 5, 1), (2, 5, 1), (8, 5, 3), (9, 5, 4), (30, 5, 5)]
)
def test_no_more_neighbours_than_two_equal_clusters_have(n_samples, asked, found):
    closeness = (
        np.random.default_rng(0).uniform(0.1, 1.0, (n_samples, n_samples)).astype(np.float32)
    )
    np.fill_diagonal(closeness, 0.0)
    graph = nearest(closeness, asked).toarray()
    expected = strongest(closeness, found).toarray()
    np.testing.assert_allclose(graph, expected + expected.T)


def test_graphs_are_divided_by_the_roots_of_their_degrees():
    graph = np.array([[0.0, 4.0, 0.0], [4.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    expected = [[0, 4 / 6, 0], [4 / 6, 5 / 9, 0], [0, 0, 0]]
    np.testing.assert_allclose(normalise(scipy.sparse.csr_array(graph)).toarray(), expected)


def test_means_are_weighted_and_plain_without_weights():
    graphs = [np.full((2, 2), value) for value in (1.0, 4.0, 10.0)]
    np.testing.assert_allclose(average(graphs, [1.0, 2.0, 1.0]), 19 / 4)
    np.testing.assert_allclose(average(graphs, [0.0, 0.0, 0.0]), 5.0)
    np.testing.assert_allclose(average(graphs[:1], [0.5]), 1.0)


def test_the_papers_graph_is_a_mean_over_the_views_that_two_samples_share():
    observed = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], dtype=bool)
    cores, weights = random_cores(4), np.array([1.0, 0.5])
    squares = (weights[:, None, None] * cores) ** 2
    for given, factors in ((None, np.ones(2)), (weights, weights)):
        squares = (factors[:, None, None] * cores) ** 2
        united = np.zeros((4, 4))
        for i in range(4):
            for j in range(4):
                both = observed[:, i] & observed[:, j]
                if both.any():
                    united[i, j] = np.sqrt(squares[both, i, j].sum() / (factors[both] ** 2).sum())
                else:
                    united[i, j] = np.sqrt(squares[:, i, j].sum() / (factors**2).sum())
        found = affinity(result_of(cores, observed=observed), view_weights=given)
        np.testing.assert_allclose(found, united + united.T)


def test_weights_of_views_in_the_papers_graph():
    cores, weights = random_cores(4), np.array([1.0, 0.5])
    united = np.sqrt(cores[0] ** 2 + 0.25 * cores[1] ** 2)
    for given in (result_of(cores), list(cores), cores):
        np.testing.assert_allclose(affinity(given, view_weights=weights), united + united.T)
    np.testing.assert_allclose(
        affinity(cores[0], view_weights=[0.5]), np.abs(cores[0]) + np.abs(cores[0].T)
    )
    np.testing.assert_allclose(affinity([[[1, 2], [3, 4]]]), [[2, 5], [5, 8]])


def test_shared_scales_are_one_square():
    result = result_of(random_cores(4)[:1], scales=np.array([1.0, 0.5]))
    size = np.abs(result.cores[0])
    np.testing.assert_allclose(
        affinity(result, view_weights=[0.5, 1.0]), np.sqrt(0.5) * (size + size.T)
    )


@pytest.mark.parametrize(
    ("blocks", "listed"),
    [
        ([np.ones((2, 3))], r"\(2, 3\)"),
        ([np.eye(2), np.eye(3)], r"\(2, 2\), \(3, 3\)"),
        ([np.ones((2, 2, 2))], r"\(2, 2, 2\)"),
        ([np.ones(3)], r"\(3,\)"),
        ([], "none"),
    ],
)
def test_shapes_that_do_not_fit_are_listed(blocks, listed):
    message = rf"^affinity needs square coefficient matrices of one size\. Got shapes: {listed}\.$"
    with pytest.raises(ValueError, match=message):
        check_square(blocks)
