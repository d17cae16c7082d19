from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.problems import two_subspaces
from viewspan.graph import patterns
from viewspan.graph.consensus import cut_together, eigengap
from viewspan.inputs.preparation import prepare
from viewspan.inputs.views import check_views


def solved(views, lam=0.05, tau=0.1):
    return viewspan.solve(
        prepare(check_views(views, caller="test").read(), False, False, True)[1].arrays,
        lam,
        tau,
        tol=1e-6,
    )


def test_noise_free_subspaces_are_separate_pieces():
    views, labels = two_subspaces(noise=0.0, size=20)
    graph = viewspan.pattern_graph(solved(views)).toarray()
    assert (graph[labels[:, None] != labels] < 1e-3).all()
    assert (graph.sum(axis=1) > 0.5).all()


def test_a_subspace_knows_no_sign():
    views, _ = two_subspaces()
    signs = np.random.default_rng(0).choice([-1.0, 1.0], size=(len(views[0]), 1))
    one = viewspan.pattern_graph(solved(views)).toarray()
    other = viewspan.pattern_graph(solved([signs * view for view in views])).toarray()
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_the_size_of_a_view_s_coefficients_does_not_matter():
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


def test_weights_of_neighbours_fall_linearly():
    closeness = 1.0 / (
        1 + np.abs(np.subtract.outer(np.array([0, 1, 3, 7, 15]), np.array([0, 1, 3, 7, 15])))
    )
    np.fill_diagonal(closeness, 0.0)
    expected = np.zeros((5, 5))
    for sample, (first, second) in enumerate([(1, 2), (0, 2), (1, 0), (2, 1), (3, 2)]):
        expected[sample, first] += 1.0
        expected[sample, second] += 0.5
    np.testing.assert_allclose(patterns.nearest(closeness, 2).toarray(), expected + expected.T)


def test_ranks_are_read_from_the_largest_cosine_on():
    cosines = np.array([[0.0, 0.9, 0.5, 0.0]] * 4, dtype=np.float32)
    np.testing.assert_allclose(
        patterns.closeness_by_rank(cosines, 3)[0], [0, np.log(4), np.log(2), 0], rtol=1e-6
    )


def test_a_sample_without_coefficients_has_no_neighbours():
    views, _ = two_subspaces()
    views = [np.vstack([view, np.zeros((1, 12))]) for view in views]
    with pytest.warns(UserWarning, match="zero for 1 of 31"):
        result = solved(views)
    assert viewspan.pattern_graph(result).toarray()[-1].sum() == 0


def test_few_samples_have_few_neighbours():
    views, _ = two_subspaces(size=2)
    graph = viewspan.pattern_graph(solved(views)).toarray()
    assert graph.shape == (4, 4)
    assert not graph.diagonal().any()


def test_a_broken_graph_has_no_say():
    """A clear graph and two that connect everyone alike."""
    labels = np.repeat([0, 1, 2], 10)
    clear = np.where(labels[:, None] == labels, 1.0, 0.02)
    rng = np.random.default_rng(0)
    noise = [(matrix + matrix.T) / 2 for matrix in rng.uniform(0.4, 1.0, (2, 30, 30))]
    found, eigenvalues, united = cut_together(
        [noise[0], clear, noise[1]],
        None,
        assign_labels="discretize",
        generator=np.random.RandomState(0),
    )
    assert adjusted_rand_score(labels, found) == 1.0
    assert np.abs(united - clear).max() < 0.05
    assert len(eigenvalues) > 3


@pytest.mark.parametrize(("count", "expected"), [(1, 0.5), (2, 0.3), (3, 1.0)])
def test_the_eigengap_at_a_number(count, expected):
    assert eigengap(np.array([1.0, 0.5, 0.2]), count) == pytest.approx(expected)


def test_a_sample_that_rebuilds_itself_alone_is_found_by_those_who_need_it():
    views, labels = two_subspaces()
    result = viewspan.MLAP(2, random_state=0).fit(views[:1]).result_
    (coefficients,) = result.coefficients
    alone = np.flatnonzero(np.diag(coefficients) > 0.999)
    assert len(alone) > 0
    lonely = viewspan.pattern_graph(result)
    assert adjusted_rand_score(labels, viewspan.ncut(lonely, 2, random_state=0)) < 1.0
    mutual = viewspan.pattern_graph(result, mutual=True)
    assert adjusted_rand_score(labels, viewspan.ncut(mutual, 2, random_state=0)) == 1.0


@pytest.mark.parametrize("wrong", [0, -3, 2.5])
def test_neighbours_are_counted(wrong):
    with pytest.raises(ValueError, match="n_neighbors must be an int of at least 1"):
        viewspan.pattern_graph(solved(two_subspaces()[0]), wrong)


def test_large_matrices_are_searched_in_blocks(monkeypatch):
    matrix = np.random.default_rng(0).normal(size=(50, 30)).astype(np.float32)
    whole = patterns.largest_of_rows(matrix, 7)
    monkeypatch.setattr(patterns, "MANY", 400)
    for mine, theirs in zip(patterns.largest_of_rows(matrix, 7), whole, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    np.testing.assert_array_equal(whole[1], -np.sort(-matrix, axis=1)[:, :7])
