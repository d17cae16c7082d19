"""Split one wide table into views by its columns."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.typing import AnyArray
from viewspan.inputs.column_selection import Selection, as_table, check_partition, cut, positions
from viewspan.inputs.fitted_inputs import check_same_names, check_same_number


class ViewSplitter(TransformerMixin, BaseEstimator, auto_wrap_output_keys=None):  # type: ignore[call-arg]
    """Split one wide table into views.

    :class:`~sklearn.pipeline.Pipeline` and :class:`~sklearn.model_selection.GridSearchCV` take one
    table; as their first step, this makes views of it.

    Parameters
    ----------
    columns : dict or list of selections
        The columns of every view: a list of names or of positions, a slice of either (names with
        both ends, positions without the last, as in pandas), a boolean mask, or a callable that
        returns one of these for the table, such as :func:`sklearn.compose.make_column_selector`.
        No column may be in two views.
    remainder : {"raise", "drop"}
        What to do with columns that are in no view.

    Attributes
    ----------
    positions_ : dict or list of arrays of int
        The columns of every view, as ``columns`` says it.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only for tables whose columns have names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from viewspan import CLRSC, ViewSplitter
    >>> rng = np.random.default_rng(0)
    >>> def subspaces():
    ...     return np.vstack([rng.normal(size=(20, 2)) @ rng.normal(size=(2, 30)) for _ in range(2)])
    >>> table = np.hstack([subspaces(), subspaces()])
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

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the columns.

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
            raise ValueError("columns must name one view at least. Got none.")
        table, names = as_table(X)
        pairs = list(zip(self._view_names(), self._selections(), strict=True))
        found = [positions(table, names, chosen, view) for view, chosen in pairs]
        check_partition(
            table.shape[1], names, found, self._view_names(), dropped=self.remainder == "drop"
        )
        self.n_features_in_ = table.shape[1]
        self.__dict__.pop("feature_names_in_", None)
        if names is not None:
            self.feature_names_in_ = names
        self.positions_ = self._like_columns(found)
        return self

    def transform(self, X: Any) -> Any:
        """Split a table like the one that was fitted.

        Columns that are adjacent in an array are not copied.

        Parameters
        ----------
        X : as for :meth:`fit`

        Returns
        -------
        dict or list of tables (n_samples, n_features_i)
            Arrays for an array, data frames for a data frame.
        """
        check_is_fitted(self)
        table, names = as_table(X)
        check_same_number("X", table.shape[1], self.n_features_in_, type(self).__name__)
        check_same_names("X", names, getattr(self, "feature_names_in_", None))
        return self._like_columns([cut(table, chosen) for chosen in self._found()])

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Return the names of all features, view by view: ``view__feature``.

        Parameters
        ----------
        input_features : array-like of str, optional
            Names of the table's columns if it has none; x0, x1, … by default.

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
            known = np.array(
                [f"x{position}" for position in range(self.n_features_in_)], dtype=object
            )
        prefixes = (
            self.columns
            if isinstance(self.columns, Mapping)
            else map("view{}".format, range(len(self.columns)))
        )
        pairs = zip(prefixes, self._found(), strict=True)
        return np.array(
            [f"{view}__{known[position]}" for view, chosen in pairs for position in chosen],
            dtype=object,
        )

    def set_output(self, *, transform: str | None = None) -> Self:
        """Do nothing: views have the type of the table. Pipelines call this for all steps.

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
        return list(self.columns.values() if isinstance(self.columns, Mapping) else self.columns)

    def _view_names(self) -> list[str]:
        """Return the names of the views for messages."""
        if isinstance(self.columns, Mapping):
            return [str(name) for name in self.columns]
        return [f"view {position}" for position in range(len(self.columns))]

    def _like_columns(self, parts: list[Any]) -> Any:
        return (
            dict(zip(self.columns, parts, strict=True))
            if isinstance(self.columns, Mapping)
            else parts
        )

    def _found(self) -> list[AnyArray]:
        return list(
            self.positions_.values() if isinstance(self.positions_, Mapping) else self.positions_
        )
