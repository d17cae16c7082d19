"""Sparse subspace clustering."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from viewspan.estimators.base import SubspaceClusterer
from viewspan.fit.progress import Progress
from viewspan.fit.settings import AskedReading
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.partition import AskedWeights
from viewspan.graph.patterns import DEFAULT_N_NEIGHBORS
from viewspan.objective.axes import Axes
from viewspan.solvers.result import DEFAULT_TOL


class SSC(SubspaceClusterer):
    r"""Sparse Subspace Clustering of every view on its own, or of the concatenated views.

    .. math:: \min_{Z_i}\ \tfrac12 \|X_i - X_i Z_i\|_F^2 + \sum_j \lambda_{ij} \|z_{ij}\|_1
              \quad\text{s.t.}\quad \mathrm{diag}(Z_i) = 0

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; estimated from the graph's eigenvalues if None.
    lam : "auto", float, array-like (n_samples,) or (n_views, n_samples)
        λ, the weight of the penalty. "auto" sets it for each sample from the ℓ1 norm of a first
        representation (Soltanolkotabi et al.).
    fusion : {"late", "concat"}
        How several views are used: each alone, joined in one graph by the paper's formula; or
        their features side by side as one view.
    affinity : {"coefficients", "patterns", "auto"}
        Edges of the graph. The default is the paper's graph, because ℓ1 chooses neighbours well.
    n_neighbors, read_as, scale_features, affine, normalize, view_weights, assign_labels
        As in :class:`CLRSC`.
    tol, max_iter, random_state, verbose, callback
        As in :class:`CLRSC`.

    Attributes
    ----------
    labels_, confidence_, n_clusters_, coefficients_, basis_, cores_, affinity_matrix_, eigenvalues_
        As in :class:`CLRSC`.
    view_weights_, objective_, dual_gap_, n_iter_, lam_, tau_, view_similarity_, history_
        As in :class:`CLRSC`; ``lam_`` has one row per view and one column per sample.
    result_, path_, fitted_graph_, fitted_state_, readings_, features_scaled_, affine_
        As in :class:`CLRSC`.
    subspaces_, view_scores_, outlier_scores_
        As in :class:`CLRSC`.
    n_views_in_, n_features_in_, feature_names_in_, view_names_in_
        As in :class:`CLRSC`.

    References
    ----------
    E. Elhamifar, R. Vidal, "Sparse subspace clustering: algorithm, theory, and applications", IEEE
    TPAMI, 2013.

    M. Soltanolkotabi, E. Elhamifar, E. Candès, "Robust subspace clustering", Annals of Statistics,
    2014.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClusterer._parameter_constraints,
        "fusion": [StrOptions({"late", "concat"})],
    }
    _lam_per_sample: ClassVar[bool] = True

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: str | float | npt.ArrayLike = "auto",
        fusion: str = "late",
        affinity: str = "coefficients",
        n_neighbors: int = DEFAULT_N_NEIGHBORS,
        read_as: AskedReading = "auto",
        scale_features: bool | Literal["auto"] = "auto",
        affine: bool | Literal["auto"] = "auto",
        normalize: bool = True,
        view_weights: AskedWeights = "auto",
        assign_labels: AskedLabels = "auto",
        tol: float = DEFAULT_TOL,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.fusion = fusion
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.read_as = read_as
        self.scale_features = scale_features
        self.affine = affine
        self.normalize = normalize
        self.view_weights = view_weights
        self.assign_labels = assign_labels
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def axes(self) -> Axes:
        """Return the datafit, penalty and coupling that the parameters mean."""
        return Axes.choose("half_frobenius", "l1", "none")
