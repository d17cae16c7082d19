"""Run studies: every trial once, in parallel, each stored as soon as it is finished."""

import contextlib
import os
import signal
import threading
import warnings
from collections.abc import Iterable, Iterator, Sequence
from numbers import Integral
from pathlib import Path
from typing import Protocol

import joblib
import pandas as pd
from sklearn.utils.validation import check_scalar

from viewspan._utils.files import remove_stale_temporaries
from viewspan.studies.manifest import Manifest
from viewspan.studies.settings import describe_study
from viewspan.studies.store import TrialStore
from viewspan.studies.study import Study
from viewspan.studies.trial import Row, run_trial

TrialTask = tuple[Study, int]
"""A study and the number of one of its trials."""

IDLE_WORKER_SECONDS = 20
"""Seconds after which an idle worker process ends, also if its parent process was killed."""


class Observer(Protocol):
    """Receiver of the progress of a run, for instance a progress bar."""

    def begin(self, total: int, done: int) -> None: ...
    def started(self, study: str, trial: int) -> None: ...
    def finished(self, study: str, trial: int) -> None: ...


class SilentObserver:
    """Observer that does nothing."""

    def begin(self, total: int, done: int) -> None: ...
    def started(self, study: str, trial: int) -> None: ...
    def finished(self, study: str, trial: int) -> None: ...


def run(
    studies: Study | Sequence[Study],
    out: str | Path,
    *,
    trials: int = 50,
    seed: int = 0,
    jobs: int = -1,
    observer: Observer | None = None,
) -> pd.DataFrame:
    """Run the trials that are missing in a folder, and return all results of the folder.

    Parameters
    ----------
    studies : Study or sequence of Study
        Studies to run.
    out : path
        Folder for finished trials. After an interruption, the same call continues where the first
        one stopped. Trials with other settings (data, methods, seed, versions) are stored
        separately.
    trials : int
        Number of trials. In each trial, the data are drawn anew. A later call with a larger number
        runs only the additional trials.
    seed : int
        Random seed, from which the seed of every trial is derived.
    jobs : int
        Number of trials that run in parallel; -1 for one per core.
    observer : optional
        Object with the methods ``begin``, ``started`` and ``finished``, which are called as trials
        start and finish.

    Returns
    -------
    pandas.DataFrame
        One row per study, trial, noise level and method, for every study that was run into this
        folder, with the settings of its latest run.
    """
    studies = [studies] if isinstance(studies, Study) else list(studies)
    for name, value, least in (("trials", trials, 1), ("seed", seed, 0)):
        check_scalar(value, name, Integral, min_val=least)
    check_scalar(jobs, "jobs", Integral)
    if jobs == 0:
        raise ValueError(
            "jobs must be the number of trials that run in parallel, or -1 for one per core. "
            "Got 0 instead."
        )
    names = [study.name for study in studies]
    if len(set(names)) < len(names):
        raise ValueError(f"Studies must have different names. Got {names} instead.")
    out, trials, seed = Path(out), int(trials), int(seed)
    stores = {study.name: TrialStore(out, describe_study(study, seed)) for study in studies}
    _run_missing(studies, stores, trials, seed, int(jobs), observer or SilentObserver())
    manifest = Manifest(out)
    for name in names:
        manifest.record(name, trials, stores[name].folder)
    for folder in (out, out / "trials", *(store.folder for store in stores.values())):
        remove_stale_temporaries(folder)
    return manifest.results(names)


def _run_missing(
    studies: list[Study],
    stores: dict[str, TrialStore],
    trials: int,
    seed: int,
    jobs: int,
    observer: Observer,
) -> None:
    # Alternating between the studies makes the estimate of the remaining time more accurate.
    wanted = [(study, trial) for trial in range(trials) for study in studies]
    missing = [(study, trial) for study, trial in wanted if stores[study.name].read(trial) is None]
    observer.begin(len(wanted), len(wanted) - len(missing))
    if not missing:
        return
    parallel = joblib.Parallel(
        n_jobs=jobs,
        return_as="generator_unordered",
        batch_size=1,
        # No job is dispatched before a worker is free, so the observer sees what really runs.
        pre_dispatch="n_jobs",
        idle_worker_timeout=IDLE_WORKER_SECONDS,
    )
    with _ignored_interrupts(), _silent_resource_tracker():
        stream = parallel(_dispatch(missing, seed, observer))
    try:
        for study_name, trial, rows in stream:
            stores[study_name].write(trial, rows)
            observer.finished(study_name, trial)
    except BaseException:
        with warnings.catch_warnings():
            # joblib warns that it cancels the running jobs.
            warnings.simplefilter("ignore", UserWarning)
            stream.close()
        raise


@contextlib.contextmanager
def _ignored_interrupts() -> Iterator[None]:
    """Ignore SIGINT while worker processes start, so that they inherit this.

    Ctrl-C reaches every process of the terminal. Workers would print a traceback; they ignore it
    instead, and this process ends them.
    """
    # Only the main thread may change signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


@contextlib.contextmanager
def _silent_resource_tracker() -> Iterator[None]:
    """Hide the warnings of joblib's resource tracker, a process that inherits this variable.

    If Ctrl-C cancels a run, the tracker may warn that a temporary folder is removed already.
    """
    before = os.environ.get("PYTHONWARNINGS")
    hidden = "ignore:resource_tracker:UserWarning"
    os.environ["PYTHONWARNINGS"] = hidden if before is None else f"{before},{hidden}"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before


def _dispatch(missing: Iterable[TrialTask], seed: int, observer: Observer) -> Iterator[object]:
    """Yield the jobs, and tell the observer that a job starts when joblib takes it."""
    for study, trial in missing:
        observer.started(study.name, trial)
        yield joblib.delayed(_run_job)(study, trial, seed, os.getpid())


def _run_job(study: Study, trial: int, seed: int, parent: int) -> tuple[str, int, list[Row]]:
    if os.getpid() != parent:
        # joblib may start workers later, when SIGINT is no longer ignored.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return study.name, trial, run_trial(study, trial, seed)
