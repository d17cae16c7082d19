"""Split one wide table into views by its columns."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.sklearn_callbacks import (
    CallbackSupportMixin,
    single_task,
    with_callbacks,
)
from viewspan._utils.typing import AnyArray
from viewspan.inputs.column_selection import (
    Selection,
    check_one_table,
    check_partition,
    find_columns,
    select_columns,
)
from viewspan.inputs.fitted_inputs import check_same_n_features, check_same_names


class ViewSplitter(
    CallbackSupportMixin,
    TransformerMixin,
    BaseEstimator,
    auto_wrap_output_keys=None,  # type: ignore[call-arg]
):
    """Split one wide table into views.

    :class:`~sklearn.pipeline.Pipeline` and :class:`~sklearn.model_selection.GridSearchCV` take one
    table. A ViewSplitter as the first step of a pipeline turns it into views.

    Parameters
    ----------
    columns : dict or list of selections
        The columns of every view: a list of names or of positions, a slice of either, a boolean
        mask, or a callable that returns one of these for the table, such as
        :func:`sklearn.compose.make_column_selector`. A slice of names includes both ends; a slice
        of positions does not include the last one, as in pandas. No column may be in two views.
    remainder : {"raise", "drop"}
        What to do with columns that are in no view.

    Attributes
    ----------
    positions_ : dict or list of arrays of int
        The positions of the columns of every view, in a dict or list like ``columns``.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : array of str
        Names of the columns; only if the table has names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from viewspan import CLRSC, ViewSplitter
    >>> rng = np.random.default_rng(0)
    >>> def plane():
    ...     return rng.normal(size=(20, 2)) @ rng.normal(size=(2, 30))
    >>> table = np.block([[plane(), plane()], [plane(), plane()]])
    >>> split = ViewSplitter({"images": slice(0, 30), "texts": slice(30, 60)})
    >>> model = make_pipeline(split, CLRSC(n_clusters=2, random_state=0))
    >>> np.bincount(model.fit_predict(table))
    array([20, 20])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "columns": [dict, list, tuple],
        "remainder": [StrOptions({"raise", "drop"})],
    }

    def __init__(
        self, columns: Mapping[Any, Selection] | Sequence[Selection], *, remainder: str = "raise"
    ) -> None:
        self.columns = columns
        self.remainder = remainder

    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns of every view.

        Parameters
        ----------
        X : array, data frame, sparse matrix or memory map (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        self._validate_params()
        if len(self.columns) == 0:
            raise ValueError("columns must define at least one view. Got none.")
        with single_task(self, X, y):
            self._find_columns(X)
        return self

    def _find_columns(self, X: Any) -> None:
        table, names = check_one_table(X)
        views = self._view_names()
        pairs = zip(views, self._selections(), strict=True)
        found = [find_columns(table, names, selection, view) for view, selection in pairs]
        allow_remainder = self.remainder == "drop"
        check_partition(table.shape[1], names, found, views, allow_remainder=allow_remainder)
        self.n_features_in_ = table.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        self.positions_ = self._like_columns(found)

    def transform(self, X: Any) -> Any:
        """Split a table with the same columns as in the fit.

        Equally spaced columns of an array are not copied.

        Parameters
        ----------
        X : as for :meth:`fit`

        Returns
        -------
        dict or list of tables (n_samples, n_features_i)
            Arrays for an array, data frames for a data frame.
        """
        check_is_fitted(self)
        table, names = check_one_table(X)
        check_same_n_features("X", table.shape[1], self.n_features_in_, type(self).__name__)
        check_same_names("X", names, getattr(self, "feature_names_in_", None))
        return self._like_columns([select_columns(table, columns) for columns in self._positions()])

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of all features, view by view: ``view__feature``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the columns of a table that has no names; x0, x1, … by default.

        Returns
        -------
        array of str
        """
        check_is_fitted(self)
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = np.asarray(input_features, dtype=object)
            if len(given) != self.n_features_in_:
                raise ValueError(
                    "input_features should have length equal to number of features "
                    f"({self.n_features_in_}), got {len(given)}."
                )
            if known is not None and not np.array_equal(given, known):
                raise ValueError("input_features is not equal to feature_names_in_.")
            known = given
        if known is None:
            known = [f"x{position}" for position in range(self.n_features_in_)]
        prefixes: Iterable[Any] = self.columns
        if not isinstance(self.columns, Mapping):
            prefixes = [f"view{position}" for position in range(len(self.columns))]
        pairs = zip(prefixes, self._positions(), strict=True)
        names = [f"{view}__{known[position]}" for view, columns in pairs for position in columns]
        return np.array(names, dtype=object)

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing, because views have the type of the table. Pipelines call it for all steps.

        Parameters
        ----------
        transform : ignored

        Returns
        -------
        self
        """
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def _selections(self) -> list[Selection]:
        """Return the selections of all views in a list."""
        return list(self.columns.values() if isinstance(self.columns, Mapping) else self.columns)

    def _view_names(self) -> list[str]:
        """Return the names of the views for messages."""
        if isinstance(self.columns, Mapping):
            return [str(name) for name in self.columns]
        return [f"view {position}" for position in range(len(self.columns))]

    def _like_columns(self, parts: list[Any]) -> Any:
        """Return one part per view in a dict or list like ``columns``."""
        if isinstance(self.columns, Mapping):
            return dict(zip(self.columns, parts, strict=True))
        return parts

    def _positions(self) -> list[AnyArray]:
        """Return the positions of the columns of every view in a list."""
        found = self.positions_
        return list(found.values() if isinstance(found, Mapping) else found)
