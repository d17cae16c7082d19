"""Number and names of the views and features that an estimator was fitted to."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import check_is_fitted

from viewspan._utils.typing import AnyArray
from viewspan.inputs.checks import is_one_view, name_views
from viewspan.inputs.frames import feature_names
from viewspan.inputs.sample_ids import sample_ids
from viewspan.inputs.views import Views

FeatureNames = tuple[AnyArray | None, ...]
"""Feature names of every view; None for views without names."""


def store_input(model: Any, X: Any, views: Views, names: FeatureNames) -> None:
    """Set the attributes ``n_views_in_``, ``n_features_in_`` and those with names.

    For several views, the numbers and names of features are tuples.
    """
    model.n_views_in_ = len(views.arrays)
    model.n_features_in_ = views.n_features[0] if views.single else views.n_features
    for name in ("feature_names_in_", "view_names_in_"):
        model.__dict__.pop(name, None)
    if isinstance(X, Mapping) and not views.single:
        model.view_names_in_ = list(X)
    if any(given is not None for given in names):
        model.feature_names_in_ = names[0] if views.single else names


def check_same_input(model: Any, X: Any, views: Views) -> None:
    """Raise ValueError unless views have the features that the model was fitted to."""
    caller, expected = type(model).__name__, model.n_features_in_
    if len(views.arrays) != model.n_views_in_:
        raise ValueError(
            f"X has {len(views.arrays)} views, but {caller} is expecting {model.n_views_in_} views."
        )
    for name, given, fitted in zip(views.names, views.n_features, per_view(expected), strict=True):
        check_same_n_features(name, given, fitted, caller)
    known = getattr(model, "feature_names_in_", (None,) * model.n_views_in_)
    all_names = zip(views.names, feature_names_of(X), per_view(known), strict=True)
    for name, given_names, names_of_fit in all_names:
        check_same_names(name, given_names, names_of_fit)


def view_names(model: Any) -> list[str]:
    """Return the names of the views that a model was fitted to, or "view 0", "view 1", …."""
    check_is_fitted(model, "result_")
    names = getattr(model, "view_names_in_", None)
    if names is None:
        return [f"view {position}" for position in range(model.n_views_in_)]
    return [str(name) for name in names]


def per_view(value: Any) -> tuple[Any, ...]:
    """Return a fitted attribute as a tuple with one value per view, also for a single view."""
    return value if isinstance(value, tuple) else (value,)


def check_same_n_features(name: str, given: int, fitted: int, caller: str) -> None:
    """Raise ValueError unless a view has the number of features that it had in the fit."""
    if given != fitted:
        raise ValueError(
            f"{name} has {given} features, but {caller} is expecting {fitted} features as input."
        )


def check_same_names(name: str, given: AnyArray | None, fitted: AnyArray | None) -> None:
    """Raise ValueError if feature names are known and differ from those of the fit."""
    if given is not None and fitted is not None and not np.array_equal(given, fitted):
        raise ValueError(
            f"The feature names of {name} should match those that were passed during fit, in the "
            "same order. Select them with view[names], where names are those of the fit."
        )


def feature_names_of(X: Any) -> FeatureNames:
    """Return the feature names of all views; raise TypeError for names of mixed types."""
    names, parts = name_views(X, is_one_view(X))
    return tuple(feature_names(part, name) for name, part in zip(names, parts, strict=True))


def add_index(output: Any, X: Any, model: Any) -> Any:
    """Return an output of ``transform`` with the sample ids as its index.

    ``set_output(transform="pandas")`` finds an index by itself only if there is one frame.
    """
    if _get_output_config("transform", model)["dense"] != "pandas":
        return output
    index = sample_ids(name_views(X, is_one_view(X))[1])
    if index is None:
        return output
    import pandas as pd  # installed, because the index is a pandas index

    return pd.DataFrame(np.asarray(output), index=index)
