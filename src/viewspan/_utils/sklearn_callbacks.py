"""scikit-learn's callbacks (1.9 or newer), and stand-ins for older versions."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as sklearn_with_callbacks
except ModuleNotFoundError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in for scikit-learn's mixin, without ``set_callbacks``."""

    sklearn_with_callbacks = None

__all__ = ["CallbackSupportMixin", "has_callbacks", "single_task", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Decorate a fit so that callbacks are torn down also if it fails."""
    return method if sklearn_with_callbacks is None else sklearn_with_callbacks(method)


def has_callbacks(model: Any) -> bool:
    """Return whether ``set_callbacks`` was called on an estimator."""
    return bool(getattr(model, "_skl_callbacks", None))


@contextmanager
def single_task(model: Any, X: Any, y: Any) -> Iterator[None]:
    """Report a fit without parts, for estimators that only pass data on."""
    if not has_callbacks(model):
        yield
        return
    task = model._init_callback_context(max_subtasks=0)
    task.call_on_fit_task_begin(estimator=model, X=X, y=y)
    yield
    task.call_on_fit_task_end(estimator=model, reconstruction_attributes={}, X=X, y=y)
