"""One pass over the samples: summaries of parts add up, and they suffice to solve the problem."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse

from tests.problems import many_subspaces, optimum, random_views
from viewspan.fit.one_pass import OnePass, Reservoir, keys_of, reduction_of
from viewspan.inputs.checks import check_views
from viewspan.inputs.column_statistics import ColumnStatistics
from viewspan.inputs.preparation import prepare
from viewspan.objective.axes import Axes
from viewspan.objective.reduction import reduce_views
from viewspan.solvers.reduced import solve_reduced


def summary_of(views, cuts=(), *, by="gram", capacity=10**6):
    """Return the summary of views that are read in parts, cut before these rows."""
    function = OnePass(None, normalize=True, moment_form=by, capacity=capacity, seed=3)
    checked = check_views(views, caller="test")
    ends = [0, *cuts, checked.n_samples]
    parts = [function(checked.rows(a, b).read(first=a), a) for a, b in pairwise(ends)]
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def prepared(views):
    """Return the views as the solver gets them."""
    return prepare(check_views(views, caller="test").read(), False, False, normalize=True)[1].arrays


@pytest.mark.parametrize("by", ["gram", "triangle"])
def test_summaries_of_parts_add_up(by):
    views, _ = many_subspaces(200)
    full, parts = summary_of(views, by=by), summary_of(views, [1, 15, 150], by=by)
    squares = [
        np.abs(total.moments.T @ total.moments if by == "triangle" else total.moments)
        for total in (full, parts)
    ]
    np.testing.assert_allclose(*squares, rtol=1e-10, atol=1e-10)
    for first, second in zip(full.columns, parts.columns, strict=True):
        np.testing.assert_allclose(first.largest, second.largest)
        np.testing.assert_allclose(first.sums, second.sums, atol=1e-12)
        np.testing.assert_allclose(first.squares, second.squares)


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_columns_add_up_at_any_magnitude(scale):
    array = scale * np.random.default_rng(0).normal(size=(30, 4)) * [1.0, 10.0, 0.0, 0.1]
    full, parts = (
        ColumnStatistics.of(array),
        ColumnStatistics.of(array[:7]) + ColumnStatistics.of(array[7:]),
    )
    for name in ("n_samples", "n_zero", "largest", "sums", "squares"):
        np.testing.assert_allclose(getattr(parts, name), getattr(full, name), atol=1e-12 * scale)


@pytest.mark.parametrize("cuts", [(), (1,), (50, 51, 170)])
def test_the_reservoir_sample_does_not_depend_on_cuts(cuts):
    views, _ = many_subspaces(200)
    sample, uncut = (summary_of(views, at, capacity=20).sample.in_order() for at in (cuts, ()))
    np.testing.assert_array_equal(sample.positions, uncut.positions)
    for first, second, view in zip(sample.blocks, uncut.blocks, prepared(views), strict=True):
        np.testing.assert_array_equal(first, second)
        np.testing.assert_array_equal(first, view[sample.positions])


def test_the_reservoir_sample_is_uniform():
    counts = np.zeros(100)
    for seed in range(2000):
        blocks = [np.zeros((100, 1))]
        counts[Reservoir.of(blocks, 0, 10, seed).positions] += 1
    assert abs(counts - 200).max() < 5 * np.sqrt(200 * 0.9)


def test_keys_depend_on_position_and_seed_alone():
    positions = np.arange(1000)
    np.testing.assert_array_equal(keys_of(positions[300:], 1), keys_of(positions, 1)[300:])
    assert not (keys_of(positions, 1) == keys_of(positions, 2)).any()


@pytest.mark.parametrize("by", ["gram", "triangle"])
@pytest.mark.parametrize("cuts", [(), (3, 60)])
def test_the_reduction_of_parts_is_that_of_all(by, cuts):
    views, _ = many_subspaces(150)
    exact = reduce_views(prepared(views))
    merged = reduction_of(summary_of(views, cuts, by=by), [20, 20], (20, 20))
    for first, second in zip(merged.spectra, exact.spectra, strict=True):
        np.testing.assert_allclose(first.values, second.values, rtol=1e-9)
    np.testing.assert_allclose(merged.left.T @ merged.left, np.eye(40), atol=1e-9)
    axes = Axes.choose("frobenius", "nuclear", "nuclear")
    first, second = (
        solve_reduced(reduction, np.array([0.3, 0.5]), 0.4, axes, tol=1e-8)
        for reduction in (merged, exact)
    )
    assert first.objective == pytest.approx(second.objective, rel=1e-7)
    np.testing.assert_allclose(
        first.coefficient(0), second.coefficient(0), atol=2e-3 * abs(second.coefficient(0)).max()
    )


def test_the_optimum_is_that_of_a_generic_solver():
    views = random_views(0, n_features=(3, 4), n_samples=9)
    reduction = reduction_of(summary_of(views, [4]), [3, 4], (3, 4))
    result = solve_reduced(
        reduction, np.full(2, 0.2), 0.3, Axes.choose("frobenius", "nuclear", "nuclear"), tol=1e-7
    )
    assert result.objective == pytest.approx(optimum(views, 0.2, 0.3), rel=1e-5)


def test_coefficients_of_the_reservoir_are_those_of_the_full_solution():
    views, _ = many_subspaces(150)
    axes, lam = Axes.choose("frobenius", "nuclear", "nuclear"), np.array([0.3, 0.5])
    complete = solve_reduced(reduce_views(prepared(views)), lam, 0.4, axes, tol=1e-9)
    summary = summary_of(views, [70], capacity=12)
    sampled = solve_reduced(reduction_of(summary, [20, 20], (20, 20)), lam, 0.4, axes, tol=1e-9)
    rows = summary.sample.positions
    full = complete.coefficient(1)
    np.testing.assert_allclose(
        sampled.coefficient(1), full[np.ix_(rows, rows)], atol=1e-3 * abs(full).max()
    )


def test_squares_lose_what_triangles_keep():
    rng = np.random.default_rng(0)
    view = rng.normal(size=(300, 2)) * [1.0, 1e-7] @ np.linalg.qr(rng.normal(size=(2, 2)))[0]
    function = OnePass(None, normalize=False, moment_form="gram", capacity=9, seed=0)
    checked = check_views([view], caller="test").read()
    squares, triangles = (OnePass(None, False, by, 9, 0)(checked, 0) for by in ("gram", "triangle"))
    assert function(checked, 0).is_ill_conditioned() and not triangles.is_ill_conditioned()
    exact = np.linalg.svd(view, compute_uv=False)
    assert len(reduction_of(squares, [2], (2,)).spectra[0].values) == 1
    np.testing.assert_allclose(
        reduction_of(triangles, [2], (2,)).spectra[0].values, exact, rtol=1e-6
    )


def test_sparse_samples_have_the_moments_of_dense_ones():
    views, _ = many_subspaces(60)
    views = [np.where(np.abs(view) > 0.2, view, 0.0) for view in views]
    mixed = [scipy.sparse.csr_array(views[0]), views[1]]
    np.testing.assert_allclose(
        summary_of(mixed, [20]).moments, summary_of(views).moments, atol=1e-12
    )
    assert scipy.sparse.issparse(summary_of(mixed, [20]).sample.blocks[0])
