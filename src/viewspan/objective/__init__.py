"""The objective: three independent axes, the problem that they form, and its certificate.

minimise  Σ_i [ datafit(X_i − X_i Z_i) + λ_i · penalty(Z_i) ] + τ · coupling(Z_1, …, Z_c)

Subclass :class:`Datafit`, :class:`Penalty` or :class:`Coupling` to add a method of your own, and
:class:`WeightRule` for a rule that chooses its λ.
"""

from viewspan.objective.couplings import (
    Coupling,
    L12Coupling,
    NuclearCoupling,
    RankOne,
    Uncoupled,
)
from viewspan.objective.datafits import L1, L12, Datafit, Frobenius
from viewspan.objective.excess import Excess, SpectralExcess
from viewspan.objective.penalties import Nuclear, Penalty, ZeroDiagonalL1
from viewspan.objective.reduction import Reduction
from viewspan.objective.weight_rule import PenaltyStrength, WeightRule

__all__ = [
    "L1",
    "L12",
    "Coupling",
    "Datafit",
    "Excess",
    "Frobenius",
    "L12Coupling",
    "Nuclear",
    "NuclearCoupling",
    "Penalty",
    "PenaltyStrength",
    "RankOne",
    "Reduction",
    "SpectralExcess",
    "Uncoupled",
    "WeightRule",
    "ZeroDiagonalL1",
]
