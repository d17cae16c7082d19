"""Multi-task low-rank affinity pursuit, the method that the paper compares with."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from viewspan.estimators.base import SubspaceClusterer
from viewspan.fit.constraints import WEIGHT
from viewspan.fit.progress import Progress
from viewspan.fit.settings import AskedReading
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.partition import AskedWeights
from viewspan.graph.patterns import DEFAULT_N_NEIGHBORS
from viewspan.objective.axes import Axes, SolverName
from viewspan.objective.weight_rule import WeightRule
from viewspan.solvers.result import DEFAULT_TOL
from viewspan.weights.robust import MatchedRule


class MLAP(SubspaceClusterer):
    r"""Multi-task Low-rank Affinity Pursuit.

    .. math:: \min_{Z_1,\dots,Z_c}\ \sum_i \|X_i - X_i Z_i\|_{1,2} + \lambda_i \|Z_i\|_*
              + \tau \|A\|_{1,2}

    The coupling sums, over all entries, the length of that entry across views. It makes the
    supports agree and shrinks magnitudes. It looks at single entries, so nothing can be reduced,
    and every iteration handles N × N matrices.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; estimated from the graph's eigenvalues if None.
    lam : "auto", float or array-like (n_views,)
        λ, the weight of the penalty.
    tau : "auto" or float
        τ, the weight of the coupling.
    affinity, n_neighbors, read_as, scale_features, affine, normalize, view_weights
        As in :class:`CLRSC`.
    solver, assign_labels, tol, max_iter, random_state, verbose, callback
        As in :class:`CLRSC`.

    Attributes
    ----------
    labels_, confidence_, n_clusters_, coefficients_, basis_, cores_, affinity_matrix_, eigenvalues_
        As in :class:`CLRSC`.
    view_weights_, objective_, dual_gap_, n_iter_, lam_, tau_, view_similarity_, history_
        As in :class:`CLRSC`.
    result_, path_, fitted_graph_, fitted_state_, readings_, features_scaled_, affine_
        As in :class:`CLRSC`.
    subspaces_, view_scores_, outlier_scores_
        As in :class:`CLRSC`.
    n_views_in_, n_features_in_, feature_names_in_, view_names_in_
        As in :class:`CLRSC`.

    References
    ----------
    B. Cheng, G. Liu, J. Wang, Z. Huang, S. Yan, "Multi-task low-rank affinity pursuit for image
    segmentation", ICCV 2011.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClusterer._parameter_constraints,
        "tau": [StrOptions({"auto"}), WEIGHT],
        "solver": [StrOptions({"admm", "ladmpsap"})],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: str | float | npt.ArrayLike = "auto",
        tau: str | float = "auto",
        affinity: str = "auto",
        n_neighbors: int = DEFAULT_N_NEIGHBORS,
        read_as: AskedReading = "auto",
        scale_features: bool | Literal["auto"] = "auto",
        affine: bool | Literal["auto"] = "auto",
        normalize: bool = True,
        view_weights: AskedWeights = "auto",
        solver: SolverName = "admm",
        assign_labels: AskedLabels = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.tau = tau
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.read_as = read_as
        self.scale_features = scale_features
        self.affine = affine
        self.normalize = normalize
        self.view_weights = view_weights
        self.solver = solver
        self.assign_labels = assign_labels
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def axes(self) -> Axes:
        """Return the datafit, penalty and coupling that the parameters mean."""
        return Axes.choose("l12", "nuclear", "l12")

    def _weight_rule(self, axes: Axes) -> WeightRule | None:
        return MatchedRule()
