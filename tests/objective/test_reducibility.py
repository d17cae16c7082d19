"""One rule, Axes.reducibility, decides what is reduced; users' own objects follow it, too."""

import cvxpy as cp
import numpy as np
import pytest

import viewspan
from tests.objective.own_objects import (
    ColumnNorm,
    DifferenceNorm,
    EntryCoupling,
    FrobeniusNorm,
    PinballFit,
    ResidualNorm,
    StackNorm,
)
from tests.problems import FITS, nuclear_norm_of_rows, random_views, two_subspaces
from viewspan.objective.axes import COUPLINGS, DATAFITS, PENALTIES, Axes
from viewspan.objective.problem import Problem
from viewspan.solvers.reduced import form_problem

CHOICES = [
    # datafit, penalty, coupling, sides that are reduced, parameter in the way
    ("frobenius", "nuclear", "nuclear", "both", None),
    ("frobenius", "nuclear", "rank_one", "both", None),
    ("l12", "nuclear", "nuclear", "left", "datafit='l12'"),
    ("l1", "nuclear", "nuclear", "left", "datafit='l1'"),
    ("frobenius", "l1", "nuclear", "none", "penalty='l1'"),
    (PinballFit(), "nuclear", "nuclear", "left", "datafit=PinballFit(quantile=0.3)"),
    ("frobenius", ColumnNorm(), "nuclear", "none", "penalty=ColumnNorm()"),
    ("frobenius", "nuclear", EntryCoupling(), "none", "coupling=EntryCoupling()"),
    (ResidualNorm(), "nuclear", "nuclear", "both", None),
    ("frobenius", FrobeniusNorm(), "nuclear", "both", None),
    ("frobenius", "nuclear", StackNorm(), "both", None),
    (ResidualNorm(), FrobeniusNorm(), StackNorm(), "both", None),
]
LAM, TAU = np.array([0.1, 0.25]), 0.3


@pytest.mark.parametrize(("datafit", "penalty", "coupling", "sides", "reason"), CHOICES, ids=str)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_problem_reduction_and_landmarks_follow_one_rule(datafit, penalty, coupling, sides, reason):
    axes = Axes.choose(datafit, penalty, coupling)
    assert axes.reducibility() == (sides, reason)

    views = random_views(0, (3, 4), 12)
    reduction = axes.reduce(views, "admm")
    assert (reduction.left is None) == (sides == "none")
    assert (reduction.right is None) == (sides != "both")
    problem = form_problem(reduction, 1.0, LAM, TAU, axes)
    assert problem.invariant == (sides == "both")

    model = viewspan.CLRSC(
        2, lam=0.1, tau="auto" if coupling == "rank_one" else 0.1, graph="landmarks", max_iter=5
    ).set_params(datafit=datafit, penalty=penalty, coupling=coupling)
    samples = two_subspaces(width=6)[0]
    if reason is None:
        assert model.fit(samples).fitted_graph_.landmarks
    else:
        with pytest.raises(ValueError, match="landmarks") as error:
            model.fit(samples)
        assert reason in str(error.value)


def test_the_coupling_of_mlap_allows_no_reduction():
    axes = Axes.choose("l12", "nuclear", "l12")
    assert axes.reducibility() == ("none", "coupling='l12'")
    reduction = axes.reduce(random_views(0, (3, 4), 12), "admm")
    assert reduction.left is None and reduction.right is None
    assert not form_problem(reduction, 1.0, LAM, TAU, axes).invariant


@pytest.mark.parametrize("solver", ["ladmpsap", "ladmap"])
def test_the_published_algorithms_solve_the_full_problem(solver):
    axes = Axes.choose("frobenius", "nuclear", "none")
    assert axes.reducibility(solver) == ("none", f"solver={solver!r}")
    assert axes.reduce(random_views(0, (3, 4), 12), solver).left is None


def test_missing_samples_allow_the_left_side_only():
    axes = Axes.choose("frobenius", "nuclear", "nuclear")
    assert axes.reducibility(missing=True) == ("left", "missing='allow'")
    observed = np.ones((2, 12), dtype=bool)
    observed[0, 3] = False
    reduction = axes.reduce(random_views(0, (3, 4), 12), "admm", observed)
    assert reduction.left is not None and reduction.right is None
    assert not form_problem(reduction, 1.0, LAM, TAU, axes).invariant


OWN_FITS = FITS | {
    PinballFit(): lambda e: cp.sum(cp.maximum(0.3 * e, -0.7 * e)),
    ResidualNorm(): lambda e: cp.norm(e, "fro"),
}
OWN_PENALTIES = {
    "nuclear": cp.normNuc,
    ColumnNorm(): lambda z: cp.sum(cp.norm(z, 2, axis=0)),
    FrobeniusNorm(): lambda z: cp.norm(z, "fro"),
}
OWN_COUPLINGS = {
    "nuclear": nuclear_norm_of_rows,
    EntryCoupling(): lambda rows: (cp.sum(cp.abs(rows)), []),
    StackNorm(): lambda rows: (cp.norm(rows, "fro"), []),
    DifferenceNorm(): lambda rows: (
        cp.norm(rows[0] - rows[1]) + 0.05 * cp.norm(rows, "fro"),
        [],
    ),
}


def own_optimum(views, datafit, penalty, coupling):
    """Return the optimal value for users' own objects, by cvxpy."""
    n_samples = len(views[0])
    coefficients = [cp.Variable((n_samples, n_samples)) for _ in views]
    terms = [
        OWN_FITS[datafit](view.T - view.T @ z) + weight * OWN_PENALTIES[penalty](z)
        for view, z, weight in zip(views, coefficients, LAM, strict=True)
    ]
    rows = cp.vstack([cp.reshape(z, (1, n_samples**2), order="F") for z in coefficients])
    norm, constraints = OWN_COUPLINGS[coupling](rows)
    problem = cp.Problem(cp.Minimize(sum(terms) + TAU * norm), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return float(problem.value)


@pytest.mark.parametrize("shape", [((5, 9), 8), ((3, 3), 8)], ids=["wide", "narrow"])
@pytest.mark.parametrize(
    ("datafit", "penalty", "coupling"),
    [
        (PinballFit(), "nuclear", "nuclear"),
        ("frobenius", ColumnNorm(), "nuclear"),
        ("frobenius", "nuclear", EntryCoupling()),
        ("frobenius", "nuclear", DifferenceNorm()),
        (PinballFit(), ColumnNorm(), EntryCoupling()),
        (ResidualNorm(), "nuclear", "nuclear"),
        ("frobenius", FrobeniusNorm(), "nuclear"),
        ("frobenius", "nuclear", StackNorm()),
        ("l12", FrobeniusNorm(), StackNorm()),
    ],
    ids=str,
)
def test_own_objects_reach_the_certified_optimum(datafit, penalty, coupling, shape):
    """Those that promise nothing are solved correctly, and invariance changes only the size."""
    views = random_views(0, *shape)
    best = own_optimum(views, datafit, penalty, coupling)
    result = viewspan.solve(
        views,
        LAM,
        TAU,
        datafit=datafit,
        penalty=penalty,
        coupling=coupling,
        tol=1e-5,
        max_iter=20000,
    )
    assert result.status == "optimal"
    assert result.objective == pytest.approx(best, rel=2e-5)
    assert result.dual_bound <= best * (1 + 1e-6)
    axes = Axes.choose(datafit, penalty, coupling)
    full = Problem(
        *[[view.T for view in views]] * 2, LAM, TAU, axes.datafit, axes.penalty, axes.coupling
    )
    assert full.value(np.stack(result.coefficients)) == pytest.approx(result.objective, rel=1e-9)


def test_views_with_an_own_coupling_are_scaled_together_in_the_certificate():
    """The dual ball of ‖Z_1 − Z_2‖ contains (M, −M), but not (M, 0).

    Z_1 = Z_2 = I has a low objective. With a scale for every view of its own, the dual point here
    would prove a bound far above it.
    """
    columns = [view.T for view in random_views(1, (12, 15), 8)]
    axes = Axes.choose("frobenius", "nuclear", DifferenceNorm())
    problem = Problem(
        columns, columns, np.full(2, 1e-3), TAU, axes.datafit, axes.penalty, axes.coupling
    )
    half = TAU * np.eye(8) / np.sqrt(8)
    multiplier = np.stack([half, -half])
    dual = [np.linalg.pinv(f.T) @ m for f, m in zip(columns, multiplier, strict=True)]
    objective = problem.value(np.stack([np.eye(8)] * 2))
    assert objective < 0.1
    for scale in (0.1, 1.0, 10.0):
        bound = problem.certificate([scale * y for y in dual], scale * multiplier).bound
        assert bound <= objective


def test_unknown_names_and_other_objects_are_errors():
    with pytest.raises(ValueError, match=r"penalty must be one of 'nuclear', 'l1', or an instance"):
        Axes.choose("frobenius", "l7", "nuclear")
    with pytest.raises(ValueError, match=r"coupling must be one of .* Got 3 instead"):
        Axes.choose("frobenius", "nuclear", 3)
    for name in DATAFITS:
        assert Axes.choose(name, "nuclear", "none").datafit is DATAFITS[name]
    for name in PENALTIES:
        assert Axes.choose("l1", name, "none").penalty is PENALTIES[name]
    for name in COUPLINGS:
        assert Axes.choose("l1", "l1", name).coupling is COUPLINGS[name]


@pytest.mark.parametrize(
    ("axes", "solver", "missing", "message"),
    [
        (("l12", "nuclear", "rank_one"), "admm", False, "needs a quadratic fit, but datafit='l12'"),
        (("frobenius", "nuclear", "rank_one"), "admm", True, "needs all samples in every view"),
        (("frobenius", "nuclear", "rank_one"), "ladmpsap", False, "is for convex couplings"),
        (("l1", "nuclear", "none"), "ladmap", False, "'ladmap' has no step for datafit='l1'"),
        (
            ("frobenius", ColumnNorm(), "none"),
            "ladmpsap",
            False,
            r"'ladmpsap' has no step for penalty=ColumnNorm\(\); take solver='admm'",
        ),
        (
            ("frobenius", "nuclear", StackNorm()),
            "ladmpsap",
            False,
            r"'ladmpsap' has no step for coupling=StackNorm\(\)",
        ),
        (("frobenius", "nuclear", "none"), "ladmap", True, "needs all samples in every view"),
    ],
    ids=str,
)
def test_axes_that_do_not_go_together_are_errors(axes, solver, missing, message):
    with pytest.raises(ValueError, match=message):
        Axes.choose(*axes).check(solver, missing=missing)
