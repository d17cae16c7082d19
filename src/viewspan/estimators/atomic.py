"""Make a fit atomic: the estimator is fitted as a whole, or not at all.

A signal can arrive between any two steps of Python, so attributes are set, or removed, in one step.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])

PRIVATE_STATE = {"_state", "_batches"}
"""Private attributes that a fit leaves, beside those with a trailing underscore."""


def atomic_fit(method: Method) -> Method:
    """Decorate a fit so that an error or an interrupt leaves the estimator unfitted.

    This also holds for an estimator that was fitted before, whose attributes would no longer
    belong to its parameters.
    """

    @functools.wraps(method)
    def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            remove_fitted(model)
            return method(model, *args, **kwargs)
        except BaseException:
            remove_fitted(model)
            raise

    return cast("Method", fit)


def remove_fitted(model: Any) -> None:
    """Remove all fitted attributes in one step."""
    attributes = vars(model).items()
    model.__dict__ = {name: value for name, value in attributes if not is_fitted_name(name)}


def replace_attributes(model: Any, source: Any) -> None:
    """Give a model all attributes of another one in one step."""
    model.__dict__ = dict(vars(source))


def is_fitted_name(name: str) -> bool:
    """Return whether an attribute is set by a fit."""
    return name in PRIVATE_STATE or (name.endswith("_") and not name.startswith("_"))
