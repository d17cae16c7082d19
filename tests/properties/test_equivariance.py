"""Results do not depend on the order of samples and views, on rotations or on units."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import viewspan
from tests.properties.strategies import AXES, SEEDS, cases, examples

PLAIN = {
    "kinds": ("gaussian", "low rank", "duplicates"),
    "exponents": (-2.0, 0.0),
    "scales": False,
    "zeros": False,
}
ROTATED = tuple(axes for axes in AXES if axes["datafit"] != "l1")
NEAR = 1e-4
"""Largest difference between entries of two coefficient matrices with a gap of 1e-9."""
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def solved(case):
    return case.solve(tol=1e-9, max_iter=3000)


def alike(first, second, expected, case):
    """Check that two certified intervals overlap and that the second coefficients are as expected.

    Coefficients are compared only if both gaps are small.
    """
    assert max(first.dual_bound, second.dual_bound) <= min(first.objective, second.objective) * (
        1 + 1e-12
    )
    if max(first.gap, second.gap) <= 1e-9:
        np.testing.assert_allclose(np.stack(second.coefficients), np.stack(expected), atol=NEAR)


@examples(8)
@given(case=cases(**PLAIN), seed=SEEDS)
def test_coefficients_follow_samples_into_another_order(case, seed):
    order = np.random.default_rng(seed).permutation(len(case.views[0]))
    moved = replace(
        case,
        views=[view[order] for view in case.views],
        lam=case.lam[:, order] if case.lam.ndim == 2 else case.lam,
        observed=None if case.observed is None else case.observed[:, order],
    )
    first, second = solved(case), solved(moved)
    alike(first, second, [z[np.ix_(order, order)] for z in first.coefficients], case)


@examples(7)
@given(case=cases(**PLAIN), seed=SEEDS)
def test_coefficients_follow_views_into_another_order(case, seed):
    order = np.random.default_rng(seed).permutation(len(case.views))
    moved = replace(
        case,
        views=[case.views[view] for view in order],
        lam=case.lam[order],
        observed=None if case.observed is None else case.observed[order],
    )
    first, second = solved(case), solved(moved)
    alike(first, second, [first.coefficients[view] for view in order], case)


@examples(7)
@given(case=cases(axes=ROTATED, **PLAIN), seed=SEEDS)
def test_rotated_features_change_nothing(case, seed):
    rng = np.random.default_rng(seed)
    rotations = [np.linalg.qr(rng.normal(size=(view.shape[1],) * 2))[0] for view in case.views]
    moved = replace(
        case, views=[view @ turn for view, turn in zip(case.views, rotations, strict=True)]
    )
    first = solved(case)
    alike(first, solved(moved), first.coefficients, case)


@examples(40)
@given(case=cases(), power=st.integers(-60, 60))
def test_a_unit_that_is_a_power_of_two_changes_no_digit(case, power):
    scale, degree = 2.0**power, 2 if "frobenius" in case.axes["datafit"] else 1
    scaled = replace(
        case,
        views=[scale * view for view in case.views],
        lam=scale**degree * case.lam,
        tau=scale**degree * case.tau,
    )
    first, second = case.solve(max_iter=50), scaled.solve(max_iter=50)
    np.testing.assert_array_equal(second.cores, first.cores)
    assert (second.objective, second.dual_bound) == (
        scale**degree * first.objective,
        scale**degree * first.dual_bound,
    )
    assert (second.n_iter, second.status) == (first.n_iter, first.status)


FREE = {"scale_features": False, "affine": False, "random_state": 0, "tol": 1e-2}
"""Features stay as they are: automatic scaling and centring are not rotation invariant.

The tolerance is rough, because these tests compare fits and do not look at the optimum.
"""
MODELS = {
    "CLRSC": lambda **more: viewspan.CLRSC(3, **FREE, **more),
    "CLRSC l12": lambda **more: viewspan.CLRSC(3, datafit="l12", **FREE, **more),
    "CLRSC l1": lambda **more: viewspan.CLRSC(3, datafit="l1", **FREE, **more),
    "collaborative SSC": lambda **more: viewspan.CLRSC(3, penalty="l1", **FREE, **more),
    "rank one": lambda **more: viewspan.CLRSC(3, coupling="rank_one", **FREE, **more),
    "LRR": lambda **more: viewspan.LRR(3, **FREE, **more),
    "LRR l12": lambda **more: viewspan.LRR(3, datafit="l12", **FREE, **more),
    "SSC": lambda **more: viewspan.SSC(3, **FREE, **more),
    "MLAP": lambda **more: viewspan.MLAP(3, **FREE, **more),
}


def clear_clusters(seed):
    """Return two views of three planes with little noise, and the true labels."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.repeat([0, 1, 2], 8))
    views = []
    for width in (9, 14):
        basis = np.linalg.qr(rng.normal(size=(width, 6)))[0].T.reshape(3, 2, width)
        view = np.einsum("nd,ndw->nw", rng.normal(size=(24, 2)), basis[truth])
        views.append(view + 0.01 * rng.normal(size=view.shape))
    return views, truth


def fitted(name, views, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MODELS[name](**options).fit(views)


@pytest.mark.parametrize("name", MODELS)
@examples(1)
@given(seed=SEEDS)
def test_labels_know_neither_order_nor_axes_nor_unit(name, seed):
    views, truth = clear_clusters(seed)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(truth))
    labels = fitted(name, views).labels_
    assert adjusted_rand_score(truth, labels) == 1.0
    assert (
        adjusted_rand_score(labels[order], fitted(name, [view[order] for view in views]).labels_)
        == 1.0
    )
    assert adjusted_rand_score(labels, fitted(name, views[::-1]).labels_) == 1.0
    assert (
        adjusted_rand_score(
            labels, fitted(name, [1e5 / 3 * view for view in views], normalize=False).labels_
        )
        == 1.0
    )
    if name != "CLRSC l1":
        turned = [view @ np.linalg.qr(rng.normal(size=(view.shape[1],) * 2))[0] for view in views]
        assert adjusted_rand_score(labels, fitted(name, turned).labels_) == 1.0


@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("name", MODELS)
@examples(1)
@given(seed=SEEDS, power=st.sampled_from([-40, -1, 17, 40]))
def test_a_fit_in_a_unit_that_is_a_power_of_two_is_the_same_to_the_last_digit(
    name, normalize, seed, power
):
    views, _ = clear_clusters(seed)
    first = fitted(name, views, normalize=normalize)
    second = fitted(name, [2.0**power * view for view in views], normalize=normalize)
    np.testing.assert_array_equal(second.labels_, first.labels_)
    np.testing.assert_array_equal(second.cores_, first.cores_)
    np.testing.assert_array_equal(second.eigenvalues_, first.eigenvalues_)
    assert second.dual_gap_ == first.dual_gap_
    degree = 0 if normalize else 1 if "l1" in name and "SSC" not in name else 2
    degree = 1 if name == "MLAP" and not normalize else degree
    assert second.objective_ == 2.0 ** (degree * power) * first.objective_
