"""What methods share whose coefficients can be reduced on both sides: any number of samples, also in batches."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from viewspan import memory
from viewspan._progress import Stages
from viewspan._warnings import warn
from viewspan.assignment import UNKNOWN
from viewspan.blocks import Source, ignore, source_of
from viewspan.estimators.base import COUNT, SubspaceClusterer, check_memory
from viewspan.fitting import LARGEST_SEED, PER_LANDMARK, fit_in_memory, fit_landmarks, merge, summarise
from viewspan.graph.ncut import number_by_appearance
from viewspan.preparation import Columns, Preparation
from viewspan.summary import Moments, Summarise, Summary
from viewspan.views import Views, check_views

MOST_SAMPLES = 10_000
"""In one graph, if nothing is asked for."""
WAY_OUT = "Take fewer n_landmarks, or fewer features; sklearn.decomposition.TruncatedSVD makes few of many sparse ones."
LANDMARKS = 5000
"""Of them."""


class Later:
    """An attribute that batches leave to be found when it is first asked for."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, model: Any, owner: type) -> Any:
        if model is None:
            return self
        if "_arrived" not in vars(model):
            raise AttributeError(f"{owner.__name__!r} object has no attribute {self.name!r}")
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
    _way_out = "Take graph='landmarks', which does not grow with the square of the samples."
    _arrived: Arrived
    labels_: Any = Later()
    n_clusters_: Any = Later()
    affinity_matrix_: Any = Later()
    result_: Any = Later()
    path_: Any = Later()
    features_scaled_: Any = Later()
    affine_: Any = Later()
    eigenvalues_: Any = Later()
    view_weights_: Any = Later()

    def _fit_views(self, views: Views, stages: Stages) -> None:
        self.__dict__.pop("_arrived", None)
        if not self._wants_landmarks(views):
            super()._fit_views(views, stages)
            return
        check_memory(self._bytes_of_landmarks(views), type(self).__name__, views.n_samples, WAY_OUT)
        recipe, source = self._recipe(views.dtype, stages), source_of(views)
        if sum(views.n_features) >= views.n_samples:
            fit = fit_in_memory(views, self._n_rows, self._n_landmarks, recipe, stages)
        else:
            preparation, summary = summarise(source, recipe, self._n_rows, stages)
            fit = fit_landmarks(preparation, summary, self._n_landmarks, recipe, stages)
        self._remember(fit)
        self._label_all(source, stages)

    def _label_all(self, source: Source, stages: Stages) -> None:
        """Labels of all samples, numbered by appearance; the assigner's are renumbered alike."""
        assigner = self._assigner
        stages.begin("labelling", source.views.n_samples)
        found = source.join(assigner.labels_of, assigner.width, stages.step)
        n_unknown = int((found == UNKNOWN).sum())
        if n_unknown:
            warn(f"{n_unknown} of {len(found)} samples are connected to no other and get an arbitrary label.")
        everyone = np.concatenate([np.maximum(found, 0), np.arange(assigner.n_clusters)])  # also clusters of nobody
        numbered = number_by_appearance(everyone)
        self.labels_, order = numbered[: len(found)], numbered[len(found) :]
        self._fit = self._fit.relabelled(order)

    def _wants_landmarks(self, views: Views) -> bool:
        if self._axes.sides != "both" or self.solver != "admm":
            if self.graph == "landmarks":
                raise ValueError(
                    f"graph='landmarks' needs coefficients that can be reduced, and {self._what_forbids_it} cannot be; "
                    "take graph='dense' or 'auto'."
                )
            return False
        if self.graph != "auto":
            return bool(self.graph == "landmarks")
        available = memory.available()
        too_large = available is not None and self._bytes_of_all(views) > available
        return views.n_samples > MOST_SAMPLES or too_large

    @property
    def _what_forbids_it(self) -> str:
        return f"solver={self.solver!r}" if self.solver != "admm" else "an ℓ1,2 fit"

    @property
    def _n_landmarks(self) -> int:
        return LANDMARKS if self.n_landmarks is None else int(self.n_landmarks)

    @property
    def _n_rows(self) -> int:
        return max(PER_LANDMARK * self._n_landmarks, MOST_SAMPLES)

    def _bytes_of_landmarks(self, views: Views) -> int:
        n_rows = min(self._n_rows, views.n_samples)
        return memory.of_landmarks(
            views.n_samples,
            views.n_features,
            n_rows,
            min(self._n_landmarks, n_rows),
            len(self._multiples) if isinstance(self.lam, str) else 1,
            self.n_neighbors,
        )

    @available_if(lambda self: self._axes.sides == "both" and self.solver == "admm")  # type: ignore[untyped-decorator]
    def partial_fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803
        """Take in one more batch of samples.

        What the clustering needs of them is kept, not the samples, and the model is solved when its labels, or
        anything else, are first asked for; then :meth:`predict` tells the cluster of any sample, and ``labels_``
        are those of the last batch. Features are scaled as the first batch says.

        Parameters
        ----------
        X : as for :meth:`fit`
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        first = not hasattr(self, "_arrived")
        if first:
            views = check_views(X, caller="partial_fit", min_samples=1)
            self._remember_input(X, views)
        else:
            views = self._check_alike(X, "partial_fit")
        self._arrived = self._first_batch(views) if first else self._next_batch(self._arrived, views)
        for name, attribute in vars(ScalableClusterer).items():
            if isinstance(attribute, Later):
                self.__dict__.pop(name, None)
        return self

    def _first_batch(self, views: Views) -> Arrived:
        """Features are scaled as it says, because later batches cannot be asked twice."""
        columns = [Columns.of(array) for array in views.read(first=0).arrays]
        preparation = Preparation.choose(columns, self.scale_features, self.affine, self.normalize)
        by: Moments = "squares" if isinstance(self.lam, str) else "triangles"
        seed = int(check_random_state(self.random_state).randint(LARGEST_SEED))
        function = Summarise(preparation, self.normalize, by, self._n_rows, seed)
        return Arrived(function, summary_of(views, function), copied(views))

    def _next_batch(self, so_far: Arrived, views: Views) -> Arrived:
        function = replace(so_far.function, offset=so_far.summary.n_samples)
        return Arrived(function, so_far.summary + summary_of(views, function), copied(views))

    def _settle(self) -> None:
        """Solve for the batches that are there."""
        summary, preparation = self._arrived.summary, self._arrived.function.preparation
        assert preparation is not None
        self._check_count(summary.n_samples)
        whole = Preparation.choose(summary.columns, self.scale_features, self.affine, self.normalize)
        whole.report(self._arrived.last.names)
        if (whole.scaled, whole.affine) != (preparation.scaled, preparation.affine):
            warn(
                "All batches together would be scaled differently than the first one was: it is not like the others. "
                "Give scale_features and affine, or mix the samples."
            )
        stages = Stages(self.callback, self.verbose)
        all_kept = summary.n_samples <= MOST_SAMPLES and self.graph != "landmarks"
        recipe = self._recipe(np.dtype(np.float64), stages)
        recipe.generator.randint(LARGEST_SEED)  # the fair sample's, so that a fit of all samples would do the same
        self._remember(fit_landmarks(preparation, summary, None if all_kept else self._n_landmarks, recipe, stages))
        self.labels_ = self.predict(
            self._arrived.last.arrays[0] if self._arrived.last.single else self._arrived.last.arrays
        )


def summary_of(views: Views, function: Summarise) -> Summary:
    found: Summary = source_of(views).fold(function, merge, sum(views.n_features), ignore)
    return found


def copied(views: Views) -> Views:
    """So that the user's arrays may be filled with the next batch."""
    return replace(views, arrays=[array.copy() for array in views.arrays])
