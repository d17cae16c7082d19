"""Choose λ and τ for given axes and data."""

from dataclasses import dataclass, replace
from typing import Any

from viewspan._utils.typing import Array
from viewspan.objective.axes import Axes
from viewspan.objective.penalties import ZeroDiagonalL1, is_nuclear_norm
from viewspan.objective.reduction import Reduction
from viewspan.objective.weight_checks import check_lam, spread_over_samples
from viewspan.objective.weight_rule import WeightRule
from viewspan.weights.noise import NoiseRule
from viewspan.weights.robust import RobustRule
from viewspan.weights.sparse import SparseRule


def default_rule(axes: Axes) -> WeightRule | None:
    """Return the rule for automatic weights, or None."""
    own = axes.penalty.weight_rule(axes.datafit)
    if own is not None:
        return own
    quadratic = axes.datafit.curvature is not None
    if is_nuclear_norm(axes.penalty):
        return NoiseRule() if quadratic else RobustRule()
    if type(axes.penalty) is ZeroDiagonalL1:
        return SparseRule()
    return None


@dataclass(frozen=True)
class Weights:
    """Requested weights λ and τ.

    Attributes
    ----------
    lam : "auto", float or array-like
    tau : "auto" or float
    rule : WeightRule or None
        For automatic λ.
    per_sample : bool
        Whether a given λ is spread over samples: one number, one per sample, or one per view and
        sample.
    shared_view_weights : array (n_views,) or None
        Factors by which the views were multiplied; a given λ_i is multiplied by their squares.
    """

    lam: Any
    tau: Any
    rule: WeightRule | None
    per_sample: bool = False
    shared_view_weights: Array | None = None

    @property
    def lam_is_automatic(self) -> bool:
        """Whether λ is automatic."""
        return isinstance(self.lam, str)

    @property
    def multiples(self) -> tuple[float, ...]:
        """Multiples of λ at which the problem is solved."""
        return self.rule.multiples if self.lam_is_automatic and self.rule is not None else (1.0,)

    def with_floors(self, floors: tuple[float, ...]) -> "Weights":
        """Return the weights with other smallest λ, if λ follows the noise."""
        follows_noise = self.lam_is_automatic and type(self.rule) is NoiseRule
        return replace(self, rule=NoiseRule(floors)) if follows_noise else self

    def check(self, axes: Axes) -> None:
        """Raise ValueError if λ has no automatic rule, or if τ is given but must not be."""
        if self.lam_is_automatic and (self.rule is None or not self.rule.chooses_lam(axes.datafit)):
            raise ValueError(
                f"lam='auto' has no rule for {axes.describe('penalty')} with "
                f"{axes.describe('datafit')}; give lam."
            )
        if axes.coupling.shares_coefficients and not isinstance(self.tau, str):
            raise ValueError(
                f"tau weighs a coupling, and {axes.describe('coupling')} is a constraint; "
                "leave tau='auto'."
            )

    def at(self, reduction: Reduction, axes: Axes, multiple: float = 1.0) -> tuple[Array, float]:
        """Return λ and τ for this data, at a multiple of the automatic λ."""
        lam = self._lam(reduction, axes, multiple)
        if not isinstance(self.tau, str):
            return lam, float(self.tau)
        rule = self.rule
        if rule is not None and multiple <= rule.uncoupled_up_to:
            return lam, 0.0
        strength = None if rule is None else rule.strength(reduction, axes.datafit, lam)
        tau = axes.coupling.automatic_tau(reduction, lam, strength)
        if tau is None:
            raise ValueError(
                f"tau='auto' has no rule for {axes.describe('coupling')} with "
                f"{axes.describe('penalty')}; give tau."
            )
        return lam, tau

    def _lam(self, reduction: Reduction, axes: Axes, multiple: float) -> Array:
        if not self.lam_is_automatic:
            given = spread_over_samples(self.lam, reduction) if self.per_sample else self.lam
            lam = check_lam(given, reduction, axes)
            return (
                lam if self.shared_view_weights is None else (lam.T * self.shared_view_weights**2).T
            )
        assert self.rule is not None  # see check()
        return self.rule.lam(reduction, axes.datafit, multiple)
