"""Progress of a fit, reported to a callback, the log and scikit-learn's callbacks."""

import logging
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

from viewspan._utils.linalg import NumericalError
from viewspan.solvers.result import Callback, Check

logger = logging.getLogger("viewspan")

CALLBACK_INTERVAL = 0.1
"""Fewest seconds between two calls of the callback within a stage."""
LOG_INTERVAL = 5.0
"""Fewest seconds between two lines of the log within a stage."""
STAGES = {
    "preparing": "the parameters and the reduction",
    "reading": "the views and their singular values",
    "solving": "for the coefficients",
    "comparing": "the graph of the samples, and its cut",
    "labelling": "the samples by landmarks",
}
"""Description of every stage, for messages."""


class Progress(NamedTuple):
    """Progress of a running fit.

    Attributes
    ----------
    stage : str
        "reading", "solving", "comparing" (building and cutting graphs) or "labelling"; "drawing
        the report" in :func:`viewspan.report.html_report`.
    share : float
        Share of the stage that is done, from 0 to 1.
    elapsed : float
        Seconds since the fit, or the report, began.
    remaining : float or None
        Estimated seconds until the stage ends; None at its beginning.
    """

    stage: str
    share: float
    elapsed: float
    remaining: float | None


class Listener(Protocol):
    """Anything that is notified of the progress of a fit."""

    wants_checks: bool
    """Whether the solver's checks are passed on."""

    def begin(self, stage: str, n_steps: int) -> None:
        """Take note that a stage begins."""

    def advance(self, progress: Progress) -> None:
        """Take note of progress; called at the beginning of a stage and after every step."""

    def check(self, check: Check) -> None:
        """Take note of a check of the solver."""

    def end(self) -> None:
        """Take note that the fit has ended."""


class Stages:
    """The stages of one fit. They count what is done and notify all listeners."""

    def __init__(self, listeners: Sequence[Listener] = ()) -> None:
        self._listeners = listeners
        self._start = self._stage_start = time.perf_counter()
        self._name, self._n_steps, self._n_done = "preparing", 1, 0

    def begin(self, name: str, n_steps: int = 1) -> None:
        """Begin a stage of so many steps."""
        self._name, self._n_steps, self._n_done = name, max(n_steps, 1), 0
        self._stage_start = time.perf_counter()
        for listener in self._listeners:
            listener.begin(name, self._n_steps)
        self._notify()

    def step(self, amount: int = 1) -> None:
        """Count steps that are done."""
        self._n_done += amount
        self._notify()

    def end(self) -> None:
        """End the fit."""
        for listener in self._listeners:
            listener.end()

    @property
    def on_check(self) -> Callback | None:
        """The callback for the solver, or None if no listener needs its checks."""
        return self._check if any(listener.wants_checks for listener in self._listeners) else None

    @contextmanager
    def named_in_errors(self, method: str) -> Iterator[None]:
        """Add the stage to the message of a numerical error."""
        try:
            yield
        except NumericalError as error:
            raise NumericalError(
                f"{method} failed while {self._name} ({STAGES[self._name]}): {error}"
            ) from error

    def _check(self, check: Check) -> None:
        for listener in self._listeners:
            if listener.wants_checks:
                listener.check(check)

    def _notify(self) -> None:
        now = time.perf_counter()
        share = min(self._n_done / self._n_steps, 1.0)
        remaining = (now - self._stage_start) * (1.0 - share) / share if share > 0 else None
        progress = Progress(self._name, share, now - self._start, remaining)
        for listener in self._listeners:
            listener.advance(progress)


class CallbackListener:
    """Listener that calls the ``callback`` of an estimator."""

    wants_checks = False

    def __init__(self, callback: Callable[[Progress], None]) -> None:
        self._callback = callback
        self._last_call = 0.0

    def begin(self, stage: str, n_steps: int) -> None:
        self._last_call = 0.0

    def advance(self, progress: Progress) -> None:
        now = time.perf_counter()
        if progress.share == 1.0 or now - self._last_call >= CALLBACK_INTERVAL:
            self._last_call = now
            self._callback(progress)

    def check(self, check: Check) -> None:
        pass

    def end(self) -> None:
        pass


class LogListener:
    """Listener that logs progress and the solver's checks, for ``verbose``."""

    wants_checks = True

    def __init__(self) -> None:
        self._last_line = 0.0
        if not logger.hasHandlers():  # the user has not set up logging: write to standard error
            logger.addHandler(logging.StreamHandler())
        if logger.getEffectiveLevel() > logging.INFO:
            logger.setLevel(logging.INFO)

    def begin(self, stage: str, n_steps: int) -> None:
        self._last_line = time.perf_counter()

    def advance(self, progress: Progress) -> None:
        now = time.perf_counter()
        if progress.share in {0.0, 1.0} or now - self._last_line >= LOG_INTERVAL:
            self._last_line = now
            logger.info("%s", progress_line(progress))

    def check(self, check: Check) -> None:
        logger.info(
            "iteration %4d  objective %.6e  certified gap %.1e  directions %d",
            check.n_iter,
            check.objective,
            check.gap,
            check.n_directions,
        )

    def end(self) -> None:
        pass


def progress_line(progress: Progress) -> str:
    """Return one line of the log."""
    line = f"{progress.elapsed:7.1f} s  {progress.stage:<9} {100 * progress.share:3.0f} %"
    if progress.remaining is None or progress.share == 1:
        return line
    return f"{line}, {progress.remaining:.0f} s left"
