"""Samples joined to landmarks, piece by piece."""

import numpy as np
import pytest
import scipy.sparse

import viewspan
from tests.problems import random_views
from viewspan.graph import landmarks as module
from viewspan.graph.landmarks import (
    affinity_to_landmarks,
    choose_landmarks,
    closeness_sums,
    closest,
    joined_to_landmarks,
    nearest_to_themselves,
    normalised,
    part,
    strong_coefficients,
    through_samples,
)
from viewspan.graph.patterns import (
    DEPTH,
    TIES,
    Patterns,
    average,
    closeness_by_rank,
    effective_rank,
    strongest,
    unit_columns,
)


def random_patterns(n_samples=30, seed=0):
    rng = np.random.default_rng(seed)
    columns = [unit_columns(rng.normal(size=(rank, n_samples))) for rank in (3, 5)]
    return Patterns(columns, [np.array([3.0, 2.0, 1.0]), np.ones(5)])


@pytest.mark.parametrize("rows", [1024, 7])
def test_the_closest_landmark_has_the_largest_sum_of_cosines(monkeypatch, rows):
    monkeypatch.setattr(module, "ROWS", rows)
    patterns, landmarks = random_patterns(), np.array([4, 9, 20])
    expected = sum(np.abs(pattern.T @ pattern[:, landmarks]) for pattern in patterns.columns).max(
        axis=1
    )
    np.testing.assert_allclose(closest(patterns, landmarks), expected, rtol=1e-6)


def test_landmarks_are_chosen_in_rounds_by_their_distance(monkeypatch):
    """The probabilities are squares of what no earlier landmark explains."""
    monkeypatch.setattr(module, "ROUNDS", 3)
    patterns = random_patterns()

    class Recording(np.random.RandomState):
        def choice(self, n, size, replace, p):
            seen.append((size, replace, p))
            return super().choice(n, size, replace=replace, p=p)

    seen = []
    found = choose_landmarks(patterns, 8, Recording(0))
    first = np.random.RandomState(0).permutation(30)[:3]
    assert set(first) <= set(found.tolist())
    assert [size for size, _, _ in seen] == [3, 2]
    distances = np.maximum(1.0 - closest(patterns, first).astype(float) / 2, module.SMALLEST) ** 2
    distances[first] = 0.0
    np.testing.assert_allclose(seen[0][2], distances / distances.sum(), rtol=1e-5)
    assert not any(replace for _, replace, _ in seen)
    chosen = np.flatnonzero(seen[1][2] == 0)
    assert len(chosen) == 6
    distances = np.maximum(1.0 - closest(patterns, chosen).astype(float) / 2, module.SMALLEST) ** 2
    distances[chosen] = 0.0
    np.testing.assert_allclose(seen[1][2], distances / distances.sum(), rtol=1e-5)
    assert len(found) == 8


def test_the_sums_over_views_are_of_three_kinds():
    patterns, weights = random_patterns(), np.array([1.0, 0.5])
    references = [pattern[:, :6] for pattern in patterns.columns]
    plain, calibrated, ranked = closeness_sums(
        patterns.columns, references, patterns.spectra, weights, 4
    )
    cosines = [np.abs(q.T @ r) for q, r in zip(patterns.columns, references, strict=True)]
    np.testing.assert_allclose(plain, cosines[0] + 0.5 * cosines[1], rtol=1e-5)
    roots = np.sqrt([effective_rank(spectrum) for spectrum in patterns.spectra])
    np.testing.assert_allclose(
        calibrated, roots[0] * cosines[0] + 0.5 * roots[1] * cosines[1], rtol=1e-5
    )
    ranks = [closeness_by_rank(c, 4) for c in cosines]
    np.testing.assert_allclose(ranked, ranks[0] + 0.5 * ranks[1] + TIES * plain, rtol=1e-5)
    assert plain.dtype == calibrated.dtype == ranked.dtype == np.float32


@pytest.mark.parametrize("rows", [1024, 7, 30])
def test_the_joined_graph_is_the_mean_of_three(monkeypatch, rows):
    monkeypatch.setattr(module, "ROWS", rows)
    patterns, landmarks, weights = (
        random_patterns(),
        np.array([4, 9, 20, 21, 25, 29]),
        np.array([1.0, 0.5]),
    )
    found = joined_to_landmarks(patterns, landmarks, weights, 2).toarray()
    references = [pattern[:, landmarks] for pattern in patterns.columns]
    depth = max(2, DEPTH * 2 * 6 // 30)
    sums = closeness_sums(patterns.columns, references, patterns.spectra, weights, depth)
    graphs = []
    for values in sums:
        values[landmarks, np.arange(6)] = 2 * values.max()
        graphs.append(normalised(strongest(values, 2)))
    np.testing.assert_allclose(found, average(graphs, [1.0, 1.0, 1.0]).toarray(), rtol=1e-6)
    assert found.shape == (30, 6)


def test_ranks_go_as_deep_as_there_are_landmarks_for(monkeypatch):
    depths = []
    original = module.closeness_sums
    monkeypatch.setattr(module, "closeness_sums", lambda *a: depths.append(a[-1]) or original(*a))
    joined_to_landmarks(random_patterns(), np.arange(6), np.ones(2), 2)
    joined_to_landmarks(random_patterns(), np.arange(2), np.ones(2), 2)
    assert depths == [4, 2]


def test_a_landmark_is_joined_to_itself_first():
    closeness = np.array([[0.5, 0.2], [0.4, 0.9], [0.3, 0.8], [0.1, 0.0]])
    found = nearest_to_themselves(closeness.copy(), np.array([11, 12]), 10)
    expected = closeness.copy()
    expected[1, 0], expected[2, 1] = 1.001 * 0.9, 1.001 * 0.8
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    for landmarks in ([9, 14], [10, 13]):
        changed = nearest_to_themselves(closeness.copy(), np.array(landmarks), 10) != closeness
        assert changed.sum() == (2 if landmarks == [10, 13] else 0)


@pytest.mark.parametrize(
    ("n_neighbors", "n_landmarks", "expected"),
    [(5, 100, 25), (30, 100, 30), (30, 20, 20), (1, 7, 1)],
)
def test_a_share_of_the_coefficients_counts(n_neighbors, n_landmarks, expected):
    assert strong_coefficients(n_neighbors, n_landmarks) == expected


def test_both_sides_are_divided_by_the_roots_of_their_degrees():
    rows = np.array([[1.0, 3.0, 0.0], [0.0, 5.0, 0.0], [0.0, 0.0, 0.0]])
    expected = [[1 / np.sqrt(4 * 1), 3 / np.sqrt(4 * 8), 0], [0, 5 / np.sqrt(5 * 8), 0], [0, 0, 0]]
    np.testing.assert_allclose(normalised(scipy.sparse.csr_array(rows)).toarray(), expected)


@pytest.mark.parametrize("dense", [0.0, 1.0])
def test_the_way_through_the_samples_is_dense_or_sparse(monkeypatch, dense):
    monkeypatch.setattr(module, "DENSE", dense)
    rows = scipy.sparse.random_array((40, 12), density=0.3, random_state=0, format="csr")
    found = through_samples(rows)
    assert scipy.sparse.issparse(found) == (dense == 1.0)
    matrix = rows.toarray()
    degree = matrix.sum(axis=1)
    inverse = np.divide(1.0, degree, out=np.zeros(40), where=degree > 0)
    np.testing.assert_allclose(found @ np.eye(12), matrix.T @ np.diag(inverse) @ matrix, rtol=1e-9)


def test_full_rows_are_those_with_more_entries_than_a_share():
    rows = np.zeros((10, 10))
    rows[range(5), range(5)] = 1.0
    assert scipy.sparse.issparse(through_samples(scipy.sparse.csr_array(rows)))
    rows[5, 5] = 1.0
    assert isinstance(through_samples(scipy.sparse.csr_array(rows)), np.ndarray)


@pytest.mark.parametrize("rows", [1024, 5])
def test_weights_of_views_count_in_the_papers_columns(monkeypatch, rows):
    monkeypatch.setattr(module, "ROWS", rows)
    result = viewspan.solve(random_views(0, (5, 9), 12, rank=4), 0.5, 0.5)
    landmarks = np.array([1, 6, 11])
    found = affinity_to_landmarks(result, landmarks, np.array([1.0, 0.5]), 3).toarray()
    np.testing.assert_allclose(
        found, viewspan.affinity(result, view_weights=[1.0, 0.5])[:, landmarks], atol=1e-12
    )
    one = affinity_to_landmarks(result, landmarks, np.array([1.0, 0.5]), 1).toarray()
    assert ((one > 0).sum(axis=1) == 1).all()
    np.testing.assert_array_equal(one[landmarks] > 0, np.eye(3, dtype=bool))


def test_a_part_of_a_basis():
    basis = np.arange(6.0).reshape(3, 2)
    np.testing.assert_array_equal(part(basis, slice(1, 3)), basis[1:])
    with pytest.raises(AssertionError):
        part(None, slice(0, 1))
