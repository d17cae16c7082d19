"""Choice of datafit, penalty and coupling, and the rule that decides what can be reduced."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple, TypeVar

from viewspan._utils.typing import AnyArray, Block
from viewspan.objective.couplings import COUPLINGS, Coupling
from viewspan.objective.datafits import DATAFITS, Datafit
from viewspan.objective.penalties import PENALTIES, Penalty
from viewspan.objective.reduction import Reduction, Sides, reduce_views

SolverName = Literal["admm", "ladmpsap", "ladmap"]
PUBLISHED_SOLVERS = ("ladmpsap", "ladmap")
"""Algorithms of the paper's authors, which work on the full N × N problem."""

AxisObject = TypeVar("AxisObject", Datafit, Penalty, Coupling)


class Reducibility(NamedTuple):
    """Sides of the coefficients that can be reduced to the joint row space of the views.

    Attributes
    ----------
    sides : {"both", "left", "none"}
        Which sides of Z_i = V W_i Vᵀ can be reduced.
    reason : str or None
        The parameter that prevents a reduction of both sides; None if both are reduced.
    """

    sides: Sides
    reason: str | None


@dataclass(frozen=True)
class Axes:
    """A datafit, a penalty and a coupling."""

    datafit: Datafit
    penalty: Penalty
    coupling: Coupling

    @classmethod
    def choose(
        cls, datafit: str | Datafit, penalty: str | Penalty, coupling: str | Coupling
    ) -> "Axes":
        """Return the axes for names or objects; an unknown name raises ValueError."""
        return cls(
            pick_object("datafit", datafit, DATAFITS, Datafit),
            pick_object("penalty", penalty, PENALTIES, Penalty),
            pick_object("coupling", coupling, COUPLINGS, Coupling),
        )

    def check(self, solver: SolverName, *, missing: bool) -> None:
        """Raise ValueError if these axes do not go together, or not with the solver."""
        if self.coupling.shares_coefficients:
            if self.datafit.curvature is None:
                raise ValueError(
                    f"{self.describe('coupling')} needs a quadratic fit, "
                    f"but {self.describe('datafit')} is not quadratic."
                )
            if missing:
                raise ValueError(
                    f"{self.describe('coupling')} needs all samples in every view; "
                    "take coupling='nuclear'."
                )
            if solver in PUBLISHED_SOLVERS:
                raise ValueError(
                    f"solver={solver!r} is for convex couplings; "
                    f"with {self.describe('coupling')} take 'admm'."
                )
        for axis in ("datafit", "penalty", "coupling"):
            if solver not in getattr(self, axis).solvers:
                raise ValueError(
                    f"solver={solver!r} has no step for {self.describe(axis)}; take solver='admm'."
                )
        if solver in PUBLISHED_SOLVERS and missing:
            raise ValueError(
                f"solver={solver!r} needs all samples in every view; take solver='admm'."
            )

    def check_landmarks(self, solver: SolverName, *, missing: bool) -> None:
        """Raise ValueError if these axes, the solver or missing samples make landmarks impossible.

        Landmarks need coefficients that can be reduced.
        """
        reason = self.reducibility(solver, missing=missing).reason
        if reason is not None:
            raise ValueError(
                "graph='landmarks' needs coefficients that can be reduced, and those with "
                f"{reason} cannot be; take graph='dense' or 'auto'."
            )

    def reducibility(self, solver: str = "admm", *, missing: bool = False) -> Reducibility:
        """Return how far the problem can be reduced. This is the one place that decides it.

        Parameters
        ----------
        solver : str
        missing : bool
            Whether samples may be missing from views; then samples are not interchangeable.
        """
        if solver in PUBLISHED_SOLVERS:
            return Reducibility("none", f"solver={solver!r}")
        if not self.penalty.orthogonally_invariant:
            return Reducibility("none", self.describe("penalty"))
        if not self.coupling.orthogonally_invariant:
            return Reducibility("none", self.describe("coupling"))
        if not self.datafit.rotates_samples:
            return Reducibility("left", self.describe("datafit"))
        if missing:
            return Reducibility("left", "missing='allow'")
        return Reducibility("both", None)

    def reduce(
        self, views: Sequence[Block], solver: SolverName, observed: AnyArray | None = None
    ) -> Reduction:
        """Write the views in the coordinates that the axes and the solver allow."""
        reduction = reduce_views(
            views,
            self.reducibility(solver, missing=observed is not None).sides,
            squares_suffice=self.datafit.curvature is not None,
            rotate_features=self.datafit.rotates_features,
        )
        return replace(reduction, observed=observed)

    def describe(self, axis: str) -> str:
        """Return the axis as an argument: by name if the object has one, else by its repr."""
        known: dict[str, Mapping[str, Any]] = {
            "datafit": DATAFITS,
            "penalty": PENALTIES,
            "coupling": COUPLINGS,
        }
        chosen = getattr(self, axis)
        name = next((name for name, item in known[axis].items() if item is chosen), None)
        return f"{axis}={chosen!r}" if name is None else f"{axis}={name!r}"


def pick_object(
    axis: str, asked: str | AxisObject, known: Mapping[str, AxisObject], kind: Any
) -> AxisObject:
    """Return an object of an axis by its name, or the object itself."""
    if isinstance(asked, kind):
        own: AxisObject = asked
        return own
    if isinstance(asked, str) and asked in known:
        return known[asked]
    names = ", ".join(map(repr, known))
    raise ValueError(
        f"{axis} must be one of {names}, or an instance of {kind.__name__}. Got {asked!r} instead."
    )
