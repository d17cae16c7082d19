"""One partition from several graphs, and what each view is worth in them."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import random_views, two_subspaces
from viewspan._utils.linalg import Spectrum, spectrum
from viewspan.graph import chance, consensus, unite
from viewspan.graph.chance import by_chance, cohesion, each, sample, share, trust
from viewspan.graph.consensus import as_it_is, cut_together, eigengap
from viewspan.graph.landmarks import affinity_to_landmarks, joined_to_landmarks, through_samples
from viewspan.graph.patterns import Patterns, average, neighbour_graph, patterns_of, unit_columns
from viewspan.graph.quality import assortativity
from viewspan.graph.spectrum import leading_eigenvalues
from viewspan.graph.unite import Unite
from viewspan.inference.view_scores import alone, score, view_scores


def generator():
    return np.random.RandomState(0)


def blocks(sizes=(10, 10, 10), between=0.05, seed=0):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(labels[:, None] == labels, 1.0, between)
    graph = graph * np.random.default_rng(seed).uniform(0.5, 1.0, graph.shape)
    return graph + graph.T, labels


def together(graphs, n_clusters, **more):
    return cut_together(
        graphs, n_clusters, assign_labels="discretize", generator=generator(), **more
    )


def test_one_graph_and_a_known_number_is_a_plain_cut():
    graph, labels = blocks()
    found, eigenvalues, united = together([graph], 3)
    assert adjusted_rand_score(labels, found) == 1.0
    assert united is graph is as_it_is(graph)
    np.testing.assert_allclose(eigenvalues, leading_eigenvalues(graph, 4, generator()))


def test_graphs_are_weighted_by_the_squares_of_their_gaps():
    graphs = [
        blocks(between=between, seed=seed)[0] for seed, between in enumerate((0.05, 0.3, 0.6))
    ]
    found, eigenvalues, united = together(graphs, 3)
    spectra = [leading_eigenvalues(graph, 4, generator()) for graph in graphs]
    np.testing.assert_allclose(eigenvalues, np.mean(spectra, axis=0), atol=1e-12)
    expected = average(graphs, [(values[2] - values[3]) ** 2 for values in spectra])
    np.testing.assert_allclose(united, expected)
    assert adjusted_rand_score(blocks()[1], found) == 1.0


def test_the_number_is_read_from_the_mean_of_the_eigenvalues_beside_chance(monkeypatch):
    graphs, noise = (
        [blocks(seed=seed)[0] for seed in range(2)],
        [blocks((30,), seed=seed)[0] for seed in range(5, 7)],
    )
    asked = []
    original = consensus.count_clusters
    monkeypatch.setattr(consensus, "count_clusters", lambda *a: asked.append(a) or original(*a))
    found, eigenvalues, _ = together(graphs, None, chance=noise)
    assert adjusted_rand_score(blocks()[1], found) == 1.0
    count = min(int(3 * np.sqrt(30)), 29) + 1
    assert len(eigenvalues) == count == 17
    np.testing.assert_array_equal(asked[0][0], eigenvalues)
    expected = np.mean([leading_eigenvalues(graph, count, generator()) for graph in noise], axis=0)
    np.testing.assert_allclose(asked[0][1], expected, atol=1e-12)
    together(graphs, None)
    assert asked[1][1] is None


def test_one_graph_without_a_number_is_counted_too():
    graph, labels = blocks()
    found, eigenvalues, united = together([graph], None)
    assert adjusted_rand_score(labels, found) == 1.0
    assert len(eigenvalues) == 17
    np.testing.assert_allclose(united, graph)


def test_as_many_clusters_as_samples_leave_no_next_eigenvalue():
    graphs = [np.eye(4) + 0.01, np.eye(4) + 0.02]
    found, eigenvalues, united = together(graphs, 4)
    assert sorted(found) == [0, 1, 2, 3]
    assert len(eigenvalues) == 4
    np.testing.assert_allclose(united, np.eye(4) + 0.015)


def to_landmarks(seed=0):
    """Thirty samples of three groups and nine landmarks."""
    labels, of = np.repeat(np.arange(3), 10), np.repeat(np.arange(3), 3)
    rng = np.random.default_rng(seed)
    rows = np.where(labels[:, None] == of, 1.0, 0.02) * rng.uniform(0.5, 1.0, (30, 9))
    return scipy.sparse.csr_array(rows), of


@pytest.mark.parametrize("n_clusters", [3, None])
@pytest.mark.parametrize("count", [1, 2])
def test_graphs_to_landmarks_are_cut_in_two_steps(n_clusters, count):
    graphs = [to_landmarks(seed)[0] for seed in range(count)]
    found, eigenvalues, united = together(graphs, n_clusters, to_landmarks=True)
    assert adjusted_rand_score(to_landmarks()[1], found) == 1.0
    assert united.shape == (9, 9)
    if count == 1:
        np.testing.assert_allclose(united, through_samples(graphs[0]))
    spectra = [
        leading_eigenvalues(through_samples(g), len(eigenvalues), generator(), steps=2)
        for g in graphs
    ]
    np.testing.assert_allclose(eigenvalues, np.mean(spectra, axis=0), atol=1e-12)


def test_a_gap_is_never_negative():
    assert eigengap(np.array([0.5, 0.6]), 1) == 0.0
    assert eigengap(np.array([0.9, 0.6]), 2) == 1.0


def some_patterns(n_samples=40, widths=(3, 6), seed=0, observed=None):
    rng = np.random.default_rng(seed)
    return Patterns(
        [unit_columns(rng.normal(size=(width, n_samples))) for width in widths],
        [np.linspace(2.0, 1.0, width) for width in widths],
        observed,
    )


def test_shares_are_of_the_largest_and_nothing_is_below_zero():
    np.testing.assert_array_equal(share(np.array([2.0, 1.0, -1.0])), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(share(np.array([-2.0, 0.0])), [0.0, 0.0])


def test_views_one_by_one():
    patterns = some_patterns()
    for view, (one, column, values) in enumerate(zip(each(patterns), *patterns[:2], strict=True)):
        assert one.columns[0] is column, view
        assert one.spectra[0] is values
        assert one.observed is None


def test_a_sample_of_the_samples_is_sorted_and_no_larger_than_enough(monkeypatch):
    patterns, chosen = sample(some_patterns())
    np.testing.assert_array_equal(chosen, np.arange(40))
    monkeypatch.setattr(chance, "ENOUGH", 7)
    observed = np.random.default_rng(0).uniform(size=(2, 40)) < 0.5
    whole = some_patterns(observed=observed)
    patterns, chosen = sample(whole)
    np.testing.assert_array_equal(chosen, np.sort(np.random.RandomState(0).permutation(40)[:7]))
    for column, given in zip(patterns.columns, whole.columns, strict=True):
        np.testing.assert_array_equal(column, given[:, chosen])
    np.testing.assert_array_equal(patterns.observed, observed[:, chosen])
    assert patterns.spectra is whole.spectra
    assert sample(some_patterns())[0].observed is None


def test_cohesion_is_the_mean_of_the_leading_eigenvalues():
    view = each(some_patterns())[0]
    values = np.linalg.eigvalsh(normalised(neighbour_graph(view, np.ones(1)).toarray()))[::-1]
    assert cohesion(view, 3) == pytest.approx(values[:3].mean(), rel=1e-6)


def normalised(graph):
    scale = 1 / np.sqrt(graph.sum(axis=1))
    return graph * scale * scale[:, None]


def test_trust_is_the_larger_of_two_shares(monkeypatch):
    patterns = some_patterns(widths=(2, 3, 5))
    found = {2: 0.9, 3: 0.8, 5: 0.75}
    noise = {2: 0.9, 3: 0.6, 5: 0.2}
    draws = []

    def by_table(view, n_clusters):
        assert n_clusters == 4
        width = len(view.spectra[0])
        drawn = not any(view.columns[0] is column for column in seen[0].columns)
        draws.append(drawn)
        return noise[width] + 0.01 * (draws.count(True) % 3 - 1) if drawn else found[width]

    seen = []
    original = chance.sample
    monkeypatch.setattr(chance, "sample", lambda p: seen.append(original(p)[0]) or (seen[0], None))
    monkeypatch.setattr(chance, "cohesion", by_table)
    weights = trust(patterns, 4)
    assert draws.count(True) == 9
    expected = np.maximum([0.1 / 0.8, 0.4 / 0.8, 1.0], [0.0, 0.2 / 0.55, 1.0])
    np.testing.assert_allclose(weights, expected, rtol=1e-9)


@pytest.mark.parametrize(("second", "expected"), [(0.5, 0.5), (0.9, 1.0), (0.89, 0.89)])
def test_nearly_as_much_is_as_much(monkeypatch, second, expected):
    monkeypatch.setattr(chance, "share", lambda amounts: np.array([1.0, second]))
    np.testing.assert_allclose(trust(some_patterns(), 2), [1.0, expected])


def test_with_nothing_to_tell_views_are_equals(monkeypatch):
    np.testing.assert_array_equal(trust(some_patterns(), 1), [1.0, 1.0])
    np.testing.assert_array_equal(trust(some_patterns(widths=(3,)), 2), [1.0])
    monkeypatch.setattr(chance, "cohesion", lambda *_: 1.0)
    np.testing.assert_array_equal(trust(some_patterns(), 2), [1.0, 1.0])


def test_noise_is_of_unit_length_and_depends_on_its_seed():
    patterns = some_patterns(observed=np.ones((2, 40), dtype=bool))
    one, again, other = (by_chance(patterns, seed) for seed in (0, 0, 1))
    for first, second, third, given in zip(
        one.columns, again.columns, other.columns, patterns.columns, strict=True
    ):
        assert first.shape == given.shape
        np.testing.assert_array_equal(first, second)
        assert np.abs(first - third).max() > 0.1
        np.testing.assert_allclose(np.linalg.norm(first, axis=0), 1.0, rtol=1e-6)
    assert one.spectra is patterns.spectra
    assert one.observed is patterns.observed


@pytest.fixture(scope="module")
def solved():
    views, labels = two_subspaces(size=12, noise=0.05)
    views = [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]
    return views, viewspan.solve(views, 0.1, 0.2), labels


def test_a_view_alone_has_the_patterns_of_its_low_rank_coefficients(solved):
    views = solved[0]
    view = spectrum(views[0].T)
    found = alone(view, np.eye(24), 0.3)
    coefficients = (view.right.T * np.maximum(1 - 0.3 / (2 * view.values**2), 0)) @ view.right
    expected = np.abs(unit_columns(coefficients).T @ unit_columns(coefficients))
    np.testing.assert_allclose(np.abs(found.T @ found), expected, atol=1e-5)
    none = alone(Spectrum(np.array([2.0, 0.0]), np.eye(2, 24)), np.eye(24), 0.3)
    assert np.isfinite(none).all()


def test_scores_tell_how_far_the_clusters_are_seen_in_each_view(solved):
    views, _, labels = solved
    spectra = [spectrum(view.T) for view in views]
    rng = np.random.default_rng(0)
    noise = spectrum(rng.normal(size=(12, 24)))
    lam = np.array([0.1, 0.2, 0.1])
    found = view_scores([*spectra, noise], np.eye(24), lam, labels)
    assert found[:2].min() > 0.8
    assert abs(found[2]) < 0.3
    for view in range(2):
        pattern = Patterns([alone(spectra[view], np.eye(24), lam[view])], [spectra[view].values])
        expected = assortativity(neighbour_graph(pattern, np.ones(1)), labels)
        assert found[view] == pytest.approx(expected, rel=1e-6)


def test_absent_samples_have_no_part_in_a_score(solved):
    views, _, labels = solved
    spectra = [spectrum(view.T) for view in views]
    observed = np.ones((2, 24), dtype=bool)
    observed[0, ::3] = False
    found = view_scores(spectra, np.eye(24), np.array([0.1, 0.1]), labels, observed)
    kept = observed[0]
    pattern = Patterns([alone(spectra[0], np.eye(24), 0.1)[:, kept]], [spectra[0].values])
    assert found[0] == pytest.approx(
        assortativity(neighbour_graph(pattern, np.ones(1)), labels[kept]), rel=1e-6
    )
    observed[1] = False
    observed[1, 3] = True
    assert view_scores(spectra, np.eye(24), np.array([0.1, 0.1]), labels, observed)[1] == 0.0


def test_two_samples_are_enough_for_a_score():
    columns = np.zeros((2, 5), dtype=np.float32)
    columns[:, [1, 3]] = [[1.0, 0.8], [0.0, 0.6]]
    assert score(Patterns([columns], [np.ones(2)]), np.array([0, 0, 1, 1, 1])) == pytest.approx(
        -1.0
    )


def test_the_papers_graph_or_that_of_patterns(solved):
    _, result, labels = solved
    by_patterns = Unite(True, view_weights=[1.0, 0.5], n_neighbors=4)([result], 2, generator())
    expected = neighbour_graph(patterns_of(result, mutual=False), np.array([1.0, 0.5]), 4)
    np.testing.assert_allclose(by_patterns.graph.toarray(), expected.toarray())
    paper = Unite(False, view_weights=[1.0, 0.5])([result], 2, generator())
    np.testing.assert_allclose(paper.graph, viewspan.affinity(result, view_weights=[1.0, 0.5]))
    for united in (by_patterns, paper):
        np.testing.assert_array_equal(united.view_weights, [1.0, 0.5])
        assert adjusted_rand_score(labels, united.labels) == 1.0
        assert len(united.graphs) == 1
    mutual = Unite(True, view_weights="equal", mutual=True)([result], 2, generator())
    expected = neighbour_graph(patterns_of(result, mutual=True), np.ones(2))
    np.testing.assert_allclose(mutual.graph.toarray(), expected.toarray())


def test_landmarks_stand_for_all_in_both_graphs(solved):
    _, result, labels = solved
    landmarks = np.arange(0, 24, 2)
    for by_patterns, join in ((True, None), (False, affinity_to_landmarks)):
        united = Unite(by_patterns, view_weights=[1.0, 0.5], n_neighbors=6)(
            [result], 2, generator(), landmarks
        )
        weights = np.array([1.0, 0.5])
        if by_patterns:
            expected = joined_to_landmarks(patterns_of(result, mutual=False), landmarks, weights, 4)
        else:
            expected = join(result, landmarks, weights, 4)
        np.testing.assert_allclose(united.graphs[0].toarray(), expected.toarray())
        assert united.graph.shape == (12, 12)
        assert adjusted_rand_score(labels[landmarks], united.labels) == 1.0


@pytest.mark.parametrize(
    ("n_neighbors", "expected"), [(1, 1), (2, 1), (15, 10), (16, 10), (17, 11)]
)
def test_two_thirds_of_the_neighbours_per_step(n_neighbors, expected):
    assert Unite(True, n_neighbors=n_neighbors)._per_step == expected


def test_weights_are_equal_automatic_or_given(solved, monkeypatch):
    _, result, _ = solved
    asked = []
    monkeypatch.setattr(
        unite, "trust", lambda patterns, n: asked.append((patterns, n)) or np.array([1.0, 0.25])
    )
    np.testing.assert_array_equal(Unite(True)._weights(result, 2), [1.0, 0.25])
    assert asked[0][1] == 2
    np.testing.assert_array_equal(
        asked[0][0].columns[0], patterns_of(result, mutual=False).columns[0]
    )
    Unite(True, mutual=True)._weights(result, 2)
    np.testing.assert_array_equal(
        asked[1][0].columns[0], patterns_of(result, mutual=True).columns[0]
    )
    for equals, count in ((Unite(True), None), (Unite(True, "equal"), 2), (Unite(False), 2)):
        np.testing.assert_array_equal(equals._weights(result, count), [1.0, 1.0])
    assert len(asked) == 2


def test_a_number_that_was_found_is_weighted_again(solved, monkeypatch):
    """Views are equals while their number is read; then they count as they should, with the eigenvalues first seen."""
    _, result, labels = solved
    monkeypatch.setattr(unite, "trust", lambda patterns, n: np.array([1.0, 0.25]))
    cuts = []
    original = unite.cut_together
    monkeypatch.setattr(
        unite, "cut_together", lambda *a, **k: cuts.append((a, k, original(*a, **k))) or cuts[-1][2]
    )
    steps = []
    united = Unite(True)([result, replace(result)], None, generator(), step=lambda: steps.append(1))
    assert [a[1] for a, _, _ in cuts] == [None, 2]
    assert [len(k["chance"]) for _, k, _ in cuts] == [2, 0]
    noise = by_chance(patterns_of(result, mutual=False), 0)
    np.testing.assert_allclose(
        cuts[0][1]["chance"][0].toarray(), neighbour_graph(noise, np.ones(2)).toarray(), atol=1e-6
    )
    assert len(steps) == 4
    np.testing.assert_array_equal(united.view_weights, [1.0, 0.25])
    np.testing.assert_array_equal(united.eigenvalues, cuts[0][2][1])
    assert united.graph is cuts[1][2][2]
    assert adjusted_rand_score(labels, united.labels) == 1.0
    assert {k["assign_labels"] for _, k, _ in cuts} == {"modularity"}
    assert not any(k["to_landmarks"] for _, k, _ in cuts)


def test_weights_that_stay_are_cut_once(solved, monkeypatch):
    _, result, _ = solved
    monkeypatch.setattr(unite, "trust", lambda patterns, n: np.ones(2))
    cuts = []
    original = unite.cut_together
    monkeypatch.setattr(
        unite, "cut_together", lambda *a, **k: cuts.append((a, k)) or original(*a, **k)
    )
    Unite(True)([result], None, generator())
    assert len(cuts) == 1
    Unite(False)([result], None, generator())
    assert len(cuts) == 2
    assert cuts[1][1]["chance"] == []
    assert cuts[1][1]["assign_labels"] == "discretize"
    Unite(False, assign_labels="kmeans")([result], 2, generator())
    assert cuts[2][1]["assign_labels"] == "kmeans"


def test_shared_scales_are_in_the_matrix_already():
    result = viewspan.solve(random_views(0, rank=4), 0.2, coupling="rank_one")
    united = Unite(False)([result], 2, generator())
    np.testing.assert_allclose(united.graph, viewspan.affinity(result))
