"""Graphs between samples and landmarks."""

import numpy as np
import pytest
import scipy.sparse

import viewspan
from tests.problems import many_subspaces, random_views
from viewspan._utils.linalg import ratio
from viewspan.graph import landmarks as module
from viewspan.graph.landmarks import (
    affinity_to_landmarks,
    choose_landmarks,
    graph_between_landmarks,
    largest_cosine_sums,
    normalized_bipartite,
    pattern_graph_to_landmarks,
    ranked_sums,
    strong_coefficients,
    with_self_similarity,
)
from viewspan.graph.neighbors import largest_of_rows, mean_graph, ranked_edges
from viewspan.graph.patterns import Patterns, effective_rank, patterns_of, unit_columns
from viewspan.graph.similarity import sums_of_views
from viewspan.graph.spectrum import leading_eigenvalues, leading_eigenvectors


def generator(seed=0):
    return np.random.RandomState(seed)


@pytest.fixture(scope="module")
def solved():
    views, labels = many_subspaces(400)
    units = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]
    return viewspan.solve(units, 1.0, 1.0), labels


def random_patterns(n_samples=30, seed=0):
    rng = np.random.default_rng(seed)
    columns = [unit_columns(rng.normal(size=(rank, n_samples))) for rank in (3, 5)]
    return Patterns(columns, [np.array([3.0, 2.0, 1.0]), np.ones(5)])


def cosines_between(patterns, references):
    """Return the sum of cosines over views between samples and references."""
    return sum(np.abs(pattern.T @ pattern[:, references]) for pattern in patterns.columns)


def test_the_cut_between_landmarks_is_that_of_the_bipartite_graph():
    """D^-½ [0 B; Bᵀ 0] D^-½ has the same leading eigenvalues and eigenvectors."""
    graph = scipy.sparse.random_array((40, 12), density=0.3, random_state=0, format="csr")
    full = scipy.sparse.block_array([[None, graph], [graph.T, None]]).toarray()
    scale = ratio(1.0, np.sqrt(full.sum(axis=1)))
    values, vectors = np.linalg.eigh(full * scale * scale[:, None])
    between = graph_between_landmarks(graph)
    found = leading_eigenvalues(between, 5, generator(), steps=2)
    np.testing.assert_allclose(found, values[::-1][:5], atol=1e-12)
    embedding = leading_eigenvectors(between, 3, generator(), steps=2).embedding
    expected = (vectors * scale[:, None])[40:, ::-1][:, :3]
    cosines = np.abs((embedding * expected).sum(axis=0))
    cosines /= np.linalg.norm(embedding, axis=0) * np.linalg.norm(expected, axis=0)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-9)


@pytest.mark.parametrize(("max_sparse", "sparse"), [(0.0, False), (1.0, True)])
def test_the_product_is_dense_or_sparse(monkeypatch, max_sparse, sparse):
    monkeypatch.setattr(module, "MAX_SPARSE_SHARE", max_sparse)
    graph = scipy.sparse.random_array((40, 12), density=0.3, random_state=0, format="csr")
    found = graph_between_landmarks(graph)
    assert scipy.sparse.issparse(found) == sparse
    matrix = graph.toarray()
    inverse = ratio(1.0, matrix.sum(axis=1))
    np.testing.assert_allclose(found @ np.eye(12), matrix.T @ np.diag(inverse) @ matrix, rtol=1e-9)


def test_the_product_is_dense_from_a_share_of_entries_on():
    graph = np.zeros((10, 10))
    graph[range(5), range(5)] = 1.0
    assert scipy.sparse.issparse(graph_between_landmarks(scipy.sparse.csr_array(graph)))
    graph[5, 5] = 1.0
    assert isinstance(graph_between_landmarks(scipy.sparse.csr_array(graph)), np.ndarray)


@pytest.mark.parametrize("n_landmarks", [1, 7, 80, 400])
def test_landmarks_are_distinct_and_sorted(solved, n_landmarks):
    landmarks = choose_landmarks(patterns_of(solved[0], mutual=False), n_landmarks, generator())
    assert len(landmarks) == n_landmarks
    assert (np.diff(landmarks) > 0).all()


def test_rare_samples_become_landmarks():
    """Five of a thousand samples point in another direction; uniform draws would find 10 %."""
    rng = np.random.default_rng(0)
    common = np.array([[1.0], [0.0], [0.0]]) + 0.01 * rng.normal(size=(3, 1000))
    rare = np.array([[0.0], [1.0], [0.0]]) + 0.01 * rng.normal(size=(3, 5))
    patterns = Patterns([unit_columns(np.hstack([common, rare]))], [np.ones(3)])
    found = [np.any(choose_landmarks(patterns, 20, generator(seed)) >= 1000) for seed in range(20)]
    assert np.mean(found) > 0.9


def test_duplicate_samples_can_all_be_landmarks():
    patterns = Patterns([unit_columns(np.ones((3, 30)))], [np.ones(3)])
    assert len(choose_landmarks(patterns, 25, generator())) == 25


@pytest.mark.parametrize("seed", range(5))
def test_landmarks_are_drawn_in_rounds_by_squared_distance(monkeypatch, seed):
    monkeypatch.setattr(module, "N_ROUNDS", 3)
    patterns, draws = random_patterns(seed=seed), generator(seed)
    expected = draws.permutation(30)[:3]
    for size in (3, 2):
        nearest = cosines_between(patterns, expected).max(axis=1).astype(float)
        distances = np.maximum(1.0 - nearest / 2, 1e-4) ** 2
        distances[expected] = 0.0
        newest = draws.choice(30, size, replace=False, p=distances / distances.sum())
        expected = np.concatenate([expected, newest])
    found = choose_landmarks(patterns, 8, generator(seed))
    np.testing.assert_array_equal(found, np.sort(expected))


def test_views_of_zeros_do_not_change_the_landmarks():
    patterns = random_patterns()
    zeros = np.zeros((2, 30), dtype=np.float32)
    padded = Patterns([*patterns.columns, zeros], [*patterns.spectra, np.zeros(2)])
    found, expected = (choose_landmarks(which, 20, generator()) for which in (padded, patterns))
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("block_rows", [1024, 7])
def test_the_nearest_landmark_has_the_largest_sum_of_cosines(monkeypatch, block_rows):
    monkeypatch.setattr(module, "BLOCK_ROWS", block_rows)
    patterns, landmarks = random_patterns(), np.array([4, 9, 20])
    expected = cosines_between(patterns, landmarks).max(axis=1)
    np.testing.assert_allclose(largest_cosine_sums(patterns, landmarks), expected, rtol=1e-6)


def test_samples_are_connected_with_landmarks_of_their_subspace(solved):
    result, labels = solved
    patterns = patterns_of(result, mutual=False)
    landmarks = choose_landmarks(patterns, 80, generator())
    edges = pattern_graph_to_landmarks(patterns, landmarks, np.ones(2), 5).tocoo()
    inside = edges.data[labels[edges.row] == labels[landmarks][edges.col]].sum()
    assert inside > 0.97 * edges.data.sum()


def dense_ranks(cosines, n_ranked):
    """Return log((n_ranked + 1) / rank) of the nearest landmarks of every row."""
    ranks = np.argsort(np.argsort(-cosines, axis=1), axis=1) + 1
    return np.where(ranks <= n_ranked, np.log((n_ranked + 1) / ranks), 0.0)


def dense_sums(patterns, landmarks, weights, n_ranked):
    """Return the three sums over views from their definition."""
    cosines = [np.abs(p.T @ p[:, landmarks]) for p in patterns.columns]
    roots = np.sqrt([effective_rank(spectrum) for spectrum in patterns.spectra])
    plain = sum(w * c for w, c in zip(weights, cosines, strict=True))
    calibrated = sum(w * r * c for w, r, c in zip(weights, roots, cosines, strict=True))
    ranked = sum(w * dense_ranks(c, n_ranked) for w, c in zip(weights, cosines, strict=True))
    return plain, calibrated, ranked + 1e-3 * plain


@pytest.mark.parametrize("weights", [[1.0, 0.5], [1.0, 0.0]])
@pytest.mark.parametrize("block_rows", [1024, 7, 30])
@pytest.mark.parametrize(("landmarks", "n_ranked"), [([4, 9, 20, 21, 25, 29], 4), ([4, 9, 20], 2)])
def test_the_graph_to_landmarks_is_the_mean_of_three(
    monkeypatch, block_rows, landmarks, n_ranked, weights
):
    monkeypatch.setattr(module, "BLOCK_ROWS", block_rows)
    landmarks, weights, patterns = np.array(landmarks), np.array(weights), random_patterns()
    graphs = []
    for values in dense_sums(patterns, landmarks, weights, n_ranked):
        values[landmarks, np.arange(len(landmarks))] = 2 * values.max()
        nearest = largest_of_rows(values.astype(np.float32), 2)
        graphs.append(normalized_bipartite(ranked_edges(nearest, len(landmarks))))
    found = pattern_graph_to_landmarks(patterns, landmarks, weights, 2).toarray()
    np.testing.assert_allclose(found, mean_graph(graphs, [1.0, 1.0, 1.0]).toarray(), rtol=1e-6)
    assert found.shape == (30, len(landmarks))


def test_zeros_have_no_rank():
    values = np.array([[0.0, 0.5, 0.0], [0.0, 0.0, 0.0]], dtype=np.float32)
    found = ranked_sums(sums_of_views([values.copy()], np.ones(1), np.ones(1), 3))
    expected = [[0, np.log(4) + 5e-4, 0], [0, 0, 0]]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_a_landmark_is_most_similar_to_itself():
    similarity = np.array([[0.5, 0.2], [0.4, 0.9], [0.3, 0.8], [0.1, 0.0]])
    found = with_self_similarity(similarity.copy(), np.array([11, 12]), 10)
    expected = similarity.copy()
    expected[1, 0], expected[2, 1] = 1.001 * 0.9, 1.001 * 0.8
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize(("landmarks", "n_changed"), [([9, 14], 0), ([10, 13], 2)])
def test_only_landmarks_of_the_block_are_changed(landmarks, n_changed):
    similarity = np.array([[0.5, 0.2], [0.4, 0.9], [0.3, 0.8], [0.1, 0.0]])
    found = with_self_similarity(similarity.copy(), np.array(landmarks), 10)
    assert (found != similarity).sum() == n_changed


def test_edges_are_divided_by_the_roots_of_both_degrees():
    graph = np.array([[1.0, 3.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    expected = [[1 / np.sqrt(4 * 1), 3 / np.sqrt(4 * 8), 0], [0, 5 / np.sqrt(5 * 8), 0], [0, 0, 0]]
    found = normalized_bipartite(scipy.sparse.csr_array(graph))
    np.testing.assert_allclose(found.toarray(), expected)


@pytest.mark.parametrize(
    ("n_neighbors", "n_landmarks", "expected"),
    [(5, 100, 25), (30, 100, 30), (30, 20, 20), (1, 7, 1)],
)
def test_a_quarter_of_the_coefficients_is_kept(n_neighbors, n_landmarks, expected):
    assert strong_coefficients(n_neighbors, n_landmarks) == expected


@pytest.mark.parametrize("block_rows", [1024, 150])
def test_the_columns_of_landmarks_are_those_of_the_papers_graph(solved, monkeypatch, block_rows):
    monkeypatch.setattr(module, "BLOCK_ROWS", block_rows)
    result, _ = solved
    landmarks, weights = np.array([3, 50, 51, 399]), np.array([1.0, 0.5])
    found = affinity_to_landmarks(result, landmarks, weights, 4).toarray()
    expected = viewspan.affinity(result, view_weights=weights)[:, landmarks]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_rows_keep_their_largest_entries_and_landmarks_themselves():
    result = viewspan.solve(random_views(0, (5, 9), 12, rank=4), 0.5, 0.5)
    landmarks, others = np.array([1, 6, 11]), np.delete(np.arange(12), [1, 6, 11])
    full = affinity_to_landmarks(result, landmarks, np.ones(2), 3).toarray()
    kept = affinity_to_landmarks(result, landmarks, np.ones(2), 1).toarray()
    assert ((kept > 0).sum(axis=1) == 1).all()
    np.testing.assert_array_equal(kept[others].max(axis=1), full[others].max(axis=1))
    np.testing.assert_array_equal(kept[landmarks], np.diag(np.diag(full[landmarks])))


def test_an_unreduced_result_is_a_programming_error():
    result = viewspan.solve(random_views(0), 0.5, 0.5, penalty="l1")
    assert result.left is None
    with pytest.raises(AssertionError):
        affinity_to_landmarks(result, np.array([0, 1]), np.ones(2), 1)
