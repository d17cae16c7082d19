"""A progress bar in the terminal: what runs, how much is done, how long is left."""

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
    """An observer for :func:`viewspan.studies.run`; in a pipe or a file, a line per tenth of the work instead."""

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
            self.console.print(f"{done} of {total} trials are there already.")
        self.bar.reset(self.task, total=total, completed=done)

    def started(self, study: str, trial: int) -> None:
        self.running.append(f"{study} {trial + 1}")
        self._show()

    def finished(self, study: str, trial: int) -> None:
        self.running.remove(f"{study} {trial + 1}")
        self.done += 1
        self.bar.advance(self.task)
        self._show()
        if (
            not self.console.is_terminal
            and (10 * self.done) // self.total > (10 * (self.done - 1)) // self.total
        ):
            self.console.print(f"{self.done} of {self.total} trials finished.")

    def _show(self) -> None:
        self.bar.update(
            self.task, description="running " + ", ".join(self.running) if self.running else ""
        )
