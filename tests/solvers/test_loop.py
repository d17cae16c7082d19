"""The loop of ADMM: when it certifies, balances ρ and stops, and what it returns."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan._utils.linalg import NumericalError
from viewspan.objective.couplings import NuclearCoupling
from viewspan.objective.penalties import Nuclear
from viewspan.solvers.admm import (
    LAST_BALANCED,
    N_ALWAYS_BALANCED,
    Iteration,
    admm,
    certify,
    solution_or_zero,
    zero_solution,
)
from viewspan.solvers.closed_form import applies, solve_closed_form
from viewspan.solvers.ladmpsap import ladmpsap
from viewspan.solvers.result import relative_gap
from viewspan.solvers.schedule import LAST_TRIGGERED
from viewspan.solvers.state import State

UNREACHABLE = 1e-300
"""A tolerance that no gap reaches."""


def problem_of(lam=(0.1, 0.3), tau=0.5, observed=None, **axes):
    return full_problem(random_views(0, (5, 6), 8), list(lam), tau, observed=observed, **axes)


@dataclass(frozen=True)
class CountingCoupling(NuclearCoupling):
    """A nuclear coupling that counts its proxes, of which there is one per iteration."""

    calls: list = field(default_factory=list)

    def prox(self, stack, step):
        self.calls.append(step)
        return super().prox(stack, step)


@pytest.mark.parametrize("max_iter", [1, 7, 23])
def test_max_iter_limits_the_iterations(max_iter):
    coupling = CountingCoupling()
    problem = replace(problem_of(), coupling=coupling)
    solution = admm(problem, tol=UNREACHABLE, max_iter=max_iter)
    assert solution.n_iter == solution.history[-1].n_iter == max_iter
    assert len(coupling.calls) == max_iter + 1  # one for the first multiplier
    assert solution.status == "max_iter"


def test_the_default_tolerance_is_a_gap_of_one_in_ten_thousand():
    coupling = CountingCoupling()
    solution = admm(replace(problem_of(), coupling=coupling))
    assert solution.status == "optimal"
    assert solution.gap == solution.history[-1].gap <= 1e-4
    assert all(check.gap > 1e-4 for check in solution.history[:-1])
    assert len(coupling.calls) == solution.n_iter + 1
    assert admm(problem_of(), tol=0.5).n_iter < solution.n_iter


def rho_after(problem, n_iter, **changes):
    """Return both ρ after some iterations from zero."""
    state = replace(State.zero(problem), **changes)
    admm(problem, tol=UNREACHABLE, max_iter=n_iter, state=state)
    return state.rho, state.rho_fit


def test_rho_is_balanced_after_each_of_the_first_iterations():
    """A ρ that is far too large shrinks by at most a factor of 5 in every iteration."""
    problem = problem_of()
    rhos = [rho_after(problem, n_iter, rho=1e3)[0] for n_iter in range(1, N_ALWAYS_BALANCED)]
    np.testing.assert_allclose(rhos[:4], [200.0, 40.0, 8.0, 1.6])
    assert 0.05 < rhos[-1] < 0.5


def test_rho_is_fixed_in_the_end():
    problem = problem_of()
    late = [rho_after(problem, LAST_BALANCED + more) for more in (1, 50, 200)]
    assert late[0] == late[1] == late[2]


def test_small_residuals_trigger_the_first_check():
    """From a solved state the first certificate comes at once; from zero it comes later."""
    problem = problem_of()
    state = State.zero(problem)
    cold = admm(problem, tol=1e-10, state=state)
    warm = admm(problem, tol=1e-4, state=state)
    assert warm.history[0].n_iter < LAST_TRIGGERED == cold.history[0].n_iter


@pytest.mark.parametrize(
    ("axes", "balances_copies", "balances_fit"),
    [
        ({}, True, False),
        ({"lam": (0.0, 0.0)}, True, False),
        ({"coupling": "none", "tau": 0.0}, True, False),
        ({"coupling": "none", "tau": 0.0, "lam": (0.0, 0.0)}, False, False),
        ({"coupling": "none", "tau": 0.0, "lam": (0.0, 0.0), "datafit": "l12"}, False, True),
        ({"datafit": "l12"}, True, True),
    ],
    ids=str,
)
def test_rho_is_balanced_only_where_weights_or_a_split_fit_need_it(
    axes, balances_copies, balances_fit
):
    rho, rho_fit = rho_after(problem_of(**axes), 5, rho=100.0, rho_fit=100.0)
    assert (rho != 100.0) == balances_copies
    assert (rho_fit != 100.0) == balances_fit


@dataclass(frozen=True)
class FailingNuclear(Nuclear):
    """A nuclear norm whose prox fails in a given iteration of a problem with two views."""

    iteration: int
    raises: bool
    calls: list = field(default_factory=list)

    def prox_and_value(self, matrix, lam):
        self.calls.append(lam)
        prox, value = super().prox_and_value(matrix, lam)
        if len(self.calls) == 2 * self.iteration:
            if self.raises:
                raise NumericalError
            prox = np.full_like(prox, np.inf)
        return prox, value


@pytest.mark.parametrize("iteration", [LAST_TRIGGERED - 8, LAST_TRIGGERED + 8])
@pytest.mark.parametrize("raises", [True, False])
def test_a_fault_returns_the_last_certified_point_or_zero(raises, iteration):
    """Before the first certificate zero is returned, afterwards the point that was certified."""
    problem = replace(problem_of(), penalty=FailingNuclear(iteration, raises))
    with np.errstate(invalid="ignore"):
        solution = admm(problem, tol=1e-15, state=State.zero(problem))
    certified = iteration > LAST_TRIGGERED
    assert solution.status == "non_finite"
    assert solution.n_iter >= iteration
    assert solution.history[-1].n_iter < iteration
    assert (solution.history[-1].n_iter > 0) == certified
    assert solution.stack.any() == certified
    assert np.isfinite(solution.stack).all()
    assert np.isfinite(solution.gap)


def test_zero_coefficients_have_the_offset_as_their_bound():
    problem = replace(problem_of(), offset=0.25)
    zero = zero_solution(problem)
    assert zero.objective == pytest.approx(0.25 + sum(np.sum(t**2) for t in problem.targets))
    assert zero.dual_bound == 0.25
    assert (zero.status, zero.n_iter) == ("max_iter", 0)
    assert not zero.stack.any() and not zero.multiplier.any()
    assert zero.stack.shape == zero.multiplier.shape == (2, 8, 8)
    assert [y.shape for y in zero.dual] == [(5, 8), (6, 8)]
    (check,) = zero.history
    expected = (0, zero.objective, 0.25, relative_gap(zero.objective, 0.25), np.inf, np.inf, 8)
    assert check == expected


def test_zero_coefficients_are_returned_if_they_are_better():
    problem = problem_of()
    good = admm(problem, max_iter=9, tol=1e-15)
    assert solution_or_zero(problem, good).stack is good.stack
    zero = zero_solution(problem)
    equal = replace(good, objective=zero.objective)
    assert solution_or_zero(problem, equal).stack is good.stack
    bad = replace(good, objective=zero.objective + 1.0, dual_bound=0.5)
    found = solution_or_zero(problem, bad, status="non_finite")
    assert not found.stack.any()
    assert (found.objective, found.dual_bound, found.n_iter) == (zero.objective, 0.5, 9)
    assert found.status == "non_finite"
    assert found.history[:-1] == bad.history
    last = found.history[-1]
    assert (last.n_iter, last.objective, last.dual_bound) == (9, zero.objective, 0.5)
    assert last.gap == found.gap == relative_gap(zero.objective, 0.5)
    assert solution_or_zero(problem, replace(bad, dual_bound=-1.0)).dual_bound == 0.0
    assert solution_or_zero(problem, None, n_iter=3).n_iter == 3


@pytest.mark.parametrize(
    "axes", [{}, {"datafit": "l12"}, {"coupling": "none", "tau": 0.0}], ids=str
)
def test_residuals_measure_the_distance_and_the_change_of_the_copies(axes):
    problem = problem_of(**axes)
    iteration = Iteration(problem, State.zero(problem))
    for _ in range(3):
        iteration.advance()
    state, stack = iteration.state, iteration.stack
    state.rho, state.rho_fit = 2.0, 3.0
    copies, fit = iteration.residuals()

    def size(arrays):
        return np.sqrt(sum(np.sum(array**2) for array in arrays))

    splits = state.copies
    assert copies.primal == pytest.approx(size([stack - s.copy for s in splits]))
    assert copies.dual == pytest.approx(2.0 * size([s.copy - s.previous for s in splits]))
    assert copies.parts.shape == (len(stack), len(splits), 4)
    for view, number in np.ndindex(copies.parts.shape[:2]):
        s, part = splits[number], copies.parts[view, number]
        copy, point, before = s.copy[view], s.point[view], s.previous[view]
        sizes = [size([stack[view] - copy]), 2.0 * size([copy - before])]
        norms = [max(size([stack[view]]), size([copy])), 2.0 * size([point - copy])]
        np.testing.assert_allclose(part, sizes + norms)
    if "datafit" not in axes:
        assert fit is None
        return
    images = problem.residuals(stack)
    assert fit.primal == pytest.approx(
        size([i - s.copy for i, s in zip(images, state.residual, strict=True)])
    )
    pulled = [
        f.T @ (s.copy - s.previous) for f, s in zip(problem.factors, state.residual, strict=True)
    ]
    assert fit.dual == pytest.approx(3.0 * size(pulled))
    views = zip(problem.factors, images, state.residual, fit.parts[:, 0], strict=True)
    for f, image, s, part in views:
        norms = [max(size([image]), size([s.copy])), 3.0 * size([f.T @ (s.point - s.copy)])]
        np.testing.assert_allclose(part[2:], norms)


@pytest.mark.parametrize(
    "axes", [{}, {"datafit": "l12"}, {"coupling": "none", "tau": 0.0}, {"missing": True}], ids=str
)
def test_one_iteration_minimises_in_the_coefficients_and_applies_every_prox(axes):
    axes = dict(axes)
    observed = None
    if axes.pop("missing", False):
        observed = np.ones((2, 8), dtype=bool)
        observed[0, 2] = observed[1, 5] = False
    problem = problem_of(observed=observed, **axes)
    if observed is not None:
        targets = [t * present for t, present in zip(problem.targets, observed, strict=True)]
        problem = replace(problem, targets=targets)
    state = State.zero(problem)
    iteration = Iteration(problem, state)
    iteration.advance()
    state.rho, state.rho_fit = 0.7, 1.3
    before = [(s.copy.copy(), s.point.copy()) for s in [*state.copies, *state.residual]]
    iteration.advance()
    n_copies = len(state.copies)
    present = np.ones((2, 8), dtype=bool) if observed is None else observed
    weight = problem.datafit.curvature or 1.3
    for view, (factor, target) in enumerate(zip(problem.factors, problem.targets, strict=True)):
        w = iteration.stack[view]
        slope = 0.7 * sum(w - (2 * copy - point)[view] for copy, point in before[:n_copies])
        goal = target
        if state.residual:
            copy, point = before[n_copies + view]
            goal = target - (2 * copy - point)
        slope = slope + weight * factor.T @ ((factor @ w - goal) * present[view])
        np.testing.assert_allclose(slope, 0.0, atol=1e-10)
        copy, point = before[0]
        moved = point[view] + 1.4 * (w - copy[view])
        expected, value = problem.penalty.prox_and_value(moved, problem.lam[view] / 0.7)
        np.testing.assert_allclose(state.penalty.copy[view], expected, atol=1e-12)
        assert iteration.penalty_values[view] == pytest.approx(0.7 * value)
        if state.residual:
            copy, point = before[n_copies + view]
            image = problem.residuals(iteration.stack)[view]
            expected = problem.datafit.prox(point + 1.4 * (image - copy), 1.0 / 1.3)
            np.testing.assert_allclose(state.residual[view].copy, expected, atol=1e-12)
    if state.coupling is not None:
        copy, point = before[1]
        expected = problem.coupling.prox(point + 1.4 * (iteration.stack - copy), problem.tau / 0.7)
        np.testing.assert_allclose(state.coupling.copy, expected, atol=1e-12)


def test_the_copy_of_the_penalty_is_certified():
    problem = problem_of()
    iteration = Iteration(problem, State.start(problem))
    for _ in range(4):
        iteration.advance()
    copies, _ = iteration.residuals()
    solution = certify(iteration, copies, 4, 1e-4, [])
    assert solution.stack is iteration.state.penalty.copy
    assert solution.objective == pytest.approx(problem.value(solution.stack), rel=1e-9)
    (check,) = solution.history
    assert check[:4] == (4, solution.objective, solution.dual_bound, solution.gap)
    assert check[4:] == (copies.primal, copies.dual, 8)
    assert certify(iteration, copies, 4, solution.gap, [check]).status == "optimal"
    assert certify(iteration, copies, 4, solution.gap * 0.99, [check]).status == "max_iter"
    assert len(certify(iteration, copies, 4, 1e-4, [check]).history) == 2
    best = problem.certificate(solution.dual, solution.multiplier).bound
    assert certify(iteration, copies, 4, 1e-15, []).dual_bound == pytest.approx(best, rel=1e-12)


def test_the_closed_form_applies_to_quadratic_fits_nuclear_norms_and_uncoupled_views():
    assert applies(problem_of(coupling="none", tau=0.0))
    for other in (
        {},
        {"coupling": "none", "tau": 0.0, "penalty": "l1"},
        {"coupling": "none", "tau": 0.0, "datafit": "l1"},
    ):
        assert not applies(problem_of(**other))


@pytest.mark.parametrize("lam", [(0.1, 0.3), (0.0, 1e-9), (50.0, 2.0)])
@pytest.mark.parametrize("datafit", ["frobenius", "half_frobenius"])
def test_the_closed_form_and_its_dual_point(lam, datafit):
    problem = problem_of(lam=lam, coupling="none", tau=0.0, datafit=datafit)
    weight = problem.datafit.curvature
    solution = solve_closed_form(problem)
    for view, factor in enumerate(problem.factors):
        left, values, right = np.linalg.svd(factor, full_matrices=False)
        kept = np.maximum(1.0 - lam[view] / (weight * values**2), 0.0)
        np.testing.assert_allclose(solution.stack[view], (right.T * kept) @ right, atol=1e-10)
        np.testing.assert_allclose(
            solution.dual[view], (left * (weight * values * (1 - kept))) @ right, atol=1e-10
        )
    assert not solution.multiplier.any()
    assert solution.objective == pytest.approx(problem.value(solution.stack))
    assert solution.gap < 1e-9
    assert (solution.status, solution.n_iter) == ("optimal", 1)
    (check,) = solution.history
    assert check == (1, solution.objective, solution.dual_bound, solution.gap, 0.0, 0.0, 8)


def test_n_directions_counts_the_rows_if_only_rows_are_reduced():
    """There are eight directions and eleven samples."""
    rotation, _ = np.linalg.qr(np.random.default_rng(0).normal(size=(11, 8)))
    for axes in ({}, {"coupling": "none", "tau": 0.0}):
        problem = problem_of(**axes)
        problem = replace(problem, targets=[f @ rotation.T for f in problem.factors])
        solutions = [admm(problem), zero_solution(problem), ladmpsap(problem)]
        if not problem.coupled:
            solutions.append(solve_closed_form(problem))
        for solution in solutions:
            assert solution.stack.shape == (2, 8, 11)
            assert solution.history[-1].n_directions == 8
