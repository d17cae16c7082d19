"""Everything that a fit depends on beside the data."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.utils import check_random_state

from viewspan._utils.defaults import DEFAULT_N_LANDMARKS as DEFAULT_N_LANDMARKS
from viewspan.graph.partition import AskedWeights, GraphSettings
from viewspan.inputs.preparation import READINGS, Reading
from viewspan.objective.axes import PUBLISHED_SOLVERS, Axes, SolverName
from viewspan.weights.choose import Weights
from viewspan.weights.noise import NoiseRule

SAMPLES_PER_LANDMARK = 2
"""Size of the reservoir sample per landmark; it has at least MAX_DENSE_SAMPLES samples."""
MAX_DENSE_SAMPLES = 10_000
"""Largest number of samples for which ``graph="auto"`` builds a graph of all samples."""

Choice = bool | Literal["auto"]
AskedReading = Literal["auto"] | Reading | Sequence[Literal["auto"] | Reading]


@dataclass(frozen=True)
class FitSettings:
    """Checked parameters of a fit. An estimator builds them; the fit only reads them.

    Attributes
    ----------
    method : str
        Name of the estimator, for messages.
    axes : Axes
        Datafit, penalty and coupling.
    weights : Weights
        λ and τ, given or automatic.
    graph : GraphSettings
    n_clusters : int or None
    read_as : "auto", "directions", "positions" or a list of these
        How the views are read, or every single one.
    scale_features, affine : bool or "auto"
    normalize : bool
        Whether samples are scaled to unit length.
    concatenated : bool
        Whether the views are joined to one view (``fusion="concat"``).
    missing : bool
        Whether samples may be missing from views.
    shared_view_weights : array-like or None
        Weights that multiply the views themselves, for couplings with one matrix for all views.
    graph_kind : {"auto", "dense", "landmarks"}
    n_landmarks : int
    solver : str
    tol : float
    max_iter : int or None
    random_state : int, RandomState or None
    """

    method: str
    axes: Axes
    weights: Weights
    graph: GraphSettings
    n_clusters: int | None
    read_as: AskedReading
    scale_features: Choice
    affine: Choice
    normalize: bool
    concatenated: bool
    missing: bool
    shared_view_weights: AskedWeights | None
    graph_kind: str
    n_landmarks: int
    solver: SolverName
    tol: float
    max_iter: int | None
    random_state: Any

    @property
    def reservoir_capacity(self) -> int:
        """Size of the reservoir sample of a landmark fit."""
        return max(SAMPLES_PER_LANDMARK * self.n_landmarks, MAX_DENSE_SAMPLES)

    @property
    def obstacle_to_landmarks(self) -> str | None:
        """The parameter that makes landmarks impossible, or None."""
        return self.axes.reducibility(self.solver, missing=self.missing).reason

    @property
    def duplicates_mislead(self) -> bool:
        """Whether even a few duplicate samples change the clusters.

        ℓ1 penalties represent a sample by its duplicates alone, and robust fits do not see a sample
        with a duplicate as an outlier.
        """
        axes = self.axes
        return not axes.penalty.orthogonally_invariant or axes.datafit.curvature is None

    @property
    def weighs_evidence(self) -> bool:
        """Whether the evidence for clusters decides how views are read, and the smallest λ.

        It does for graphs of patterns with an automatic λ that follows the noise, if samples have
        unit length and none is missing.
        """
        rule = self.weights.rule if self.weights.lam_is_automatic else None
        follows_noise = self.graph.by_patterns and type(rule) is NoiseRule
        return follows_noise and self.normalize and not self.missing

    @property
    def reads_both(self) -> bool:
        """Whether views that may be read in either way are read in both, if both show clusters.

        Views that share one matrix of coefficients are read in one way, and so are all views for
        the published solvers, which take long.
        """
        published = self.solver in PUBLISHED_SOLVERS
        return not (self.axes.coupling.shares_coefficients or published)

    def readings_of_views(self, n_views: int) -> list[tuple[Reading, ...]]:
        """Return the readings that may be chosen for every view."""
        asked = [self.read_as] * n_views if isinstance(self.read_as, str) else list(self.read_as)
        unknown = [word for word in asked if word not in {"auto", *READINGS}]
        if len(asked) != n_views or unknown:
            raise ValueError(
                f"read_as must be 'auto', 'directions' or 'positions', or a list of {n_views} of "
                f"these, one per view. Got {self.read_as!r} instead."
            )
        given = [name for name in ("scale_features", "affine") if getattr(self, name) != "auto"]
        if "positions" in asked and given:
            raise ValueError(
                f"read_as='positions' scales features and makes views affine; leave {given[0]} at "
                "'auto'."
            )
        free = self.weighs_evidence and not given
        either: tuple[Reading, ...] = ("directions", "positions") if free else ("directions",)
        return [either if word == "auto" else (word,) for word in asked]

    def generator(self) -> np.random.RandomState:
        """Return the random generator of one fit."""
        generator: np.random.RandomState = check_random_state(self.random_state)
        return generator

    def check_landmarks(self) -> None:
        """Raise ValueError if landmarks are asked for and impossible."""
        if self.graph_kind == "landmarks":
            self.axes.check_landmarks(self.solver, missing=self.missing)

    def check_n_clusters(self, n_samples: int) -> None:
        """Raise ValueError if there are fewer samples than clusters."""
        if self.n_clusters is not None and self.n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of samples, "
                f"n_samples={n_samples}."
            )

    def check_enough_landmarks(self) -> None:
        """Raise ValueError if there are fewer landmarks than clusters."""
        if self.n_clusters is not None and self.n_clusters > self.n_landmarks:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed n_landmarks={self.n_landmarks}."
            )
