"""Ctrl-C and its kin: what a process does that is asked to stop.

SIGTERM, which ``kill``, ``timeout`` and shutdowns send, and SIGHUP of a terminal that closes are heard as Ctrl-C is:
what is half done is taken away, and the exit code, 128 and the signal's number, says which it was.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
HEARD = [
    getattr(signal, name) for name in NAMES if hasattr(signal, name)
]  # there is no SIGHUP on Windows

_received: list[int] = []


class Stopped(KeyboardInterrupt):
    """Somebody asked the process to stop."""


def code_of(signum: int) -> int:
    """The exit code by which shells know it."""
    return 128 + signum


def received() -> int | None:
    """The exit code for the signal that has come; None if none has. A library that was interrupted while it was
    imported may well say that it is not installed.
    """
    return code_of(_received[0]) if _received else None


def listen() -> None:
    """From now on raise :class:`Stopped`; what the caller told the process to ignore, as nohup does, stays ignored."""
    _received.clear()
    _answer(_raise)


def leave_at_once() -> None:
    """From now on end without a word: nothing is half done, and there is nothing to tell."""
    _answer(_leave)


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """What takes no time and must not be left in the middle; a signal is heard after it."""
    if threading.current_thread() is not threading.main_thread():  # only that one hears signals
        yield
        return
    waiting: list[int] = []
    before = {signum: signal.getsignal(signum) for signum in HEARD}
    for signum, handler in before.items():
        if callable(handler):
            signal.signal(signum, lambda signum, _: waiting.append(signum))
    try:
        yield
    finally:
        for signum, handler in before.items():
            if callable(handler):
                signal.signal(signum, handler)
        for signum in waiting[:1]:
            signal.raise_signal(signum)


def _answer(handler: Any) -> None:
    if threading.current_thread() is not threading.main_thread():
        return
    for signum in HEARD:
        if signal.getsignal(signum) not in (signal.SIG_IGN, None):
            signal.signal(signum, handler)


def _raise(signum: int, _: FrameType | None) -> None:
    _received.append(signum)
    raise Stopped


def _leave(signum: int, _: FrameType | None) -> None:
    os._exit(code_of(signum))
