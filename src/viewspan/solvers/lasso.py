r"""Lasso problems of many samples, solved together by active sets.

For every sample j of a view, with all other samples as regressors,

.. math:: \min_z\ \tfrac12 \|t_j - F z\|^2 + \lambda_j \|z\|_1
          \quad\text{s.t.}\quad z_j = 0 .

A step moves to the minimum over the coefficients of the active set, at fixed signs. If a
coefficient would change its sign on the way, the step ends there and the coefficient leaves. At the
minimum, the coefficients that violate optimality most join. If none does, the sample is solved.

The objective decreases from one minimum to the next, so no active set returns with the same signs.
There are finitely many of them, so the method ends. All samples of a view share its Gram matrix,
and all samples of a block take each step together.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from viewspan._utils.typing import AnyArray, Array
from viewspan.objective.problem import Problem
from viewspan.objective.rounding import column_lengths, near_one, unit_error

BLOCK_SIZE = 256
"""Number of samples that take each step together."""
MAX_SYSTEM_ENTRIES = 2**20
"""Number of entries of the linear systems that are solved together."""
N_JOINING = 4
"""Number of coefficients that may join the active set of a sample at once."""
RIDGE = 1e-12
"""Relative increase of the diagonal of every linear system.

It keeps systems of linearly dependent samples regular. Its effect on the solution is corrected,
because every step starts from the residuals of the step before.
"""
LARGEST_LAM = 1e100
"""Larger weights count as this one, for which all coefficients are zero."""


@dataclass(frozen=True)
class ViewProblem:
    """One view, scaled so that its largest value is near 1 and the fit is ½‖·‖².

    Attributes
    ----------
    number : int
        Position of the view.
    factor, target : arrays (d, N)
    gram : array (N, N)
        FᵀF.
    lam : array (N,)
    floor : array (N,)
        Violation of optimality that may come from rounding errors.
    """

    number: int
    factor: Array
    target: Array
    gram: Array
    lam: Array
    floor: Array

    @classmethod
    def of(cls, problem: Problem, number: int) -> "ViewProblem":
        curvature = problem.datafit.curvature
        assert curvature is not None  # see applies()
        factor, unit = near_one(problem.factors[number])
        target = problem.targets[number] / unit
        with np.errstate(over="ignore"):
            lam = np.minimum(problem.lam[number] / curvature / unit / unit, LARGEST_LAM)
        lam = np.broadcast_to(lam, target.shape[1])
        longest = column_lengths(factor).max(initial=0.0)
        floor = unit_error(factor) * longest * column_lengths(target)
        return cls(number, factor, target, factor.T @ factor, lam, floor)


def blocks_of(problem: Problem) -> Iterator["Block"]:
    """Yield blocks of all samples of all views."""
    n_samples = problem.shape[2]
    for number in range(problem.shape[0]):
        view = ViewProblem.of(problem, number)
        for start in range(0, n_samples, BLOCK_SIZE):
            yield Block(view, np.arange(start, min(start + BLOCK_SIZE, n_samples)))


@dataclass(frozen=True)
class ActiveSets:
    """Active sets of several samples, one sample per row and one coefficient per slot.

    Attributes
    ----------
    places : array (n, k) of int
        Positions of the coefficients.
    signs, values : arrays (n, k)
        Signs and values of the coefficients. The sign of a free slot is 0.
    correlations : array (n, k)
        ⟨f_k, t − Fz⟩, which equals λ times the sign at the minimum over the active set.
    """

    places: AnyArray
    signs: Array
    values: Array
    correlations: Array

    @classmethod
    def empty(cls, n_samples: int) -> "ActiveSets":
        none = np.zeros((n_samples, 0))
        return cls(none.astype(np.intp), none, none, none)

    @property
    def counts(self) -> AnyArray:
        """Number of active coefficients of every sample."""
        return np.asarray((self.signs != 0).sum(axis=1))

    def with_free_slots_last(self) -> "ActiveSets":
        """Return the same sets in as few slots as possible."""
        width = int(self.counts.max(initial=0))
        order = np.argsort(self.signs == 0, axis=1, kind="stable")[:, :width]
        fields = (self.places, self.signs, self.values, self.correlations)
        return ActiveSets(*(np.take_along_axis(each, order, axis=1) for each in fields))

    def joined_by(self, rows: AnyArray, places: AnyArray, correlations: Array) -> "ActiveSets":
        """Return the sets with further coefficients for some rows; correlation 0 is left out."""

        def widened(each: AnyArray, added: AnyArray | float) -> AnyArray:
            new = np.zeros((len(each), places.shape[1]), dtype=each.dtype)
            new[rows] = added
            return np.hstack([each, new])

        return ActiveSets(
            widened(self.places, places),
            widened(self.signs, np.sign(correlations)),
            widened(self.values, 0.0),
            widened(self.correlations, correlations),
        ).with_free_slots_last()


class Block:
    """Samples of one view that take each step together.

    Attributes
    ----------
    view : ViewProblem
    samples : array (n,) of int
    sets : ActiveSets
    solved : array (n,) of bool
    settled : array (n,) of bool
        Samples at the minimum over their active set.
    tolerance : float
        Violation of optimality, relative to λ, that is allowed to a solved sample.
    n_steps : int
    """

    def __init__(self, view: ViewProblem, samples: AnyArray) -> None:
        self.view = view
        self.samples = samples
        self.sets = ActiveSets.empty(len(samples))
        self.solved = np.zeros(len(samples), dtype=bool)
        self.settled = np.ones(len(samples), dtype=bool)
        self.tolerance = np.inf
        self.n_steps = 0

    def advance(self, n_steps: int, tolerance: float) -> None:
        """Do steps until every sample violates optimality by at most ``tolerance``·λ."""
        if tolerance < self.tolerance:
            self.tolerance = tolerance
            self.solved[:] = False
        for _ in range(n_steps):
            self._admit()
            if self.solved.all():
                return
            self._step()
            self.n_steps += 1
        self._admit()

    def write(self, stack: Array) -> None:
        """Write the coefficients to the columns of these samples."""
        rows, slots = np.nonzero(self.sets.signs)
        places = self.sets.places[rows, slots]
        stack[self.view.number][places, self.samples[rows]] = self.sets.values[rows, slots]

    def _admit(self) -> None:
        """Let violating coefficients join the settled samples, or mark these as solved."""
        rows = np.flatnonzero(self.settled & ~self.solved)
        if not len(rows):
            return
        correlations = self._correlations(rows)
        allowed = self._allowed(rows)
        excess = np.abs(correlations) - self.view.lam[self.samples[rows], None]
        excess[np.arange(len(rows)), self.samples[rows]] = -np.inf
        off_minimum = self._refresh(rows, correlations, excess)
        count = min(N_JOINING, excess.shape[1])
        places = np.argpartition(-excess, count - 1, axis=1)[:, :count]
        joining = np.take_along_axis(excess, places, axis=1) > allowed[:, None]
        found = np.where(joining, np.take_along_axis(correlations, places, axis=1), 0.0)
        self.solved[rows] = ~joining.any(axis=1) & (off_minimum <= allowed)
        self.sets = self.sets.joined_by(rows, places, found)

    def _allowed(self, rows: AnyArray) -> Array:
        """Return the violation that counts as none, for every row."""
        samples = self.samples[rows]
        return np.asarray(
            np.maximum(self.tolerance * self.view.lam[samples], self.view.floor[samples])
        )

    def _correlations(self, rows: AnyArray) -> Array:
        """Return the correlations of all samples with the residuals of these rows."""
        view, sets = self.view, self.sets
        coefficients = np.zeros((len(rows), view.factor.shape[1]))
        at, slots = np.nonzero(sets.signs[rows])
        coefficients[at, sets.places[rows[at], slots]] = sets.values[rows[at], slots]
        residuals = view.target[:, self.samples[rows]].T - coefficients @ view.factor.T
        return np.asarray(residuals @ view.factor)

    def _refresh(self, rows: AnyArray, correlations: Array, excess: Array) -> Array:
        """Store exact correlations of active coefficients and take these out of ``excess``.

        Return how far every row is from the minimum over its active set.
        """
        sets = self.sets
        at, slots = np.nonzero(sets.signs[rows])
        places = sets.places[rows[at], slots]
        sets.correlations[rows[at], slots] = correlations[at, places]
        excess[at, places] = -np.inf
        slack = sets.correlations[rows] - self._targets(rows)
        return np.asarray(np.abs(slack).max(axis=1, initial=0.0, where=sets.signs[rows] != 0))

    def _targets(self, rows: AnyArray) -> Array:
        """Return the correlations at the minimum over the active sets, λ times the signs."""
        return np.asarray(self.view.lam[self.samples[rows], None] * self.sets.signs[rows])

    def _step(self) -> None:
        """Move every unsolved sample towards the minimum over its active set."""
        rows = np.flatnonzero(~self.solved)
        counts = self.sets.counts
        rows = rows[np.argsort(counts[rows], kind="stable")]
        while len(rows):  # the largest systems first
            width = int(counts[rows[-1]])
            size = max(MAX_SYSTEM_ENTRIES // max(width, 1) ** 2, 1)
            self._step_together(rows[-size:], width)
            rows = rows[:-size]
        self.sets = self.sets.with_free_slots_last()

    def _step_together(self, rows: AnyArray, width: int) -> None:
        sets = self.sets
        signs, values = sets.signs[rows, :width], sets.values[rows, :width]
        systems = self._systems(sets.places[rows, :width], signs != 0)
        slack = (sets.correlations[rows] - self._targets(rows))[:, :width]
        slack[signs == 0] = 0.0
        direction, change = solve_systems(systems, slack)
        length, leaving = step_length(signs, values, direction)
        moved = values + length[:, None] * direction
        sets.values[rows, :width] = np.where(leaving, 0.0, moved)
        sets.correlations[rows, :width] -= length[:, None] * change
        sets.signs[rows, :width] = np.where(leaving, 0.0, signs)
        self.settled[rows] = ~leaving.any(axis=1)

    def _systems(self, places: AnyArray, active: AnyArray) -> Array:
        """Return the Gram matrices of the active sets, with the identity in free slots."""
        pairs = active[:, :, None] & active[:, None, :]
        systems = np.where(pairs, self.view.gram[places[:, :, None], places[:, None, :]], 0.0)
        np.einsum("nii->ni", systems)[~active] = 1.0
        return systems


def solve_systems(systems: Array, slack: Array) -> tuple[Array, Array]:
    """Return the steps d to the minimum over the active sets, and the change H·d of the slack.

    The ridge makes a step proximal: it never increases the objective. If H is singular, the step
    is very long in directions in which only the penalty changes, and ends at a change of sign.
    """
    diagonal = np.einsum("nii->ni", systems)
    ridge: Array = RIDGE * diagonal
    diagonal += ridge
    direction = np.asarray(np.linalg.solve(systems, slack[:, :, None])[:, :, 0], dtype=float)
    return direction, slack - ridge * direction


def step_length(signs: Array, values: Array, direction: Array) -> tuple[Array, AnyArray]:
    """Return the share of every step that is taken, at most 1, and which coefficients leave.

    A coefficient that has just joined leaves at once if its step has the wrong sign, which is
    possible if several join together. Then no other coefficient moves.
    """
    inwards = (signs != 0) & (direction * signs <= 0)
    wrong = inwards & (values == 0)
    shrinking = inwards & (values != 0) & (direction != 0)
    until_zero = np.divide(-values, direction, out=np.full(values.shape, np.inf), where=shrinking)
    length = np.minimum(until_zero.min(axis=1, initial=np.inf), 1.0)
    length[wrong.any(axis=1)] = 0.0
    return length, wrong | (until_zero <= length[:, None])
