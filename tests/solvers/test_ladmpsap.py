"""The published algorithms reproduce the results of the authors' released program."""

import warnings
from dataclasses import dataclass, field

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import viewspan
from tests.problems import full_problem, random_views
from viewspan.objective.couplings import NuclearCoupling
from viewspan.solvers.ladmpsap import FIRST_MU, Iteration

CASES = {
    "Z_clrsc_2v": (["X1", "X2"], 0.2, 1.0, {}, 113),
    "Z_clrsc_3v": (["X1", "X2", "X3"], [0.1, 0.2, 0.4], 2.0, {}, 110),
    "Z_mlap_2v": (["X1", "X2"], 0.1, 0.05, {"datafit": "l12", "coupling": "l12"}, 200),
}


@pytest.mark.parametrize("case", CASES)
def test_ladmpsap_reproduces_the_authors_program(load, case):
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


def test_ladmap_reproduces_the_authors_lrr(load):
    """Their iteration stops early, so its objective is a little above that of the closed form."""
    fixture = load("reference/authors_fixture.npz")
    theirs = viewspan.solve([fixture["X1"].T], 0.2, coupling="none", solver="ladmap")
    np.testing.assert_allclose(theirs.coefficients[0], fixture["Z_lrr_1v"], atol=1e-8, rtol=0)
    assert theirs.n_iter == 125
    closed = viewspan.solve([fixture["X1"].T], 0.2, coupling="none")
    assert closed.objective <= theirs.objective <= 1.001 * closed.objective
    assert theirs.dual_bound <= closed.objective


def test_ladmap_solves_every_view_on_its_own(load):
    fixture = load("reference/authors_fixture.npz")
    views = [fixture[name].T for name in ("X1", "X2")]
    together = viewspan.solve(views, [0.2, 0.4], coupling="none", solver="ladmap").coefficients
    for view, weight, found in zip(views, (0.2, 0.4), together, strict=True):
        alone = viewspan.solve([view], weight, coupling="none", solver="ladmap").coefficients[0]
        np.testing.assert_allclose(found, alone, atol=1e-10)
    with pytest.raises(ValueError, match="couples them"):
        viewspan.solve(views, 0.2, 1.0, solver="ladmap")


def test_ladmap_reaches_the_closed_form_at_a_small_tolerance():
    (view,) = random_views(0)[:1]
    precise = viewspan.solve(
        [view], 0.3, coupling="none", solver="ladmap", tol=1e-9, max_iter=20000
    )
    closed = viewspan.solve([view], 0.3, coupling="none")
    assert precise.status == "residuals"
    assert abs(precise.objective - closed.objective) <= 1e-6 * closed.objective


@pytest.mark.parametrize(("noise", "lam", "tau"), [(0, 0.2, 8.0), (2, 2.0, 2.0)])
def test_ladmpsap_reaches_the_optimum_at_a_small_tolerance(load, noise, lam, tau):
    trials = load("reference/synthetic_trials.npz")
    views = [trials[name][noise, 0].T for name in ("X1", "X2")]
    precise = viewspan.solve(views, lam, tau, solver="ladmpsap", tol=1e-8, max_iter=5000)
    ours = viewspan.solve(views, lam, tau, tol=1e-8)
    assert precise.status == "residuals"
    assert abs(precise.objective - ours.objective) <= 1e-6 * ours.objective


def test_the_step_stays_stable_as_mu_grows():
    """The released step stays fixed and diverges if μ grows far."""
    problem = full_problem(random_views(0), [0.1, 0.1], 0.5)
    iteration = Iteration(problem)
    point, mu = iteration.start(), FIRST_MU
    for _ in range(400):
        point, mu = iteration.step(point, mu), min(1e3, 1.05 * mu)
    assert problem.value(point.coefficients) <= problem.value(np.zeros(problem.shape))


@dataclass(frozen=True)
class BrokenCoupling(NuclearCoupling):
    """A nuclear coupling whose prox contains NaN from the sixth call on."""

    calls: list = field(default_factory=list)

    def prox(self, stack, step):
        self.calls.append(step)
        prox = super().prox(stack, step)
        if len(self.calls) > 5:
            prox[0, 0, 0] = np.nan
        return prox


def test_a_non_finite_iterate_returns_the_last_finite_one():
    with pytest.warns(ConvergenceWarning, match="not finite"):
        result = viewspan.solve(
            random_views(0), 0.1, 0.5, solver="ladmpsap", coupling=BrokenCoupling()
        )
    assert result.status == "non_finite"
    assert result.n_iter == 6
    assert np.isfinite(np.stack(result.coefficients)).all()
    assert np.isfinite(result.gap)
