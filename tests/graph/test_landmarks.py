"""The graph of landmarks: it cuts the bipartite graph, and landmarks are where samples are."""

import numpy as np
import pytest
import scipy.sparse

import viewspan
from tests.problems import many_subspaces
from viewspan._utils.linalg import ratio
from viewspan.graph.landmarks import (
    affinity_to_landmarks,
    choose_landmarks,
    joined_to_landmarks,
    through_samples,
)
from viewspan.graph.patterns import Patterns, patterns_of, unit_columns
from viewspan.graph.spectrum import leading_eigenvalues, leading_eigenvectors


@pytest.fixture(scope="module")
def solved():
    views, labels = many_subspaces(400)
    return viewspan.solve(
        [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views], 1.0, 1.0
    ), labels


def test_the_small_matrix_cuts_the_bipartite_graph():
    """D^-½ [0 B; Bᵀ 0] D^-½ has the eigenvalues ± those of BᵀD⁻¹B, per step, and its eigenvectors on the landmarks."""
    rows = scipy.sparse.random_array((40, 12), density=0.3, random_state=0, format="csr")
    full = scipy.sparse.block_array([[None, rows], [rows.T, None]]).toarray()
    scale = ratio(1.0, np.sqrt(full.sum(axis=1)))
    values, vectors = np.linalg.eigh(full * scale * scale[:, None])
    small, generator = through_samples(rows), np.random.RandomState(0)
    np.testing.assert_allclose(
        leading_eigenvalues(small, 5, generator, steps=2), values[::-1][:5], atol=1e-12
    )
    found = leading_eigenvectors(small, 3, generator, steps=2).embedding
    expected = (vectors * scale[:, None])[40:, ::-1][:, :3]
    cosines = (
        np.abs((found * expected).sum(axis=0))
        / np.linalg.norm(found, axis=0)
        / np.linalg.norm(expected, axis=0)
    )
    np.testing.assert_allclose(cosines, 1.0, atol=1e-9)


def test_columns_of_the_paper_s_graph_are_exact(solved):
    result, _ = solved
    landmarks = np.array([3, 50, 51, 399])
    found = affinity_to_landmarks(result, landmarks, np.ones(2), 4).toarray()
    np.testing.assert_allclose(found, viewspan.affinity(result)[:, landmarks], atol=1e-12)
    kept, others = (
        affinity_to_landmarks(result, landmarks, np.ones(2), 1),
        np.delete(np.arange(400), landmarks),
    )
    np.testing.assert_allclose(
        kept.max(axis=1).toarray().ravel()[others], found.max(axis=1)[others]
    )
    np.testing.assert_array_equal(kept[landmarks].indices, np.arange(4))  # themselves
    assert kept.nnz == 400


def test_samples_are_joined_to_landmarks_of_their_subspace(solved):
    result, labels = solved
    patterns = patterns_of(result, mutual=False)
    landmarks = choose_landmarks(patterns, 80, np.random.RandomState(0))
    rows = joined_to_landmarks(patterns, landmarks, np.ones(2), 5).tocoo()
    inside = rows.data[labels[rows.row] == labels[landmarks][rows.col]].sum()
    assert inside > 0.97 * rows.data.sum()


@pytest.mark.parametrize("count", [1, 7, 80, 400])
def test_landmarks_are_different_samples(solved, count):
    landmarks = choose_landmarks(
        patterns_of(solved[0], mutual=False), count, np.random.RandomState(0)
    )
    assert len(landmarks) == len(np.unique(landmarks)) == count
    assert (np.diff(landmarks) > 0).all()


def test_rare_samples_are_not_forgotten():
    """Five of a thousand samples point elsewhere."""
    rng = np.random.default_rng(0)
    common = np.array([[1.0], [0.0], [0.0]]) + 0.01 * rng.normal(size=(3, 1000))
    rare = np.array([[0.0], [1.0], [0.0]]) + 0.01 * rng.normal(size=(3, 5))
    patterns = Patterns([unit_columns(np.hstack([common, rare]))], [np.ones(3)])
    found = [
        np.any(choose_landmarks(patterns, 20, np.random.RandomState(seed)) >= 1000)
        for seed in range(20)
    ]
    assert np.mean(found) > 0.9  # of twenty by chance: 0.1


def test_equal_samples_can_be_landmarks():
    patterns = Patterns([unit_columns(np.ones((3, 30)))], [np.ones(3)])
    assert len(choose_landmarks(patterns, 25, np.random.RandomState(0))) == 25
