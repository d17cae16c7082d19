"""The optimisation problem of the solvers, with its certificate of optimality."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from viewspan._utils.linalg import Spectrum, ratio, spectrum
from viewspan._utils.threads import map_views
from viewspan._utils.typing import AnyArray, Array
from viewspan.objective.axes import Axes
from viewspan.objective.couplings import Coupling, Uncoupled
from viewspan.objective.datafits import Datafit
from viewspan.objective.excess import BlockExcess, Excess, norm_is_at_most, proof_margin, relative
from viewspan.objective.penalties import Penalty, is_nuclear_norm
from viewspan.objective.rounding import (
    error_of_products,
    error_of_slack,
    frobenius_norm,
    unit_error,
)

EXACT_FIT_TOLERANCE = 16 * np.finfo(float).eps
"""Residual, as a share of the data, below which a fit counts as exact."""
ABSORBED_SHARES = (0.1, 0.3, 0.02, 1.0)
"""Shares of a dual violation that the penalty's ball absorbs by growing.

The coupling absorbs the rest. Every share gives a valid bound. The first one is best most often.
"""


@dataclass(frozen=True)
class Certificate:
    """Proven lower bound of the optimum.

    Attributes
    ----------
    bound : float
    excess : list of Excess
        How the dual point of each view violates the penalty's constraint; empty if the views are
        not coupled.
    """

    bound: float
    excess: list[Excess]


@dataclass(frozen=True)
class Problem:
    """Problem of minimising Σ_i [ f(T_i − F_i W_i) + λ_i p(W_i) ] + τ·c(W_1, …, W_c) + offset.

    Parameters
    ----------
    factors : list of arrays (d_i, p)
        F_i, the view in the basis of the coefficients' rows.
    targets : list of arrays (d_i, m)
        T_i, the view in the basis of the coefficients' columns. They are the factors themselves if
        both sides are reduced.
    lam : array (c,) or (c, m)
        Weights of the penalty, per view or per view and sample.
    tau : float
        Weight of the coupling.
    datafit, penalty, coupling
        The three axes.
    offset : float
        Part of the objective that the coordinates leave out: the fit in directions in which every
        W_i is zero.
    known_spectra : list of Spectrum, optional
        Spectra of the factors, if they are known.
    observed : array (c, m) of bool, optional
        Samples that each view has. The targets of missing samples are zero and their residuals are
        left out of the fit, so their coefficients follow from the penalty and the coupling.
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
        """Shape (c, p, m) of a stack of coefficients."""
        return len(self.factors), self.factors[0].shape[1], self.targets[0].shape[1]

    @property
    def coupled(self) -> bool:
        return type(self.coupling) is not Uncoupled  # a subclass may have other values

    @property
    def invariant(self) -> bool:
        """Whether the coefficients can be restricted to a subspace on both sides."""
        axes = Axes(self.datafit, self.penalty, self.coupling)
        return axes.reducibility(missing=self.observed is not None).sides == "both"

    @cached_property
    def spectra(self) -> list[Spectrum]:
        """Singular values and right singular vectors of every factor."""
        if self.known_spectra is not None:
            return self.known_spectra
        return map_views(spectrum, self.factors)

    @property
    def right_vectors(self) -> list[Array]:
        """Right singular vectors of every factor in the coordinates of the coefficients' columns.

        They are Vᵀ, or UᵀT/s if the targets differ from the factors. In the latter case vectors of
        singular values below rounding are zero, because their direction is arbitrary.
        """

        def of_view(factor: Array, target: Array, view: Spectrum) -> Array:
            if target is factor:
                return view.right
            resolved = view.values > unit_error(target) * view.values[0]
            inverse = ratio(1.0, np.where(resolved, view.values, 0.0))
            return np.asarray(inverse[:, None] * ((factor @ view.right.T * inverse).T @ target))

        return map_views(of_view, self.factors, self.targets, self.spectra)

    def residuals(self, stack: Array) -> list[Array]:
        """Return E_i = T_i − F_i W_i, with 0 for missing samples."""
        found = [t - f @ w for t, f, w in zip(self.targets, self.factors, stack, strict=True)]
        if self.observed is not None:
            for residual, present in zip(found, self.observed, strict=True):
                residual[:, ~present] = 0.0
        return found

    def value(
        self,
        stack: Array,
        penalty: float | None = None,
        residuals: list[Array] | None = None,
    ) -> float:
        """Return the objective; its penalty part and the residuals may be known."""
        if residuals is None:
            residuals = self.residuals(stack)
        fit = sum(self.datafit.value(residual) for residual in residuals)
        exact = sum(self.datafit.value(EXACT_FIT_TOLERANCE * target) for target in self.targets)
        if fit <= exact < np.inf:
            fit = 0.0
        if penalty is None:
            penalty = sum(map_views(self.penalty.value, stack, self.lam))
        return float(fit + penalty + self.tau * self.coupling.value(stack) + self.offset)

    def smooth_dual(self, stack: Array, residuals: list[Array] | None = None) -> list[Array]:
        """Return Y_i = w·E_i, the dual point that follows from a quadratic fit (w/2)‖E_i‖²."""
        curvature = self.datafit.curvature
        assert curvature is not None
        if residuals is None:
            residuals = self.residuals(stack)
        return [curvature * residual for residual in residuals]

    def certificate(
        self,
        dual: list[Array],
        multiplier: Array,
        enough: float = np.inf,
        blocks: Sequence[Array | None] | None = None,
    ) -> Certificate:
        r"""Return a lower bound of the optimum from any Y_i and any coupling multiplier M.

        The dual problem is

        .. math:: \max \sum_i \langle Y_i, T_i\rangle - f^*(Y_i)
                  \quad\text{s.t.}\quad F_i^\top Y_i = P_i + M_i,\
                  \|P_i\|^\circ \le \lambda_i,\ \|M\|^\circ \le \tau .

        The given point is made feasible. P_i is F_iᵀY_i − M_i clipped to κ_i λ_i for a few κ_i ≥ 1,
        M absorbs the rest, and everything is scaled down until all constraints hold. The part that
        M absorbs lies mostly outside its own row space, so its norm grows only to second order.
        This makes the bound far tighter than scaling alone.

        The best bound is returned, or the first one that is at least ``enough``. Every bound is
        rigorous: rounding errors (see :mod:`viewspan.objective.rounding`) are counted against it.
        ``blocks`` are approximate singular vectors of the views' dual points, for speed.
        """
        dual, multiplier = self._without_inadmissible(dual, multiplier)
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
            excess = map_views(self._excess, slack, self.lam, blocks or [None] * len(slack))
            limits = self._coupled_limits(excess, multiplier, domain, errors)
        else:
            limits = self._uncoupled_limits(slack, domain, errors)
        certain = 1.0 - unit_error(*slack, *dual)
        bound = -np.inf
        for limit in limits:
            bound = max(
                bound, self.offset + self._scaled(linear, conjugate / certain, certain * limit)
            )
            if bound >= enough:
                break
        return Certificate(bound, excess)

    def _without_inadmissible(
        self, dual: list[Array], multiplier: Array
    ) -> tuple[list[Array], Array]:
        """Return Y_i and M with the parts set to zero that are zero in every feasible point.

        These are the columns of missing samples in Y_i, and M if the views are not coupled.
        """
        if self.observed is not None:
            dual = [
                np.where(present, y, 0.0) for y, present in zip(dual, self.observed, strict=True)
            ]
        return dual, multiplier if self.coupled else np.zeros_like(multiplier)

    def _excess(self, slack: Array, lam: Array, block: Array | None) -> Excess:
        """Return how the dual point of one view leaves the ball of the penalty."""
        if block is not None and is_nuclear_norm(self.penalty):
            return BlockExcess(slack, lam, block)
        return self.penalty.excess(slack, lam)

    def _uncoupled_limits(
        self, slack: list[Array], domain: float, errors: list[Array]
    ) -> Iterator[Array]:
        """Yield the scale at which the dual point is feasible: first 1 if it is so, then the best.

        To prove that a point is feasible takes less time than its dual norm.
        """
        if is_nuclear_norm(self.penalty):
            proven = [1.0 + 2.0 * proof_margin(view) for view in slack]
            inside = map_views(norm_is_at_most, slack, np.array(proven) * self.lam)
            if all(inside):
                worst = [np.array([bound]) for bound in proven]
                yield self._separate_limits(worst, domain, errors)
        yield self._separate_limits(map_views(self.penalty.polar, slack, self.lam), domain, errors)

    def _separate_limits(self, worst: list[Array], domain: float, errors: list[Array]) -> Array:
        """Return the scale for dual norms divided by λ, one number or one per sample each."""
        uncertain = [
            norm + relative(error if len(norm) > 1 else np.array([frobenius_norm(error)]), lam)
            for norm, error, lam in zip(worst, errors, self.lam, strict=True)
        ]
        return scale_limit(np.stack(uncertain), domain)

    def _coupled_limits(
        self, excess: list[Excess], multiplier: Array, domain: float, errors: list[Array]
    ) -> Iterator[Array]:
        """Yield, for every absorbed share, the scale at which each view's dual point is feasible.

        Rounding errors count against the larger of the two balls, the penalty's or the coupling's.
        """
        surplus = np.array([max(view.worst - 1.0, 0.0) for view in excess])
        radius = self.lam.reshape(len(excess), -1).min(axis=1)
        for share in ABSORBED_SHARES if np.isfinite(surplus).all() else (0.0,):
            enlargement = 1.0 + share * surplus if share else np.ones_like(surplus)
            beyond = map_views(lambda view, kappa: view.beyond(kappa), excess, enlargement)
            pairs = zip(excess, enlargement, errors, strict=True)
            uncertain = np.array(
                [view.uncertainty(kappa) + frobenius_norm(error) for view, kappa, error in pairs]
            )
            needed = self.coupling.polar(multiplier + np.stack(beyond))
            needed = needed + frobenius_norm(uncertain[radius < self.tau])
            own = np.where(radius < self.tau, 0.0, relative(uncertain, radius))
            enlargement = enlargement + own
            worst = np.maximum(enlargement, needed / self.tau)[:, None]
            if not self.coupling.views_shrink_separately:
                worst = worst.max(keepdims=True)
            yield scale_limit(worst, domain)

    def _scaled(self, linear: Array, conjugate: Array, limit: Array) -> float:
        """Return the sum of the maxima of s·linear − f*(sY) over 0 ≤ s ≤ limit.

        Every part of the dual point that has a limit of its own is scaled on its own: a sample, a
        view or all views together.
        """
        for axis in (1, 0):
            if limit.shape[axis] == 1:
                linear = linear.sum(axis=axis, keepdims=True)
                conjugate = conjugate.sum(axis=axis, keepdims=True)
        if self.datafit.degree == 1:
            return float((limit * np.maximum(linear - conjugate, 0.0)).sum())
        unconstrained = np.divide(
            linear, 2.0 * conjugate, out=np.zeros_like(linear), where=conjugate > 0
        )
        scale = np.clip(unconstrained, 0.0, limit)
        return float((scale * linear - scale**2 * conjugate).sum())

    def restrict(self, directions: Array) -> "Problem":
        """Return the problem for coefficients Q W_i Qᵀ with orthonormal Q and a quadratic fit.

        Its objective at W_i is the objective of this problem at Q W_i Qᵀ.
        """
        factors = [f @ directions for f in self.factors]
        outside = sum(
            self.datafit.value(f - inside @ directions.T)
            for f, inside in zip(self.factors, factors, strict=True)
        )
        return replace(
            self, factors=factors, targets=factors, offset=self.offset + outside, known_spectra=None
        )


def scale_limit(worst: Array, domain: float) -> Array:
    """Return the largest scale at which a dual point is feasible.

    ``worst`` is the factor by which the point exceeds the constraints, ``domain`` the factor by
    which it exceeds the domain of f*. A scale is 0 if the factor is NaN.
    """
    worst = np.maximum(worst, domain)
    limit = np.divide(1.0, worst, out=np.full_like(worst, np.finfo(float).max), where=worst > 0)
    return np.where(np.isnan(worst), 0.0, limit)
