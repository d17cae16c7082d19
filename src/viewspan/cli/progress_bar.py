"""A fit in the terminal: the stage, how much of it is done, how long it will take."""

from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

from viewspan.fit.progress import Progress as Look


class ProgressBar:
    """A callback for the estimators."""

    def __init__(self, console: Console) -> None:
        self.bar = Progress(
            TextColumn("{task.description:<10}"),
            BarColumn(bar_width=32),
            TaskProgressColumn(),
            TextColumn("[dim]{task.fields[left]}"),
            console=console,
        )
        self.tasks: dict[str, int] = {}

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

    def __call__(self, look: Look) -> None:
        if look.stage not in self.tasks:
            self.tasks[look.stage] = self.bar.add_task(look.stage, total=1.0, left="")
        left = f"{look.remaining:.0f} s left" if look.remaining else f"after {look.elapsed:.0f} s"
        self.bar.update(self.tasks[look.stage], completed=look.share, left=left)  # type: ignore[arg-type]
