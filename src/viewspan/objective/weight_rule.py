"""Interface of rules that choose λ automatically."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from viewspan._utils.typing import Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.reduction import Reduction


class PenaltyStrength(NamedTuple):
    """Strength of the penalty, from which an automatic τ follows.

    Attributes
    ----------
    subgradient_norm : float
        Norm of the penalty's subgradient: √r̄ times the mean λ for nuclear norms of rank r̄.
    max_tau : float
        Largest automatic τ: half of a weight that surely makes all coefficients zero.
    """

    subgradient_norm: float
    max_tau: float


class WeightRule(ABC):
    """Base class of rules that choose λ from the data.

    Attributes
    ----------
    multiples : tuple of float
        Multiples of the automatic λ at which the problem is solved. The graphs of all solutions
        are averaged, and the first solution is the one that is reported.
    uncoupled_up_to : float
        Largest multiple at which an automatic τ is 0.
    """

    multiples: tuple[float, ...] = (1.0,)
    uncoupled_up_to: float = 0.0

    def chooses_lam(self, datafit: Datafit) -> bool:
        """Return whether the rule can choose λ for this datafit."""
        return True

    @abstractmethod
    def lam(self, reduction: Reduction, datafit: Datafit, multiple: float = 1.0) -> Array:
        """Return λ, (n_views,) or (n_views, n_samples), at a multiple of the automatic value."""

    def strength(
        self, reduction: Reduction, datafit: Datafit, lam: Array
    ) -> PenaltyStrength | None:
        """Return the strength of the penalty at this λ, or None if it is unknown."""
        return None
