"""What methods share whose coefficients can be reduced on both sides: any number of samples, also in batches."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from threading import RLock
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from viewspan._utils import memory
from viewspan._utils.typing import Array, Labels
from viewspan._utils.warnings import warn
from viewspan.estimators.base import COUNT, SubspaceClusterer, check_memory
from viewspan.estimators.inputs import all_feature_names, remember_input
from viewspan.estimators.whole import become, forget
from viewspan.fit.callbacks import tasks_of, with_callbacks
from viewspan.fit.fitting import (
    LARGEST_SEED,
    PER_LANDMARK,
    Fitted,
    fit_in_memory,
    fit_landmarks,
    merge,
    summarise,
)
from viewspan.fit.one_pass import Moments, Summarise, Summary
from viewspan.fit.progress import Stages
from viewspan.inference.assignment import UNKNOWN
from viewspan.inputs.blocks import ignore, source_of
from viewspan.inputs.preparation import Columns, Preparation
from viewspan.inputs.views import MIN_SAMPLES, Views, check_views

MOST_SAMPLES = 10_000
"""In one graph, if nothing is asked for."""
FEWER = "Take fewer n_landmarks, or fewer features: sklearn.decomposition.TruncatedSVD makes few of many sparse ones."
LANDMARKS = 5000
"""Of them."""


SETTLING = RLock()
"""Threads that ask one model for the first time get one answer; a lock of the model's own could not be pickled."""


class Later:
    """An attribute that batches leave to be found when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        if "_arrived" not in vars(model):
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}")
        with SETTLING:
            if self.name not in vars(model):  # another thread may have been here first
                model._settle()
        return vars(model)[self.name]


@dataclass(frozen=True)
class Arrived:
    """What is kept of batches."""

    function: Summarise
    summary: Summary
    last: Views


class ScalableClusterer(SubspaceClusterer):
    """With a graph of landmarks where there are too many samples for one of all."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClusterer._parameter_constraints,
        "graph": [StrOptions({"auto", "dense", "landmarks"})],
        "n_landmarks": [COUNT, None],
    }
    datafit: str = "frobenius"  # for methods that offer no choice
    _arrived: Arrived
    labels_: Any = Later()
    confidence_: Any = Later()
    n_clusters_: Any = Later()
    affinity_matrix_: Any = Later()
    result_: Any = Later()
    path_: Any = Later()
    features_scaled_: Any = Later()
    affine_: Any = Later()
    eigenvalues_: Any = Later()
    view_weights_: Any = Later()

    def _fit_views(self, views: Views, stages: Stages) -> tuple[Fitted, Labels, Array]:
        self._check_landmarks()
        if not self._wants_landmarks(views.n_samples, views.n_features):
            return super()._fit_views(views, stages)
        check_memory(
            self._bytes_of_landmarks(views.n_samples, views.n_features),
            self,
            views.n_samples,
            FEWER,
        )
        return self._fit_many(views, stages)

    def _fit_many(self, views: Views, stages: Stages) -> tuple[Fitted, Labels, Array]:
        self._check_enough_landmarks()
        recipe, source = self._recipe(views.dtype, stages), source_of(views)
        if sum(views.n_features) >= views.n_samples:
            fit = fit_in_memory(views, self._n_rows, self._n_landmarks, recipe, stages)
        else:
            preparation, summary = summarise(source, recipe, self._n_rows, stages)
            fit = fit_landmarks(preparation, summary, self._n_landmarks, recipe, stages)
        stages.begin("labelling", views.n_samples)
        found = source.join(fit.assigner.assigned_to, fit.assigner.width, stages.step)
        n_unknown = int((found["label"] == UNKNOWN).sum())
        if n_unknown:
            warn(f"{n_unknown} of {len(found)} samples are connected to no other and get label 0.")
        labels = np.maximum(found["label"], 0)
        n_found, n_wanted = len(np.unique(labels)), int(fit.united.labels.max()) + 1
        if n_found < n_wanted:
            warn(
                f"Only {n_found} of {n_wanted} clusters got a sample: every sample is labelled by its nearest "
                "landmarks, and these are too few. Take more n_landmarks, fewer n_neighbors, or graph='dense'."
            )
        return fit, labels, found["confidence"].copy()

    @property
    def _can_be_reduced(self) -> bool:
        return self._what_forbids_it is None

    @property
    def _way_out(self) -> str:
        return (
            f"Take graph='landmarks', or {FEWER[5:]}" if self._can_be_reduced else super()._way_out
        )

    def _check_landmarks(self) -> None:
        if self.graph == "landmarks" and not self._can_be_reduced:
            raise ValueError(
                "graph='landmarks' needs coefficients that can be reduced, and those with "
                f"{self._what_forbids_it} cannot be; take graph='dense' or 'auto'."
            )

    def _check_enough_landmarks(self) -> None:
        if self.n_clusters is not None and self.n_clusters > self._n_landmarks:
            raise ValueError(
                f"n_clusters={self.n_clusters} must not exceed n_landmarks={self._n_landmarks}."
            )

    def _wants_landmarks(self, n_samples: int, n_features: Sequence[int]) -> bool:
        if self.graph != "auto" or not self._can_be_reduced:
            return bool(self.graph == "landmarks")
        available = memory.available()
        too_large = available is not None and self._bytes_of_all(n_samples, n_features) > available
        return n_samples > MOST_SAMPLES or too_large

    @property
    def _what_forbids_it(self) -> str | None:
        """Why coefficients are not those of any sample, told by its features; None if they are."""
        axes = self._axes
        if self.solver != "admm":
            return f"solver={self.solver!r}"
        if not axes.penalty.orthogonally_invariant:
            return "penalty='l1'"
        if not axes.datafit.rotates_samples:
            return f"datafit={self.datafit!r}"
        return "missing='allow'" if self.missing == "allow" else None

    @property
    def _n_landmarks(self) -> int:
        return LANDMARKS if self.n_landmarks is None else int(self.n_landmarks)

    @property
    def _n_rows(self) -> int:
        return max(PER_LANDMARK * self._n_landmarks, MOST_SAMPLES)

    def _bytes_of_landmarks(self, n_samples: int, n_features: Sequence[int]) -> int:
        n_rows = min(self._n_rows, n_samples)
        return memory.of_landmarks(
            n_samples,
            n_features,
            n_rows,
            min(self._n_landmarks, n_rows),
            len(self._multiples) if isinstance(self.lam, str) else 1,
            self.n_neighbors,
            by_patterns=self._by_patterns,
        )

    @available_if(lambda self: self._can_be_reduced)  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Take in one more batch of samples.

        What the clustering needs of them is kept, not the samples, and the model is solved when its labels, or anything
        else, are first asked for; then :meth:`predict` tells the cluster of any sample. ``labels_`` and ``confidence_``
        are those of the last batch, not yet computed if that was one of Dask arrays. Features are scaled as the first
        batch says. After :meth:`fit`, batches start anew. A batch during which this is interrupted, or fails, was not
        taken in, and the model is what it was before.

        Parameters
        ----------
        X : as for :meth:`fit`
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        self._check_landmarks()
        so_far, done = self.__dict__.get("_arrived"), copy(self)
        if so_far is None:
            views, names = check_views(X, caller="partial_fit", min_samples=1), all_feature_names(X)
            n_samples = max(self._n_rows, sum(views.n_features))
            check_memory(
                self._bytes_of_landmarks(n_samples, views.n_features), self, n_samples, FEWER
            )
            arrived = self._first_batch(views)
            forget(done)
            remember_input(done, X, views, names)
        else:
            views = self._check_alike(X, "partial_fit")
            function = replace(so_far.function, offset=so_far.summary.n_samples)
            arrived = Arrived(function, so_far.summary + summary_of(views, function), copied(views))
        done._arrived = arrived
        for name, attribute in vars(ScalableClusterer).items():
            if isinstance(attribute, Later):
                done.__dict__.pop(name, None)
        become(self, done)
        return self

    def _first_batch(self, views: Views) -> Arrived:
        """Features are scaled as it says, because samples that have gone cannot be asked again."""
        columns = source_of(views).fold(columns_of, add_columns, sum(views.n_features), ignore)
        filled = [view.filled() for view in columns]
        preparation = Preparation.choose(filled, self.scale_features, self.affine, self.normalize)
        by: Moments = "squares" if isinstance(self.lam, str) else "triangles"
        seed = int(check_random_state(self.random_state).randint(LARGEST_SEED))
        function = Summarise(preparation, self.normalize, by, self._n_rows, seed)
        return Arrived(function, summary_of(views, function), copied(views))

    @with_callbacks
    def _settle(self) -> None:
        """Solve for the batches that are there."""
        summary, preparation, last = (
            self._arrived.summary,
            self._arrived.function.preparation,
            self._arrived.last,
        )
        assert preparation is not None
        self._check_batches(summary, preparation, last)
        widths = last.n_features
        dense = summary.n_samples <= self._n_rows and not self._wants_landmarks(
            summary.n_samples, widths
        )
        if dense:
            check_memory(self._bytes_of_all(summary.n_samples, widths), self, summary.n_samples)
        else:
            self._check_enough_landmarks()
        stages = Stages(self.callback, self.verbose, tasks_of(self))
        recipe = self._recipe(np.dtype(np.float64), stages)
        recipe.generator.randint(
            LARGEST_SEED
        )  # the fair sample's, so that a fit of all samples would do the same
        with stages.named(type(self).__name__):
            fit = fit_landmarks(
                preparation, summary, None if dense else self._n_landmarks, recipe, stages
            )
        done, batch = copy(self), last.arrays[0] if last.single else last.arrays
        done._remember(fit)
        done.labels_, done.confidence_ = done.predict(batch), done.predict_confidence(batch)
        become(self, done)
        stages.end()

    def _check_batches(self, summary: Summary, preparation: Preparation, last: Views) -> None:
        if summary.n_samples < MIN_SAMPLES:
            raise ValueError(
                f"{type(self).__name__} needs at least {MIN_SAMPLES} samples, and one has arrived."
            )
        self._check_count(summary.n_samples)
        if self.graph == "dense" and summary.n_samples > self._n_rows:
            raise ValueError(
                f"graph='dense' needs all samples, and of {summary.n_samples} in batches {self._n_rows} were kept; "
                "take graph='landmarks' or 'auto'."
            )
        whole = Preparation.choose(
            summary.columns, self.scale_features, self.affine, self.normalize
        )
        whole.report(last.names)
        if not whole.resembles(preparation):
            warn(
                "All batches together would be scaled differently than the first one was: it is not like the others. "
                "Give a first batch of samples of all kinds, or scale the features before."
            )


def columns_of(views: Views, _: int) -> list[Columns]:
    return [Columns.of(block) for block in views.arrays]


def add_columns(first: list[Columns], second: list[Columns]) -> list[Columns]:
    return [mine + theirs for mine, theirs in zip(first, second, strict=True)]


def summary_of(views: Views, function: Summarise) -> Summary:
    found: Summary = source_of(views).fold(function, merge, sum(views.n_features), ignore)
    return found


def copied(views: Views) -> Views:
    """So that the user's arrays may be filled with the next batch."""
    return replace(views, arrays=[array.copy() for array in views.arrays])
