"""``viewspan.solve``: minimise one objective of the family for given views and weights."""

from dataclasses import replace
from typing import Any, get_args

import numpy.typing as npt

from viewspan._utils.threads import with_one_thread
from viewspan.inputs.checks import check_views
from viewspan.inputs.preparation import prepare
from viewspan.objective.axes import Axes, SolverName
from viewspan.objective.couplings import Coupling
from viewspan.objective.datafits import Datafit
from viewspan.objective.penalties import Penalty
from viewspan.objective.weight_checks import check_lam, check_tau
from viewspan.solvers.reduced import solve_reduced
from viewspan.solvers.result import DEFAULT_TOL, Callback, Result

MISSING_OPTIONS = ("forbid", "allow")


@with_one_thread
def solve(
    views: Any,
    lam: npt.ArrayLike,
    tau: float = 0.0,
    *,
    tol: float = DEFAULT_TOL,
    solver: SolverName = "admm",
    max_iter: int | None = None,
    datafit: str | Datafit = "frobenius",
    penalty: str | Penalty = "nuclear",
    coupling: str | Coupling = "nuclear",
    missing: str = "forbid",
    callback: Callback | None = None,
) -> Result:
    r"""Minimise one objective of the family to a certified gap.

    .. math:: \min_{Z_1,\dots,Z_c}\ \sum_i f(X_i - X_i Z_i) + \lambda_i\, p(Z_i)
              + \tau\, c(Z_1,\dots,Z_c)

    With τ > 0 the defaults are cLRSC: f = ‖·‖_F², p = ‖·‖_* and c = ‖A‖_* with rows vec(Z_i)ᵀ.
    The views are not scaled. Bring them to the scale you want first; the estimators scale every
    sample of every view to unit length.

    Parameters
    ----------
    views : list, tuple or dict of arrays (n_samples, n_features_i), or one array
    lam : float, array (n_views,) or, with ``penalty="l1"``, array (n_views, n_samples)
        λ, the weight of the penalty.
    tau : float
        τ, the weight of the coupling.
    tol : float
        Relative gap to reach. The published algorithms stop on their own rule; for them it is the
        paper's ε₂.
    solver : {"admm", "ladmpsap", "ladmap"}
        Our solver, which is ADMM unless the problem has a closed form or is one of every sample on
        its own (SSC); the paper's algorithm on the full N × N problem; or the algorithm that its
        authors use for uncoupled views.
    max_iter : int, optional
        Maximum number of iterations: 2000 by default, 200 for the published algorithms. Unless it
        is given, at most 2000 directions of a coupled problem are iterated (``status``).
    datafit, penalty, coupling : str or object
        As in :class:`~viewspan.CLRSC`. With ``coupling="rank_one"`` the solution is stationary
        (``status``) and has ``scales`` α; its bound is that of views without coupling.
    missing : {"forbid", "allow"}
        Whether a row of NaN stands for a missing sample. Its residual is left out of the fit, and
        its coefficients follow from the penalty and the coupling.
    callback : callable, optional
        Called with every :class:`Check` of the iteration.

    Returns
    -------
    Result
        With ``cores``, ``basis``, ``coefficients``, ``objective``, ``dual_bound``, ``gap``,
        ``status``, ``n_iter`` and ``history``.
    """
    check_stopping(solver, tol, max_iter)
    check_name("missing", missing, MISSING_OPTIONS)
    axes = Axes.choose(datafit, penalty, coupling)
    axes.check(solver, missing=missing == "allow")
    if axes.coupling.shares_coefficients and tau != 0:
        raise ValueError(
            f"tau weighs a coupling, and {axes.describe('coupling')} is a constraint; leave tau=0."
        )
    read = check_views(views, caller="solve", missing=missing == "allow").read()
    _, as_given = prepare(read, False, False, normalize=False)
    reduction = axes.reduce(as_given.arrays, solver, as_given.observed)
    result = solve_reduced(
        reduction,
        check_lam(lam, reduction, axes),
        check_tau(tau),
        axes,
        tol=tol,
        solver=solver,
        max_iter=max_iter,
        callback=callback,
    )
    return replace(result, spectra=None)  # which must not outlive changes of the cores


def check_stopping(solver: str, tol: float, max_iter: int | None) -> None:
    """Raise ValueError if the solver is unknown or its limits are out of range."""
    check_name("solver", solver, get_args(SolverName))
    if not tol > 0:
        raise ValueError(f"tol must be positive. Got {tol!r} instead.")
    if max_iter is not None and max_iter < 1:
        raise ValueError(f"max_iter must be at least 1. Got {max_iter!r} instead.")


def check_name(parameter: str, value: Any, allowed: tuple[str, ...]) -> None:
    """Raise ValueError if a value is not one of the allowed names."""
    if value not in allowed:
        names = ", ".join(map(repr, allowed))
        raise ValueError(f"{parameter} must be one of {names}. Got {value!r} instead.")
