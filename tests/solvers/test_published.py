"""The published iterations, step by step as in the papers."""

from dataclasses import replace

import numpy as np
import pytest

from tests.problems import full_problem, random_views
from viewspan.objective.couplings import Uncoupled
from viewspan.solvers.ladmap import ladmap, solve_view
from viewspan.solvers.ladmpsap import (
    Iterate,
    Iteration,
    StoppingQuantities,
    certify,
    is_finite,
    ladmpsap,
    prox_as_published,
)


def problem_of(lam=(0.2, 0.6), tau=0.8, **axes):
    return full_problem(random_views(0, (5, 6), 8), list(lam), tau, **axes)


def threshold(matrix, weight):
    left, values, right = np.linalg.svd(matrix, full_matrices=False)
    return (left * np.maximum(values - weight, 0)) @ right


def random_iterate(problem, seed=0):
    rng = np.random.default_rng(seed)
    draw = lambda *shape: rng.normal(size=shape)  # noqa: E731
    shapes = [t.shape for t in problem.targets]
    return Iterate(
        draw(*problem.shape),
        [draw(*s) for s in shapes],
        draw(*problem.shape),
        [draw(*s) for s in shapes],
        draw(*problem.shape),
    )


@pytest.mark.parametrize("mu", [0.1, 0.4])
@pytest.mark.parametrize("size", [1.0, 0.1])
def test_a_step_of_ladmpsap_computes_everything_from_the_iterate_before(mu, size):
    """The fit is halved, so the weights are λ/2 and τ/2.

    The step is 1.1‖X‖² times μ/0.1, or 3μ(‖X‖² + 1) if that is larger.
    """
    problem = full_problem([size * view for view in random_views(0, (5, 6), 8)], [0.2, 0.6], 0.8)
    old = random_iterate(problem)
    new = Iteration(problem).step(old, mu)
    largest = max(np.linalg.norm(f, 2) ** 2 for f in problem.factors)
    step = max(1.1 * largest * max(1.0, mu / 0.1), 3.0 * mu * (largest + 1.0))
    for i, x in enumerate(problem.factors):
        z, e, a, y, w = (part[i] for part in vars(old).values())
        slope = x.T @ (mu * (x @ z - x + e) + y) + mu * (z - a) + w
        expected = threshold(z - slope / step, problem.lam[i] / 2 / step)
        np.testing.assert_allclose(new.coefficients[i], expected, atol=1e-10)
        residual = (x - x @ z - y / mu) * mu / (1.0 + mu)
        np.testing.assert_allclose(new.residuals[i], residual, atol=1e-10)
        np.testing.assert_allclose(
            new.fit_multiplier[i], y + mu * (x @ expected - x + residual), atol=1e-10
        )
    pull = old.coefficients + old.coupling_multiplier / mu
    coupled = threshold(pull.reshape(2, -1), 0.4 / mu).reshape(pull.shape)
    np.testing.assert_allclose(new.coupled, coupled, atol=1e-10)
    np.testing.assert_allclose(new.coupling_multiplier, mu * (pull - coupled), atol=1e-10)


def test_progress_is_computed_as_in_the_released_program():
    problem = problem_of()
    old, new = random_iterate(problem, 0), random_iterate(problem, 1)
    iteration = Iteration(problem)
    sizes = [np.linalg.norm(t) for t in problem.targets]
    for change in ("coefficients", "residuals", "coupled"):
        other = replace(old, **{change: getattr(new, change)})
        found = iteration.progress(old, other, 0.3)
        misfit = max(
            np.linalg.norm(f @ z - t + e) / n
            for f, z, t, e, n in zip(
                problem.factors,
                other.coefficients,
                problem.targets,
                other.residuals,
                sizes,
                strict=True,
            )
        )
        assert found.misfit == pytest.approx(misfit)
        agreement = max(
            np.linalg.norm(a - z) for a, z in zip(other.coupled, other.coefficients, strict=True)
        )
        assert found.agreement == pytest.approx(agreement)
        if change == "coupled":
            moved = np.linalg.norm(new.coupled - old.coupled)
        else:
            pairs = zip(getattr(new, change), getattr(old, change), sizes, strict=True)
            moved = max(np.linalg.norm(b - a) / n for b, a, n in pairs)
        assert found.change == pytest.approx(0.3 * np.sqrt(iteration.rho) * moved)
    assert StoppingQuantities(0.1, 0.3, 9.0).primal == 0.3
    assert StoppingQuantities(0.4, 0.3, 9.0).primal == 0.4


def test_ladmpsap_starts_at_zero():
    problem = problem_of()
    start = Iteration(problem).start()
    for stack in (start.coefficients, start.coupled, start.coupling_multiplier):
        assert stack.shape == (2, 8, 8)
    for arrays in (start.residuals, start.fit_multiplier):
        assert [array.shape for array in arrays] == [(5, 8), (6, 8)]
    for part in vars(start).values():
        assert not any(np.any(block) for block in part)
    empty = Iteration(full_problem([np.zeros((4, 3))], [0.1], 0.1))
    assert empty.norms == [1.0]


def ladmpsap_by_hand(problem, n_iter, tol):
    """Return coefficients, μ and progress of every iteration; μ grows while little changes."""
    iteration, mu, found = Iteration(problem), 0.1, []
    current = iteration.start()
    for _ in range(n_iter):
        following = iteration.step(current, mu)
        progress = iteration.progress(current, following, mu)
        found.append((following.coefficients, mu, progress))
        current = following
        if progress.change < tol:
            mu = min(1.0, 1.1 * mu)
    return found


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4])
def test_ladmpsap_stops_when_misfit_and_change_are_small(tol):
    """The rule is a misfit below 100·tol and a change below tol."""
    seen = []
    solution = ladmpsap(problem_of(), tol=tol, callback=seen.append)
    steps = ladmpsap_by_hand(problem_of(), solution.n_iter, tol)
    held = [last.primal < 100 * tol and last.change < tol for _, _, last in steps]
    assert held == [False] * (solution.n_iter - 1) + [True]
    assert solution.status == "residuals"
    np.testing.assert_array_equal(solution.stack, steps[-1][0])
    assert seen == solution.history
    assert (seen[0].primal_residual, seen[0].dual_residual) == (
        steps[-1][2].primal,
        steps[-1][2].change,
    )
    shorter = ladmpsap(problem_of(), tol=tol, max_iter=solution.n_iter - 1)
    assert shorter.status == "max_iter"
    np.testing.assert_array_equal(shorter.stack, steps[-2][0])


def test_mu_grows_to_its_largest_value_while_little_changes():
    """On small data every change is small, but the misfit is large for a long time."""
    views = [1e-4 * view for view in random_views(0, (5, 6), 8)]
    problem = full_problem(views, [2e-9, 2e-9], 8e-9)
    solution = ladmpsap(problem, tol=1e-6)
    steps = ladmpsap_by_hand(problem, solution.n_iter, 1e-6)
    assert steps[-2][1] < steps[-1][1] == 1.0 < 1.1 * steps[-2][1]
    np.testing.assert_array_equal(solution.stack, steps[-1][0])


def test_ladmpsap_has_a_default_limit_of_200_iterations():
    solution = ladmpsap(problem_of(), tol=1e-30)
    assert (solution.n_iter, solution.status) == (200, "max_iter")
    assert ladmpsap(problem_of(), max_iter=0).history[-1].primal_residual == np.inf


@pytest.mark.parametrize("datafit", ["frobenius", "half_frobenius", "l12"])
def test_multipliers_are_returned_in_the_scale_of_the_problem(datafit):
    problem = problem_of(datafit=datafit)
    scale = problem.datafit.curvature or 1.0
    point = random_iterate(problem)
    found = certify(
        problem,
        point.coefficients,
        point.fit_multiplier,
        point.coupling_multiplier,
        StoppingQuantities(1.0, 2.0, 3.0),
        "residuals",
        7,
    )
    np.testing.assert_array_equal(found.multiplier, scale * point.coupling_multiplier)
    expected = (
        [-y for y in point.fit_multiplier]
        if datafit == "l12"
        else problem.smooth_dual(point.coefficients)
    )
    for mine, theirs in zip(found.dual, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)
    assert found.objective == pytest.approx(problem.value(point.coefficients))
    assert found.dual_bound == problem.certificate(found.dual, found.multiplier).bound
    assert (found.status, found.n_iter) == ("residuals", 7)
    assert found.history == [(7, found.objective, found.dual_bound, found.gap, 2.0, 3.0, 8)]
    assert found.stack is point.coefficients


def test_the_prox_of_the_released_program_is_that_of_the_penalty():
    problem, matrix = problem_of(), np.random.default_rng(0).normal(size=(8, 8))
    np.testing.assert_allclose(
        prox_as_published(problem, matrix, np.array(0.7)), threshold(matrix, 0.7), atol=1e-12
    )
    sparse = prox_as_published(problem_of(penalty="l1"), matrix, np.array(0.7))
    np.testing.assert_array_equal(
        sparse, problem_of(penalty="l1").penalty.prox_and_value(matrix, np.array(0.7))[0]
    )
    broken = np.full((2, 2), np.nan)
    assert prox_as_published(problem, broken, np.array(0.7)) is broken


def test_an_iterate_is_finite_if_coefficients_and_copy_are():
    point = random_iterate(problem_of())
    assert is_finite(point)
    for name in ("coefficients", "coupled"):
        broken = np.where(np.arange(128).reshape(2, 8, 8) == 5, np.inf, 1.0)
        assert not is_finite(replace(point, **{name: broken}))


def lrr_by_hand(x, lam, n_iter, tol=1e-4):
    """Run LADMAP with a halved fit: Z, then E, then Y; μ grows while little changes."""
    size, step, mu = np.linalg.norm(x), 1.2 * np.linalg.norm(x, 2) ** 2, 0.1
    z, e, y = np.zeros((x.shape[1],) * 2), np.zeros_like(x), np.zeros_like(x)
    for _ in range(n_iter):
        slope = x.T @ (y + mu * (x @ z - x + e))
        new_z = threshold(z - slope / step, lam / 2 / step)
        new_e = (x - x @ new_z - y / mu) * mu / (1 + mu)
        y = y + mu * (x @ new_z - x + new_e)
        moved_z, moved_e = np.sqrt(step) * np.linalg.norm(new_z - z), new_e - e
        z, e = new_z, new_e
        if mu * max(moved_z, np.linalg.norm(moved_e, 2)) / size < tol:
            mu = min(1.0, 1.1 * mu)
    misfit = np.linalg.norm(x @ z - x + e) / size
    return z, y, misfit, mu * max(moved_z, np.sqrt(step) * np.linalg.norm(moved_e)) / size


@pytest.mark.parametrize(("n_iter", "tol"), [(1, 1e-4), (2, 1e-4), (9, 0.5), (40, 1e-2)])
def test_ladmap_step_by_step(n_iter, tol):
    problem = problem_of(coupling="none", tau=0.0)
    for view, lam in enumerate((0.2, 0.6)):
        found = solve_view(problem, view, tol * 1e-30, n_iter)
        z, y, misfit, change = lrr_by_hand(problem.factors[view], lam, n_iter, tol * 1e-30)
        np.testing.assert_allclose(found.coefficients, z, atol=1e-10)
        np.testing.assert_allclose(found.multiplier, y, atol=1e-10)
        assert (found.misfit, found.change) == (pytest.approx(misfit), pytest.approx(change))
        assert found.n_iter == n_iter


def test_ladmap_stops_by_its_own_rule_and_mu_grows_before():
    problem = problem_of(coupling="none", tau=0.0)
    tol = 0.02  # for the change; the misfit must be below 2
    limited = [solve_view(problem, 0, tol, n) for n in range(1, 60)]
    stopped = limited[-1].n_iter
    assert stopped < 59
    assert limited[stopped - 1].change < tol <= limited[stopped - 2].change
    assert limited[stopped - 1].misfit < 100 * tol
    z, _, misfit, change = lrr_by_hand(problem.factors[0], 0.2, stopped, tol)
    np.testing.assert_allclose(limited[-1].coefficients, z, atol=1e-10)
    assert limited[-1].change == pytest.approx(change)
    assert limited[-1].misfit == pytest.approx(misfit)


def test_ladmap_reports_the_slowest_view():
    problem = problem_of(coupling="none", tau=0.0)
    views = [solve_view(problem, view, 1e-4, 200) for view in range(2)]
    seen = []
    found = ladmap(problem, callback=seen.append)
    np.testing.assert_array_equal(found.stack, np.stack([view.coefficients for view in views]))
    assert found.n_iter == max(view.n_iter for view in views)
    assert seen == found.history
    assert seen[0].primal_residual == max(view.misfit for view in views)
    assert seen[0].dual_residual == max(view.change for view in views)
    assert not found.multiplier.any()
    assert ladmap(problem, max_iter=2).status == "max_iter"
    assert ladmap(problem, max_iter=2).n_iter == 2
    robust = ladmap(problem_of(coupling="none", tau=0.0, datafit="l12"), max_iter=3)
    expected = [
        -solve_view(problem_of(coupling="none", tau=0.0, datafit="l12"), v, 1e-4, 3).multiplier
        for v in (0, 1)
    ]
    np.testing.assert_array_equal(robust.dual[0], expected[0])
    np.testing.assert_array_equal(robust.dual[1], expected[1])


def test_the_status_of_ladmap_is_that_of_its_slowest_view():
    """With one iteration less, one of the views has not stopped by its own rule."""
    problem = problem_of(coupling="none", tau=0.0)
    solution = ladmap(problem, tol=0.01)
    assert solution.status == "residuals"
    stopped = [solve_view(problem, view, 0.01, solution.n_iter - 1) for view in range(2)]
    held = [view.misfit < 100 * 0.01 and view.change < 0.01 for view in stopped]
    assert sorted(held) == [False, True]
    shorter = ladmap(problem, tol=0.01, max_iter=solution.n_iter - 1)
    assert shorter.status == "max_iter"


def test_ladmap_of_a_zero_view_is_zero():
    empty = full_problem([np.zeros((4, 3))], [0.1], 0.0, coupling="none")
    assert isinstance(empty.coupling, Uncoupled)
    assert not ladmap(empty).stack.any()


def test_ladmap_raises_if_views_are_coupled():
    message = (
        r"^solver='ladmap' solves every view on its own, and this problem couples them: take "
        r"coupling='none', tau=0 or solver='ladmpsap'\.$"
    )
    with pytest.raises(ValueError, match=message):
        ladmap(problem_of())


def test_ladmap_has_a_default_limit_of_200_iterations():
    assert ladmap(problem_of(coupling="none", tau=0.0), tol=1e-30).n_iter == 200
