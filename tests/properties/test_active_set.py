"""Active sets end for every problem of separate samples, at what bounds allow."""

from hypothesis import given
from hypothesis import strategies as st

from tests.properties.strategies import AXES, cases, examples
from viewspan.solvers.active_set import solve_active_set
from viewspan.solvers.admm import admm

SEPARABLE = tuple(
    axes
    for axes in AXES
    if axes["penalty"] == "l1" and axes["coupling"] == "none" and "frobenius" in axes["datafit"]
)


@examples(60)
@given(
    case=cases(SEPARABLE, largest=14, exponents=(-6.0, 0.5)),
    tol=st.sampled_from([1e-2, 1e-4, 1e-8]),
)
def test_it_always_ends_and_no_other_solver_finds_anything_better(case, tol):
    problem = case.problem
    found = solve_active_set(problem, tol=tol)
    other = admm(problem, tol=tol, max_iter=200)
    assert found.status == "optimal" or (found.status == "residuals" and not problem.lam.all())
    assert found.objective <= other.objective * (1 + tol) + case.rounding(other.stack)
    assert found.dual_bound <= other.objective + case.rounding(other.stack)
    assert other.dual_bound <= found.objective + case.rounding(found.stack)
    by_hand = case.objective(found.stack)
    assert abs(by_hand - found.objective) <= 1e-8 * by_hand + case.rounding(found.stack)
