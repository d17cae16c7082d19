"""Small problems, and their optima by the generic convex solver cvxpy."""

import cvxpy as cp
import numpy as np

from viewspan.objective.axes import Axes
from viewspan.objective.problem import Problem


def random_views(seed, n_features=(5, 9), n_samples=8, rank=None):
    """Return views of random unit-length samples, with a joint rank of at most ``rank``."""
    rng = np.random.default_rng(seed)
    if rank is None:
        views = [rng.normal(size=(n_samples, width)) for width in n_features]
    else:
        shared = rng.normal(size=(n_samples, rank))
        views = [shared @ rng.normal(size=(rank, width)) for width in n_features]
    return [view / np.linalg.norm(view, axis=1, keepdims=True) for view in views]


def two_subspaces(seed=0, n_views=2, size=15, width=12, noise=0.05):
    """Return views of samples from two planes, and their labels."""
    rng = np.random.default_rng(seed)
    views = [
        np.vstack([rng.normal(size=(size, 2)) @ rng.normal(size=(2, width)) for _ in range(2)])
        + noise * rng.normal(size=(2 * size, width))
        for _ in range(n_views)
    ]
    return views, np.repeat([0, 1], size)


def full_problem(
    views, lam, tau, datafit="frobenius", penalty="nuclear", coupling="nuclear", observed=None
):
    """Return the problem in the samples' own coordinates, without any reduction."""
    axes = Axes.choose(datafit, penalty, coupling)
    columns = [view.T for view in views]
    weights = np.broadcast_to(np.asarray(lam, dtype=float), (len(views), *np.shape(lam)[1:])).copy()
    return Problem(
        columns,
        columns,
        weights,
        float(tau),
        axes.datafit,
        axes.penalty,
        axes.coupling,
        observed=observed,
    )


def nuclear_norm_of_rows(rows):
    """Return an expression of cvxpy and constraints whose minimum is the norm of a few long rows.

    ‖A‖_* = min ½ tr(W) + ½ Σ_j a_jᵀ W⁻¹ a_j over W ⪰ 0, with one small cone for each column a_j. It
    takes a tenth of the time of ``cp.normNuc``, which makes one cone of all rows and columns.
    """
    n_rows, n_columns = rows.shape
    square, bounds = cp.Variable((n_rows, n_rows), PSD=True), cp.Variable((n_columns, 1))
    cones = []
    for number in range(n_columns):
        column, bound = rows[:, number : number + 1], bounds[number : number + 1]
        cones.append(cp.bmat([[square, column], [column.T, bound]]) >> 0)
    return 0.5 * (cp.trace(square) + cp.sum(bounds)), cones


def optimum(
    views, lam, tau, datafit="frobenius", penalty="nuclear", coupling="nuclear", observed=None
):
    """Return the optimal value by cvxpy; missing samples are left out of the fit."""
    n_samples = len(views[0])
    observed = np.ones((len(views), n_samples), dtype=bool) if observed is None else observed
    lam = np.broadcast_to(np.asarray(lam, dtype=float), (len(views), *np.shape(lam)[1:]))
    coefficients = [cp.Variable((n_samples, n_samples)) for _ in views]
    terms, constraints = [], []
    for view, z, weight, present in zip(views, coefficients, lam, observed, strict=True):
        residual = (view.T - view.T @ z)[:, np.flatnonzero(present)]
        terms.append(FITS[datafit](residual))
        if penalty == "nuclear":
            terms.append(weight * cp.normNuc(z))
        else:
            terms.append(
                cp.sum(cp.multiply(np.broadcast_to(weight, (n_samples, n_samples)), cp.abs(z)))
            )
            constraints.append(cp.diag(z) == 0)
    stacked = cp.vstack([cp.reshape(z, (1, n_samples**2), order="F") for z in coefficients])
    if coupling == "nuclear":
        norm, cones = nuclear_norm_of_rows(stacked)
        terms.append(tau * norm)
        constraints += cones
    elif coupling == "l12":
        terms.append(tau * cp.sum(cp.norm(stacked, 2, axis=0)))
    problem = cp.Problem(cp.Minimize(sum(terms)), constraints)
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "optimal"
    return float(problem.value)


FITS = {
    "frobenius": cp.sum_squares,
    "half_frobenius": lambda residual: 0.5 * cp.sum_squares(residual),
    "l12": lambda residual: cp.sum(cp.norm(residual, 2, axis=0)),
    "l1": lambda residual: cp.sum(cp.abs(residual)),
}


def many_subspaces(n_samples=1200, n_clusters=5, noise=0.1, seed=0, width=20):
    """Return two views of samples from subspaces of dimension 3, in random order, and labels."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, n_clusters, n_samples)
    views = []
    for _ in range(2):
        bases = rng.normal(size=(n_clusters, 3, width)) / np.sqrt(width)
        view = np.einsum("nd,ndw->nw", rng.normal(size=(n_samples, 3)), bases[labels])
        views.append(view + noise * rng.normal(size=view.shape))
    return views, labels
