"""How far a fit has come: for a callback, and through the standard logging module for ``verbose``."""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from viewspan._utils.linalg import NumericalError
from viewspan.fit.callbacks import Tasks
from viewspan.solvers.result import Callback, Check

logger = logging.getLogger("viewspan")

OFTEN = 0.1
"""Seconds between two calls of the callback, at least."""
SELDOM = 5.0
"""Seconds between two lines of the log."""
WORK = {
    "": "the parameters",
    "reading": "the views and their singular values",
    "solving": "for the coefficients",
    "comparing": "the graph of the samples, and its cut",
    "labelling": "the samples by landmarks",
}
"""What the stages do."""


class Progress(NamedTuple):
    """A look at a fit that is running.

    Attributes
    ----------
    stage : str
        What is being done: "reading", "solving", "comparing" (graphs, and their cut) or "labelling".
    share : float
        How much of the stage is done, from 0 to 1.
    elapsed : float
        Seconds since the fit began.
    remaining : float or None
        Seconds that the stage will still take, if it goes on as it did; None while that cannot be told.
    """

    stage: str
    share: float
    elapsed: float
    remaining: float | None


class Stages:
    """Counts what is done of one stage after the other, and tells whoever wants to know."""

    def __init__(
        self,
        callback: Callable[[Progress], None] | None = None,
        verbose: bool | int = False,
        tasks: Tasks | None = None,
    ) -> None:
        self.callback, self.verbose, self.tasks = callback, verbose, tasks
        self.start = time.perf_counter()
        self.name, self.total, self.done = "", 1, 0
        self.began = self.told = self.logged = self.start
        if verbose:
            listen()

    def begin(self, name: str, total: int = 1) -> None:
        self.name, self.total, self.done = name, max(total, 1), 0
        self.began = self.logged = time.perf_counter()
        if self.tasks is not None:
            self.tasks.begin(name, self.total)
        self._tell(force=True)

    def step(self, amount: int = 1) -> None:
        self.done += amount
        if self.tasks is not None:
            self.tasks.advance(min(self.done / self.total, 1.0))
        self._tell(force=self.done >= self.total)

    @property
    def on_check(self) -> Callback | None:
        """For the solver."""
        return self._check if self.verbose or self.tasks is not None else None

    @contextmanager
    def named(self, who: str) -> Iterator[None]:
        """An error of floating point says in which stage it came up."""
        try:
            yield
        except NumericalError as error:
            raise NumericalError(
                f"{who} failed while {self.name} ({WORK[self.name]}): {error}"
            ) from error

    def end(self) -> None:
        """The fit is done."""
        if self.tasks is not None:
            self.tasks.end()

    def _check(self, check: Check) -> None:
        if self.verbose:
            log_check(check)
        if self.tasks is not None:
            self.tasks.check(check)

    def _tell(self, *, force: bool) -> None:
        now = time.perf_counter()
        share = min(self.done / self.total, 1.0)
        remaining = (now - self.began) * (1.0 - share) / share if share > 0 else None
        progress = Progress(self.name, share, now - self.start, remaining)
        if self.callback is not None and (force or now - self.told >= OFTEN):
            self.told = now
            self.callback(progress)
        if self.verbose and (share in {0.0, 1.0} or now - self.logged >= SELDOM):
            self.logged = now
            log_progress(progress)


def listen() -> None:
    """Without a logging set-up of the user's, lines go to standard error."""
    if not logger.hasHandlers():
        logger.addHandler(logging.StreamHandler())
    if logger.getEffectiveLevel() > logging.INFO:
        logger.setLevel(logging.INFO)


def log_progress(progress: Progress) -> None:
    left = (
        ""
        if progress.remaining is None or progress.share == 1
        else f", {progress.remaining:.0f} s left"
    )
    logger.info(
        "%7.1f s  %-9s %3.0f %%%s", progress.elapsed, progress.stage, 100 * progress.share, left
    )


def log_check(check: Check) -> None:
    logger.info(
        "iteration %4d  objective %.6e  certified gap %.1e  directions %d",
        check.n_iter,
        check.objective,
        check.gap,
        check.n_directions,
    )
