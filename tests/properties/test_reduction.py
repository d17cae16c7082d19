"""The reduced problem is equivalent to the full problem."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import AXES, EPS, SEEDS, cases, examples
from viewspan.objective.reduction import reduce_views
from viewspan.solvers.admm import admm

LOW_RANK = tuple(
    axes for axes in AXES if axes["penalty"] == "nuclear" and axes["coupling"] != "l12"
)
SIDES = {"both": [axes for axes in LOW_RANK if "frobenius" in axes["datafit"]]}
SIDES["left"] = [axes for axes in LOW_RANK if axes not in SIDES["both"]]
KINDS = ("gaussian", "low rank", "duplicates", "ill-conditioned", "uneven samples", "zero")
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def projected(case, stack, sides):
    """Return P Z P or P Z, where P projects onto the joint row space of the views."""
    reduction = reduce_views(
        case.views,
        sides,
        squares_suffice=sides == "both",
        rotate_features=case.axes["datafit"] != "l1",
    )
    basis = np.eye(len(case.views[0])) if reduction.left is None else reduction.left
    left = basis @ (basis.T @ stack)
    return left @ basis @ basis.T if sides == "both" else left


@pytest.mark.parametrize("sides", SIDES)
@examples(60)
@given(data=st.data(), seed=SEEDS, size=st.floats(-3.0, 1.0))
def test_projecting_coefficients_onto_the_joint_row_space_never_costs_anything(
    sides, data, seed, size
):
    """The theorem behind the reduction, for any coefficients whatever."""
    case = data.draw(cases(SIDES[sides], kinds=KINDS, masks=sides == "left", largest=16))
    n_samples = len(case.views[0])
    stack = 10.0**size * np.random.default_rng(seed).normal(
        size=(len(case.views), n_samples, n_samples)
    )
    inside = projected(case, stack, sides)
    assert case.objective(inside) <= case.objective(stack) * (1 + 1e-12) + case.rounding(stack)


@pytest.mark.parametrize("sides", SIDES)
@examples(8)
@given(data=st.data())
def test_the_reduced_optimum_is_the_full_one(sides, data):
    case = data.draw(
        cases(
            SIDES[sides],
            KINDS,
            exponents=(-2.0, 0.0),
            masks=sides == "left",
            largest=16,
            scales=False,
            zeros=False,
        )
    )
    reduced, full = case.solve(tol=1e-8, max_iter=3000), admm(case.problem, tol=1e-8, max_iter=3000)
    lifted = np.stack(reduced.coefficients)
    rounding = case.rounding(lifted)
    assert abs(case.objective(lifted) - reduced.objective) <= rounding
    assert (
        max(reduced.dual_bound, full.dual_bound)
        <= min(reduced.objective, full.objective) * (1 + 1e-12) + rounding
    )
    if max(reduced.gap, full.gap) <= 1e-8:
        assert reduced.objective == pytest.approx(full.objective, rel=2e-8, abs=rounding)
        np.testing.assert_allclose(lifted, full.stack, atol=1e-3)


@examples(60)
@given(
    case=cases(kinds=KINDS, largest=16, masks=False),
    sides=st.sampled_from(["both", "left", "none"]),
)
def test_views_come_back_from_their_coordinates(case, sides):
    """Without squares, to rounding of every view; with them, so do the Gram matrices."""
    for squares in (False, True):
        reduction = reduce_views(case.views, sides, squares_suffice=squares)
        for view, factor, target in zip(
            case.views, reduction.factors, reduction.targets, strict=True
        ):
            lifted = factor if reduction.left is None else factor @ reduction.left.T
            samples = target if reduction.right is None else target @ reduction.right.T
            size = np.linalg.norm(view) ** 2
            np.testing.assert_allclose(
                lifted.T @ lifted, view @ view.T, atol=8 * max(view.shape) * EPS * size
            )
            np.testing.assert_allclose(
                samples, lifted, atol=8 * max(view.shape) * EPS * np.sqrt(size)
            )
        if reduction.left is not None:
            rank = reduction.left.shape[1]
            np.testing.assert_allclose(reduction.left.T @ reduction.left, np.eye(rank), atol=1e-12)
