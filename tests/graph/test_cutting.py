"""The cut itself: what is asked for, what is said, what is found."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

import viewspan
from viewspan.graph import ncut as module
from viewspan.graph.ncut import (
    check_affinity,
    check_request,
    cut,
    most_clusters,
    number_by_appearance,
    separate_pieces,
)
from viewspan.graph.spectrum import Spectrum, degrees, leading_eigenvalues


def blocks(sizes=(6, 7, 8), between=0.05, seed=0):
    labels = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(labels[:, None] == labels, 1.0, between)
    graph = graph * np.random.default_rng(seed).uniform(0.5, 1.0, graph.shape)
    return graph + graph.T, labels


@pytest.mark.parametrize(
    ("n_samples", "most"), [(2, 1), (5, 4), (11, 10), (12, 10), (16, 12), (100, 30)]
)
def test_an_estimate_considers_a_few_times_the_root(n_samples, most):
    assert most_clusters(n_samples) == most


def test_labels_are_renumbered_by_first_appearance():
    found = number_by_appearance(np.array([7, 2, 2, 9, 7, 0]))
    np.testing.assert_array_equal(found, [0, 1, 1, 2, 0, 3])
    assert found.dtype == np.int64


@pytest.mark.parametrize(("way", "count"), [("kmeans", 4), ("modularity", 9)])
def test_as_many_eigenvalues_as_the_way_looks_at(way, count):
    graph, labels = blocks()
    found, eigenvalues = cut(graph, 3, assign_labels=way, random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0
    np.testing.assert_allclose(
        eigenvalues, leading_eigenvalues(graph, count, np.random.RandomState(0)), atol=1e-12
    )


def test_an_unknown_number_is_read_and_its_eigenvalues_told():
    graph, labels = blocks()
    found, eigenvalues = cut(graph, None, assign_labels="discretize", random_state=0)
    assert adjusted_rand_score(labels, found) == 1.0
    assert len(eigenvalues) == 14


def test_a_number_that_needs_more_eigenvectors_is_cut_again(monkeypatch):
    """Six of them, which by modularity take eighteen; fourteen were looked at."""
    graph, labels = blocks((4,) * 6)
    calls = []
    original = module.leading_eigenvectors
    monkeypatch.setattr(
        module,
        "leading_eigenvectors",
        lambda *a, **k: calls.append((a[1], a[2])) or original(*a, **k),
    )
    monkeypatch.setattr(module, "most_clusters", lambda _: 13)
    found, eigenvalues = cut(graph, None, assign_labels="modularity", random_state=0)
    assert [count for count, _ in calls] == [14, 18]
    assert calls[0][1] is calls[1][1]  # one generator for both
    assert len(eigenvalues) == 14
    assert adjusted_rand_score(labels, found) == 1.0
    calls.clear()
    monkeypatch.setattr(module, "most_clusters", lambda _: 17)
    cut(graph, None, assign_labels="modularity", random_state=0)
    assert [count for count, _ in calls] == [18]


def test_landmarks_are_weighed_by_what_they_stand_for(monkeypatch):
    graph, _ = blocks()
    seen = []
    monkeypatch.setattr(module, "assign", lambda *a: seen.append(a) or np.arange(21) % 3)
    steps = []
    original = module.leading_eigenvectors
    monkeypatch.setattr(
        module,
        "leading_eigenvectors",
        lambda *a, **k: steps.append(k["steps"]) or original(*a, **k),
    )
    for count in (1, 2):
        cut(graph, 3, assign_labels="kmeans", random_state=0, steps=count)
    assert steps == [1, 2]
    assert seen[0][-1] is None
    np.testing.assert_array_equal(seen[1][-1], degrees(graph))
    assert seen[0][0] is graph
    assert isinstance(seen[0][1], Spectrum)
    assert seen[0][2:4] == (3, "kmeans")


def test_a_cluster_without_a_sample_is_said(monkeypatch):
    graph, _ = blocks()
    monkeypatch.setattr(module, "assign", lambda *a: np.repeat([5, 1], [10, 11]))
    message = (
        r"^Only 2 of 3 clusters got a sample: the graph has not so many groups\. "
        r'assign_labels="kmeans" leaves none'
    )
    with pytest.warns(UserWarning, match=message):
        labels, _ = cut(graph, 3, assign_labels="discretize", random_state=0)
    np.testing.assert_array_equal(labels, np.repeat([0, 1], [10, 11]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cut(graph, 2, assign_labels="discretize", random_state=0)


def test_one_cluster_has_everyone():
    labels, eigenvalues = cut(blocks()[0], 1, assign_labels="discretize", random_state=0)
    np.testing.assert_array_equal(labels, np.zeros(21))
    assert labels.dtype == np.int64
    assert len(eigenvalues) == 2


def said(graph, n_clusters, eigenvalues=None):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        values = (
            leading_eigenvalues(graph, 5, np.random.RandomState(0))
            if eigenvalues is None
            else eigenvalues
        )
        separate_pieces(graph, values, n_clusters)
    return [str(record.message) for record in caught]


def test_pieces_are_counted_and_their_consequence_told():
    graph, _ = blocks(between=0.0)
    for form in (np.asarray, scipy.sparse.csr_array):
        (message,) = said(form(graph), 2)
        assert message == (
            "The graph is in 3 separate pieces and 2 clusters are asked for, so unrelated pieces share a label. "
            "More neighbours connect more samples; in the paper's graph, a smaller lam or tau."
        )
        (message,) = said(form(graph), 4)
        assert message.startswith(
            "The graph is in 3 separate pieces and 4 clusters are asked for, so some pieces are cut further. More"
        )
        assert said(form(graph), 3) == []
    assert said(blocks()[0], 2) == []
    assert said(blocks()[0], 3, np.ones(2)) == []  # eigenvalues that are 1 by rounding only
    assert said(graph, 2, np.array([1.0 - 2e-10, 0.5])) == []
    assert len(said(graph, 4, np.array([1.0, 1.0 - 0.5e-10, 0.5]))) == 1


@pytest.mark.parametrize("number", [None, 1, 20, np.int32(3)])
def test_a_good_request_is_silent(number):
    check_request(number, "kmeans", 20)


@pytest.mark.parametrize("number", [0, 21, 2.0, True, "2"])
def test_a_bad_number_is_told_in_one_sentence(number):
    message = rf"^n_clusters must be an int from 1 to the number of samples, 20, or None\. Got {number!r} instead\.$"
    with pytest.raises(ValueError, match=message):
        check_request(number, "kmeans", 20)


def test_ways_are_listed():
    message = (
        r"^assign_labels must be one of 'discretize', 'cluster_qr', 'kmeans', 'modularity'\. "
        r"Got 'guess' instead\.$"
    )
    with pytest.raises(ValueError, match=message):
        check_request(2, "guess", 20)


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (
            np.ones((3, 4)),
            r"^affinity must be a square matrix \(n_samples, n_samples\)\. Got shape \(3, 4\) instead\.$",
        ),
        (np.ones(4), r"Got shape \(4,\) instead\.$"),
        (np.ones((2, 2, 2)), r"Got shape \(2, 2, 2\) instead\.$"),
        (np.zeros((0, 0)), r"^affinity is empty: there is no sample to cluster\.$"),
        (np.array([[0.0, np.inf], [np.inf, 0.0]]), r"^affinity contains NaN or infinity\.$"),
        (
            np.array([[0.0, -0.25], [-0.25, 0.0]]),
            r"^affinity must not be negative; its smallest entry is -0\.25\. Take absolute values if signs do not mat",
        ),
    ],
)
def test_bad_graphs_are_told_in_one_sentence(graph, message):
    forms = [np.asarray, scipy.sparse.csr_array] if graph.ndim == 2 and graph.size else [np.asarray]
    for form in forms:
        with pytest.raises(ValueError, match=message):
            check_affinity(form(graph))


def test_asymmetry_of_rounding_is_not_worth_a_word():
    graph = np.array([[1, 4], [4, 0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for form in (np.asarray, scipy.sparse.csr_array):
            found = check_affinity(form(graph))
            assert found.dtype == float
            np.testing.assert_array_equal(found @ np.eye(2), graph)
        nearly = np.array([[1.0, 4.0], [4.0 + 3.9e-8, 0.0]])
        assert check_affinity(nearly)[0, 1] == check_affinity(nearly)[1, 0] == 4.0 + 1.95e-8
        check_affinity(np.zeros((2, 2)))
    with pytest.warns(
        UserWarning,
        match=r"^affinity is not symmetric; the mean of it and its transpose is used\.$",
    ):
        found = check_affinity(np.array([[1.0, 4.0], [4.0 + 4.1e-8, 0.0]]))
    assert found[0, 1] == found[1, 0] == 4.0 + 2.05e-8


def test_the_seed_and_the_way_reach_the_cut(monkeypatch):
    seen = []
    monkeypatch.setattr(module, "cut", lambda *a, **k: seen.append((a, k)) or (np.zeros(21), None))
    viewspan.ncut(blocks()[0], 3, assign_labels="kmeans", random_state=7)
    viewspan.ncut(blocks()[0])
    assert seen[0][0][1] == 3
    assert seen[0][1] == {"assign_labels": "kmeans", "random_state": 7}
    assert seen[1][0][1] is None
    assert seen[1][1] == {"assign_labels": "discretize", "random_state": None}
