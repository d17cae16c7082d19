"""Handling of the signals that ask a process to stop.

SIGTERM, which ``kill``, ``timeout`` and a shutdown send, and SIGHUP, which a closed terminal sends,
are handled like Ctrl-C (SIGINT): temporary files are removed, and the exit code names the signal.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

# Windows has no SIGHUP.
STOP_SIGNALS = [
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
]

_received: list[int] = []


def exit_code(signum: int) -> int:
    """Return the exit code that shells use for a process that a signal has stopped."""
    return 128 + signum


def received_exit_code() -> int | None:
    """Return the exit code of the first signal received, or None.

    The exception that ends the command does not always show this: a library that is interrupted
    during its import may raise ImportError instead of KeyboardInterrupt.
    """
    return exit_code(_received[0]) if _received else None


def raise_on_signals() -> None:
    """Raise KeyboardInterrupt from now on when the process is asked to stop."""
    _install(_raise)


def exit_on_signals() -> None:
    """Exit immediately and silently from now on when the process is asked to stop."""
    _install(_exit)


@contextlib.contextmanager
def immediate_exit() -> Iterator[None]:
    """Exit immediately and silently if the process is asked to stop in a block of imports.

    Libraries turn KeyboardInterrupt into other errors while they are imported.
    """
    former = _install(_exit)
    try:
        yield
    finally:
        for signum, handler in former.items():
            signal.signal(signum, handler)


@contextlib.contextmanager
def signals_deferred() -> Iterator[None]:
    """Run a short block that must not be interrupted, and deliver a signal after it."""
    pending: list[int] = []
    former = _install(lambda signum, _: pending.append(signum))
    try:
        yield
    finally:
        for signum, handler in former.items():
            signal.signal(signum, handler)
        for signum in pending[:1]:
            signal.raise_signal(signum)


def _install(handler: Any) -> dict[int, Any]:
    """Install a handler for all signals that are not ignored, and return the former handlers.

    Signals that the caller ignores, as ``nohup`` does, stay ignored. Only the main thread may
    install handlers, and only the main thread is interrupted by signals.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    handlers = {signum: signal.getsignal(signum) for signum in STOP_SIGNALS}
    former = {
        signum: handler
        for signum, handler in handlers.items()
        if handler not in (signal.SIG_IGN, None)
    }
    for signum in former:
        signal.signal(signum, handler)
    return former


def _raise(signum: int, _: FrameType | None) -> None:
    _received.append(signum)
    raise KeyboardInterrupt


def _exit(signum: int, _: FrameType | None) -> None:
    os._exit(exit_code(signum))
