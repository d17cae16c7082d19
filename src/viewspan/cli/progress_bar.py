"""Progress bar for a fit in the terminal."""

from types import TracebackType
from typing import Self

from rich import progress
from rich.console import Console

from viewspan.fit.progress import Progress


class ProgressBar:
    """Callback for estimators that shows one bar per stage of the fit."""

    def __init__(self, console: Console) -> None:
        self.bar = progress.Progress(
            progress.TextColumn("{task.description:<10}"),
            progress.BarColumn(bar_width=32),
            progress.TaskProgressColumn(),
            progress.TextColumn("[dim]{task.fields[time]}"),
            console=console,
        )
        self.tasks: dict[str, progress.TaskID] = {}

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

    def __call__(self, now: Progress) -> None:
        if now.stage not in self.tasks:
            self.tasks[now.stage] = self.bar.add_task(now.stage, total=1.0, time="")
        time = f"{now.remaining:.0f} s left" if now.remaining else f"after {now.elapsed:.0f} s"
        self.bar.update(self.tasks[now.stage], completed=now.share, time=time)
