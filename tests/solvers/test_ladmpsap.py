"""The paper's algorithm against what the authors' released program answers."""

import warnings

import numpy as np
import pytest

import viewspan
from tests.problems import full_problem, random_views
from viewspan.solvers import ladmpsap as module

CASES = {
    "Z_clrsc_2v": (["X1", "X2"], 0.2, 1.0, {}, 113),
    "Z_clrsc_3v": (["X1", "X2", "X3"], [0.1, 0.2, 0.4], 2.0, {}, 110),
    "Z_mlap_2v": (["X1", "X2"], 0.1, 0.05, {"datafit": "l12", "coupling": "l12"}, 200),
}


@pytest.mark.parametrize("case", CASES)
def test_reproduces_the_authors_program(load, case):
    fixture = load("reference/authors_fixture.npz")
    names, lam, tau, axes, n_iter = CASES[case]
    views = [fixture[name].T for name in names]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = viewspan.solve(views, lam, tau, solver="ladmpsap", **axes)
    assert theirs.n_iter == n_iter
    np.testing.assert_allclose(np.stack(theirs.coefficients), fixture[case], atol=1e-8, rtol=0)
    ours = viewspan.solve(views, lam, tau, tol=1e-6, **axes)
    assert ours.objective <= theirs.objective


def test_reproduces_the_authors_lrr(load):
    """Their iteration stops early, so its objective is a little above that of the closed form."""
    fixture = load("reference/authors_fixture.npz")
    theirs = viewspan.solve([fixture["X1"].T], 0.2, coupling="none", solver="ladmap")
    np.testing.assert_allclose(theirs.coefficients[0], fixture["Z_lrr_1v"], atol=1e-8, rtol=0)
    assert theirs.n_iter == 125
    closed = viewspan.solve([fixture["X1"].T], 0.2, coupling="none")
    assert closed.objective <= theirs.objective <= 1.001 * closed.objective
    assert theirs.dual_bound <= closed.objective


def test_lrr_of_the_authors_takes_views_one_by_one(load):
    fixture = load("reference/authors_fixture.npz")
    views = [fixture[name].T for name in ("X1", "X2")]
    together = viewspan.solve(views, [0.2, 0.4], coupling="none", solver="ladmap").coefficients
    for view, weight, found in zip(views, (0.2, 0.4), together, strict=True):
        alone = viewspan.solve([view], weight, coupling="none", solver="ladmap").coefficients[0]
        np.testing.assert_allclose(found, alone, atol=1e-10)
    with pytest.raises(ValueError, match="couples them"):
        viewspan.solve(views, 0.2, 1.0, solver="ladmap")


def test_lrr_of_the_authors_gets_to_the_closed_form_when_pressed():
    (view,) = random_views(0)[:1]
    pressed = viewspan.solve(
        [view], 0.3, coupling="none", solver="ladmap", tol=1e-9, max_iter=20000
    )
    closed = viewspan.solve([view], 0.3, coupling="none")
    assert pressed.status == "residuals"
    assert abs(pressed.objective - closed.objective) <= 1e-6 * closed.objective


@pytest.mark.parametrize(("noise", "lam", "tau"), [(0, 0.2, 8.0), (2, 2.0, 2.0)])
def test_pressed_for_accuracy_it_converges_to_our_optimum(load, noise, lam, tau):
    trials = load("reference/synthetic_trials.npz")
    views = [trials[name][noise, 0].T for name in ("X1", "X2")]
    pressed = viewspan.solve(views, lam, tau, solver="ladmpsap", tol=1e-8, max_iter=5000)
    ours = viewspan.solve(views, lam, tau, tol=1e-8)
    assert pressed.status == "residuals"
    assert abs(pressed.objective - ours.objective) <= 1e-6 * ours.objective


def test_the_step_shrinks_as_the_penalty_grows():
    """With μ pushed up the released step, which stays fixed, leaves every bound; ours does not."""
    problem = full_problem(random_views(0), [0.1, 0.1], 0.5)
    run = module.Run(problem)
    point, mu = run.start(), module.MU
    for _ in range(400):
        point, mu = run.step(point, mu), min(1e3, 1.05 * mu)
    assert problem.value(point.coefficients) <= problem.value(np.zeros(problem.shape))


def test_a_non_finite_iterate_never_leaves_the_solver(monkeypatch):
    original = module.Run.step
    calls = []

    def breaking(self, old, mu):
        calls.append(mu)
        new = original(self, old, mu)
        if len(calls) > 5:
            new.coefficients[0, 0, 0] = np.nan
        return new

    monkeypatch.setattr(module.Run, "step", breaking)
    with pytest.warns(viewspan.solvers.solve.ConvergenceWarning, match="non-finite"):
        result = viewspan.solve(random_views(0), 0.1, 0.5, solver="ladmpsap")
    assert result.status == "non_finite"
    assert np.isfinite(np.stack(result.coefficients)).all()
    assert np.isfinite(result.gap)
