"""Progress for scikit-learn's callbacks (1.9 or newer): a fit as a tree of tasks."""

from typing import Any

from viewspan._utils.sklearn_callbacks import has_callbacks
from viewspan.fit.progress import CallbackListener, Listener, LogListener, Progress, Stages
from viewspan.solvers.result import Check

MAX_PARTS = 100
"""Most parts of a stage that are reported."""


class TaskListener:
    """Listener that reports a fit as tasks: fit → stages → parts of a stage → checks.

    The numbers of stages and checks are not known in advance, which scikit-learn writes as
    ``max_subtasks=None``.
    """

    wants_checks = True

    def __init__(self, model: Any, X: Any = None, y: Any = None) -> None:
        self._model, self._data = model, {"X": X, "y": y}
        self._fit = model._init_callback_context(max_subtasks=None)
        self._fit.call_on_fit_task_begin(estimator=model, **self._data)
        self._stage: Any = None
        self._part: Any = None
        self._n_parts = self._n_done = 0

    def begin(self, stage: str, n_steps: int) -> None:
        self._end_stage()
        self._n_parts, self._n_done = min(n_steps, MAX_PARTS), 0
        self._stage = self._begin_task(self._fit, stage, max_subtasks=self._n_parts)

    def advance(self, progress: Progress) -> None:
        while self._n_done < int(progress.share * self._n_parts + 1e-9):
            name = f"{self._stage.task_name} part"
            self._end_task(self._part or self._begin_task(self._stage, name))
            self._part, self._n_done = None, self._n_done + 1

    def check(self, check: Check) -> None:
        """Report a check as a task within the solution, with its figures as metadata."""
        if self._part is None:
            self._part = self._begin_task(self._stage, "solution", max_subtasks=None)
        self._end_task(self._begin_task(self._part, "check"), metadata=check._asdict())

    def end(self) -> None:
        self._end_stage()
        self._fit.call_on_fit_task_end(
            estimator=self._model, reconstruction_attributes={}, **self._data
        )

    def _end_stage(self) -> None:
        if self._stage is not None:
            if self._part is not None:
                self._end_task(self._part)
            self._end_task(self._stage)
        self._stage = self._part = None

    def _begin_task(self, parent: Any, name: str, *, max_subtasks: int | None = 0) -> Any:
        task = parent.subcontext(task_name=name, max_subtasks=max_subtasks)
        return task.call_on_fit_task_begin(estimator=self._model)

    def _end_task(self, task: Any, metadata: dict[str, Any] | None = None) -> None:
        task.call_on_fit_task_end(estimator=self._model, metadata=metadata)


def stages_for(model: Any, X: Any = None, y: Any = None) -> Stages:
    """Return the stages of a fit with all listeners that the estimator has.

    The caller must be decorated with :func:`with_callbacks`.
    """
    listeners: list[Listener] = []
    if model.verbose:
        listeners.append(LogListener())
    if model.callback is not None:
        listeners.append(CallbackListener(model.callback))
    if has_callbacks(model):
        listeners.append(TaskListener(model, X, y))
    return Stages(listeners)
