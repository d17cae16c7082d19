"""What all estimators share: the way from views to labels, and the fitted attributes."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self, get_args

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, InvalidParameterError, StrOptions
from sklearn.utils.validation import check_is_fitted

from viewspan._utils import memory
from viewspan._utils.sparse import full
from viewspan._utils.typing import Array, Graph, Labels
from viewspan._utils.warnings import warn
from viewspan.estimators.attributes import FittedAttributes
from viewspan.estimators.inputs import (
    all_feature_names,
    check_same_input,
    remember_input,
    with_index,
)
from viewspan.estimators.representation import FittedRepresentation
from viewspan.estimators.whole import become, fits_whole
from viewspan.fit.callbacks import CallbackSupportMixin, tasks_of, with_callbacks
from viewspan.fit.fitting import Fitted, Recipe, fit_all
from viewspan.fit.progress import Stages
from viewspan.graph.discretisation import AskedLabels
from viewspan.graph.quality import own_shares
from viewspan.graph.unite import AskedWeights, Unite
from viewspan.inference.assignment import UNKNOWN, Assigner
from viewspan.inference.subspaces import Reconstruction, absent_as_nan, reconstruct
from viewspan.inputs.blocks import source_of
from viewspan.inputs.frames import is_dask
from viewspan.inputs.views import Views, check_views
from viewspan.objective.couplings import RankOne
from viewspan.objective.datafits import L12
from viewspan.objective.reduction import Reduction
from viewspan.solvers.result import Result
from viewspan.solvers.solve import Axes, SolverName, solve_reduced

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


class Base(
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Scikit-learn's part."""


class SubspaceClusterer(FittedAttributes, FittedRepresentation, Base):
    """Solve an objective of the family, unite the coefficients in a graph, cut it.

    A subclass names its axes and its weights.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED,
        "lam": [StrOptions({"auto"}), WEIGHT, "array-like"],
        "affinity": [StrOptions({"auto", "patterns", "coefficients"})],
        "n_neighbors": [COUNT],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    solver: SolverName = "admm"  # for methods that offer no choice
    fusion: str = "late"
    missing: str = "forbid"
    labels_: Labels
    confidence_: Array
    n_clusters_: int
    affinity_matrix_: Graph
    path_: list[Result]
    features_scaled_: list[bool]
    affine_: list[bool]
    eigenvalues_: Array
    view_weights_: Array
    n_views_in_: int
    n_features_in_: int | tuple[int, ...]

    @property
    def _multiples(self) -> tuple[float, ...]:
        """The automatic λ is taken at these multiples, for one graph of all."""
        return (1.0,)

    @property
    @abstractmethod
    def _axes(self) -> Axes:
        """The method's choice on each axis."""

    @abstractmethod
    def _weights(self, reduction: Reduction, multiple: float = 1.0) -> tuple[Array, float]:
        """λ and τ for this data, where λ is automatic at a multiple of it."""

    @fits_whole
    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples. A fit that is interrupted or fails leaves the estimator unfitted.

        Parameters
        ----------
        X : list, tuple or dict of arrays (n_samples, n_features_i), or one array
            The views. Rows are samples, the same ones in the same order in every view. Arrays, data frames of
            pandas (their index is compared) and polars, tables of Arrow, sparse matrices, memory maps and Dask arrays
            may be mixed.
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        views = check_views(X, caller=type(self).__name__, missing=self.missing == "allow")
        names = all_feature_names(X)
        self._check_count(views.n_samples)
        stages = Stages(self.callback, self.verbose, tasks_of(self, X, y))
        with stages.named(type(self).__name__):
            fit, labels, confidence = self._fit_views(views, stages)
        done = copy(self)
        done._remember(fit)
        done.labels_, done.confidence_ = labels, confidence
        remember_input(done, X, views, names)
        become(self, done)
        stages.end()
        return self

    def _fit_views(self, views: Views, stages: Stages) -> tuple[Fitted, Labels, Array]:
        check_memory(self._bytes_of_all(views.n_samples, views.n_features), self, views.n_samples)
        fit = fit_all(views, self._recipe(views.dtype, stages), stages)
        return fit, fit.united.labels, own_shares(fit.united.graph, fit.united.labels)

    def predict(self, X: Any) -> Any:
        """The clusters of samples, also of unseen ones: those of the nearest samples, or landmarks, that were
        clustered. Training samples get the label that they have.

        Parameters
        ----------
        X : as for :meth:`fit`
            The same views with the same features.

        Returns
        -------
        array (n_samples,) of int
            A Dask array, not yet computed, if one of the views is one.
        """
        views = self._check_unseen(X, "predict")
        assigner = self._assigner
        found = source_of(views).lazily(assigner.labels_of, assigner.width, np.int64, None)
        if is_dask(found):
            return found.clip(min=0)
        n_unknown = int((found == UNKNOWN).sum())
        if n_unknown:
            warn(
                f"{n_unknown} of {len(found)} samples resemble none of those that were clustered and get label 0."
            )
        return np.maximum(found, 0)

    def predict_confidence(self, X: Any) -> Any:
        """How far samples belong to the clusters that :meth:`predict` gives them: the share of a sample's ties, to the
        nearest samples or landmarks that were clustered, that are with its own cluster. 0 for one that resembles none.

        Parameters
        ----------
        X : as for :meth:`predict`

        Returns
        -------
        array (n_samples,)
            A Dask array, not yet computed, if one of the views is one.
        """
        views = self._check_unseen(X, "predict_confidence")
        assigner = self._assigner
        return source_of(views).lazily(assigner.confidence_of, assigner.width, np.float64, None)

    def transform(self, X: Any) -> Any:
        """The spectral embedding of samples: the rows that they have, or would have, in the leading eigenvectors of the
        graph.

        Parameters
        ----------
        X : as for :meth:`predict`

        Returns
        -------
        array (n_samples, n_clusters)
            A Dask array, not yet computed, if one of the views is one. A data frame, with the index of the views, after
            ``set_output(transform="pandas")``; or of polars.
        """
        views = self._check_unseen(X, "transform")
        assigner = self._assigner
        found = source_of(views).lazily(
            assigner.embedding_of, assigner.width, np.float64, assigner.graph.n_clusters
        )
        return with_index(found, X, self)

    def reconstruct(self, X: Any) -> Reconstruction:
        """Samples as the model explains them: projected, in every view, onto the subspace of their cluster.

        Parameters
        ----------
        X : as for :meth:`predict`
            The answer is as large as they are.

        Returns
        -------
        Reconstruction
            With ``views``, full arrays in a list or dict like the one that was given, ``residuals`` (n_views,
            n_samples), the shares of the samples' lengths that are left, and ``labels``.
        """
        views = self._check_unseen(X, "reconstruct").read()
        labels = np.asarray(self.predict(X))
        arrays, residuals = reconstruct(
            [full(array) for array in views.arrays], labels, self.subspaces_
        )
        absent_as_nan(arrays, residuals, views.observed)
        found: Any = (
            dict(zip(getattr(self, "view_names_in_", X), arrays, strict=True))
            if isinstance(X, Mapping)
            else arrays
        )
        return Reconstruction(arrays[0] if views.single else found, residuals, labels)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Names of the columns of :meth:`transform`: the name of the class and a number.

        Parameters
        ----------
        input_features : array-like of str, optional
            Compared with those of a single view, as scikit-learn does; several have no common list.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        several = isinstance(self.n_features_in_, tuple)
        return super().get_feature_names_out(None if several else input_features)

    @property
    def _n_features_out(self) -> int:
        """Columns of :meth:`transform`, for scikit-learn."""
        return self.n_clusters_

    @property
    def _assigner(self) -> Assigner:
        check_is_fitted(self, "result_")
        return self._fit.assigner

    def _recipe(self, dtype: np.dtype[Any], stages: Stages) -> Recipe:
        def solve(reduction: Reduction) -> list[Result]:
            return [result.astype(dtype) for result in self._solve(reduction, stages)]

        return Recipe(
            reduce=lambda views: self._axes.reduce(views.arrays, self.solver, views.observed),
            solve=solve,
            unite=Unite(
                self._by_patterns,
                self._graph_weights,
                self.assign_labels,
                self.n_neighbors,
                mutual=isinstance(self._axes.datafit, L12),
            ),
            n_clusters=self.n_clusters,
            scale_features=self.scale_features,
            affine=self.affine,
            normalize=self.normalize,
            concatenated=self.fusion == "concat",
            few_copies_mislead=not self._axes.penalty.orthogonally_invariant
            or self._axes.datafit.curvature is None,
            exact_weights=not isinstance(self.lam, str),
            generator=check_random_state(self.random_state),
        )

    def _solve(self, reduction: Reduction, stages: Stages) -> list[Result]:
        """At the weights that are asked for; or at several multiples of the automatic ones, the first being the one
        that is reported and the others, which serve the graph alone, less exact.
        """
        multiples = self._multiples if self._by_patterns and isinstance(self.lam, str) else (1.0,)
        stages.begin("solving", len(multiples))
        results: list[Result] = []
        for multiple in multiples:
            result = solve_reduced(
                reduction,
                *self._weights(reduction, multiple),
                self._axes,
                tol=max(self.tol, ROUGH) if results else self.tol,
                solver=self.solver,
                max_iter=self.max_iter,
                callback=stages.on_check,
                report=not results,
            )
            if result.cores.any() or not results:
                results.append(result)
            stages.step()
        return results

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    @property
    def _graph_weights(self) -> AskedWeights:
        """Of views in the graph."""
        asked: AskedWeights = self.view_weights
        return asked

    @property
    def _by_patterns(self) -> bool:
        """The paper's graph goes with weights that are given, and with ℓ1, which chooses neighbours well."""
        suits = isinstance(self.lam, str) and self._axes.penalty.orthogonally_invariant
        return self.affinity == "patterns" or (self.affinity == "auto" and suits)

    def _bytes_of_all(self, n_samples: int, n_features: Sequence[int]) -> int:
        """What a graph of all samples will take."""
        rank = n_samples if self._axes.sides == "none" or self.solver != "admm" else sum(n_features)
        n_solutions = len(self._multiples) if isinstance(self.lam, str) else 1
        n_views = (
            1
            if self.fusion == "concat" or isinstance(self._axes.coupling, RankOne)
            else len(n_features)
        )
        absent = self.missing == "allow"
        return memory.of_all_samples(
            n_samples,
            rank,
            n_views,
            n_solutions,
            by_patterns=self._by_patterns,
            one_sided=absent or self._axes.sides == "left",
            more=memory.ABSENT * absent + memory.MUTUAL * isinstance(self._axes.datafit, L12),
        )

    @property
    def _way_out(self) -> str:
        """Where memory is short."""
        return "Take fewer samples, or CLRSC or LRR with their defaults, which can do without one graph of all."

    def _check_parameters(self) -> None:
        if isinstance(
            self.n_clusters, bool
        ):  # an int to Python, a slip of the pen to everyone else
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be an int in the range [1, inf) or None. "
                f"Got {self.n_clusters!r} instead."
            )
        self._validate_params()

    def _check_count(self, n_samples: int) -> None:
        if self.n_clusters is not None and self.n_clusters > n_samples:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed the number of samples, n_samples={n_samples}."
            )

    def _check_unseen(self, X: Any, caller: str) -> Views:
        check_is_fitted(self, "result_")
        return self._check_alike(X, caller)

    def _check_alike(self, X: Any, caller: str) -> Views:
        """The views that were seen before, by name if they had names."""
        names = getattr(self, "view_names_in_", None)
        if isinstance(X, Mapping) and names is not None:
            missing = [name for name in names if name not in X]
            if missing:
                raise ValueError(
                    f"{caller} needs the views that were fitted, and {missing[0]!r} is missing."
                )
            X = {name: X[name] for name in names}
        views = check_views(X, caller=caller, min_samples=1, missing=self.missing == "allow")
        check_same_input(self, X, views)
        return views

    def _remember(self, fit: Fitted) -> None:
        self._fit = fit
        self.features_scaled_, self.affine_ = fit.preparation.scaled, fit.preparation.affine
        self.result_, self.path_ = fit.results[0], fit.results
        self.affinity_matrix_, self.eigenvalues_ = fit.united.graph, fit.united.eigenvalues
        self.view_weights_ = self._used_weights(fit)
        self.n_clusters_ = int(fit.united.labels.max()) + 1

    def _used_weights(self, fit: Fitted) -> Array:
        return fit.united.view_weights


def check_memory(
    needed: int, model: SubspaceClusterer, n_samples: int, way_out: str | None = None
) -> None:
    """Refuse before the work, not be killed in it."""
    available = memory.available()
    if available is not None and needed > available:
        raise MemoryError(
            f"{type(model).__name__} would need about {memory.readable(needed)} for {n_samples} samples, and "
            f"{memory.readable(available)} are available. {way_out or model._way_out}"
        )
