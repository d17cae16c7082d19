"""Estimators that can be fitted to samples that arrive in batches."""

from copy import copy
from dataclasses import replace
from threading import RLock
from typing import Any, ClassVar, Self

from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if

from viewspan._utils.sklearn_callbacks import with_callbacks
from viewspan._utils.threads import with_one_thread
from viewspan.estimators.atomic import remove_fitted, replace_attributes
from viewspan.estimators.base import SubspaceClusterer
from viewspan.fit.batches import Batches
from viewspan.fit.constraints import COUNT
from viewspan.fit.sklearn_tasks import stages_for
from viewspan.fit.state import FittedState
from viewspan.inputs.checks import check_views
from viewspan.inputs.fitted_inputs import feature_names_of, store_input
from viewspan.inputs.views import Views

SOLVE_LOCK = RLock()
"""Held while batches are solved, so that threads which share a model solve them once.

A lock of the model's own could not be pickled.
"""


def supports_batches(model: "IncrementalClusterer") -> bool:
    """Return whether the parameters allow :meth:`partial_fit`, for ``available_if``.

    Return True for invalid parameters, so that ``partial_fit`` can raise their error.
    """
    try:
        axes = model.axes()
    except ValueError:
        return True
    return axes.reducibility(model.solver, missing=model.missing == "allow").sides == "both"


class IncrementalClusterer(SubspaceClusterer):
    """Base class of methods with a graph of landmarks and with :meth:`partial_fit`."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SubspaceClusterer._parameter_constraints,
        "graph": [StrOptions({"auto", "dense", "landmarks"})],
        "n_landmarks": [COUNT, None],
    }
    _batches: Batches

    @available_if(supports_batches)  # type: ignore[untyped-decorator]
    @with_one_thread
    def partial_fit(self, X: Any = None, y: Any = None) -> Self:
        """Take in one more batch of samples, or solve for those that have arrived.

        A batch is summarised and not kept. The model is solved when :meth:`predict`,
        :meth:`predict_confidence`, :meth:`transform` or :meth:`reconstruct` is called, or
        ``partial_fit()`` without data. Fitted attributes exist from then on; ``labels_`` and
        ``confidence_`` are those of the last batch, not yet computed if its views are Dask arrays.

        Features are scaled as the first batch suggests. After :meth:`fit`, batches start anew. If
        this call fails or is interrupted, the batch is not taken in and the model stays as it was.

        Parameters
        ----------
        X : as for :meth:`fit`, or None
            None solves for the batches so far.
        y : ignored

        Returns
        -------
        self
        """
        if X is None:
            self._solve_batches()
            return self
        settings = self._settings()
        settings.check_landmarks()
        fitted = copy(self)
        if "_batches" in vars(self):
            batches = self._batches.add(self._check_same_views(X, "partial_fit"))
            inputs = {name: vars(self)[name] for name in input_names(self)}
            remove_fitted(fitted)
            fitted.__dict__.update(inputs)
        else:
            views = check_views(X, caller="partial_fit", min_samples=1)
            names = feature_names_of(X)
            batches = Batches.start(views, settings)
            remove_fitted(fitted)
            store_input(fitted, X, views, names)
        fitted._batches = batches
        replace_attributes(self, fitted)
        return self

    def _check_new_samples(self, X: Any, caller: str) -> Views:
        """Solve for the batches that have arrived, then check the samples."""
        if self._is_pending():
            self._solve_batches()
        return super()._check_new_samples(X, caller)

    def _is_pending(self) -> bool:
        """Return whether batches have arrived that were not solved for."""
        return "_batches" in vars(self) and "_state" not in vars(self)

    def _solve_batches(self) -> None:
        """Solve for the batches that have arrived."""
        if "_batches" not in vars(self):
            raise NotFittedError(
                f"No batch has been given to this {type(self).__name__}; call partial_fit(X) first."
            )
        with SOLVE_LOCK:
            if self._is_pending():  # another thread may have solved it meanwhile
                self._solve_pending()

    @with_callbacks
    def _solve_pending(self) -> None:
        settings = self._settings()
        stages = stages_for(self)
        with stages.named_in_errors(settings.method):
            state = self._batches.solve(settings, stages)
        fitted = copy(self)
        fitted._store(state)
        fitted._store(fitted._with_labels_of_last_batch(state))
        replace_attributes(self, fitted)
        stages.end()

    def _with_labels_of_last_batch(self, state: FittedState) -> FittedState:
        last = self._batches.last
        batch = last.arrays[0] if last.single else last.arrays
        return replace(state, labels=self.predict(batch), confidence=self.predict_confidence(batch))

    def __getattr__(self, name: str) -> Any:
        """Raise NotFittedError for fitted attributes while batches are not solved for."""
        if name.endswith("_") and not name.startswith("_") and self._is_pending():
            raise NotFittedError(
                f"{type(self).__name__} has taken in {self._batches.n_samples} samples and has not "
                f"solved for them, so it has no {name}; call partial_fit() without data, "
                "or predict."
            )
        # a property that raised AttributeError raises it here again; other names are unknown
        return object.__getattribute__(self, name)


def input_names(model: Any) -> list[str]:
    """Return the names of the attributes that describe the views of the fit."""
    return [name for name in vars(model) if name.endswith("_in_")]
