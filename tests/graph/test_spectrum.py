"""Eigenvectors of the normalised Laplacian by every road."""

import warnings

import numpy as np
import pytest
import scipy.sparse
import scipy.sparse.linalg

from viewspan.graph import spectrum
from viewspan.graph.spectrum import (
    degrees,
    iterative_eigenpairs,
    leading_eigenvalues,
    leading_eigenvectors,
    per_step,
    scaled,
    symmetric_eigenpairs,
    without,
)


def generator():
    return np.random.RandomState(0)


def random_graph(n_samples=30, seed=0):
    half = np.random.default_rng(seed).uniform(size=(n_samples, n_samples)) ** 4
    return half + half.T


def normalised(graph):
    scale = 1 / np.sqrt(graph.sum(axis=1))
    return graph * scale * scale[:, None]


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("dense", [400, 20])
def test_eigenpairs_are_those_of_the_normalised_graph(monkeypatch, form, dense):
    monkeypatch.setattr(spectrum, "DENSE", dense)
    graph = random_graph()
    found = leading_eigenvectors(form(graph), 2, generator())
    np.testing.assert_allclose(
        found.eigenvalues, np.linalg.eigvalsh(normalised(graph))[::-1][:2], atol=1e-10
    )
    degree = graph.sum(axis=1)
    vectors = found.embedding * np.sqrt(degree)[:, None]
    np.testing.assert_allclose(normalised(graph) @ vectors, vectors * found.eigenvalues, atol=1e-8)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(2), atol=1e-8)
    assert (
        vectors[np.abs(vectors).argmax(axis=0), [0, 1]] > 0
    ).all()  # a sign that no library chooses
    np.testing.assert_allclose(
        leading_eigenvalues(form(graph), 2, generator()), found.eigenvalues, atol=1e-10
    )


@pytest.mark.parametrize(
    ("n_samples", "count", "iterates"), [(30, 2, True), (20, 2, False), (30, 3, False)]
)
def test_iterations_are_for_a_few_eigenvectors_of_many_samples(
    monkeypatch, n_samples, count, iterates
):
    monkeypatch.setattr(spectrum, "DENSE", 20)
    calls = []
    original = spectrum.iterative_eigenpairs
    monkeypatch.setattr(
        spectrum, "iterative_eigenpairs", lambda *a: calls.append(a) or original(*a)
    )
    matrix = random_graph(n_samples)
    values, vectors = symmetric_eigenpairs(matrix, count, generator())
    assert bool(calls) == iterates
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:count], atol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)


@pytest.mark.parametrize("form", [np.asarray, scipy.sparse.csr_array])
@pytest.mark.parametrize("error", [scipy.sparse.linalg.ArpackError(-1), np.linalg.LinAlgError()])
def test_where_the_iteration_fails_the_dense_road_arrives(monkeypatch, form, error):
    monkeypatch.setattr(spectrum, "DENSE", 20)

    def failing(*arguments):
        raise error

    monkeypatch.setattr(spectrum, "iterative_eigenpairs", failing)
    matrix = random_graph()
    values, vectors = symmetric_eigenpairs(form(matrix), 2, generator())
    np.testing.assert_allclose(values, np.linalg.eigvalsh(matrix)[::-1][:2], atol=1e-10)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-10)
    assert vectors.shape == (30, 2)


def test_every_copy_of_a_repeated_eigenvalue_is_found():
    blocks = scipy.sparse.block_diag([np.ones((10, 10)) / 10] * 6, format="csr")
    values, vectors = iterative_eigenpairs(blocks, 7, generator())
    np.testing.assert_allclose(values, [1, 1, 1, 1, 1, 1, 0], atol=1e-9)
    np.testing.assert_allclose((blocks @ vectors)[:, :6], vectors[:, :6], atol=1e-8)
    np.testing.assert_allclose(vectors[:, :6].T @ vectors[:, :6], np.eye(6), atol=1e-8)


def test_eigenvalues_that_differ_are_looked_for_once(monkeypatch):
    calls = []
    original = scipy.sparse.linalg.eigsh
    monkeypatch.setattr(
        scipy.sparse.linalg, "eigsh", lambda *a, **k: calls.append(a) or original(*a, **k)
    )
    values, _ = iterative_eigenpairs(np.diag(np.linspace(0, 1, 40)), 3, generator())
    np.testing.assert_allclose(values, np.linspace(0, 1, 40)[:-4:-1], atol=1e-10)
    assert len(calls) == 1


def test_the_start_is_the_generators(monkeypatch):
    starts = []
    original = scipy.sparse.linalg.eigsh
    monkeypatch.setattr(
        scipy.sparse.linalg, "eigsh", lambda *a, **k: starts.append(k["v0"]) or original(*a, **k)
    )
    iterative_eigenpairs(np.diag(np.linspace(0, 1, 40)), 3, generator())
    np.testing.assert_array_equal(starts[0], generator().uniform(-1.0, 1.0, 40))


def test_known_eigenpairs_are_taken_away():
    matrix = random_graph(12)
    values, vectors = np.linalg.eigh(matrix)
    rest, along = without(matrix, values[-2:], vectors[:, -2:]), np.arange(12.0)
    known = (vectors[:, -2:] * (values[-2:] + spectrum.BELOW)) @ vectors[:, -2:].T
    np.testing.assert_allclose(rest @ along, (matrix - known) @ along, atol=1e-12)
    assert rest.shape == (12, 12)
    assert rest.dtype == np.float64
    assert without(matrix, np.empty(0), np.empty((12, 0))) is matrix


def test_eigenvalues_of_two_steps_are_told_for_one():
    np.testing.assert_allclose(per_step(np.array([1.0, 0.25, -1e-17]), 2), [1.0, 0.5, 0.0])
    np.testing.assert_array_equal(per_step(np.array([1.0, 0.25, -0.5]), 1), [1.0, 0.25, -0.5])
    graph = random_graph(8)
    once, twice = (
        leading_eigenvectors(graph, 2, generator(), steps=steps).eigenvalues for steps in (1, 2)
    )
    np.testing.assert_allclose(twice, np.sqrt(once))
    np.testing.assert_allclose(leading_eigenvalues(graph, 2, generator(), steps=2), twice)


def test_no_more_eigenvalues_than_samples():
    assert len(leading_eigenvalues(random_graph(5), 9, generator())) == 5


def test_degrees_are_sums_of_rows_and_rounding_is_none():
    graph = np.diag([1.0, 1e-12, 2e-12, 0.5]).astype(np.float32)
    np.testing.assert_allclose(degrees(graph), [1.0, 0.0, 2e-12, 0.5], rtol=1e-6)
    assert degrees(graph).dtype == degrees(scipy.sparse.csr_array(graph)).dtype == np.float64
    assert degrees(np.zeros((0, 0))).shape == (0,)
    np.testing.assert_array_equal(degrees(np.array([[0.0, 2.0], [3.0, 1.0]])), [2.0, 4.0])


def test_small_sparse_graphs_become_full(monkeypatch):
    graph, scale = random_graph(6), np.arange(1.0, 7.0)
    expected = np.diag(scale) @ graph @ np.diag(scale)
    np.testing.assert_allclose(scaled(graph, scale), expected)
    small = scaled(scipy.sparse.csr_array(graph), scale)
    assert isinstance(small, np.ndarray)
    np.testing.assert_allclose(small, expected)
    monkeypatch.setattr(spectrum, "DENSE", 6)
    assert isinstance(scaled(scipy.sparse.csr_array(graph), scale), np.ndarray)
    monkeypatch.setattr(spectrum, "DENSE", 5)
    large = scaled(scipy.sparse.csr_array(graph), scale)
    assert scipy.sparse.issparse(large)
    np.testing.assert_allclose(large.toarray(), expected)


def test_samples_without_a_neighbour_are_counted():
    graph = random_graph(6)
    graph[4:] = graph[:, 4:] = 0.0
    with pytest.warns(
        UserWarning,
        match=r"^2 of 6 samples are connected to no other and get an arbitrary label\. A sm",
    ):
        found = leading_eigenvectors(graph, 2, generator())
    assert not found.embedding[4:].any()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        leading_eigenvalues(graph, 2, generator())
        leading_eigenvectors(random_graph(6), 2, generator())
    with pytest.raises(
        ValueError,
        match=r"^The affinity is zero everywhere: no sample explains another\. lam or tau is",
    ):
        leading_eigenvectors(np.zeros((3, 3)), 1, generator())
