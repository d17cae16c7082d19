"""Threads where they pay: over the views, not inside BLAS.

Measured on two cores (``benchmarks/threads.py``): for the eigenvalue decompositions that dominate the solver, two
BLAS threads gain nothing below 200 directions and at most 1.5× at 500, while one thread per view gains up to 2×. So
a coupled problem of several views runs BLAS on one thread and its views on as many as BLAS was allowed; a small
problem runs on one; a large one of a single view is left to BLAS.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from threadpoolctl import ThreadpoolController

SMALL_BLOCK = 150
"""Smaller matrices are not worth handing to another thread."""
SMALL_PROBLEM = 200
"""Below this many directions two BLAS threads are slower than one, or no faster."""
WAITING = 2
"""Parts handed out for every thread, at most."""

_executor: ContextVar[Executor | None] = ContextVar("viewspan_executor", default=None)


class _SingleThreadedBlas:
    """Caps BLAS while at least one fit wants it, so that fits in parallel threads do not restore each other's
    limits.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._controller: Any = None
        self._limiter: Any = None
        self._allowed = 1

    def __enter__(self) -> int:
        """Cap, and tell how many threads BLAS was allowed before."""
        with self._lock:
            if self._users == 0:
                if self._controller is None:  # finding the libraries takes milliseconds: once is enough
                    self._controller = ThreadpoolController().select(user_api="blas")
                self._allowed = max((lib["num_threads"] for lib in self._controller.info()), default=1)
                self._limiter = self._controller.limit(limits=1)
                self._limiter.__enter__()
            self._users += 1
            return self._allowed

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                self._limiter.__exit__(*exception)


single_threaded_blas = _SingleThreadedBlas()


@contextmanager
def threads_for(n_views: int, size: int) -> Iterator[None]:
    """Arrange threads for a problem of ``n_views`` views and ``size`` directions, for the duration of a solve."""
    if n_views == 1 and size >= SMALL_PROBLEM:
        yield
        return
    with single_threaded_blas as allowed:
        workers = min(n_views, allowed) if size >= SMALL_BLOCK else 1
        if workers == 1:
            yield
            return
        with ThreadPoolExecutor(workers) as executor:
            token = _executor.set(executor)
            try:
                yield
            finally:
                _executor.reset(token)


def map_views(function: Callable[..., Any], *stacks: Any) -> list[Any]:
    """``[function(*blocks) for blocks in zip(*stacks)]``, one thread per view where :func:`threads_for` arranged it."""
    executor = _executor.get()
    mapper = map if executor is None else executor.map
    return list(mapper(function, *stacks))


def in_threads(function: Callable[..., Any], parts: Iterable[Any]) -> Iterator[Any]:
    """``function(part) for part in parts``, in their order, on as many threads as BLAS was allowed, each with BLAS on
    one; only a few results wait to be taken. Interrupted, it ends its threads before it goes.
    """
    with single_threaded_blas as allowed:
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
