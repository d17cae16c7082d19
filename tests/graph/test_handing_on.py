"""Seeds, ways and weights reach the step they are meant for."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

import viewspan
from tests.problems import random_views
from viewspan.graph import chance, consensus, unite
from viewspan.graph import discretisation as discretize
from viewspan.graph import ncut as cutting
from viewspan.graph import patterns as matching
from viewspan.graph.chance import by_chance
from viewspan.graph.consensus import cut_together
from viewspan.graph.discretisation import alternate, assign, by_direction, unit_rows
from viewspan.graph.ncut import check_affinity, cut, separate_pieces
from viewspan.graph.patterns import (
    Patterns,
    closeness_by_rank,
    neighbour_graph,
    patterns_of,
    unit_columns,
)
from viewspan.graph.spectrum import Spectrum, degrees, iterative_eigenpairs
from viewspan.graph.unite import Unite


def block_graph(n_groups=3, size=8, seed=0):
    labels = np.repeat(np.arange(n_groups), size)
    graph = np.where(labels[:, None] == labels, 1.0, 0.05)
    graph = graph * np.random.default_rng(seed).uniform(0.5, 1.0, graph.shape)
    return graph + graph.T


@pytest.mark.parametrize(
    ("way", "step", "calls"),
    [
        ("discretize", "rotate", 1),
        ("cluster_qr", "pivoted_qr", 1),
        ("kmeans", "by_direction", 1),
        ("modularity", "by_direction", 2),
    ],
)
def test_every_way_takes_its_own_step(monkeypatch, way, step, calls):
    seen = []
    for name in ("rotate", "pivoted_qr", "by_direction"):
        monkeypatch.setattr(
            discretize, name, lambda *a, name=name: seen.append(name) or np.arange(24) % 2
        )
    no_gap = Spectrum(np.linspace(1.0, 0.5, 6), np.ones((24, 6)))
    assign(block_graph(), no_gap, 2, way, np.random.RandomState(0))
    assert seen == [step] * calls


def test_of_equal_partitions_the_first_is_kept(monkeypatch):
    answers = iter([np.arange(24) % 2, 1 - np.arange(24) % 2])
    monkeypatch.setattr(discretize, "by_direction", lambda *a: next(answers))
    found = assign(
        block_graph(), Spectrum(np.linspace(1.0, 0.5, 6), np.ones((24, 6))), 2, "modularity", None
    )
    np.testing.assert_array_equal(found, np.arange(24) % 2)


def test_k_means_gets_the_generator_and_its_restarts(monkeypatch):
    seen = []
    monkeypatch.setattr(
        discretize, "k_means", lambda *a, **k: seen.append(k) or (None, np.zeros(3), None)
    )
    generator = np.random.RandomState(0)
    assert by_direction(np.eye(3), 2, generator).dtype == np.int64
    assert seen[0]["random_state"] is generator
    assert seen[0]["n_init"] == discretize.RESTARTS


def test_the_alternation_goes_on_until_nothing_grows():
    """From a poor rotation of blurred groups, which takes several rounds."""
    rng = np.random.default_rng(3)
    rows = unit_rows(np.eye(4)[np.repeat(np.arange(4), 30)] + 0.45 * rng.normal(size=(120, 4)))
    rounds = []
    for seed in range(10):
        start, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(4, 4)))
        labels, agreement = alternate(rows, start)
        sums = np.stack([rows[labels == k].sum(axis=0) for k in range(4)])
        left, values, right = np.linalg.svd(sums)
        assert agreement == pytest.approx(values.sum(), rel=1e-9)
        np.testing.assert_array_equal((rows @ (left @ right).T).argmax(axis=1), labels)
        rounds.append((labels != (rows @ start).argmax(axis=1)).sum())
    assert max(rounds) > 20


def test_a_cut_uses_the_seed_it_was_given(monkeypatch):
    seen = []
    original = cutting.leading_eigenvectors
    monkeypatch.setattr(
        cutting, "leading_eigenvectors", lambda *a, **k: seen.append(a[2]) or original(*a, **k)
    )
    monkeypatch.setattr(cutting, "assign", lambda *a: seen.append(a[4]) or np.arange(24) // 8)
    generator = np.random.RandomState(0)
    cut(block_graph(), 3, assign_labels="discretize", random_state=generator)
    assert seen[0] is seen[1] is generator


@pytest.mark.filterwarnings("ignore:The number of clusters")
@pytest.mark.parametrize("n_graphs", [1, 2])
def test_graphs_are_cut_with_the_generator_and_the_way(monkeypatch, n_graphs):
    seen, generators = [], []
    original, eigenvalues = consensus.cut, consensus.leading_eigenvalues
    monkeypatch.setattr(consensus, "cut", lambda *a, **k: seen.append(k) or original(*a, **k))
    monkeypatch.setattr(
        consensus,
        "leading_eigenvalues",
        lambda *a, **k: generators.append((a[2], k)) or eigenvalues(*a, **k),
    )
    generator = np.random.RandomState(0)
    graphs = [scipy.sparse.csr_array(block_graph(seed=seed)) for seed in range(n_graphs)]
    cut_together(graphs, 3, assign_labels="cluster_qr", generator=generator, to_landmarks=True)
    assert seen[0] == {"assign_labels": "cluster_qr", "random_state": generator, "steps": 2}
    cut_together(
        graphs, None, assign_labels="kmeans", generator=generator, chance=graphs, to_landmarks=True
    )
    assert all(given is generator and more == {"steps": 2} for given, more in generators)
    assert len(generators) == (2 if n_graphs == 1 else 2 + 4)


def test_eigenvalues_that_are_missed_are_looked_for_again(monkeypatch):
    """Lanczos as it can go: first two of three copies, then the third; then nothing new, and that is the end."""
    matrix = np.diag([3.0, 2.0, 2.0, 1.0, 0.5])
    units = np.eye(5)
    answers = [([3.0, 2.0], [0, 1]), ([2.0, 1.0], [2, 3]), ([1.0, 0.5], [3, 4])]
    calls = []

    def lanczos(rest, k, which, v0):
        assert (k, which) == (2, "LA")
        values, places = answers[len(calls)]
        calls.append(rest)
        return np.array(values), units[:, places]

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", lanczos)
    values, _ = iterative_eigenpairs(matrix, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(values, [3.0, 2.0])  # far apart: once is enough
    assert len(calls) == 1
    calls.clear()
    answers[:] = [([2.0, 2.0], [1, 2]), ([3.0, 1.0], [0, 3]), ([2.0, 1.0], [1, 3])]
    values, vectors = iterative_eigenpairs(matrix, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(values, [3.0, 2.0])
    np.testing.assert_array_equal(
        np.abs(vectors), units[:, :2] if vectors[1, 1] else units[:, [0, 2]]
    )
    assert len(calls) == 2
    calls.clear()
    answers[:] = [([2.0, 2.0], [1, 2]), ([1.0, 0.5], [3, 4])]
    values, _ = iterative_eigenpairs(matrix, 2, np.random.RandomState(0))
    np.testing.assert_array_equal(values, [2.0, 2.0])
    assert len(calls) == 2


def test_degrees_of_small_graphs_are_not_rounding():
    np.testing.assert_allclose(degrees(1e-20 * np.eye(2)), [1e-20, 1e-20])
    np.testing.assert_array_equal(unit_columns(1e-20 * np.eye(2)), np.eye(2))


@pytest.mark.filterwarnings("ignore:affinity is not symmetric")
@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
def test_whole_numbers_become_real_ones(form):
    found = check_affinity(form(np.array([[0, 1], [2, 0]])))
    assert found.dtype == float
    np.testing.assert_array_equal(found @ np.eye(2), [[0, 1.5], [1.5, 0]])
    small = np.array([[200, 1], [0, 200]], dtype=np.uint8)  # its squares would overflow
    np.testing.assert_allclose(viewspan.affinity([small]), [[400, 1], [1, 400]])


def test_pieces_with_small_weights_are_pieces():
    graph = 0.3 * np.kron(np.eye(3), np.ones((4, 4)))
    with pytest.warns(UserWarning, match="in 3 separate pieces"):
        separate_pieces(graph, np.ones(3), 2)


def test_chance_is_drawn_with_every_seed(monkeypatch):
    rng = np.random.default_rng(0)
    patterns = Patterns(
        [unit_columns(rng.normal(size=(3, 30))) for _ in range(2)], [np.array([3.0, 2.0, 1.0])] * 2
    )
    seeds = []
    monkeypatch.setattr(
        chance, "by_chance", lambda view, seed: seeds.append(seed) or by_chance(view, seed)
    )
    chance.trust(patterns, 2)
    assert seeds == [0, 1, 2, 0, 1, 2]
    column = by_chance(patterns, 0).columns[0]
    generator = np.random.RandomState(0)
    drawn = np.array([3.0, 2.0, 1.0])[:, None] * generator.normal(size=(3, 30))
    np.testing.assert_allclose(column, drawn / np.linalg.norm(drawn, axis=0), rtol=1e-5)


@pytest.fixture(scope="module")
def result():
    return viewspan.solve(random_views(0, (5, 9), 24, rank=4), 0.5, 0.5)


def spied(monkeypatch):
    seen = []
    original = unite.cut_together
    monkeypatch.setattr(
        unite, "cut_together", lambda *a, **k: seen.append((a, k, original(*a, **k))) or seen[-1][2]
    )
    return seen


@pytest.mark.parametrize("by_patterns", [True, False])
def test_a_known_number_is_cut_once_with_everything_as_asked(monkeypatch, result, by_patterns):
    seen, trusted = spied(monkeypatch), []
    monkeypatch.setattr(
        unite, "trust", lambda patterns, n: trusted.append(n) or np.array([1.0, 0.5])
    )
    generator = np.random.RandomState(0)
    united = Unite(by_patterns, assign_labels="cluster_qr")([result], 2, generator)
    ((arguments, more, answer),) = seen
    assert trusted == ([2] if by_patterns else [])
    assert arguments[1] == 2
    assert more["generator"] is generator
    assert more["assign_labels"] == "cluster_qr"
    assert more["chance"] == []
    assert more["to_landmarks"] is False
    assert (
        united.labels is answer[0],
        united.eigenvalues is answer[1],
        united.graph is answer[2],
    ) == (True,) * 3
    np.testing.assert_array_equal(united.view_weights, [1.0, 0.5] if by_patterns else [1.0, 1.0])


@pytest.mark.filterwarnings("ignore:The number of clusters")
@pytest.mark.parametrize("mutual", [True, False])
def test_an_unknown_number_is_read_among_landmarks_too(monkeypatch, result, mutual):
    seen = spied(monkeypatch)
    monkeypatch.setattr(unite, "trust", lambda patterns, n: np.array([1.0, 0.5]))
    generator, landmarks = np.random.RandomState(0), np.arange(0, 24, 2)
    Unite(True, mutual=mutual)([replace(result)], None, generator, landmarks)
    assert [more["to_landmarks"] for _, more, _ in seen] == [True, True]
    assert all(more["generator"] is generator for _, more, _ in seen)
    noise = by_chance(patterns_of(result, mutual=mutual), 0)
    expected = Unite(True)._pattern_graph(noise, np.ones(2), landmarks)
    np.testing.assert_allclose(seen[0][1]["chance"][0].toarray(), expected.toarray(), atol=1e-6)


def test_ranks_count_down_to_the_last_other_sample(monkeypatch):
    """Of five samples every one has four others, and the last of them counts a little."""
    patterns = Patterns([unit_columns(np.random.default_rng(0).normal(size=(3, 5)))], [np.ones(3)])
    depths = []
    monkeypatch.setattr(
        matching,
        "closeness_by_rank",
        lambda c, depth: depths.append(depth) or closeness_by_rank(c, depth),
    )
    neighbour_graph(patterns, np.ones(1), 2)
    assert depths == [4]
