"""Run studies: every trial once, in parallel, each written as soon as it is finished."""

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

from viewspan._utils.files import sweep
from viewspan.studies.manifest import Manifest
from viewspan.studies.settings import describe_study
from viewspan.studies.store import TrialStore
from viewspan.studies.study import Study
from viewspan.studies.trial import Row, run_trial

Job = tuple[Study, int]

LONGEST_WAIT = 20
"""Seconds after which a worker without work goes away, also when the process that gave it work was killed."""


class Observer(Protocol):
    """Is told how a run goes on, for instance to draw a progress bar."""

    def begin(self, total: int, done: int) -> None: ...
    def started(self, study: str, trial: int) -> None: ...
    def finished(self, study: str, trial: int) -> None: ...


class Silent:
    """An observer that says nothing."""

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
    """Run the trials that are not there yet, and return the table of all results in the folder.

    Parameters
    ----------
    studies : Study or sequence of Study
    out : path
        The folder for finished trials. The same call goes on where an interrupted one stopped. Trials with other
        settings (data, methods, seed, versions) are kept apart, in a folder of their own.
    trials : int
        How many times the data is drawn. A larger number later runs only what is missing.
    seed : int
        Every trial's own seed follows from it.
    jobs : int
        Trials at the same time; -1 is one per core.
    observer : optional
        Is told which trials start and finish.

    Returns
    -------
    pandas.DataFrame
        One row per study, trial, noise level and method; of every study that was run into this folder, with
        the settings of its latest run.
    """
    studies = [studies] if isinstance(studies, Study) else list(studies)
    for name, value, least in (("trials", trials, 1), ("seed", seed, 0)):
        check_scalar(value, name, Integral, min_val=least)
    check_scalar(jobs, "jobs", Integral)
    if jobs == 0:
        raise ValueError(
            "jobs must be the number of trials at the same time, or -1 for one per core. Got 0 instead."
        )
    names = [study.name for study in studies]
    if len(set(names)) < len(names):
        raise ValueError(f"Studies must have different names. Got {names} instead.")
    out, trials, seed = Path(out), int(trials), int(seed)
    stores = {study.name: TrialStore(out, describe_study(study, seed)) for study in studies}
    _run_missing(studies, stores, trials, seed, int(jobs), observer or Silent())
    manifest = Manifest(out)
    for name in names:
        manifest.record(name, trials, stores[name].folder)
    for folder in (out, out / "trials", *(store.folder for store in stores.values())):
        sweep(folder)
    return manifest.results(names)


def _run_missing(
    studies: list[Study],
    stores: dict[str, TrialStore],
    trials: int,
    seed: int,
    jobs: int,
    observer: Observer,
) -> None:
    # Study after study within a trial, not trial after trial within a study: the time left is then well estimated.
    wanted = [(study, trial) for trial in range(trials) for study in studies]
    missing = [(study, trial) for study, trial in wanted if stores[study.name].read(trial) is None]
    observer.begin(len(wanted), len(wanted) - len(missing))
    if not missing:
        return
    parallel = joblib.Parallel(
        n_jobs=jobs,
        return_as="generator_unordered",
        batch_size=1,
        pre_dispatch="n_jobs",  # nothing is handed out ahead, so that what was handed out is what is running
        idle_worker_timeout=LONGEST_WAIT,
    )
    with _deaf_workers():
        stream = parallel(_announced(missing, seed, observer))
    try:
        for study_name, trial, rows in stream:
            stores[study_name].write(trial, rows)
            observer.finished(study_name, trial)
    except BaseException:
        with warnings.catch_warnings():
            warnings.simplefilter(
                "ignore", UserWarning
            )  # joblib's, that what is running is given up
            stream.close()
        raise


@contextlib.contextmanager
def _deaf_workers() -> Iterator[None]:
    """Ctrl-C reaches every process, and a worker would answer it with a traceback, even while it is starting: those
    started here do not hear it. The employer does, and ends them.
    """
    if (
        threading.current_thread() is not threading.main_thread()
    ):  # only that one may say what to do with signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # which is inherited
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _announced(missing: Iterable[Job], seed: int, observer: Observer) -> Iterator[object]:
    for study, trial in missing:
        observer.started(study.name, trial)
        yield joblib.delayed(_work)(study, trial, seed, os.getpid())


def _work(study: Study, trial: int, seed: int, employer: int) -> tuple[str, int, list[Row]]:
    if os.getpid() != employer:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # for workers that were started later
    return study.name, trial, run_trial(study, trial, seed)
