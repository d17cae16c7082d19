"""An estimator is fitted as a whole or not at all, whatever stops a fit and whenever.

A signal is heard between any two steps of Python, so attributes are put in place, or taken away, in one.
"""

import functools
from collections.abc import Callable
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])

OURS = {"_fit", "_arrived"}
"""What a fit leaves beside the attributes that scikit-learn knows by the line at their end."""


def fits_whole(method: Method) -> Method:
    """A fit that does not reach its end, for an error or Ctrl-C, leaves the estimator unfitted: also one that was
    fitted before, whose attributes would not be those of its parameters.
    """

    @functools.wraps(method)
    def fit(model: Any, *given: Any, **named: Any) -> Any:
        try:
            forget(model)
            return method(model, *given, **named)
        except BaseException:
            forget(model)
            raise

    return cast("Method", fit)


def forget(model: Any) -> None:
    """Nothing was ever fitted."""
    model.__dict__ = {name: value for name, value in vars(model).items() if not is_found(name)}


def become(model: Any, done: Any) -> None:
    """What a copy of the model has become, in one step."""
    model.__dict__ = dict(vars(done))


def is_found(name: str) -> bool:
    """By a fit, and no parameter."""
    return name in OURS or (name.endswith("_") and not name.startswith("_"))
