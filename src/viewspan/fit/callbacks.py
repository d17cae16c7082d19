"""scikit-learn's callbacks, which it has since 1.9: a fit as a tree of tasks, for its progress bar and others.

Without them, nothing here does anything.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from viewspan.solvers.result import Check

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as managed
except ModuleNotFoundError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No ``set_callbacks``."""

    managed = None

__all__ = ["CallbackSupportMixin", "Tasks", "tasks_of", "with_callbacks"]

Method = TypeVar("Method", bound=Callable[..., Any])
PARTS = 100
"""Of a stage, at most; samples are counted in so many."""


class Tasks:
    """fit → stages → their parts → the solver's checks, each begun and ended in its turn.

    How many stages there will be, and how many checks, is not known in advance, which scikit-learn writes as
    ``max_subtasks=None``.
    """

    def __init__(self, model: Any, X: Any, y: Any, n_stages: int | None = None) -> None:
        self.model, self.given = model, {"X": X, "y": y}
        self.fit = model._init_callback_context(max_subtasks=n_stages)
        self.fit.call_on_fit_task_begin(estimator=model, **self.given)
        self.stage: Any = None
        self.part: Any = None
        self.n_parts = self.n_done = 0

    def begin(self, name: str, total: int) -> None:
        self._end_stage()
        self.n_parts, self.n_done = min(total, PARTS), 0
        self.stage = self._begin(self.fit, name, max_subtasks=self.n_parts)

    def advance(self, share: float) -> None:
        """So much of the stage is done."""
        while self.n_done < int(share * self.n_parts + 1e-9):
            self._end(self.part or self._begin(self.stage, f"{self.stage.task_name} part"))
            self.part, self.n_done = None, self.n_done + 1

    def check(self, check: Check) -> None:
        """A part that is one solution, and within it a check, whose figures callbacks find as metadata."""
        if self.part is None:
            self.part = self._begin(self.stage, "solution", max_subtasks=None)
        self._end(self._begin(self.part, "check"), metadata=check._asdict())

    def end(self) -> None:
        self._end_stage()
        self.fit.call_on_fit_task_end(
            estimator=self.model, reconstruction_attributes={}, **self.given
        )

    def _end_stage(self) -> None:
        if self.stage is not None:
            if self.part is not None:
                self._end(self.part)
            self._end(self.stage)
        self.stage = self.part = None

    def _begin(self, parent: Any, name: str, *, max_subtasks: int | None = 0) -> Any:
        task = parent.subcontext(task_name=name, max_subtasks=max_subtasks)
        return task.call_on_fit_task_begin(estimator=self.model)

    def _end(self, task: Any, metadata: dict[str, Any] | None = None) -> None:
        task.call_on_fit_task_end(estimator=self.model, metadata=metadata)


def with_callbacks(method: Method) -> Method:
    """Callbacks are told of the end of a fit also where it fails."""
    return method if managed is None else managed(method)


def tasks_of(
    model: Any, X: Any = None, y: Any = None, *, n_stages: int | None = None
) -> Tasks | None:
    """Only where somebody listens. The caller is decorated with :func:`with_callbacks`."""
    return Tasks(model, X, y, n_stages) if getattr(model, "_skl_callbacks", None) else None
