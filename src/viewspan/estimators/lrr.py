"""Low-rank representation, a baseline of the paper."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from viewspan.estimators.incremental import IncrementalClusterer
from viewspan.fit.progress import Progress
from viewspan.fit.settings import AskedReading
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.partition import AskedWeights
from viewspan.graph.patterns import DEFAULT_N_NEIGHBORS
from viewspan.objective.axes import Axes, SolverName
from viewspan.objective.weight_rule import WeightRule
from viewspan.solvers.result import DEFAULT_TOL
from viewspan.weights.noise import NoiseRule
from viewspan.weights.robust import MatchedRule


class LRR(IncrementalClusterer):
    r"""Low-Rank Representation of every view on its own, or of the concatenated views.

    .. math:: \min_{Z_i}\ f(X_i - X_i Z_i) + \lambda_i \|Z_i\|_*

    With ``datafit="frobenius"``, f = ‖·‖_F² and the solution is a closed form:
    Z = V diag((1 − λ/2s²)₊) Vᵀ for X = U diag(s) Vᵀ. With ``"l12"``, f is the sum of the residuals'
    lengths, as in Liu et al. (whose λ is the inverse of this one).

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; estimated from the graph's eigenvalues if None.
    lam : "auto", float or array-like (n_views,)
        λ, the weight of the penalty.
    datafit : {"frobenius", "l12"}
    fusion : {"late", "concat"}
        How several views are used: each alone, joined in one graph; or their features side by side
        as one view.
    solver : {"admm", "ladmap"}
        "admm" uses the closed form if there is one, else ADMM. "ladmap" is the algorithm that the
        paper's authors use; on some data it stops far from the optimum.
    affinity, n_neighbors, graph, n_landmarks
        As in :class:`CLRSC`; landmarks only with ``datafit="frobenius"``.
    read_as, scale_features, affine, normalize, view_weights
        As in :class:`CLRSC`.
    assign_labels, tol, max_iter, random_state, verbose, callback
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
    G. Liu, Z. Lin, Y. Yu, "Robust subspace segmentation by low-rank representation", ICML 2010.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncrementalClusterer._parameter_constraints,
        "datafit": [StrOptions({"frobenius", "l12"})],
        "fusion": [StrOptions({"late", "concat"})],
        "solver": [StrOptions({"admm", "ladmap"})],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: str | float | npt.ArrayLike = "auto",
        datafit: str = "frobenius",
        fusion: str = "late",
        affinity: str = "auto",
        n_neighbors: int = DEFAULT_N_NEIGHBORS,
        graph: str = "auto",
        n_landmarks: int | None = None,
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
        self.datafit = datafit
        self.fusion = fusion
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.n_landmarks = n_landmarks
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
        return Axes.choose(self.datafit, "nuclear", "none")

    def _weight_rule(self, axes: Axes) -> WeightRule | None:
        """Return the noise rule; for robust fits the weights that match it."""
        noise = NoiseRule()
        return noise if axes.datafit.curvature is not None else MatchedRule(noise.multiples)
