"""The problem the solvers see: data in some basis, three axes, their weights, and the certificate of optimality."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio, spectrum
from viewspan._utils.threads import map_views
from viewspan._utils.typing import AnyArray, Array
from viewspan.objective.axes import Axes
from viewspan.objective.couplings import Coupling, Uncoupled
from viewspan.objective.datafits import Datafit
from viewspan.objective.penalties import Excess, Penalty, relative
from viewspan.objective.rounding import error_of_products, error_of_slack, norm, unit_error

ROUNDING = 16 * np.finfo(float).eps
SHARES = (1.0, 0.1, 0.02, 0.0)
"""How much of a dual violation the penalty's ball may absorb by growing; the rest goes to the coupling. Each
gives a valid bound.
"""


@dataclass(frozen=True)
class Certificate:
    """A proven lower bound of the optimum, and how each view's dual point left its ball (empty where views are
    not coupled).
    """

    bound: float
    excess: list[Excess]


@dataclass(frozen=True)
class Problem:
    """minimise Σ_i [ f(T_i − F_i W_i) + λ_i p(W_i) ] + τ·c(W_1, …, W_c) + offset.

    Parameters
    ----------
    factors : list of arrays (d_i, p)
        F_i, the view in the basis of the coefficients' rows.
    targets : list of arrays (d_i, m)
        T_i, the view in the basis of the coefficients' columns; the same as F_i when both sides are reduced.
    lam : array (c,) or (c, m)
        Weights of the penalty, per view or per view and sample.
    tau : float
        Weight of the coupling.
    datafit, penalty, coupling
        The three axes.
    offset : float
        What the reduced coordinates leave out of the objective: the fit to directions in which every W_i is zero.
    known_spectra : list of Spectrum, optional
        The factors' spectra, where the caller has them.
    observed : array (c, m) of bool, optional
        Samples that each view has. Targets of absent ones are zero, and their residuals are not measured: their
        coefficients are left to the penalty and the coupling.
    """

    factors: list[Array]
    targets: list[Array]
    lam: Array
    tau: float
    datafit: Datafit
    penalty: Penalty
    coupling: Coupling
    offset: float = 0.0
    known_spectra: list[Spectrum] | None = None
    observed: AnyArray | None = None

    @property
    def shape(self) -> tuple[int, int, int]:
        """(c, p, m), the shape of a stack of coefficients."""
        return len(self.factors), self.factors[0].shape[1], self.targets[0].shape[1]

    @property
    def coupled(self) -> bool:
        return not isinstance(self.coupling, Uncoupled)

    @property
    def invariant(self) -> bool:
        """Whether coefficients may be restricted to a subspace on both sides."""
        axes = Axes(self.datafit, self.penalty, self.coupling)
        return axes.reducibility(missing=self.observed is not None).sides == "both"

    @cached_property
    def spectra(self) -> list[Spectrum]:
        """Singular values and right singular vectors of every factor."""
        return (
            map_views(spectrum, self.factors) if self.known_spectra is None else self.known_spectra
        )

    @property
    def right_vectors(self) -> list[Array]:
        """The right singular vectors of every factor in the coordinates of the coefficients' columns: Vᵀ, or UᵀT/s
        where targets are those of samples; without those of singular values that are rounding, which have no direction.
        """

        def of_view(factor: Array, target: Array, view: Spectrum) -> Array:
            if target is factor:
                return view.right
            inverse = ratio(
                1.0, np.where(view.values > unit_error(target) * view.values[0], view.values, 0.0)
            )
            return np.asarray(inverse[:, None] * ((factor @ view.right.T * inverse).T @ target))

        return map_views(of_view, self.factors, self.targets, self.spectra)

    def residuals(self, stack: Array) -> list[Array]:
        """E_i = T_i − F_i W_i; 0 for absent samples."""
        found = [t - f @ w for t, f, w in zip(self.targets, self.factors, stack, strict=True)]
        if self.observed is not None:
            for residual, present in zip(found, self.observed, strict=True):
                residual[:, ~present] = 0.0
        return found

    def value(self, stack: Array, penalty: float | None = None) -> float:
        """The objective; its penalty part may be handed in where it is known."""
        fit = sum(self.datafit.value(residual) for residual in self.residuals(stack))
        if fit <= sum(self.datafit.value(ROUNDING * target) for target in self.targets) < np.inf:
            fit = 0.0  # an exact fit, up to rounding of the data
        if penalty is None:
            penalty = sum(map_views(self.penalty.value, stack, self.lam))
        return float(fit + penalty + self.tau * self.coupling.value(stack) + self.offset)

    def smooth_dual(self, stack: Array) -> list[Array]:
        """Y_i = w·E_i, the dual point that a quadratic fit (w/2)‖E_i‖² gives for free."""
        curvature = self.datafit.curvature
        assert curvature is not None  # other fits have no dual point for free
        return [curvature * residual for residual in self.residuals(stack)]

    def certificate(
        self, dual: list[Array], multiplier: Array, enough: float = np.inf
    ) -> Certificate:
        r"""A lower bound of the optimum from any Y_i and any coupling multiplier M.

        The dual problem is

        .. math:: \max \sum_i \langle Y_i, T_i\rangle - f^*(Y_i)
                  \quad\text{s.t.}\quad F_i^\top Y_i = P_i + M_i,\ \|P_i\|^\circ \le \lambda_i,\ \|M\|^\circ \le \tau .

        The point at hand is made feasible: P_i is F_iᵀY_i − M_i clipped to κ_i λ_i for a few κ_i ≥ 1, M takes up
        the rest, and everything is scaled down until all balls hold. What M takes up lies mostly outside its own
        row space, so its norm grows only to second order; this makes the bound far tighter than scaling alone. The
        best of the bounds is taken, or the first that is ``enough``; each of them is rigorous, because what rounding
        may have done (see :mod:`viewspan.objective.rounding`) is taken to be against it.
        """
        dual, multiplier = self._admissible(dual, multiplier)
        slack = [f.T @ y - m for f, y, m in zip(self.factors, dual, multiplier, strict=True)]
        errors = [
            error_of_slack(*view) for view in zip(self.factors, dual, multiplier, strict=True)
        ]
        domain = max(self.datafit.polar(y) for y in dual)
        linear = np.stack(
            [np.einsum("ij,ij->j", y, t) for y, t in zip(dual, self.targets, strict=True)]
        )
        linear -= np.stack(
            [error_of_products(y, t) for y, t in zip(dual, self.targets, strict=True)]
        )
        conjugate = np.stack([self.datafit.conjugate(y) for y in dual])
        excess: list[Excess] = []
        if self.coupled:
            excess = map_views(self.penalty.excess, slack, self.lam)
            limits = self._coupled_limits(excess, multiplier, domain, errors)
        else:
            worst = map_views(self._alone, slack, self.lam, errors)
            limits = iter([scale_limit(np.stack(worst), domain)])
        certain = 1.0 - unit_error(*slack, *dual)
        bound = -np.inf
        for limit in limits:
            bound = max(
                bound, self.offset + self._scaled(linear, conjugate / certain, certain * limit)
            )
            if bound >= enough:
                break
        return Certificate(bound, excess)

    def _admissible(self, dual: list[Array], multiplier: Array) -> tuple[list[Array], Array]:
        """Y_i and M without what no feasible point has: a part for absent samples, or a multiplier of no coupling."""
        if self.observed is not None:
            dual = [
                np.where(present, y, 0.0) for y, present in zip(dual, self.observed, strict=True)
            ]
        return dual, multiplier if self.coupled else np.zeros_like(multiplier)

    def _alone(self, slack: Array, lam: Array, errors: Array) -> Array:
        """By which factor a view that is not coupled leaves the penalty's ball, for all samples or for each."""
        worst = self.penalty.polar(slack, lam)
        return worst + relative(errors if len(worst) > 1 else np.array([norm(errors)]), lam)

    def _coupled_limits(
        self, excess: list[Excess], multiplier: Array, domain: float, errors: list[Array]
    ) -> Iterator[Array]:
        """For every share, the cheapest first: how far each view's dual point must be scaled down.

        Of the penalty's ball and the coupling's, the larger one has room for rounding.
        """
        surplus = np.array([max(view.worst - 1.0, 0.0) for view in excess])
        radius = self.lam.reshape(len(excess), -1).min(axis=1)
        for share in SHARES if np.isfinite(surplus).all() else SHARES[-1:]:
            enlargement = 1.0 + share * surplus if share else np.ones_like(surplus)
            beyond = map_views(lambda view, kappa: view.beyond(kappa), excess, enlargement)
            pairs = zip(excess, enlargement, errors, strict=True)
            unsure = np.array(
                [view.uncertainty(kappa) + norm(error) for view, kappa, error in pairs]
            )
            needed = self.coupling.polar(multiplier + np.stack(beyond)) + norm(
                unsure[radius < self.tau]
            )
            enlargement = enlargement + np.where(radius < self.tau, 0.0, relative(unsure, radius))
            yield scale_limit(np.maximum(enlargement, needed / self.tau)[:, None], domain)

    def _scaled(self, linear: Array, conjugate: Array, limit: Array) -> float:
        """max over 0 ≤ s ≤ limit of s·linear − f*(sY), for every part of the dual point that can be scaled on
        its own.
        """
        if limit.shape[1] == 1:
            linear, conjugate = (
                linear.sum(axis=1, keepdims=True),
                conjugate.sum(axis=1, keepdims=True),
            )
        if self.datafit.degree == 1:
            return float((limit * np.maximum(linear - conjugate, 0.0)).sum())
        unconstrained = np.divide(
            linear, 2.0 * conjugate, out=np.zeros_like(linear), where=conjugate > 0
        )
        scale = np.clip(unconstrained, 0.0, limit)
        return float((scale * linear - scale**2 * conjugate).sum())

    def restrict(self, directions: Array) -> "Problem":
        """The same problem with W_i = Q W Qᵀ for the given orthonormal Q; its values are values of this problem."""
        factors = [f @ directions for f in self.factors]
        outside = sum(
            self.datafit.value(f - inside @ directions.T)
            for f, inside in zip(self.factors, factors, strict=True)
        )
        return replace(
            self, factors=factors, targets=factors, offset=self.offset + outside, known_spectra=None
        )


def scale_limit(worst: Array, domain: float) -> Array:
    """The largest scale at which a dual point that exceeds its balls by the factor ``worst`` is feasible."""
    worst = np.maximum(worst, domain)
    limit = np.divide(1.0, worst, out=np.full_like(worst, np.finfo(float).max), where=worst > 0)
    return np.where(np.isnan(worst), 0.0, limit)  # what cannot be measured proves nothing
