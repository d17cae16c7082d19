"""Screening: solve in the few directions that matter, prove it on the whole problem.

Directions far below the threshold never enter the solution. The loop starts from the right singular vectors of the
views with w·s² > λ_i, solves there, and computes the certificate on the **full** problem. While that gap is open it
adds the singular vectors of the violated dual constraint and goes on from where it was.
"""

from dataclasses import dataclass, replace

import numpy as np

from viewspan._utils.linalg import eigh
from viewspan._utils.typing import Array
from viewspan.objective.penalties import Nuclear, SpectralExcess
from viewspan.objective.problem import Problem
from viewspan.solvers.admm import MAX_ITER, admm
from viewspan.solvers.result import Callback, Check, Solution, Status
from viewspan.solvers.state import State

SMALLEST = 150
"""Problems with fewer directions are solved whole."""
WORTHWHILE = 0.6
"""Screen only while the working set is smaller than this share of all directions."""
FIRST, INNER = 100.0, 0.5
"""Multiples of the tolerance to which the restricted problem is solved: roughly before the working set is
complete, closely after.
"""
ROUNDS = 6
"""After this many rounds all directions are taken."""
VIOLATION = 1e-3
"""A dual constraint counts as violated beyond this relative excess."""
STRICTER, STRICTEST = 0.1, 1e-4
"""While the gap is open and nothing is violated or new, both bounds shrink by this factor; at the end of that all
directions are taken.
"""
DISTINCT = 1e-6
"""Directions of different views closer than this are one."""
NEW = 1e-2
"""A violated direction is new if more than this much of it lies outside the working set."""


@dataclass(frozen=True)
class Screened:
    """A solution in the coordinates of ``directions`` (r × q; None for all r), certified on the full problem."""

    directions: Array | None
    solution: Solution


def solve_screened(
    problem: Problem,
    *,
    tol: float = 1e-4,
    max_iter: int = MAX_ITER,
    callback: Callback | None = None,
) -> Screened:
    """Minimise the problem, on a working set of directions where that is smaller."""
    directions = screen(problem)
    if directions is None:
        return Screened(None, admm(problem, tol=tol, max_iter=max_iter, callback=callback))
    log = Log(callback)
    state = State.start(problem.restrict(directions))
    inner, strictness = FIRST * tol, 1.0
    for _ in range(ROUNDS):
        part = admm(
            problem.restrict(directions),
            tol=inner,
            max_iter=max_iter - log.used,
            state=state,
            callback=log,
        )
        solution, excess = certify_on_full(problem, directions, part, tol)
        log(solution.history[-1])
        log.used += part.n_iter
        if solution.status != "max_iter" or log.used >= max_iter:
            return Screened(directions, replace(solution, n_iter=log.used, history=log.history))
        added = violated_directions(directions, excess, strictness)
        size = directions.shape[1] + added.shape[1]
        if added.shape[1] == 0 and strictness > STRICTEST:
            inner, strictness = INNER * min(inner, tol), STRICTER * strictness
        elif added.shape[1] > 0 and is_worthwhile(size, problem):
            state = state.embed(np.eye(size, directions.shape[1]))
            directions, inner = np.hstack([directions, added]), min(inner, INNER * tol)
        else:
            break
    whole = admm(
        problem, tol=tol, max_iter=max_iter - log.used, state=state.embed(directions), callback=log
    )
    return Screened(None, replace(whole, n_iter=log.used + whole.n_iter, history=log.history))


class Log:
    """Collects the checks of several rounds as if they were one."""

    def __init__(self, callback: Callback | None) -> None:
        self.callback = callback
        self.history: list[Check] = []
        self.used = 0

    def __call__(self, check: Check) -> None:
        self.history.append(check._replace(n_iter=self.used + check.n_iter))
        if self.callback is not None:
            self.callback(self.history[-1])


def is_worthwhile(size: int, problem: Problem) -> bool:
    return size <= WORTHWHILE * problem.shape[1]


def screen(problem: Problem) -> Array | None:
    """An orthonormal basis of all right singular vectors with w·s² > λ_i in their view; None if that is nearly
    everything.
    """
    curvature = problem.datafit.curvature
    if (
        not (problem.invariant and problem.coupled)
        or not isinstance(problem.penalty, Nuclear)
        or curvature is None
        or problem.shape[1] < SMALLEST
    ):
        return None
    kept = []
    for spectrum, lam in zip(problem.spectra, problem.lam, strict=True):
        keep = curvature * spectrum.values**2 > lam
        keep[0] = True  # so that the working set is never empty
        kept.append(spectrum.right[keep].T)
    if not is_worthwhile(max(block.shape[1] for block in kept), problem):
        return None
    directions = span(np.hstack(kept), DISTINCT)
    return directions if is_worthwhile(directions.shape[1], problem) else None


def certify_on_full(
    problem: Problem, directions: Array, part: Solution, tol: float
) -> tuple[Solution, list[SpectralExcess]]:
    """The restricted solution as a solution of the whole problem, and where its dual point leaves the penalty's
    ball.
    """
    dual = problem.smooth_dual(directions @ part.stack @ directions.T)
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
    directions: Array, excess: list[SpectralExcess], strictness: float
) -> Array:
    """What the violated constraint asks for and the working set does not have."""
    wanted = np.hstack([view.directions(1.0 + strictness * VIOLATION) for view in excess])
    new = span(wanted - directions @ (directions.T @ wanted), strictness * NEW)
    return new - directions @ (
        directions.T @ new
    )  # again, because subtracting once leaves rounding behind


def span(vectors: Array, threshold: float) -> Array:
    """An orthonormal basis of the column space, down to singular values of ``threshold``."""
    squares, left = eigh(vectors @ vectors.T)
    return left[:, squares > threshold**2]
