"""Leading eigenpairs of a normalised graph, dense and iterative."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from tests.graph.graphs import block_graph, normalised, random_graph
from viewspan.graph import spectrum
from viewspan.graph.spectrum import (
    deflated,
    degrees,
    iterative_eigenpairs,
    leading_eigenvalues,
    leading_eigenvectors,
    per_step,
    scaled,
    symmetric_eigenpairs,
)

GRAPH = random_graph(30, power=4)


def generator():
    return np.random.RandomState(0)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("max_dense", [400, 20])
def test_eigenpairs_are_those_of_the_normalised_graph(monkeypatch, form, max_dense):
    monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", max_dense)
    found = leading_eigenvectors(form(GRAPH), 2, generator())
    expected = np.linalg.eigvalsh(normalised(GRAPH))[::-1][:2]
    np.testing.assert_allclose(found.eigenvalues, expected, atol=1e-10)
    vectors = found.embedding * np.sqrt(GRAPH.sum(axis=1))[:, None]
    np.testing.assert_allclose(normalised(GRAPH) @ vectors, vectors * expected, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-8)
    values = leading_eigenvalues(form(GRAPH), 2, generator())
    np.testing.assert_allclose(values, expected, atol=1e-10)


def test_the_largest_entry_of_every_eigenvector_is_positive():
    vectors = leading_eigenvectors(GRAPH, 9, generator()).embedding
    vectors = vectors * np.sqrt(GRAPH.sum(axis=1))[:, None]
    assert (vectors[np.abs(vectors).argmax(axis=0), np.arange(9)] > 0).all()


@pytest.mark.parametrize(
    ("n_samples", "count", "iterates"), [(30, 2, True), (20, 2, False), (30, 3, False)]
)
def test_only_a_few_eigenvectors_of_many_samples_are_iterated(
    monkeypatch, n_samples, count, iterates
):
    """Only the iteration draws from the generator."""
    monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", 20)
    used, matrix = generator(), random_graph(n_samples, power=4)
    values, vectors = symmetric_eigenpairs(matrix, count, used)
    assert (used.uniform() != generator().uniform()) == iterates
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:count], atol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("error", [scipy.sparse.linalg.ArpackError(-1), np.linalg.LinAlgError()])
def test_a_dense_decomposition_replaces_an_iteration_that_fails(monkeypatch, form, error):
    monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", 20)

    def failing(*arguments, **options):
        raise error

    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", failing)
    values, vectors = symmetric_eigenpairs(form(GRAPH), 2, generator())
    np.testing.assert_allclose(values, np.linalg.eigvalsh(GRAPH)[::-1][:2], atol=1e-10)
    np.testing.assert_allclose(GRAPH @ vectors, vectors * values, atol=1e-10)
    assert vectors.shape == (30, 2)


def test_iterative_and_dense_eigenvectors_agree(monkeypatch):
    graph, _ = block_graph((300, 250))
    iterative = leading_eigenvectors(graph, 3, generator())
    monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", 1000)
    dense = leading_eigenvectors(graph, 3, generator())
    np.testing.assert_allclose(iterative.eigenvalues, dense.eigenvalues, atol=1e-10)
    np.testing.assert_allclose(iterative.embedding, dense.embedding, atol=1e-8)


def test_every_copy_of_a_repeated_eigenvalue_is_found():
    blocks = scipy.sparse.block_diag([np.ones((10, 10)) / 10] * 6, format="csr")
    values, vectors = iterative_eigenpairs(blocks, 7, generator())
    np.testing.assert_allclose(values, [1, 1, 1, 1, 1, 1, 0], atol=1e-9)
    np.testing.assert_allclose((blocks @ vectors)[:, :6], vectors[:, :6], atol=1e-8)
    np.testing.assert_allclose(vectors[:, :6].T @ vectors[:, :6], np.eye(6), atol=1e-8)


def test_distinct_eigenvalues_are_searched_once():
    """One search draws one start vector."""
    used, fresh = generator(), generator()
    values, _ = iterative_eigenpairs(np.diag(np.linspace(0, 1, 40)), 3, used)
    np.testing.assert_allclose(values, np.linspace(0, 1, 40)[:-4:-1], atol=1e-10)
    fresh.uniform(-1.0, 1.0, 40)
    assert used.uniform() == fresh.uniform()


def test_the_generator_alone_determines_the_start():
    matrix = normalised(random_graph(60))
    one, same, other = (
        iterative_eigenpairs(matrix, 3, np.random.RandomState(seed))[1] for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(one, same)
    assert not np.array_equal(one, other)


def test_restarts_at_repeated_eigenvalues_have_a_seed():
    """The Lanczos iteration restarts with a random vector where it finds an invariant subspace."""
    blocks = scipy.sparse.block_diag([np.ones((30, 30)) / 30] * 16, format="csr")
    one, same = (iterative_eigenpairs(blocks, 4, generator())[1] for _ in range(2))
    np.testing.assert_array_equal(one, same)


class FakeLanczos:
    """Replacement of ``eigsh`` that returns given eigenpairs of a diagonal matrix, in turn."""

    def __init__(self, *answers):
        self.answers, self.n_calls = answers, 0

    def __call__(self, matrix, k, which, v0, **options):
        assert (k, which) == (2, "LA")
        values, places = self.answers[self.n_calls]
        self.n_calls += 1
        return np.array(values), np.eye(5)[:, places]


@pytest.mark.parametrize(
    ("answers", "expected", "n_calls"),
    [
        # two that differ: one search is enough
        ([([3.0, 2.0], [0, 1])], [3.0, 2.0], 1),
        # two copies, then a larger one that was missed
        ([([2.0, 2.0], [1, 2]), ([3.0, 1.0], [0, 3])], [3.0, 2.0], 2),
        # two copies, and nothing was missed
        ([([2.0, 2.0], [1, 2]), ([1.0, 0.5], [3, 4])], [2.0, 2.0], 2),
    ],
)
def test_missed_eigenvalues_are_searched_again(monkeypatch, answers, expected, n_calls):
    """A Lanczos iteration that misses eigenvalues, which a real one does only now and then."""
    lanczos = FakeLanczos(*answers)
    monkeypatch.setattr(scipy.sparse.linalg, "eigsh", lanczos)
    matrix = np.diag([3.0, 2.0, 2.0, 1.0, 0.5])
    values, vectors = iterative_eigenpairs(matrix, 2, generator())
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(matrix @ vectors, vectors * values)
    assert lanczos.n_calls == n_calls


def test_deflation_moves_known_eigenvalues_below_all_others():
    matrix = random_graph(12)
    values, vectors = np.linalg.eigh(matrix)
    rest = deflated(matrix, values[-2:], vectors[:, -2:])
    expected = vectors @ np.diag([*values[:-2], -2.0, -2.0]) @ vectors.T
    np.testing.assert_allclose(rest @ np.arange(12.0), expected @ np.arange(12.0), atol=1e-10)
    assert rest.shape == (12, 12)
    assert rest.dtype == np.float64
    assert deflated(matrix, np.empty(0), np.empty((12, 0))) is matrix


def test_eigenvalues_of_two_steps_are_returned_for_one():
    np.testing.assert_allclose(per_step(np.array([1.0, 0.25, -1e-17]), 2), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(per_step(np.array([1.0, 0.25, -0.5]), 1), [1.0, 0.25, -0.5])
    graph = random_graph(8, power=4)
    once, twice = (
        leading_eigenvectors(graph, 2, generator(), steps=steps).eigenvalues for steps in (1, 2)
    )
    np.testing.assert_allclose(twice, np.sqrt(once))
    np.testing.assert_allclose(leading_eigenvalues(graph, 2, generator(), steps=2), twice)


def test_there_are_no_more_eigenvalues_than_samples():
    assert len(leading_eigenvalues(random_graph(5), 9, generator())) == 5


def test_degrees_are_sums_of_rows_without_rounding():
    graph = np.diag([1.0, 1e-12, 2e-12, 0.5]).astype(np.float32)
    np.testing.assert_allclose(degrees(graph), [1.0, 0.0, 2e-12, 0.5], rtol=1e-6)
    assert degrees(graph).dtype == degrees(scipy.sparse.csr_array(graph)).dtype == np.float64
    assert degrees(np.zeros((0, 0))).shape == (0,)
    np.testing.assert_array_equal(degrees(np.array([[0.0, 2.0], [3.0, 1.0]])), [2.0, 4.0])
    np.testing.assert_allclose(degrees(1e-20 * np.eye(2)), [1e-20, 1e-20])


def test_small_sparse_graphs_become_dense(monkeypatch):
    graph, scale = random_graph(6), np.arange(1.0, 7.0)
    expected = np.diag(scale) @ graph @ np.diag(scale)
    np.testing.assert_allclose(scaled(graph, scale), expected)
    for max_dense, sparse in ((400, False), (6, False), (5, True)):
        monkeypatch.setattr(spectrum, "MAX_FULL_DECOMPOSITION", max_dense)
        found = scaled(scipy.sparse.csr_array(graph), scale)
        assert scipy.sparse.issparse(found) == sparse
        np.testing.assert_allclose(found @ np.eye(6), expected)


def test_isolated_samples_are_counted_in_a_warning():
    graph = random_graph(6)
    graph[4:] = graph[:, 4:] = 0.0
    message = (
        r"^2 of 6 samples are connected to no other and get an arbitrary label\. "
        r"A smaller lam or tau connects more samples\.$"
    )
    with pytest.warns(UserWarning, match=message):
        found = leading_eigenvectors(graph, 2, generator())
    assert not found.embedding[4:].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leading_eigenvalues(graph, 2, generator())
        leading_eigenvectors(random_graph(6), 2, generator())


def test_a_graph_of_zeros_raises():
    message = r"^The affinity is all zeros: no sample is represented by another\. lam or tau is too"
    with pytest.raises(ValueError, match=message):
        leading_eigenvectors(np.zeros((3, 3)), 1, generator())
