"""Base class of all estimators: check the parameters, fit, store; then answer about samples."""

from abc import abstractmethod
from collections.abc import Mapping
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils._param_validation import InvalidParameterError, StrOptions
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.sklearn_callbacks import CallbackSupportMixin, with_callbacks
from viewspan._utils.sparse import full
from viewspan._utils.threads import with_one_thread
from viewspan._utils.typing import Array, Graph, Labels
from viewspan._utils.warnings import warn
from viewspan.estimators.atomic import atomic_fit, replace_attributes
from viewspan.estimators.attributes import FittedAttributes
from viewspan.estimators.notebook import NotebookSummary
from viewspan.fit.constraints import COUNT, SHARED_CONSTRAINTS, WEIGHT
from viewspan.fit.run import fit_views
from viewspan.fit.settings import DEFAULT_N_LANDMARKS, FitSettings
from viewspan.fit.sklearn_tasks import stages_for
from viewspan.fit.state import FittedState
from viewspan.graph.partition import GraphSettings
from viewspan.inference.assignment import UNKNOWN
from viewspan.inference.subspaces import Reconstruction, reconstruct, set_missing_to_nan
from viewspan.inputs.blocks import source_of
from viewspan.inputs.checks import check_views
from viewspan.inputs.fitted_inputs import (
    add_index,
    check_same_input,
    feature_names_of,
    store_input,
)
from viewspan.inputs.frames import is_dask
from viewspan.inputs.preparation import Reading
from viewspan.inputs.views import Views
from viewspan.objective.axes import Axes, SolverName
from viewspan.objective.weight_rule import WeightRule
from viewspan.solvers.result import Result
from viewspan.weights.choose import Weights, default_rule


class SubspaceClusterer(
    FittedAttributes,
    NotebookSummary,
    CallbackSupportMixin,
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
    ClusterMixin,
    BaseEstimator,
):
    """Base class: solve an objective of the family, build a graph of the solutions, cut it.

    A subclass has the parameters and says which axes they mean (:meth:`axes`) and, where it
    differs from the default, by which rule λ is chosen (:meth:`_weight_rule`).
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "lam": [StrOptions({"auto"}), WEIGHT, "array-like"],
        "affinity": [StrOptions({"auto", "patterns", "coefficients"})],
        "n_neighbors": [COUNT],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    _lam_per_sample: ClassVar[bool] = False
    # values of parameters that a subclass does not offer
    tau: Any = 0.0
    solver: SolverName = "admm"
    fusion: str = "late"
    missing: str = "forbid"
    graph: str = "dense"
    n_landmarks: int | None = None

    labels_: Labels
    confidence_: Array
    n_clusters_: int
    affinity_matrix_: Graph
    result_: Result
    path_: list[Result]
    readings_: list[tuple[Reading, ...]]
    features_scaled_: list[bool]
    affine_: list[bool]
    eigenvalues_: Array
    view_weights_: Array
    n_views_in_: int
    n_features_in_: int | tuple[int, ...]

    @abstractmethod
    def axes(self) -> Axes:
        """Return the datafit, penalty and coupling that the parameters mean."""

    def _weight_rule(self, axes: Axes) -> WeightRule | None:
        """Return the rule for automatic λ, or None if λ must be given."""
        return default_rule(axes)

    @atomic_fit
    @with_one_thread
    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the samples.

        A fit that fails or is interrupted leaves the estimator unfitted.

        Parameters
        ----------
        X : list, tuple or dict of arrays (n_samples, n_features_i), or one array
            The views. Rows are samples, the same ones in the same order in every view. Arrays,
            data frames of pandas (their index is compared) and polars, Arrow tables, sparse
            matrices, memory maps and Dask arrays may be mixed.
        y : ignored

        Returns
        -------
        self
        """
        settings = self._settings()
        views = check_views(X, caller=settings.method, missing=settings.missing)
        names = feature_names_of(X)
        stages = stages_for(self, X, y)
        with stages.named_in_errors(settings.method):
            state = fit_views(views, settings, stages)
        fitted = copy(self)
        fitted._store(state)
        store_input(fitted, X, views, names)
        replace_attributes(self, fitted)
        stages.end()
        return self

    @with_one_thread
    def predict(self, X: Any) -> Any:
        """Return the clusters of samples, also of new ones.

        A new sample gets the label of its nearest neighbours among the samples, or landmarks, of
        the fitted graph. Samples of the fit keep their label.

        Parameters
        ----------
        X : as for :meth:`fit`
            The same views with the same features.

        Returns
        -------
        array (n_samples,) of int
            A Dask array, not yet computed, if one of the views is one.
        """
        views = self._check_new_samples(X, "predict")
        assigner = self._state.assigner
        found = source_of(views).concatenate_lazily(
            assigner.labels_of, assigner.width, np.int64, None
        )
        if is_dask(found):
            return found.clip(min=0)
        n_unknown = int((found == UNKNOWN).sum())
        if n_unknown:
            warn(
                f"{n_unknown} of {len(found)} samples resemble none of those that were clustered "
                "and get label 0."
            )
        return np.maximum(found, 0)

    @with_one_thread
    def predict_confidence(self, X: Any) -> Any:
        """Return how clearly samples belong to the clusters that :meth:`predict` gives them.

        It is the share of a sample's edge weight, to its nearest neighbours in the fitted graph,
        that goes to its own cluster; 0 for a sample without neighbours.

        Parameters
        ----------
        X : as for :meth:`predict`

        Returns
        -------
        array (n_samples,)
            A Dask array, not yet computed, if one of the views is one.
        """
        views = self._check_new_samples(X, "predict_confidence")
        assigner = self._state.assigner
        return source_of(views).concatenate_lazily(
            assigner.confidence_of, assigner.width, np.float64, None
        )

    @with_one_thread
    def transform(self, X: Any) -> Any:
        """Return the spectral embedding of samples.

        These are the rows that the samples have, or would have, in the leading eigenvectors of the
        graph.

        Parameters
        ----------
        X : as for :meth:`predict`

        Returns
        -------
        array (n_samples, n_clusters)
            A Dask array, not yet computed, if one of the views is one. A pandas or polars data
            frame after ``set_output``; the pandas frame has the index of the views.
        """
        views = self._check_new_samples(X, "transform")
        assigner, n_clusters = self._state.assigner, self._state.graph.n_clusters
        found = source_of(views).concatenate_lazily(
            assigner.embedding_of, assigner.width, np.float64, n_clusters
        )
        return add_index(found, X, self)

    @with_one_thread
    def reconstruct(self, X: Any) -> Reconstruction:
        """Project samples, in every view, onto the subspace of their cluster.

        Parameters
        ----------
        X : as for :meth:`predict`
            The result is as large as the views.

        Returns
        -------
        Reconstruction
            With ``views``, full arrays in a list or dict like the one that was given,
            ``residuals`` (n_views, n_samples), the shares of the samples' lengths that are left,
            and ``labels``.
        """
        views = self._check_new_samples(X, "reconstruct").read()
        labels = np.asarray(self.predict(X))
        arrays, residuals = reconstruct(
            [full(array) for array in views.arrays], labels, self.subspaces_
        )
        set_missing_to_nan(arrays, residuals, views.observed)
        found: Any = arrays
        if isinstance(X, Mapping):
            found = dict(zip(getattr(self, "view_names_in_", X), arrays, strict=True))
        return Reconstruction(arrays[0] if views.single else found, residuals, labels)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns of :meth:`transform`: class name and number.

        Parameters
        ----------
        input_features : array-like of str, optional
            Compared with the feature names of a single view, as scikit-learn does.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        several = isinstance(self.n_features_in_, tuple)
        return super().get_feature_names_out(None if several else input_features)

    @property
    def _n_features_out(self) -> int:
        """Number of columns of :meth:`transform`, for scikit-learn."""
        return self.n_clusters_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _settings(self) -> FitSettings:
        """Check the parameters and return what a fit depends on."""
        self._check_parameters()
        missing = self.missing == "allow"
        axes = self.axes()
        axes.check(self.solver, missing=missing)
        shared = axes.coupling.shares_coefficients
        automatic = isinstance(self.lam, str)
        weights = Weights(
            self.lam, self.tau, self._weight_rule(axes), per_sample=self._lam_per_sample
        )
        weights.check(axes)
        patterns_fit = automatic and axes.penalty.orthogonally_invariant
        by_patterns = self.affinity == "patterns" or (self.affinity == "auto" and patterns_fit)
        return FitSettings(
            method=type(self).__name__,
            axes=axes,
            weights=weights,
            graph=GraphSettings(
                by_patterns=by_patterns,
                view_weights="equal" if shared else self.view_weights,
                assign_labels=self.assign_labels,
                n_neighbors=self.n_neighbors,
                mutual=axes.datafit.allows_self_representation,
            ),
            n_clusters=self.n_clusters,
            read_as=self.read_as,
            scale_features=self.scale_features,
            affine=self.affine,
            normalize=self.normalize,
            concatenated=self.fusion == "concat",
            missing=missing,
            shared_view_weights=(
                self.view_weights if shared and not isinstance(self.view_weights, str) else None
            ),
            graph_kind=self.graph,
            n_landmarks=DEFAULT_N_LANDMARKS if self.n_landmarks is None else int(self.n_landmarks),
            solver=self.solver,
            tol=self.tol,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )

    def _check_parameters(self) -> None:
        """Raise InvalidParameterError for parameters out of range."""
        if isinstance(self.n_clusters, bool):  # Python counts a bool as an int
            raise InvalidParameterError(
                f"The 'n_clusters' parameter of {type(self).__name__} must be an int in the range "
                f"[1, inf) or None. Got {self.n_clusters!r} instead."
            )
        self._validate_params()

    def _check_new_samples(self, X: Any, caller: str) -> Views:
        """Return the views of new samples, in the order of those that were fitted."""
        check_is_fitted(self, "result_")
        return self._check_same_views(X, caller)

    def _check_same_views(self, X: Any, caller: str) -> Views:
        """Return checked views; raise ValueError unless they are those of the fit."""
        names = getattr(self, "view_names_in_", None)
        if isinstance(X, Mapping) and names is not None:
            lacking = [name for name in names if name not in X]
            if lacking:
                raise ValueError(
                    f"{caller} needs the views that were fitted, and {lacking[0]!r} is missing."
                )
            X = {name: X[name] for name in names}
        views = check_views(X, caller=caller, min_samples=1, missing=self.missing == "allow")
        check_same_input(self, X, views)
        return views

    def restore_fit(self, state: FittedState, inputs: Mapping[str, Any]) -> Self:
        """Set all fitted attributes from the record of an earlier fit, for loading saved models.

        Parameters
        ----------
        state : FittedState
            ``fitted_state_`` of the earlier fit.
        inputs : mapping
            The attributes ``n_views_in_``, ``n_features_in_`` and, if there were names,
            ``feature_names_in_`` and ``view_names_in_``.

        Returns
        -------
        self
        """
        self._store(state)
        self.__dict__.update(inputs)
        return self

    def _store(self, state: FittedState) -> None:
        """Set the fitted attributes."""
        self._state = state
        self.labels_, self.confidence_ = state.labels, state.confidence
        self.n_clusters_ = state.graph.n_clusters
        self.result_, self.path_ = state.results[0], state.results
        self.affinity_matrix_ = state.partition.graph
        self.eigenvalues_ = state.partition.eigenvalues
        self.view_weights_ = state.view_weights
        n_views = len(state.preparation.treatments)
        self.readings_ = state.readings or [("directions",)] * n_views
        self.features_scaled_ = state.preparation.scaled
        self.affine_ = state.preparation.affine
