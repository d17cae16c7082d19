"""Threads where they pay: over the views, not inside BLAS.

Measured on two cores (``benchmarks/threads.py``): for the eigenvalue decompositions that dominate the solver, two
BLAS threads gain nothing below 200 directions and at most 1.5× at 500, while one thread per view gains up to 2×. So
a coupled problem of several views runs BLAS on one thread and its views on as many as BLAS was allowed; a small
problem runs on one; a large one of a single view is left to BLAS.
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, ClassVar

from threadpoolctl import ThreadpoolController

SMALL_BLOCK = 150
"""Smaller matrices are not worth handing to another thread."""
SMALL_PROBLEM = 200
"""Below this many directions two BLAS threads are slower than one, or no faster."""
WAITING = 2
"""Parts handed out for every thread, at most."""

_executor: ContextVar[Executor | None] = ContextVar("viewspan_executor", default=None)


class SingleThreadedBlas:
    """Caps BLAS while at least one fit wants it, so that fits in parallel threads do not restore each other's limits.

    Ctrl-C may also come while it is entered or left, where a ``with`` does not help. So a use can be ended any number
    of times, and one that was never left ends with its object.
    """

    _lock = threading.RLock()  # the garbage collector may end one use within the lock of another
    _libraries: ClassVar[list[Any]] = []
    _before: ClassVar[list[int]] = []  # what each library was allowed; empty while it is not capped
    _users: ClassVar[set[int]] = set()

    def __enter__(self) -> int:
        """Cap, and tell how many threads BLAS was allowed before."""
        self._unless_left = weakref.finalize(self, self._end, id(self))
        with self._lock:
            self._users.add(id(self))
            if not self._before:
                if not self._libraries:  # finding them takes milliseconds: once is enough
                    self._libraries[:] = (
                        ThreadpoolController().select(user_api="blas").lib_controllers
                    )
                self._before[:] = [library.get_num_threads() for library in self._libraries]
                for library in self._libraries:
                    allow(library, 1)
            return max(self._before, default=1)

    def __exit__(self, *exception: object) -> None:
        self._end(id(self))
        self._unless_left.detach()

    @classmethod
    def _end(cls, user: int) -> None:
        with cls._lock:
            cls._users.discard(user)
            if not cls._users:
                for library, allowed in zip(
                    cls._libraries, cls._before, strict=False
                ):  # nothing is to be done twice
                    allow(library, allowed)
                cls._before.clear()


def allow(library: Any, n_threads: int) -> None:
    """Set what a library of threadpoolctl may use. From 3.8 on that heeds one thread only, the first that asks, until
    it is told to listen again; here the thread that gives back may be another one than the one that took.
    """
    listen_again = getattr(library, "clear_controlling_thread", None)
    if listen_again is not None:
        listen_again(force=True)
    library.set_num_threads(n_threads)
    if listen_again is not None:
        listen_again(force=True)


@contextmanager
def threads_for(n_views: int, size: int) -> Iterator[None]:
    """Arrange threads for a problem of ``n_views`` views and ``size`` directions, for the duration of a solve."""
    if n_views == 1 and size >= SMALL_PROBLEM:
        yield
        return
    with SingleThreadedBlas() as allowed:
        workers = min(n_views, allowed) if size >= SMALL_BLOCK else 1
        if workers == 1:
            yield
            return
        with ThreadPoolExecutor(workers) as executor:
            former = _executor.get()
            try:
                _executor.set(executor)
                yield
            finally:
                _executor.set(former)


def map_views(function: Callable[..., Any], *stacks: Any) -> list[Any]:
    """``[function(*blocks) for blocks in zip(*stacks)]``, one thread per view where :func:`threads_for` arranged it."""
    executor = _executor.get()
    mapper = map if executor is None else executor.map
    return list(mapper(function, *stacks))


def in_threads(function: Callable[..., Any], parts: Iterable[Any]) -> Iterator[Any]:
    """``function(part) for part in parts``, in their order, on as many threads as BLAS was allowed, each with BLAS on
    one; only a few results wait to be taken. Interrupted, it ends its threads before it goes.
    """
    with SingleThreadedBlas() as allowed:
        if allowed == 1:
            yield from map(function, parts)
            return
        executor, waiting = ThreadPoolExecutor(allowed), deque[Future[Any]]()
        try:
            for part in parts:
                waiting.append(executor.submit(function, part))
                if len(waiting) > WAITING * allowed:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            executor.shutdown(cancel_futures=True)
