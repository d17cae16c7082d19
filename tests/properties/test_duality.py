"""Certificates are valid: no dual bound exceeds the objective of any coefficients.

Two solutions of one problem give two intervals [dual bound, objective] that contain the optimum, so
the intervals must overlap. The bound of a problem that is not reduced already allows for rounding
errors, so the tests add no tolerance. A reduction of the views adds rounding errors of the data.
Objectives are computed from the definitions.
"""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import viewspan
from tests.problems import optimum
from tests.properties.strategies import AXES, SEEDS, Case, cases, examples, matrix
from viewspan.objective.couplings import Uncoupled
from viewspan.objective.datafits import L12
from viewspan.objective.penalties import Nuclear
from viewspan.objective.problem import Problem
from viewspan.solvers import working_set
from viewspan.solvers.admm import admm

LOOSE, TIGHT = 1e-2, 1e-7
QUADRATIC = tuple(axes for axes in AXES if "frobenius" in axes["datafit"])
RELEASED = tuple(axes for axes in AXES if axes["datafit"] != "l1")
CLRSC = ({"datafit": "frobenius", "penalty": "nuclear", "coupling": "nuclear"},)
LRR = tuple(
    axes for axes in QUADRATIC if axes["penalty"] == "nuclear" and axes["coupling"] == "none"
)
TINY = (-16.0, 0.0)
"""Exponents of weights down to the rounding errors of the data."""
VANISHING = (-250.0, -100.0)
"""Exponents of weights whose squares underflow."""
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


MISSING_SAMPLES = Case(
    [
        np.array([[0.03628681, -0.18529752], [0.0, 0.0], [0.0, 0.0]]),
        np.array([[0.2189223], [0.78948725], [0.57339595]]),
    ],
    np.array([1.0, 1.0]),
    0.0,
    LRR[0],
    np.array([[True, False, False], [True, True, True]]),
)
"""Once, a singular value that was a rounding error counted as a direction: the gap was 4e-4."""
UNCOUPLED = Case([np.array([[0.7], [-0.7]])], np.array([0.1]), 0.0, LRR[0])
"""Once, a multiplier raised the bound although there is no coupling."""
WEIGHTLESS = Case(
    [np.eye(3), np.eye(3)], np.full(2, 1e-200), 1e-200, {**CLRSC[0], "datafit": "l12"}
)
"""Once, multipliers whose squares underflow counted as zero."""


def a_bound_holds(bound, case, stack, reduced=False):
    """Check that a bound does not exceed the objective of a stack.

    The bound of a reduced problem may exceed it by the rounding errors of the data.
    """
    objective = case.objective(stack)
    tolerance = case.rounding(stack) if reduced else 0.0
    assert bound <= objective * (1 + 1e-13) + tolerance, f"bound {bound} > objective {objective}"


def a_stack(case, rng, how):
    """Return feasible coefficients that no solver computed."""
    n_samples = len(case.views[0])
    if how == "identity":
        stack = np.stack([np.eye(n_samples)] * len(case.views))
    else:
        stack = rng.normal(size=(len(case.views), n_samples, n_samples)) * 10.0 ** rng.uniform(
            -6, 1
        )
    if how == "zero":
        stack *= 0.0
    if case.axes["penalty"] == "l1":
        for coefficients in stack:
            np.fill_diagonal(coefficients, 0.0)
    return stack


@examples(120)
@given(
    case=st.one_of(cases(), cases(exponents=TINY), cases(exponents=VANISHING)),
    seed=SEEDS,
    how=st.sampled_from(["random", "identity", "zero"]),
    multiplier=st.sampled_from(["random", "all of it", "zero"]),
    size=st.floats(-8.0, 4.0),
    like_weights=st.booleans(),
)
@example(case=UNCOUPLED, seed=0, how="random", multiplier="all of it", size=0.0, like_weights=False)
@example(case=WEIGHTLESS, seed=1, how="random", multiplier="zero", size=4.0, like_weights=True)
def test_any_dual_point_gives_a_bound_for_any_coefficients(
    case, seed, how, multiplier, size, like_weights
):
    rng, problem = np.random.default_rng(seed), case.problem
    unit = 10.0**size * (max(case.lam.max(), case.tau) if like_weights else 1.0)
    dual = [unit * rng.normal(size=target.shape) for target in problem.targets]
    if how == "identity":  # a little more like what a solver has
        dual = [target + y for target, y in zip(problem.targets, dual, strict=True)]
    given_multiplier = {
        "random": 10.0 ** rng.uniform(-8, 4) * rng.normal(size=problem.shape),
        "all of it": np.stack([f.T @ y for f, y in zip(problem.factors, dual, strict=True)]),
        "zero": np.zeros(problem.shape),
    }[multiplier]
    bound = problem.certificate(dual, given_multiplier).bound
    for kind in ("zero", "identity", "random"):
        a_bound_holds(bound, case, a_stack(case, rng, kind))


@examples(50)
@given(case=st.one_of(cases(), cases(exponents=TINY)), seed=SEEDS, size=st.floats(-14.0, 0.0))
def test_a_dual_point_near_the_best_gives_a_bound_for_what_a_solver_finds(case, seed, size):
    rng, problem = np.random.default_rng(seed), case.problem
    found = admm(problem, tol=TIGHT, max_iter=300)
    dual = [y + 10.0**size * np.abs(y).max() * rng.normal(size=y.shape) for y in found.dual]
    multiplier = found.multiplier
    multiplier = multiplier + 10.0**size * np.abs(multiplier).max() * rng.normal(
        size=multiplier.shape
    )
    for bound in (found.dual_bound, problem.certificate(dual, multiplier).bound):
        a_bound_holds(bound, case, found.stack)


@examples(12)
@given(seed=SEEDS, axes=st.sampled_from([axes for axes in AXES if axes["coupling"] == "nuclear"]))
def test_what_absent_samples_would_say_if_they_were_zero_proves_nothing(seed, axes):
    """Zero is harder to rebuild than anything at all, so that problem's optimum is above this one's."""  # noqa: E501
    rng = np.random.default_rng(seed)
    shared, observed = (
        rng.normal(size=(5, 2)),
        np.array([[True] * 5, [False, False, True, True, True]]),
    )
    views = [present[:, None] * (shared @ rng.normal(size=(2, 3))) for present in observed]
    case = Case(views, np.full(2, 0.05), 1.0, axes, observed)
    zeros = admm(replace(case.problem, observed=None), tol=1e-6, max_iter=1000)
    bound = case.problem.certificate(zeros.dual, zeros.multiplier).bound
    a_bound_holds(bound, case, admm(case.problem, tol=1e-6, max_iter=1000).stack)


@pytest.mark.parametrize("order", list(itertools.permutations(range(3))))
def test_a_constraint_that_rounding_hides_is_not_taken_to_hold(order):
    """FᵀY is (1e-17, 0), but 1 + 1e-17 − 1 is 0 in floating point.

    If that rounding error were ignored, Y would be feasible and its bound 0.58. The objective of
    W = 1e17 (1, −1) is almost 0.
    """
    rows = list(order)
    factor = np.array([[1.0, 1.0], [1e-17, 0.0], [1.0, 1.0]])[rows]
    target, dual = (
        np.array([[0.0], [1.0], [0.0]])[rows],
        np.array([[1.0], [1.0], [-1.0]])[rows] / np.sqrt(3),
    )
    problem = Problem([factor], [target], np.array([1e-30]), 0.0, L12(), Nuclear(), Uncoupled())
    objective = problem.value(np.array([[[1e17], [-1e17]]]))
    assert objective < 1e-12
    assert problem.certificate([dual], np.zeros(problem.shape)).bound <= objective


def runs(case):
    """Yield solutions of one problem by all solvers, to several tolerances."""
    yield case.solve(tol=LOOSE, max_iter=200)
    yield case.solve(tol=1e-9, max_iter=2)
    yield case.solve(tol=TIGHT, max_iter=500)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(working_set, "MIN_DIRECTIONS", 2)
        yield case.solve(tol=1e-5, max_iter=300)
    if case.axes["datafit"] != "l1" and case.observed is None:
        yield case.solve(solver="ladmpsap", max_iter=100)
        if case.tau == 0.0:
            yield case.solve(solver="ladmap", max_iter=100)


def all_intervals_meet(case):
    """Check that the highest bound of all solutions does not exceed any of their objectives."""
    results = list(runs(case))
    unreduced = admm(case.problem, tol=TIGHT, max_iter=300)
    bound = max([result.dual_bound for result in results] + [unreduced.dual_bound])
    for result in results:
        a_bound_holds(bound, case, result.coefficients, reduced=True)
        rounding = case.rounding(result.coefficients)
        assert abs(result.objective - case.objective(result.coefficients)) <= rounding
        assert bound <= result.objective * (1 + 1e-13) + 2 * rounding
    a_bound_holds(bound, case, unreduced.stack, reduced=True)


@examples(15)
@given(case=cases())
def test_all_certified_intervals_of_a_problem_meet(case):
    all_intervals_meet(case)


@examples(10)
@given(
    case=cases(exponents=TINY, kinds=("ill-conditioned", "low rank", "uneven samples"), zeros=False)
)
def test_all_certified_intervals_meet_at_weights_near_rounding(case):
    all_intervals_meet(case)


@examples(15)
@given(
    case=cases(
        CLRSC, exponents=(-3.0, 0.0), kinds=("gaussian", "low rank", "ill-conditioned"), masks=False
    )
)
def test_all_certified_intervals_meet_where_directions_are_screened(case):
    all_intervals_meet(case)


@examples(40)
@given(case=cases(LRR, exponents=(-22.0, 0.0), masks=True), tol=st.sampled_from([1e-4, 1e-10]))
@example(case=MISSING_SAMPLES, tol=1e-4)
def test_the_closed_form_calls_itself_optimal_only_if_that_is_proven(case, tol):
    result = case.solve(tol=tol)
    assert (result.status == "optimal") == (result.gap <= tol)
    a_bound_holds(result.dual_bound, case, result.coefficients, reduced=True)
    if min(case.lam) >= 1e-10 * case.unit and tol >= 1e-4:
        assert result.status == "optimal"


@examples(20)
@given(case=cases(QUADRATIC, masks=False), seed=SEEDS)
def test_the_bound_of_strict_rank_one_holds_for_every_stack_of_multiples(case, seed):
    strict = Case(case.views, case.lam, 0.0, case.axes | {"coupling": "rank_one"})
    result = strict.solve(tol=1e-3, max_iter=200)
    a_bound_holds(result.dual_bound, strict, result.coefficients, reduced=True)
    rng = np.random.default_rng(seed)
    for how in ("zero", "identity", "random"):
        shared = a_stack(strict, rng, how)[0]
        a_bound_holds(
            result.dual_bound,
            strict,
            [scale * shared for scale in rng.normal(size=len(case.views))],
        )


@examples(15)
@given(
    case=cases(
        exponents=(-2.0, 0.0), kinds=("gaussian", "low rank", "duplicates"), largest=6, scales=False
    )
)
def test_the_interval_holds_the_optimum_of_a_generic_solver(case):
    assume(case.unit > 0)
    best = optimum(case.views, case.lam, case.tau, **case.axes, observed=case.observed)
    for result in (case.solve(tol=LOOSE), case.solve(tol=1e-6, max_iter=1000)):
        assert result.dual_bound <= best + 1e-6 * case.unit
        assert result.objective >= best - 1e-6 * case.unit


MODELS = {
    "CLRSC": (viewspan.CLRSC, [{}, {"tol": 1e-7}, {"solver": "ladmpsap"}]),
    "CLRSC given": (
        viewspan.CLRSC,
        [{"lam": 0.3, "tau": 0.5} | more for more in ({}, {"tol": 1e-7}, {"solver": "ladmpsap"})],
    ),
    "robust": (
        viewspan.CLRSC,
        [{"datafit": "l12"}, {"datafit": "l12", "tol": 1e-6, "max_iter": 500}],
    ),
    "LRR": (viewspan.LRR, [{}, {"solver": "ladmap"}]),
    "LRR l12": (
        viewspan.LRR,
        [
            {"datafit": "l12"},
            {"datafit": "l12", "tol": 1e-6},
            {"datafit": "l12", "solver": "ladmap"},
        ],
    ),
    "SSC": (viewspan.SSC, [{}, {"tol": 1e-7, "max_iter": 300}]),
    "MLAP": (viewspan.MLAP, [{}, {"tol": 1e-6, "max_iter": 300}, {"solver": "ladmpsap"}]),
}


@pytest.mark.parametrize("name", MODELS)
@examples(2)
@given(
    seed=SEEDS,
    kind=st.sampled_from(["gaussian", "low rank", "duplicates", "ill-conditioned"]),
    n=st.integers(6, 16),
)
def test_intervals_of_an_estimator_meet_whatever_its_solver_and_tolerance(name, seed, kind, n):
    make, variants = MODELS[name]
    rng = np.random.default_rng(seed)
    views = [matrix(kind, rng, n, 9), matrix("gaussian", rng, n, 5)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [make(2, random_state=0, **options).fit(views).result_ for options in variants]
    for result in found[1:]:
        np.testing.assert_allclose(result.lam, found[0].lam, rtol=1e-9)
        assert result.tau == pytest.approx(found[0].tau, rel=1e-9)
    highest, lowest = (
        max(result.dual_bound for result in found),
        min(result.objective for result in found),
    )
    assert highest <= lowest * (1 + 1e-9)
