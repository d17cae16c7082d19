"""Ctrl-C or an error at any moment of a fit leaves an unfitted estimator and no threads."""

import functools
import inspect
import os
import signal
import sys
import threading
import time
from copy import copy

import dask.array
import joblib
import numpy as np
import psutil
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted
from threadpoolctl import threadpool_limits

from tests.problems import random_views, two_subspaces
from tests.utils.test_threads import blas_threads
from viewspan import CLRSC, LRR, MLAP, SSC
from viewspan._utils.threads import OneThread, map_views, threads_for
from viewspan.estimators import atomic

VIEWS, _ = two_subspaces()
OTHER_VIEWS, _ = two_subspaces(seed=1)
LANDMARKS = {"graph": "landmarks", "n_landmarks": 10}
N_MOMENTS = 12
"""Number of moments at which every fit is interrupted."""


def fitted_attributes(model):
    return {name for name in vars(model) if atomic.is_fitted_name(name)}


class Moments:
    """Count moments of a computation, and act at one of them.

    Moments are calls of viewspan's functions. With ``steps_in``, they are single steps of the
    interpreter in these code objects. With ``signals_in``, they are the moments in these modules
    at which the interpreter checks for signals.
    """

    def __init__(self, act=None, at=-1, steps_in=(), signals_in=()):
        self.act, self.at, self.count = act, at, 0
        self.steps_in, self.signals_in, self.former_trace = steps_in, signals_in, sys.gettrace()

    def __enter__(self):
        if self.steps_in:
            sys.settrace(self.step)
        else:
            sys.setprofile(self.signal_check if self.signals_in else self.call)
        return self

    def __exit__(self, *exception):
        sys.setprofile(None)
        sys.settrace(self.former_trace)  # restores another tracer, such as that of coverage

    def call(self, frame, event, _):
        # Python ignores what is raised while it closes a generator that was not exhausted
        is_generator = frame.f_code.co_flags & inspect.CO_GENERATOR
        in_viewspan = frame.f_globals.get("__name__", "").startswith("viewspan")
        if event == "call" and in_viewspan and not is_generator:
            self.tick()

    def signal_check(self, frame, event, _):
        """Count the start of a function, and the end of one that is not written in Python."""
        if event in {"call", "c_return"} and frame.f_globals.get("__name__") in self.signals_in:
            self.tick()

    def step(self, frame, event, _):
        if frame.f_code not in self.steps_in:
            return None
        frame.f_trace = self.step  # from Python 3.13 on, needed to trace the next step
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode":
            self.tick()
        return self.step

    def tick(self):
        self.count += 1
        if self.count == self.at:
            sys.setprofile(None)
            sys.settrace(None)
            self.act()


def ctrl_c():
    signal.raise_signal(signal.SIGINT)


def fail():
    raise FloatingPointError("an error at any moment")


ACTIONS = {
    "CLRSC": (CLRSC(2, random_state=0), lambda model: model.fit(VIEWS)),
    "LRR, fit_predict": (LRR(2, random_state=0), lambda model: model.fit_predict(VIEWS)),
    "SSC": (SSC(2, random_state=0, tol=0.1), lambda model: model.fit(VIEWS)),
    "MLAP": (MLAP(2, random_state=0, tol=0.1), lambda model: model.fit(VIEWS)),
    "landmarks": (CLRSC(2, random_state=0, **LANDMARKS), lambda model: model.fit(VIEWS)),
    "Dask": (
        CLRSC(2, random_state=0, **LANDMARKS),
        lambda model: model.fit([dask.array.from_array(view, chunks=(10, -1)) for view in VIEWS]),
    ),
}


@pytest.mark.parametrize("act", [ctrl_c, fail])
@pytest.mark.parametrize("name", ACTIONS)
def test_a_fit_that_is_stopped_at_any_moment_leaves_the_estimator_unfitted(name, act):
    """An estimator that was fitted before loses its attributes, too."""
    unfitted, action = ACTIONS[name]
    fitted = clone(unfitted).fit(OTHER_VIEWS)
    with Moments() as counter:
        action(copy(fitted))
    # in fits with Dask, other threads make some of the calls
    last = counter.count // 2 if name == "Dask" else counter.count
    for at in np.random.default_rng(0).integers(2, last, N_MOMENTS, endpoint=True):
        model = copy(fitted)
        with pytest.raises((KeyboardInterrupt, FloatingPointError)), Moments(act, at):
            action(model)
        assert not fitted_attributes(model)
        with pytest.raises(NotFittedError):
            check_is_fitted(model)
        with pytest.raises(NotFittedError):
            model.predict(VIEWS)


def test_a_fit_with_invalid_parameters_removes_fitted_attributes():
    model = LRR(2, random_state=0).fit(VIEWS)
    with pytest.raises(ValueError, match="lam"):
        model.set_params(lam=-1.0).fit(VIEWS)
    assert not fitted_attributes(model)


def test_between_any_two_steps_of_the_interpreter_a_model_is_fitted_or_not():
    """The attributes are never those of two fits, nor only some of one fit."""
    functions = [inspect.unwrap(LRR.fit), atomic.remove_fitted, atomic.replace_attributes]
    steps_in, model = [function.__code__ for function in functions], LRR(2, random_state=0)
    with Moments(steps_in=steps_in) as counter:
        model.fit(VIEWS)
    assert counter.count > 100
    for at in range(1, counter.count + 1):
        copied = copy(model)
        with pytest.raises(KeyboardInterrupt), Moments(ctrl_c, at, steps_in):
            copied.fit(OTHER_VIEWS)
        assert not fitted_attributes(copied)


def in_batches(n_batches):
    model = CLRSC(2, random_state=0)
    for start in range(n_batches):
        model.partial_fit([view[start::3] for view in VIEWS])
    return model


@pytest.mark.parametrize("state", ["a fit", "batches", "batches that were solved"])
def test_an_interrupted_batch_changes_nothing(state):
    def begin():
        model = CLRSC(2, random_state=0).fit(OTHER_VIEWS) if state == "a fit" else in_batches(2)
        return model.partial_fit() if state == "batches that were solved" else model

    batch, model = [view[2::3] for view in VIEWS], begin()
    with Moments() as counter:
        model.partial_fit(batch)
    for at in np.random.default_rng(0).integers(1, counter.count, N_MOMENTS):
        model = begin()
        before = dict(vars(model))
        with pytest.raises(KeyboardInterrupt), Moments(ctrl_c, at):
            model.partial_fit(batch)
        assert vars(model).keys() == before.keys() and all(
            vars(model)[name] is before[name] for name in before
        )


def test_batches_that_were_being_solved_can_be_solved_again():
    model, expected = in_batches(3), in_batches(3)
    with Moments() as counter:
        labels = expected.partial_fit().labels_
    for at in np.random.default_rng(0).integers(1, counter.count, N_MOMENTS):
        before = set(vars(model))
        with pytest.raises(KeyboardInterrupt), Moments(ctrl_c, at):
            model.partial_fit()
        assert set(vars(model)) == before
    np.testing.assert_array_equal(model.partial_fit().labels_, labels)


def test_a_prediction_that_is_interrupted_changes_nothing():
    model = CLRSC(2, random_state=0).fit(VIEWS)
    expected = model.predict(OTHER_VIEWS)
    with Moments() as counter:
        model.predict(OTHER_VIEWS)
    before = dict(vars(model))
    for at in np.random.default_rng(0).integers(1, counter.count, N_MOMENTS):
        with pytest.raises(KeyboardInterrupt), Moments(ctrl_c, at):
            model.predict(OTHER_VIEWS)
        assert vars(model).keys() == before.keys() and all(
            vars(model)[name] is before[name] for name in before
        )
    np.testing.assert_array_equal(model.predict(OTHER_VIEWS), expected)


@pytest.mark.parametrize("use", [lambda: threads_for(2, 500), OneThread], ids=["views", "BLAS"])
def test_blas_gets_its_threads_back_whenever_a_signal_comes(use):
    """The next fit does not use threads that have ended."""
    signals_in = {"viewspan._utils.threads", "contextlib", "threadpoolctl"}

    def fit():
        with use():
            assert map_views(abs, [-1, -2]) == [1, 2]

    with threadpool_limits(2):
        allowed = blas_threads()
        fit()  # the first call searches for the libraries
        with Moments(signals_in=signals_in) as counter:
            fit()
        assert counter.count > 10
        for at in range(1, counter.count + 1):
            with pytest.raises(KeyboardInterrupt), Moments(ctrl_c, at, signals_in=signals_in):
                fit()
            assert blas_threads() == allowed
            fit()


@pytest.mark.parametrize(
    ("model", "views"),
    [
        (CLRSC(3, lam=0.3, tau=1.0), random_views(0, (120, 130), 200)),
        (CLRSC(2, **LANDMARKS), random_views(1, (3, 4), 2**17)),
    ],
    ids=["one per view", "one per block"],
)
def test_threads_end_with_the_fit(model, views, monkeypatch):
    """BLAS also gets its number of threads back."""
    started, start = [], threading.Thread.start

    def start_and_interrupt(thread):
        started.append(thread)
        start(thread)
        if len(started) == 1:
            ctrl_c()

    with threadpool_limits(2):
        allowed = blas_threads()
        monkeypatch.setattr(threading.Thread, "start", start_and_interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(views)
        monkeypatch.undo()
        for thread in started:
            thread.join(60)  # the fit was interrupted before it stored the first thread
        assert started and not any(thread.is_alive() for thread in started)
        assert blas_threads() == allowed
    assert not fitted_attributes(model)


def endless(flag, _):
    """Create a file when a fit has started, and never let the fit end: a callback."""
    flag.touch()
    threading.Event().wait()


def test_ctrl_c_ends_fits_in_other_processes(tmp_path):
    models = [
        CLRSC(2, callback=functools.partial(endless, tmp_path / str(seed))) for seed in range(2)
    ]

    def interrupt_when_both_fit():
        while len(list(tmp_path.iterdir())) < 2:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    watcher = threading.Thread(target=interrupt_when_both_fit)
    watcher.start()
    this_process = psutil.Process()
    before = set(this_process.children())
    with pytest.raises(KeyboardInterrupt):
        joblib.Parallel(n_jobs=2)(joblib.delayed(model.fit)(VIEWS) for model in models)
    watcher.join()
    deadline = time.monotonic() + 120
    while any(is_worker(process) for process in set(this_process.children()) - before):
        assert time.monotonic() < deadline, "workers are left"
        time.sleep(0.01)


def is_worker(process):
    """Return whether a process is one of joblib's and still runs."""
    try:
        return "LokyProcess" in " ".join(process.cmdline())
    except psutil.NoSuchProcess:  # it has ended or is a zombie
        return False
