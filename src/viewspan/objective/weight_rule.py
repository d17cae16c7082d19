"""Interface of rules that choose λ automatically."""

from abc import ABC, abstractmethod
from typing import NamedTuple

from viewspan._utils.typing import Array
from viewspan.objective.datafits import Datafit
from viewspan.objective.reduction import Reduction


class Pull(NamedTuple):
    """How strongly the penalty acts on the coefficients; automatic τ follows from it.

    Attributes
    ----------
    force : float
        Length of the penalty's subgradient: √r̄ times the mean λ for nuclear norms of rank r̄.
    limit : float
        Largest automatic τ: half of a weight that surely makes all coefficients zero.
    """

    force: float
    limit: float


class WeightRule(ABC):
    """Base class of rules that choose λ from the data.

    Attributes
    ----------
    multiples : tuple of float
        Multiples of the automatic λ at which the problem is solved. The graphs of all solutions
        are averaged, and the first solution is the one that is reported.
    uncoupled_up_to : float
        At multiples up to this one an automatic τ is 0.
    """

    multiples: tuple[float, ...] = (1.0,)
    uncoupled_up_to: float = 0.0

    def chooses_lam(self, datafit: Datafit) -> bool:
        """Return whether the rule can choose λ for this datafit."""
        return True

    @abstractmethod
    def lam(self, reduction: Reduction, datafit: Datafit, multiple: float = 1.0) -> Array:
        """Return λ, (n_views,) or (n_views, n_samples), at a multiple of the automatic value."""

    def pull(self, reduction: Reduction, datafit: Datafit, lam: Array) -> Pull | None:
        """Return how strongly the penalty acts at this λ, or None if it is unknown."""
        return None
