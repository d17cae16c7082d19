"""Screening: solve a problem on a working set of directions, and certify it on the full problem.

Directions far below the threshold never enter the solution. The working set starts with the right
singular vectors of the views for which w·s² > λ_i. The problem is solved there, and the certificate
is computed for the **full** problem. While that gap is too large, the singular vectors of the
violated dual constraint are added, and the iteration continues from its last state.

The closed form with a ridge in place of the coupling comes first. Where its gap is small enough, or
the problem is too large to be iterated in a reasonable time, it is the solution.
"""

from dataclasses import dataclass, replace

import numpy as np

from viewspan._utils.linalg import eigh
from viewspan._utils.typing import Array
from viewspan.objective.excess import SpectralExcess
from viewspan.objective.penalties import is_nuclear_norm
from viewspan.objective.problem import Problem
from viewspan.solvers.admm import MAX_ITER, admm
from viewspan.solvers.closed_form import solve_with_ridge
from viewspan.solvers.result import DEFAULT_TOL, Callback, Check, Solution, Status
from viewspan.solvers.state import State

MAX_DIRECTIONS = 2000
"""Most directions of a problem that is iterated if no limit of iterations is given."""
MIN_DIRECTIONS = 150
"""Fewest directions of a problem that is screened."""
MAX_WORKING_SET_SHARE = 0.6
"""Largest working set as a share of all directions."""
LATER_TOLERANCE_FACTOR = 0.5
"""Tolerance of later restricted problems as a multiple of the one before."""
MAX_ROUNDS = 6
"""Number of rounds after which all directions are taken."""
VIOLATION_TOLERANCE = 1e-3
"""Relative excess beyond which a dual constraint counts as violated."""
NOVELTY_TOLERANCE = 1e-2
"""Length of the part outside the working set beyond which a violated direction is new."""
TOLERANCE_DECAY, MIN_TOLERANCE_FACTOR = 0.1, 1e-4
"""Decay and lower limit of the factor of both tolerances while no new direction is found.

At the lower limit all directions are taken instead.
"""
DEPENDENCE_TOLERANCE = 1e-6
"""Singular value below which directions of different views count as linearly dependent."""


@dataclass(frozen=True)
class Screened:
    """Solution on a working set, certified on the full problem.

    Attributes
    ----------
    directions : array (r, q) or None
        Orthonormal columns, the coordinates of the solution; None for all r directions.
    solution : Solution
    """

    directions: Array | None
    solution: Solution


def solve_screened(
    problem: Problem,
    *,
    tol: float = DEFAULT_TOL,
    max_iter: int | None = None,
    callback: Callback | None = None,
) -> Screened:
    """Minimise the problem, by iterations only where the closed form with a ridge is too rough.

    Without ``max_iter`` at most ``MAX_DIRECTIONS`` directions are iterated.
    """
    log = CheckLog(callback)
    start = solve_with_ridge(problem, tol=tol)
    if start is not None and start.status == "optimal":
        log(start.history[-1])
        return Screened(None, start)
    most = problem.shape[1] if max_iter is not None or start is None else MAX_DIRECTIONS
    limit = MAX_ITER if max_iter is None else max_iter
    directions, state = screen(problem), None
    rough = [] if start is None else [Screened(None, start)]
    if directions is not None and directions.shape[1] <= most:
        found, state = iterate_working_set(problem, directions, most, tol, limit, log)
        if state is None:
            return found
        rough.append(found)
    if problem.shape[1] > most:
        best = min(rough, key=lambda screened: screened.solution.gap)
        log(best.solution.history[-1])
        return replace(best, solution=replace(best.solution, status="size", history=log.history))
    full = admm(problem, tol=tol, max_iter=limit - log.n_iter, state=state, callback=log)
    return Screened(None, replace(full, n_iter=log.n_iter + full.n_iter, history=log.history))


def iterate_working_set(
    problem: Problem, directions: Array, most: int, tol: float, max_iter: int, log: "CheckLog"
) -> tuple[Screened, State | None]:
    """Solve on a working set that grows by the directions of the violated dual constraint.

    Returns
    -------
    found : Screened
    state : State or None
        State on all directions, from which to go on if the working set would have to grow further
        than is worthwhile; else None.
    """
    state = State.start(problem.restrict(directions))
    inner_tol, tolerance_factor = tol, 1.0
    for _ in range(MAX_ROUNDS):
        part = admm(
            problem.restrict(directions),
            tol=inner_tol,
            max_iter=max_iter - log.n_iter,
            state=state,
            callback=log,
        )
        solution, excess = certify_on_full(problem, directions, part, tol)
        log(solution.history[-1])
        log.n_iter += part.n_iter
        found = Screened(directions, replace(solution, n_iter=log.n_iter, history=log.history))
        if solution.status != "max_iter" or log.n_iter >= max_iter:
            return found, None
        added = violated_directions(directions, excess, tolerance_factor)
        size = directions.shape[1] + added.shape[1]
        if added.shape[1] == 0 and tolerance_factor > MIN_TOLERANCE_FACTOR:
            inner_tol *= LATER_TOLERANCE_FACTOR
            tolerance_factor = TOLERANCE_DECAY * tolerance_factor
        elif added.shape[1] > 0 and is_worthwhile(size, problem) and size <= most:
            old = np.eye(size, directions.shape[1])
            directions = np.hstack([directions, added])
            state = state.embed(old, problem.restrict(directions))
            inner_tol = min(inner_tol, LATER_TOLERANCE_FACTOR * tol)
        else:
            break
    return found, state.embed(directions, problem)


class CheckLog:
    """Callback that collects the checks of several rounds as those of one iteration.

    Attributes
    ----------
    history : list of Check
    n_iter : int
        Number of iterations of the rounds before.
    """

    def __init__(self, callback: Callback | None) -> None:
        self.callback = callback
        self.history: list[Check] = []
        self.n_iter = 0

    def __call__(self, check: Check) -> None:
        self.history.append(check._replace(n_iter=self.n_iter + check.n_iter))
        if self.callback is not None:
            self.callback(self.history[-1])


def is_worthwhile(size: int, problem: Problem) -> bool:
    """Return whether a working set of this size is clearly smaller than the problem."""
    return size <= MAX_WORKING_SET_SHARE * problem.shape[1]


def screen(problem: Problem) -> Array | None:
    """Return an orthonormal basis of the first working set; None if screening does not apply.

    The basis spans the right singular vectors of every view for which w·s² > λ_i.
    """
    curvature = problem.datafit.curvature
    if (
        not (problem.invariant and problem.coupled)
        or not is_nuclear_norm(problem.penalty)
        or curvature is None
        or problem.shape[1] < MIN_DIRECTIONS
    ):
        return None
    kept = []
    for spectrum, lam in zip(problem.spectra, problem.lam, strict=True):
        keep = curvature * spectrum.values**2 > lam
        keep[0] = True  # so that the working set is never empty
        kept.append(spectrum.right[keep].T)
    if not is_worthwhile(max(block.shape[1] for block in kept), problem):
        return None
    directions = span(np.hstack(kept), DEPENDENCE_TOLERANCE)
    return directions if is_worthwhile(directions.shape[1], problem) else None


def certify_on_full(
    problem: Problem, directions: Array, part: Solution, tol: float
) -> tuple[Solution, list[SpectralExcess]]:
    """Certify a restricted solution on the full problem.

    Returns
    -------
    solution : Solution
        The restricted solution, with bound and status for the full problem.
    excess : list of SpectralExcess
        How the dual point of each view violates the constraint of the penalty.
    """
    curvature = problem.datafit.curvature
    assert curvature is not None  # see screen()
    dual = [
        curvature * (factor - factor @ directions @ directions.T) + inside @ directions.T
        for factor, inside in zip(problem.factors, part.dual, strict=True)
    ]
    multiplier = directions @ part.multiplier @ directions.T
    certificate = problem.certificate(dual, multiplier, enough=(1.0 - tol) * part.objective)
    excess = [view for view in certificate.excess if isinstance(view, SpectralExcess)]
    solution = replace(part, dual_bound=certificate.bound)
    last = part.history[-1]
    check = last._replace(
        dual_bound=certificate.bound, gap=solution.gap, n_directions=problem.shape[1]
    )
    status: Status = "optimal" if solution.gap <= tol else "max_iter"
    if part.status == "non_finite":
        status = part.status
    return replace(solution, status=status, history=[check]), excess


def violated_directions(
    directions: Array, excess: list[SpectralExcess], tolerance_factor: float
) -> Array:
    """Return singular vectors of the violated dual constraint that the working set lacks."""
    wanted = np.hstack(
        [view.directions(1.0 + tolerance_factor * VIOLATION_TOLERANCE) for view in excess]
    )
    new = span(wanted - directions @ (directions.T @ wanted), tolerance_factor * NOVELTY_TOLERANCE)
    # project again, because one subtraction leaves rounding errors
    return new - directions @ (directions.T @ new)


def span(vectors: Array, threshold: float) -> Array:
    """Return an orthonormal basis of the column space, for singular values above a threshold."""
    squares, left = eigh(vectors @ vectors.T)
    return left[:, squares > threshold**2]
