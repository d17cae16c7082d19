"""What all estimators share: the way from views to labels, and the fitted attributes."""

from abc import abstractmethod
from numbers import Integral, Real
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from viewspan._linalg import ratio
from viewspan._progress import reporter
from viewspan._typing import Array, Graph, Labels
from viewspan._warnings import warn
from viewspan.graph.discretize import AskedLabels
from viewspan.graph.unite import Unite
from viewspan.pipeline import Axes, SolverName, solve_reduced
from viewspan.preparation import Preparation, concatenate
from viewspan.reduction import Reduction
from viewspan.solvers.result import Result
from viewspan.views import Views, check_views, count_distinct

POSITIVE = Interval(Real, 0, np.inf, closed="neither")
WEIGHT = Interval(Real, 0, np.inf, closed="left")
COUNT = Interval(Integral, 1, None, closed="left")
SHARED: dict[str, list[Any]] = {
    "n_clusters": [COUNT, None],
    "scale_features": ["boolean", StrOptions({"auto"})],
    "affine": ["boolean", StrOptions({"auto"})],
    "normalize": ["boolean"],
    "view_weights": [StrOptions({"auto", "equal"}), "array-like"],
    "assign_labels": [StrOptions(set(get_args(AskedLabels)))],
    "tol": [POSITIVE],
    "max_iter": [COUNT, None],
    "random_state": ["random_state"],
}
"""What all estimators and the path take."""
ROUGH = 1e-3
"""The relative gap at which a graph has settled."""


class SubspaceClusterer(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Solve an objective of the family, unite the coefficients in a graph, cut it.

    A subclass names its axes and its weights.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        "lam": [StrOptions({"auto"}), WEIGHT, "array-like"],
        "graph": [StrOptions({"auto", "patterns", "coefficients"})],
        "verbose": ["verbose"],
    }

    solver: SolverName = "admm"  # for methods that offer no choice
    fusion: str = "late"
    _multiples: ClassVar[tuple[float, ...]] = (1.0,)
    """The automatic λ is taken at these multiples, for one graph of all."""
    labels_: Labels
    n_clusters_: int
    affinity_matrix_: Graph
    result_: Result
    path_: list[Result]
    features_scaled_: list[bool]
    affine_: list[bool]
    eigenvalues_: Array
    view_weights_: Array
    n_views_in_: int
    n_features_in_: int | tuple[int, ...]

    @property
    @abstractmethod
    def _axes(self) -> Axes:
        """The method's choice on each axis."""

    @abstractmethod
    def _weights(self, reduction: Reduction, views: Views, multiple: float = 1.0) -> tuple[Array, float]:
        """λ and τ for this data, where λ is automatic at a multiple of it."""

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Cluster the samples.

        Parameters
        ----------
        X : list, tuple or dict of arrays (n_samples, n_features_i), or one array
            The views. Rows are samples, the same ones in the same order in every view.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        views = check_views(X, caller=type(self).__name__)
        self._check_count(views)
        preparation = Preparation.choose(views, self.scale_features, self.affine, self.normalize)
        prepared = preparation.apply(views)
        results = self._solve(concatenate(prepared) if self.fusion == "concat" else prepared)
        unite = Unite(
            self._by_patterns,
            self.view_weights,
            self.assign_labels,
            mutual=not self._axes.datafit.rotates_samples,
        )
        all_alike = self.n_clusters is None and count_distinct(views, 2) == 1
        united = unite(results, 1 if all_alike else self.n_clusters, check_random_state(self.random_state))
        self._remember_input(X, views)
        self.features_scaled_, self.affine_ = preparation.scaled, preparation.affine
        self.result_, self.path_ = results[0], results
        self.affinity_matrix_, self.eigenvalues_ = united.graph, united.eigenvalues
        self.view_weights_ = united.view_weights
        self.labels_, self.n_clusters_ = united.labels, int(united.labels.max()) + 1
        return self

    def _solve(self, views: Views) -> list[Result]:
        """At the weights that are asked for; or at several multiples of the automatic ones, the first being the one
        that is reported and the others, which serve the graph alone, less exact.
        """
        axes = self._axes
        reduction = axes.reduce(views.arrays, self.solver)
        multiples = self._multiples if self._by_patterns and isinstance(self.lam, str) else (1.0,)
        results: list[Result] = []
        for multiple in multiples:
            result = solve_reduced(
                reduction,
                *self._weights(reduction, views, multiple),
                axes,
                tol=max(self.tol, ROUGH) if results else self.tol,
                solver=self.solver,
                max_iter=self.max_iter,
                callback=reporter(self.verbose),
                report=not results,
            )
            if result.cores.any() or not results:
                results.append(result.astype(views.dtype))
        return results

    @property
    def _by_patterns(self) -> bool:
        """The paper's graph goes with weights that are given."""
        return self.graph == "patterns" or (self.graph == "auto" and isinstance(self.lam, str))

    def _check_parameters(self) -> None:
        if isinstance(self.n_clusters, bool):  # an int to Python, a slip of the pen to everyone else
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be an int in the range [1, inf) or None. "
                f"Got {self.n_clusters!r} instead."
            )
        self._validate_params()

    def _check_count(self, views: Views) -> None:
        if self.n_clusters is None:
            return
        if self.n_clusters > views.n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of samples, n_samples={views.n_samples}."
            )
        distinct = count_distinct(views, self.n_clusters)
        if distinct < self.n_clusters:
            warn(
                f"n_clusters={self.n_clusters} is more than there are distinct samples ({distinct}): equal samples are "
                "split arbitrarily.",
                ConvergenceWarning,
            )

    def _remember_input(self, X: Any, views: Views) -> None:  # noqa: N803
        self.n_views_in_ = len(views.arrays)
        if views.single:
            validate_data(self, X, skip_check_array=True)  # the number and, for data frames, the names of the features
            self.n_features_in_ = views.n_features[0]
        else:
            self.n_features_in_ = views.n_features

    @property
    def coefficients_(self) -> list[Array]:
        """Z_i (n_samples × n_samples) for every view, built when asked for: column j rebuilds sample j from all
        samples.
        """
        return self._fitted.coefficients

    @property
    def basis_(self) -> Array:
        """V (n_samples × r), with Z_i = V · cores_[i] · Vᵀ; the identity for methods that allow no reduction."""
        return self._fitted.basis

    @property
    def cores_(self) -> Array:
        """W_i (r × r) for every view; r × n_samples, without the Vᵀ, where only the left half can be reduced
        (ℓ1,2 fits).
        """
        return self._fitted.cores

    @property
    def objective_(self) -> float:
        """The objective reached."""
        return self._fitted.objective

    @property
    def dual_gap_(self) -> float:
        """The proven relative distance of the objective from the optimum."""
        return self._fitted.gap

    @property
    def n_iter_(self) -> int:
        """Iterations of the solver; 1 for a closed form."""
        return self._fitted.n_iter

    @property
    def history_(self) -> list[Any]:
        """Objective, dual bound, gap and residuals at every check; ``pandas.DataFrame(model.history_)`` makes a
        table of it.
        """
        return self._fitted.history

    @property
    def lam_(self) -> Array:
        """λ_i per view; for SSC per view and sample."""
        return self._fitted.lam

    @property
    def tau_(self) -> float:
        """The weight of the coupling; 0 for methods without one."""
        return self._fitted.tau

    @property
    def view_similarity_(self) -> Array:
        """Cosines between the Z_i, (c × c): 1 where two views have the same pattern."""
        flat = self._fitted.cores.reshape(len(self._fitted.cores), -1).astype(float)
        unit = flat * ratio(1.0, np.linalg.norm(flat, axis=1, keepdims=True))
        return unit @ unit.T

    @property
    def _fitted(self) -> Result:
        check_is_fitted(self, "result_")
        return self.result_
