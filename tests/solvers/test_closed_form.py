"""Closed forms for factors diag(s) Vᵀ, without and with a ridge, and their bounds."""

from dataclasses import replace

import numpy as np
import pytest

import viewspan
from tests.problems import full_problem, optimum, random_views
from viewspan._utils.linalg import Spectrum
from viewspan.objective.axes import Axes
from viewspan.objective.problem import Problem
from viewspan.objective.rounding import distance_from_orthonormal
from viewspan.solvers import closed_form
from viewspan.solvers.admm import admm
from viewspan.solvers.closed_form import (
    bound_of_diagonal,
    is_diagonal,
    ridge_shares,
    solve_closed_form,
    solve_with_ridge,
)


def problem_of(spectra, lam, tau=0.0):
    axes = Axes.choose("frobenius", "nuclear", "nuclear" if tau else "none")
    factors = [spectrum.matrix for spectrum in spectra]
    return Problem(
        factors,
        factors,
        np.asarray(lam, dtype=float),
        tau,
        axes.datafit,
        axes.penalty,
        axes.coupling,
        offset=0.25,
        known_spectra=spectra,
    )


def random_spectrum(seed, rank=6, size=10):
    rng = np.random.default_rng(seed)
    right, _ = np.linalg.qr(rng.normal(size=(size, rank)))
    return Spectrum(np.sort(rng.uniform(0.01, 2.0, rank))[::-1], right.T)


def optimum_of_view(factor, lam):
    """Return the minimum of ‖F − FW‖_F² + λ‖W‖_* from all singular values of F."""
    squares = np.linalg.svd(factor, compute_uv=False) ** 2
    return float(np.where(squares > lam / 2, lam - lam**2 / (4 * squares), squares).sum())


@pytest.mark.parametrize("lam", [(0.1, 0.3), (0.0, 1e-9), (1e-14, 9.0)])
def test_diagonal_factors_have_the_solution_of_the_general_formula(lam):
    problem = problem_of([random_spectrum(0), random_spectrum(1)], lam)
    rotation, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))
    rotated = [rotation @ factor for factor in problem.factors]
    general = replace(problem, factors=rotated, targets=rotated)
    assert is_diagonal(problem) and not is_diagonal(general)
    found, expected = solve_closed_form(problem), solve_closed_form(general)
    np.testing.assert_allclose(found.stack, expected.stack, atol=1e-13)
    for mine, theirs in zip(found.dual, expected.dual, strict=True):
        np.testing.assert_allclose(rotation @ mine, theirs, atol=1e-13)
    assert found.objective == pytest.approx(expected.objective, rel=1e-12)
    exact = 0.25 + sum(map(optimum_of_view, problem.factors, lam))
    assert found.objective == pytest.approx(exact, rel=1e-12)
    assert found.dual_bound == pytest.approx(exact, rel=1e-9)
    assert found.dual_bound <= exact * (1 + 1e-15)
    assert (found.status, found.n_iter) == ("optimal", 1)


def test_targets_of_their_own_are_not_diagonal():
    problem = problem_of([random_spectrum(0)], [0.1])
    assert not is_diagonal(replace(problem, targets=[problem.factors[0].copy()]))


@pytest.mark.parametrize("distortion", [1e-12, 1e-6, 1e-3, 0.1])
@pytest.mark.parametrize("seed", range(20))
def test_the_bound_holds_if_the_vectors_are_not_orthonormal(distortion, seed):
    rng = np.random.default_rng(seed)
    spectrum = random_spectrum(seed)
    right = spectrum.right + distortion * rng.normal(size=spectrum.right.shape)
    distorted = Spectrum(spectrum.values, right)
    for lam in (0.0, 1e-6, 0.1, 1.0, 20.0):
        slope = np.minimum(2.0, lam / spectrum.values**2)
        problem = problem_of([distorted], [lam])
        bound = bound_of_diagonal(problem, 2.0, [slope], np.zeros(problem.shape), 0.0)
        assert bound <= optimum_of_view(distorted.matrix, lam)
    lam = np.array([0.1])
    solution = solve_closed_form(problem_of([distorted], lam))
    assert solution.status == ("optimal" if distortion < 1e-5 else "residuals")
    assert (solution.gap > 1e-4) == (distortion > 1e-5)


def test_a_distance_from_orthonormal_is_never_too_small():
    """Compared in extended precision."""
    for seed in range(50):
        rng = np.random.default_rng(seed)
        rows = random_spectrum(seed, rank=5, size=300).right
        rows = rows + 10.0 ** rng.uniform(-20, 0) * rng.normal(size=rows.shape)
        long = rows.astype(np.longdouble)
        exact = np.sqrt(((long @ long.T - np.eye(5)) ** 2).sum())
        assert exact <= distance_from_orthonormal(rows) <= exact * (1 + 1e-12) + 1e-12


def test_spectra_are_those_of_the_stack_and_stay_with_the_solver():
    solution = solve_closed_form(problem_of([random_spectrum(0), random_spectrum(1)], [0.1, 3.0]))
    for matrix, spectrum in zip(solution.stack, solution.spectra, strict=True):
        values = np.linalg.svd(matrix, compute_uv=False)
        np.testing.assert_allclose(spectrum.values, values[: len(spectrum.values)], atol=1e-14)
        np.testing.assert_allclose(values[len(spectrum.values) :], 0.0, atol=1e-14)
        rebuilt = spectrum.matrix.T @ spectrum.right
        np.testing.assert_allclose(rebuilt, matrix, atol=1e-14)
    views = random_views(0, (5, 6), 12)
    assert viewspan.solve(views, 0.1, 0.0).spectra is None
    model = viewspan.LRR(2, random_state=0).fit(views)
    assert [result.spectra for result in model.fitted_state_.results] == [None] * 4


@pytest.mark.parametrize(("lam", "tau"), [((0.1, 0.3), 0.5), ((0.5, 0.02), 3.0), ((0.2, 9.0), 0.1)])
def test_the_interval_of_the_ridge_contains_the_optimum_of_the_coupled_problem(lam, tau):
    """Compared with cvxpy. With λ = 9 the second view is zero."""
    spectra = [random_spectrum(seed, rank=4, size=5) for seed in (0, 1)]
    problem = problem_of(spectra, lam, tau)
    found = solve_with_ridge(problem)
    best = optimum([factor.T for factor in problem.factors], lam, tau) + 0.25
    assert found.dual_bound <= best * (1 + 1e-7)
    assert best <= found.objective * (1 + 1e-7)
    assert found.objective == pytest.approx(problem.value(found.stack), rel=1e-12)
    assert found.gap < 0.5


def test_the_point_of_the_ridge_is_dual_feasible():
    problem = problem_of([random_spectrum(0), random_spectrum(1)], (0.1, 0.3), 0.5)
    found = solve_with_ridge(problem)
    assert problem.coupling.polar(found.multiplier) <= 0.5 * (1 + 1e-3)
    for excess in problem.certificate(found.dual, found.multiplier).excess:
        assert excess.worst == pytest.approx(1.0, rel=1e-9)
    general = problem.certificate(found.dual, found.multiplier).bound
    assert found.dual_bound == pytest.approx(general, rel=1e-3)


def test_the_ridge_is_exact_where_all_coefficients_are_multiples_of_one_matrix(monkeypatch):
    monkeypatch.setattr(closed_form, "N_RIDGE_STEPS", 50)
    spectrum = random_spectrum(3)
    found = solve_with_ridge(problem_of([spectrum] * 3, [0.1] * 3, 0.5), tol=1e-8)
    assert found.status == "optimal"
    assert found.gap < 1e-9


@pytest.mark.parametrize("distortion", [0.0, 1e-9, 1e-3, 0.1])
@pytest.mark.parametrize("seed", range(10))
def test_the_bound_of_the_ridge_holds_if_the_vectors_are_not_orthonormal(distortion, seed):
    rng = np.random.default_rng(seed)
    spectra = []
    for each in (2 * seed, 2 * seed + 1):
        spectrum = random_spectrum(each)
        right = spectrum.right + distortion * rng.normal(size=spectrum.right.shape)
        spectra.append(Spectrum(spectrum.values, right))
    weights = 10.0 ** rng.uniform(-2, 0.5, 3)
    problem = problem_of(spectra, weights[:2], float(weights[2]))
    found = solve_with_ridge(problem)
    if found is None:
        assert ridge_shares(problem) is None
        return
    optimal = admm(replace(problem, known_spectra=None), tol=1e-9)
    assert found.dual_bound <= optimal.objective


def test_a_ridge_needs_factors_as_they_are_stored_and_coefficients():
    problem = problem_of([random_spectrum(0), random_spectrum(1)], (0.1, 0.3), 0.5)
    rotation, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(6, 6)))
    rotated = [rotation @ factor for factor in problem.factors]
    assert solve_with_ridge(replace(problem, factors=rotated, targets=rotated)) is None
    assert solve_with_ridge(replace(problem, lam=np.array([1e3, 1e3]))) is None
    assert solve_with_ridge(full_problem(random_views(0), [0.1, 0.1], 0.5, penalty="l1")) is None
