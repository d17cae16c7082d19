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
from viewspan.fit.settings import AskedReading
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.partition import AskedWeights
from viewspan.graph.patterns import DEFAULT_N_NEIGHBORS
from viewspan.objective.axes import Axes, SolverName
from viewspan.objective.couplings import COUPLINGS, Coupling
from viewspan.objective.datafits import DATAFITS, Datafit
from viewspan.objective.penalties import PENALTIES, Penalty
from viewspan.solvers.result import DEFAULT_TOL


class CLRSC(IncrementalClusterer):
    r"""Collaborative Low-Rank Subspace Clustering.

    .. math:: \min_{Z_1,\dots,Z_c}\ \sum_{i=1}^c f(X_i - X_i Z_i) + \lambda_i\, p(Z_i)
              + \tau\, c(A), \qquad A = [\mathrm{vec}(Z_1), \dots, \mathrm{vec}(Z_c)]^\top

    By default f = ‖·‖_F², p = ‖·‖_* and c = ‖·‖_*. Every view gets a low-rank matrix of
    self-expressive coefficients, and the nuclear norm of their stack makes them agree in pattern,
    not in magnitude. docs/methods.md says when to use which fit, penalty and coupling.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters. If None, it is estimated from the eigenvalues of the graph, compared
        with those of noise; a warning is issued if no gap is clear.
    lam : "auto", float or array-like (n_views,)
        λ, the weight of the penalty, in the objective above (the authors' program halves the fit:
        its values are half of these). "auto" is twice the estimated energy of the noise in one
        sample of the view (:class:`viewspan.weights.noise.NoiseRule`). The problem is then solved
        at 1, 2, ½ and ¼ of it, the last time without coupling if ``tau`` is automatic, and the
        graphs are averaged. Other fits have λ by :class:`viewspan.weights.robust.RobustRule`, at
        1, ½, ¼ and ⅛; ``penalty="l1"`` has one λ per view and sample
        (:class:`viewspan.weights.sparse.SparseRule`).
    tau : "auto" or float
        τ, the weight of the coupling. 0 solves every view by itself. "auto" is chosen by the
        coupling; for "nuclear" it is half of the norm of the penalty's subgradient, unless that
        would make all coefficients zero.
    datafit : {"frobenius", "half_frobenius", "l12", "l1"} or Datafit
        f: ‖E‖_F², for noise everywhere, or half of it; Σ_j ‖e_j‖₂ over samples, for corrupted
        samples; the sum of the absolute values of all entries, for corrupted entries; or an object
        of your own (docs/extending.md).
    penalty : {"nuclear", "l1"} or Penalty
        p: ‖Z‖_*; or Σ_j λ_j ‖z_j‖₁ with diag(Z) = 0, a collaborative SSC that solves for N × N
        matrices; or an object of your own.
    coupling : {"nuclear", "l12", "rank_one", "none"} or Coupling
        c: ‖A‖_*; ‖A‖_{1,2}, the coupling of :class:`MLAP`; the constraint rank(A) = 1, the paper's
        strict objective: Z_i = α_i Z with one matrix Z for all views; no coupling, as in
        :class:`LRR`; or an object of your own. Rank one is not convex: the solution is a
        stationary point, ``dual_gap_`` is an upper bound of the relative cost of the constraint,
        and τ has no meaning.
    missing : {"forbid", "allow"}
        Whether a row of NaN stands for a sample that is missing from the view. Every sample must be
        in at least one view. The residual of a missing sample is left out of the fit, its
        coefficients follow from those in other views through the coupling, and two samples are
        compared in the views that both have.
    affinity : {"auto", "patterns", "coefficients"}
        Edges of the graph: between samples whose coefficients have a similar pattern
        (:func:`viewspan.pattern_graph`), or the coefficients themselves, as in the paper
        (:func:`viewspan.affinity`). "auto" takes patterns if ``lam`` is automatic, and the paper's
        graph if ``lam`` is given or the penalty is "l1".
    n_neighbors : int
        Nearest neighbours of a sample in graphs of patterns and in :meth:`predict`. A sample is
        connected with two thirds as many landmarks.
    graph : {"auto", "dense", "landmarks"}
        A graph of all samples, or one of landmarks, which does not grow with the square of the
        samples. "auto" takes landmarks for more than 10 000 samples, or if memory is short,
        provided that the coefficients can be reduced.
    n_landmarks : int, optional
        Number of landmarks, 5000 by default. They are chosen from a reservoir sample of twice as
        many samples, but at least 10 000.
    read_as : {"auto", "directions", "positions"} or list of these, one per view
        What of a sample counts: its direction from the origin, in the units of the features, as in
        texts, spectra and images; or its position in standard units, as in tables and sensors.
        Positions are standardised features with a constant one, as for ``affine``. "auto" reads
        every view both ways, measures on up to 400 samples how much better each graph can be cut
        than one of noise, and solves for the clearer reading. The other one, if it has at least
        half of the evidence, gives half of the graphs that are averaged. It does so with
        ``lam="auto"`` and graphs of patterns, unless ``scale_features``, ``affine`` or
        ``normalize`` are given or samples are missing; otherwise, "auto" means directions.
    scale_features : "auto" or bool
        Whether every feature is scaled to mean square 1. "auto" scales a view if one of its n
        features has more than the share (1 + 1/n)/2 of the energy, such as an age in years beside
        scores from 0 to 3. With ``normalize=False``, "auto" scales nothing.
    affine : "auto" or bool
        Whether subspaces may miss the origin. A constant feature o_i is added, whose value is the
        root mean square length of the samples. With ``normalize=False`` this adds
        o_i² ‖1ᵀ − 1ᵀZ_i‖² to the fit, a soft form of the constraint 1ᵀZ_i = 1ᵀ. "auto" adds it to
        views whose features all have mean zero, unless ``normalize=False``: clusters on both sides
        of the mean would look like one line through it.
    normalize : bool
        Whether every sample of every view is scaled to unit length.
    view_weights : "auto", "equal" or array-like (n_views,)
        Weights of the views in the graph. "auto" lowers the weight of a view of few dimensions,
        because noise of few dimensions has a cohesive graph, too, unless the view's own graph is
        much more cohesive. In the paper's graph "auto" is equal weights. With
        ``coupling="rank_one"`` given weights w_i multiply the views themselves:
        ``w_i² (‖X_i − α_i X_i Z‖_F² + λ_i |α_i| ‖Z‖_*)``.
    solver : {"admm", "ladmpsap"}
        ADMM, which stops on a certified gap, or the paper's algorithm with the released constants
        and a step that is corrected where it would diverge.
    assign_labels : {"auto", "discretize", "cluster_qr", "kmeans", "modularity"}
        How eigenvectors become labels (see :func:`viewspan.ncut`). "auto" is "modularity" for
        patterns and "discretize", the paper's way, for the paper's graph.
    tol : float
        Relative optimality gap to certify. LADMPSAP stops on its own rule; for it this is the
        paper's ε₂, and ``dual_gap_`` is the gap that was reached.
    max_iter : int, optional
        Maximum number of iterations, 2000 by default (200 for LADMPSAP). Unless it is given,
        at most 2000 directions are iterated. A problem that needs more gets a closed form near the
        optimum, with its gap.
    random_state : int, RandomState or None
        Random seed or generator of the cut and of the landmarks. The solver is deterministic.
    verbose : bool or int
        Whether the stages of the fit and the checks of the solver are logged.
    callback : callable, optional
        Called with a :class:`viewspan.Progress` (``stage``, ``share``, ``elapsed``, ``remaining``)
        while the fit runs.

    Attributes
    ----------
    labels_ : array (n_samples,)
        Cluster of every sample.
    confidence_ : array (n_samples,)
        Share of a sample's edge weight in the graph that stays in its own cluster.
    n_clusters_ : int
    coefficients_ : sequence of arrays (n_samples, n_samples)
        Z_i, each built when it is read: column j holds the coefficients that represent sample j by
        all samples. With landmarks, this and ``basis_`` belong to the reservoir sample alone.
    basis_ : array (n_samples, r)
    cores_ : array (n_views, r, r)
        Z_i = basis_ · cores_[i] · basis_ᵀ. For datafits of single samples
        and for missing samples, Z_i = basis_ · cores_[i], and the cores are r × n_samples. With
        ``coupling="rank_one"`` there is one core for all views.
    affinity_matrix_ : array or sparse array (n_nodes, n_nodes)
        The graph that was cut, of all samples or of landmarks.
    fitted_graph_ : FittedGraph
        That graph with the labels, rows and embedding of its nodes.
    eigenvalues_ : array
        Leading eigenvalues of the normalised affinity, largest first; the mean over all graphs.
    result_ : Result
        The solution that the other attributes describe.
    path_ : list of Result
        All solutions whose graphs were averaged, ``result_`` first.
    readings_ : list of tuples of str
        Readings of every view, "directions" or "positions", the leading one first. The other
        attributes describe the leading one.
    features_scaled_ : list of bool
        Whether the features of a view were scaled to mean square 1.
    affine_ : list of bool
        Whether the subspaces of a view may miss the origin.
    view_weights_ : array (n_views,)
        Weight of every view, the largest being 1.
    objective_, dual_gap_ : float
        The objective, and its certified relative distance from the optimum (for rank one, from the
        optimum without coupling).
    n_iter_ : int
    lam_ : array (n_views,) or (n_views, n_samples)
        λ_i; one per sample with ``penalty="l1"`` if λ is automatic. Multiplied by w_i² where view
        weights are in the objective.
    tau_ : float
    view_similarity_ : array (n_views, n_views)
        Cosines between the Z_i.
    view_scores_ : array (n_views,)
        How well every view alone shows the clusters: 1 for fully, about 0 for chance.
    subspaces_ : list of lists of Subspace
        ``subspaces_[cluster][view]`` with ``dimension``, ``basis`` and ``project(samples)``.
    outlier_scores_ : array (n_views, n_samples)
        Share of a sample's length that the other samples do not represent. Not with landmarks.
    scales_ : array (n_views,)
        α_i, the largest being 1; with ``coupling="rank_one"`` only.
    history_ : list of Check
        Checks of the solver.
    fitted_state_ : FittedState
        Everything that the fit produced.
    n_views_in_ : int
    n_features_in_ : int, or tuple of int for several views
    feature_names_in_ : array of str, or tuple of such arrays for several views
        None for views without names; only if some view has names.
    view_names_in_ : list
        Names of the views; only if they were given as a dict.

    References
    ----------
    S. Tierney, Y. Guo, J. Gao, "Collaborative Low-Rank Subspace Clustering".

    Examples
    --------
    >>> import numpy as np
    >>> from viewspan import CLRSC
    >>> rng = np.random.default_rng(0)
    >>> def four_subspaces():
    ...     parts = [rng.normal(size=(20, 3)) @ rng.normal(size=(3, 30)) for _ in range(4)]
    ...     return np.vstack(parts)
    >>> model = CLRSC(n_clusters=4, random_state=0).fit([four_subspaces(), four_subspaces()])
    >>> np.bincount(model.labels_)
    array([20, 20, 20, 20])
    >>> bool(model.dual_gap_ <= 1e-4)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **IncrementalClusterer._parameter_constraints,
        "tau": [StrOptions({"auto"}), WEIGHT],
        "datafit": [StrOptions(set(DATAFITS)), Datafit],
        "penalty": [StrOptions(set(PENALTIES)), Penalty],
        "coupling": [StrOptions(set(COUPLINGS)), Coupling],
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
        self.tau = tau
        self.datafit = datafit
        self.penalty = penalty
        self.coupling = coupling
        self.missing = missing
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
        return Axes.choose(self.datafit, self.penalty, self.coupling)

    @property
    def scales_(self) -> Array:
        """α_i with Z_i = α_i Z, the largest being 1; with ``coupling="rank_one"`` only."""
        scales = self._result.scales
        if scales is None:
            raise AttributeError(
                "scales_ exists with coupling='rank_one' only: other couplings give every view a "
                "matrix of its own."
            )
        return scales
