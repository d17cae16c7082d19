"""ADMM, the paper's algorithms and a generic convex solver give one answer."""

import numpy as np
import pytest
from hypothesis import assume, given

from tests.problems import optimum
from tests.properties.strategies import AXES, cases, examples
from viewspan.solvers import ladmap, ladmpsap
from viewspan.solvers.admm import admm
from viewspan.solvers.closed_form import solve_closed_form

GENTLE = {
    "kinds": ("gaussian", "low rank", "duplicates"),
    "exponents": (-1.5, -0.3),
    "largest": 6,
    "scales": False,
    "masks": False,
    "zeros": False,
}
PUBLISHED = tuple(axes for axes in AXES if axes["datafit"] != "l1")
ALONE = tuple(axes for axes in PUBLISHED if axes["coupling"] == "none")
CLOSED = tuple(
    axes for axes in ALONE if axes["penalty"] == "nuclear" and "frobenius" in axes["datafit"]
)
GAP, PRESSED = 1e-8, 1e-3


def agree(ours, theirs, best, case):
    """All objectives are within the gaps that were proven."""
    assert ours.status == "optimal"
    assert theirs.gap <= PRESSED
    for found in (ours, theirs):
        assert found.dual_bound <= best + 1e-6 * case.unit
        assert (
            best - 1e-6 * case.unit
            <= found.objective
            <= best + found.gap * found.objective + 1e-6 * case.unit
        )
    assert max(ours.dual_bound, theirs.dual_bound) <= min(ours.objective, theirs.objective) * (
        1 + 1e-12
    )


@examples(8)
@given(case=cases(PUBLISHED, **GENTLE))
def test_admm_ladmpsap_and_a_generic_solver_agree(case):
    best = optimum(case.views, case.lam, case.tau, **case.axes)
    ours = admm(case.problem, tol=GAP, max_iter=20000)
    theirs = ladmpsap.ladmpsap(case.problem, tol=1e-8, max_iter=20000)
    agree(ours, theirs, best, case)


@examples(8)
@given(case=cases(ALONE, **GENTLE))
def test_admm_ladmap_and_a_generic_solver_agree(case):
    best = optimum(case.views, case.lam, case.tau, **case.axes)
    ours = admm(case.problem, tol=GAP, max_iter=20000)
    theirs = ladmap.ladmap(case.problem, tol=1e-8, max_iter=20000)
    agree(ours, theirs, best, case)


@examples(25)
@given(case=cases(CLOSED, **GENTLE))
def test_admm_and_ladmap_arrive_at_the_closed_form(case):
    """It is the only optimum, so the coefficients are the same, too."""
    assume(case.unit > 0)
    formula = solve_closed_form(case.problem)
    assert formula.gap <= 1e-12
    ours = admm(case.problem, tol=1e-10, max_iter=20000)
    theirs = ladmap.ladmap(case.problem, tol=1e-9, max_iter=20000)
    assert ours.status == "optimal"
    np.testing.assert_allclose(ours.stack, formula.stack, atol=1e-4)
    np.testing.assert_allclose(theirs.stack, formula.stack, atol=1e-3)
    assert ours.objective == pytest.approx(formula.objective, rel=1e-10)
