"""Progress bar in the terminal for studies."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)


class ProgressBar:
    """Observer for :func:`viewspan.studies.run` that shows a progress bar.

    The bar shows the running trials, the number of finished ones and the remaining time. If the
    output is not a terminal, one line is printed for each tenth of the work instead.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console = console or Console(stderr=True)
        self.running: list[str] = []
        self.total = self.done = 0
        self.bar = Progress(
            TextColumn("trials"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("after"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.description}"),
            console=console,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("", total=None)

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.bar.stop()

    def begin(self, total: int, done: int) -> None:
        self.total, self.done = total, done
        if done:
            self.console.print(f"{done} of {total} trials are already finished.")
        self.bar.reset(self.task, total=total, completed=done)

    def started(self, study: str, trial: int) -> None:
        self.running.append(f"{study} {trial + 1}")
        self._show_running()

    def finished(self, study: str, trial: int) -> None:
        self.running.remove(f"{study} {trial + 1}")
        self.done += 1
        self.bar.advance(self.task)
        self._show_running()
        tenths_before, tenths = (10 * done // self.total for done in (self.done - 1, self.done))
        if not self.console.is_terminal and tenths > tenths_before:
            self.console.print(f"{self.done} of {self.total} trials finished.")

    def _show_running(self) -> None:
        self.bar.update(
            self.task, description="running " + ", ".join(self.running) if self.running else ""
        )
