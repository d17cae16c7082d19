"""Collaborative low-rank subspace clustering, the paper's method."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import StrOptions

from viewspan._utils.typing import Array
from viewspan.estimators.incremental import IncrementalClusterer
from viewspan.fit.constraints import WEIGHT
from viewspan.fit.progress import Progress
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.partition import AskedWeights
from viewspan.graph.patterns import NEIGHBORS
from viewspan.objective.axes import Axes, SolverName
from viewspan.objective.couplings import Coupling
from viewspan.objective.datafits import Datafit
from viewspan.objective.penalties import Penalty


class CLRSC(IncrementalClusterer):
    r"""Collaborative Low-Rank Subspace Clustering.

    .. math:: \min_{Z_1,\dots,Z_c}\ \sum_{i=1}^c f(X_i - X_i Z_i) + \lambda_i\, p(Z_i) + \tau\, c(A),
              \qquad A = [\mathrm{vec}(Z_1), \dots, \mathrm{vec}(Z_c)]^\top

    By default f = ‖·‖_F², p = ‖·‖_* and c = ‖·‖_*: every view gets a low-rank matrix of coefficients, and the nuclear
    norm of their stack makes them agree in pattern, not in magnitude. Other fits, penalties and couplings are named
    below; docs/methods.md says when to use which.

    Parameters
    ----------
    n_clusters : int, optional
        Read from the graphs' eigenvalues if not given, beside those of noise; warns if no gap is clear.
    lam : "auto", float or array-like (n_views,)
        λ, in the objective above (the authors' program halves the fit: its values are half of these). "auto" is twice
        the estimated energy of the noise in one sample, for every view;
        it is solved for at 1, 2, ½ and ¼ of it, the last without coupling if ``tau`` is automatic, and the graphs are
        averaged. For other fits it is 1.5 times what a typical sample costs as a residual, or more if the noise asks
        for it, at 1, ½, ¼ and ⅛ (``robust_lam``); for ``penalty="l1"`` twice that of
        :class:`SSC`, once.
    tau : "auto" or float
        τ, the weight of the coupling. 0 leaves every view alone. "auto" is half of the pull of the penalty, whatever
        that is (see :func:`viewspan.objective.selection.automatic_tau`).
    datafit : {"frobenius", "l12", "l1"}
        f: ‖E‖_F², for noise everywhere; Σ_j ‖e_j‖₂ over samples, some of which may be corrupted; or the sum of the
        absolute values of all entries, some of which may be.
    penalty : {"nuclear", "l1"}
        p: ‖Z‖_*, or Σ_j λ_j ‖z_j‖₁ with diag(Z) = 0, a collaborative SSC. Its automatic λ_ij is one for every view and
        sample, and it solves for N × N matrices.
    coupling : {"nuclear", "rank_one"}
        c: ‖A‖_*, or the constraint rank(A) = 1, the paper's strict objective: Z_i = α_i Z with one matrix Z for all
        views. It is not convex: the answer is a stationary point, ``dual_gap_`` is what strictness costs at most, and τ
        has no meaning.
    missing : {"forbid", "allow"}
        Whether a row of NaN stands for a sample that the view does not have; each must be in one view at least. Its
        residual is left out of the fit, its coefficients follow from those in other views by the coupling, and two
        samples are compared in the views that both have.
    affinity : {"auto", "patterns", "coefficients"}
        Who is whose neighbour: samples whose coefficients have the same pattern (:func:`viewspan.pattern_graph`), or
        the paper's 𝕎, in which a coefficient is the closeness (:func:`viewspan.affinity`). "auto" takes patterns if
        ``lam`` is automatic, and the paper's graph if it is given or the penalty is "l1".
    n_neighbors : int
        Of every sample, in graphs of patterns and in :meth:`predict`; a third of it where neighbours are landmarks.
    graph : {"auto", "dense", "landmarks"}
        A graph of all samples, or one of landmarks that stand for them, which does not grow with the square of the
        samples. "auto" takes landmarks for more than 10 000 samples, or fewer where memory is short.
    n_landmarks : int, optional
        5000 by default, chosen from a fair sample of twice as many.
    scale_features : "auto" or bool
        Scale every feature to mean square 1. "auto" does so in views in which one feature has more energy than all
        others together, as an age in years beside scores from 0 to 3.
    affine : "auto" or bool
        Whether subspaces may miss the origin, by one more feature κ_i that is the same for all samples and as large as
        they are long: with ``normalize=False`` this adds κ_i² ‖1ᵀ − 1ᵀZ_i‖² to the fit, a soft form of the constraint
        1ᵀZ_i = 1ᵀ. "auto" adds it to views whose features all have mean zero: they were centred, and clusters on both
        sides of a mean would look like one line through it.
    normalize : bool
        Scale every sample of every view to unit length.
    view_weights : "auto", "equal" or array-like (n_views,)
        How much every view counts in the graph. With "auto", views of so few dimensions that noise would look alike
        count less, unless they have much beyond that (see :func:`viewspan.graph.chance.trust`); in the paper's 𝕎 all
        are equal. With ``coupling="rank_one"`` there is one matrix for all views, and given weights w_i multiply the
        views themselves: ``w_i² (‖X_i − α_i X_i Z‖_F² + λ_i |α_i| ‖Z‖_*)``.
    solver : {"admm", "ladmpsap"}
        Ours, which stops on a proven gap, or the paper's algorithm as its authors released it.
    assign_labels : {"auto", "discretize", "cluster_qr", "kmeans", "modularity"}
        How eigenvectors become labels (see :func:`viewspan.ncut`). "auto" is "modularity" for patterns and the paper's
        way, "discretize", for the paper's graph.
    tol : float
        The relative optimality gap to certify. For LADMPSAP, which stops on its own rule, the paper's ε₂; look at
        ``dual_gap_``.
    max_iter : int, optional
        2000 by default (200 for LADMPSAP).
    random_state : int, RandomState or None
        For the cut. The solver is deterministic.
    verbose : bool or int
        Log the stages of the fit and the solver's checks.
    callback : callable, optional
        Called with a :class:`viewspan.Progress` (``stage``, ``share``, ``elapsed``, ``remaining``) as the fit goes on.

    Attributes
    ----------
    labels_ : array (n_samples,)
    confidence_ : array (n_samples,)
        The share of a sample's ties in the graph that are with its own cluster.
    n_clusters_ : int
    coefficients_ : list of arrays (n_samples, n_samples)
        Z_i: column j holds the coefficients that rebuild sample j from all samples. Built on demand. With landmarks,
        this and ``basis_`` are of the fair sample alone.
    basis_ : array (n_samples, r)
    cores_ : array (n_views, r, r)
        Z_i = basis_ · cores_[i] · basis_ᵀ; r × n_samples without the last factor for fits by single samples and for
        absent ones; one core for all views with ``coupling="rank_one"``.
    affinity_matrix_ : array or sparse array (n_samples, n_samples)
        The graph that was cut; with landmarks, theirs.
    eigenvalues_ : array
        Leading eigenvalues of the normalised affinity, largest first; of several graphs, their mean.
    result_ : Result
        The solution that all other attributes describe.
    features_scaled_ : list of bool
        The views whose features were brought to one mean square.
    affine_ : list of bool
        The views whose subspaces may miss the origin.
    view_weights_ : array (n_views,)
        How much every view counted, the largest being 1.
    path_ : list of Result
        All solutions whose graphs were averaged, ``result_`` first.
    objective_, dual_gap_ : float
        The objective, and its proven relative distance from the optimum (of views without coupling, for rank one).
    n_iter_ : int
    lam_ : array (n_views,)
        One for every sample, (n_views, n_samples), with ``penalty="l1"``; times w_i² where weights are in the
        objective.
    tau_ : float
    view_similarity_ : array (n_views, n_views)
        Cosines between the Z_i.
    view_scores_ : array (n_views,)
        How far the clusters can be seen in every view alone: 1 for fully, about 0 for no better than by chance.
    subspaces_ : list of lists of Subspace
        ``subspaces_[cluster][view]`` with ``dimension``, ``basis`` and ``project(samples)``.
    outlier_scores_ : array (n_views, n_samples)
        The share of a sample's length that the others do not explain. Not with landmarks.
    scales_ : array (n_views,)
        α_i, the largest being 1; with ``coupling="rank_one"`` only.
    history_ : list of Check
    n_views_in_ : int
    n_features_in_ : int, or tuple of int for several views
    feature_names_in_ : array of str, or tuple of such arrays for several views
        With None for views without names; only if some view has them.

    References
    ----------
    S. Tierney, Y. Guo, J. Gao, "Collaborative Low-Rank Subspace Clustering".

    Examples
    --------
    >>> import numpy as np
    >>> from viewspan import CLRSC
    >>> rng = np.random.default_rng(0)
    >>> first, second = (
    ...     np.vstack([rng.normal(size=(20, 3)) @ rng.normal(size=(3, 30)) for _ in range(4)]) for _ in range(2)
    ... )
    >>> model = CLRSC(n_clusters=4, random_state=0).fit([first, second])
    >>> np.bincount(model.labels_)
    array([20, 20, 20, 20])
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncrementalClusterer._parameter_constraints,
        "tau": [StrOptions({"auto"}), WEIGHT],
        "datafit": [StrOptions({"frobenius", "l12", "l1"}), Datafit],
        "penalty": [StrOptions({"nuclear", "l1"}), Penalty],
        "coupling": [StrOptions({"nuclear", "rank_one"}), Coupling],
        "missing": [StrOptions({"forbid", "allow"})],
        "solver": [StrOptions({"admm", "ladmpsap"})],
    }

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        lam: str | float | npt.ArrayLike = "auto",
        tau: str | float = "auto",
        datafit: str | Datafit = "frobenius",
        penalty: str | Penalty = "nuclear",
        coupling: str | Coupling = "nuclear",
        missing: str = "forbid",
        affinity: str = "auto",
        n_neighbors: int = NEIGHBORS,
        graph: str = "auto",
        n_landmarks: int | None = None,
        scale_features: bool | Literal["auto"] = "auto",
        affine: bool | Literal["auto"] = "auto",
        normalize: bool = True,
        view_weights: AskedWeights = "auto",
        solver: SolverName = "admm",
        assign_labels: AskedLabels = "auto",
        tol: float = 1e-4,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: bool | int = False,
        callback: Callable[[Progress], None] | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.lam = lam
        self.tau = tau
        self.datafit = datafit
        self.penalty = penalty
        self.coupling = coupling
        self.missing = missing
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.graph = graph
        self.n_landmarks = n_landmarks
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

    def _axes(self) -> Axes:
        return Axes.choose(self.datafit, self.penalty, self.coupling)

    @property
    def scales_(self) -> Array:
        """α_i with Z_i = α_i Z, the largest being 1; with ``coupling="rank_one"`` only."""
        scales = self._result.scales
        if scales is None:
            raise AttributeError(
                "scales_ is there with coupling='rank_one' only: other couplings leave views "
                "their own."
            )
        return scales
