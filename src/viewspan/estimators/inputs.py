"""The views that an estimator was fitted to: how many features they had, and their names."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils._set_output import _get_output_config

from viewspan._utils.typing import AnyArray
from viewspan.inputs.frames import feature_names
from viewspan.inputs.sample_ids import sample_ids
from viewspan.inputs.views import Views, is_one_view, name_views

Names = tuple[AnyArray | None, ...]
"""Of the features of every view; None for views without."""


def remember_input(model: Any, X: Any, views: Views, names: Names) -> None:
    """Numbers and names of features: of one view as scikit-learn has them, of several in a tuple."""
    model.n_views_in_ = len(views.arrays)
    model.n_features_in_ = views.n_features[0] if views.single else views.n_features
    for name in ("feature_names_in_", "view_names_in_"):
        model.__dict__.pop(name, None)
    if isinstance(X, Mapping) and not views.single:
        model.view_names_in_ = list(X)
    if any(given is not None for given in names):
        model.feature_names_in_ = names[0] if views.single else names


def check_same_input(model: Any, X: Any, views: Views) -> None:
    """The same views with the same features as then."""
    caller, expected = type(model).__name__, model.n_features_in_
    if len(views.arrays) != model.n_views_in_:
        raise ValueError(
            f"X has {len(views.arrays)} views, but {caller} is expecting {model.n_views_in_} views."
        )
    fitted_features = (expected,) if isinstance(expected, int) else expected
    for name, given, fitted in zip(views.names, views.n_features, fitted_features, strict=True):
        check_same_number(name, given, fitted, caller)
    known = getattr(model, "feature_names_in_", (None,) * model.n_views_in_)
    fitted_names = known if isinstance(known, tuple) else (known,)
    for name, given_names, names_then in zip(
        views.names, all_feature_names(X), fitted_names, strict=True
    ):
        check_same_names(name, given_names, names_then)


def check_same_number(name: str, given: int, fitted: int, caller: str) -> None:
    if given != fitted:
        raise ValueError(
            f"{name} has {given} features, but {caller} is expecting {fitted} features as input."
        )


def check_same_names(name: str, given: AnyArray | None, fitted: AnyArray | None) -> None:
    """Where both are known."""
    if given is not None and fitted is not None and not np.array_equal(given, fitted):
        raise ValueError(
            f"The feature names of {name} should match those that were passed during fit, in the same order; "
            "take view[names] with the names of then."
        )


def all_feature_names(X: Any) -> Names:
    """An error where they are unclear; so it is asked before the work."""
    names, parts = name_views(X, is_one_view(X))
    return tuple(feature_names(part, name) for name, part in zip(names, parts, strict=True))


def with_index(output: Any, X: Any, model: Any) -> Any:
    """Rows for :meth:`set_output`, called as the samples are; scikit-learn looks for an index in one frame only."""
    if _get_output_config("transform", model)["dense"] != "pandas":
        return output
    index = sample_ids(name_views(X, is_one_view(X))[1])
    if index is None:
        return output
    import pandas as pd  # an index has come from there

    return pd.DataFrame(np.asarray(output), index=index)
