"""Threads over views or parts of the data, with one BLAS thread each.

Measured on two cores (``benchmarks/threads.py``): for the eigenvalue decompositions that dominate
the solver, two BLAS threads gain nothing below 200 directions and at most 1.5× at 500, while one
thread per view gains up to 2×. So a coupled problem of several views runs every view on its own
thread, with one BLAS thread each. A small problem runs on one thread. A large problem of a single
view leaves the threads to BLAS.
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

MIN_SIZE_FOR_VIEW_THREADS = 150
"""Number of directions from which every view gets its own thread."""
MIN_SIZE_FOR_BLAS_THREADS = 200
"""Number of directions from which several BLAS threads can be faster than one."""
MAX_QUEUED_PER_THREAD = 2
"""Maximal number of parts per thread whose results have not been taken."""

_executor: ContextVar[Executor | None] = ContextVar("viewspan_executor", default=None)


class SingleThreadedBlas:
    """Context manager that limits BLAS to one thread while at least one fit uses it.

    Fits in parallel threads share the limit, so that they do not undo each other's. The last one to
    leave restores the former limits.

    Ctrl-C may also arrive inside ``__enter__`` or ``__exit__``, where a ``with`` statement does not
    help. So a use may be ended any number of times, and a use that was never left ends when its
    object is collected.
    """

    # reentrant, because the garbage collector may end one use while another holds the lock
    _lock = threading.RLock()
    _libraries: ClassVar[list[Any]] = []
    # the former limit of every library; empty while there is no limit
    _before: ClassVar[list[int]] = []
    _users: ClassVar[set[int]] = set()

    def __enter__(self) -> int:
        """Limit BLAS to one thread and return how many it was allowed before."""
        self._unless_left = weakref.finalize(self, self._end, id(self))
        with self._lock:
            self._users.add(id(self))
            if not self._before:
                if not self._libraries:  # looking for them takes milliseconds
                    self._libraries[:] = (
                        ThreadpoolController().select(user_api="blas").lib_controllers
                    )
                self._before[:] = [library.get_num_threads() for library in self._libraries]
                for library in self._libraries:
                    set_num_threads(library, 1)
            return max(self._before, default=1)

    def __exit__(self, *exception: object) -> None:
        self._end(id(self))
        self._unless_left.detach()

    @classmethod
    def _end(cls, user: int) -> None:
        with cls._lock:
            cls._users.discard(user)
            if not cls._users:
                # after a second call _before is empty, and nothing is restored
                for library, allowed in zip(cls._libraries, cls._before, strict=False):
                    set_num_threads(library, allowed)
                cls._before.clear()


def set_num_threads(library: Any, n_threads: int) -> None:
    """Set the number of threads of a BLAS library, from any thread.

    From threadpoolctl 3.8 on, a library obeys only the first thread that sets its limit until that
    is cleared. Here the thread that restores a limit may be another than the one that set it.
    """
    clear_controlling_thread = getattr(library, "clear_controlling_thread", None)
    if clear_controlling_thread is not None:
        clear_controlling_thread(force=True)
    library.set_num_threads(n_threads)
    if clear_controlling_thread is not None:
        clear_controlling_thread(force=True)


@contextmanager
def threads_for(n_views: int, size: int) -> Iterator[None]:
    """Assign threads to a problem of ``n_views`` views and ``size`` directions."""
    if n_views == 1 and size >= MIN_SIZE_FOR_BLAS_THREADS:
        yield
        return
    with SingleThreadedBlas() as allowed:
        workers = min(n_views, allowed) if size >= MIN_SIZE_FOR_VIEW_THREADS else 1
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
    """Return ``[function(*blocks) for blocks in zip(*stacks)]``.

    Inside :func:`threads_for`, every view may run in its own thread.
    """
    executor = _executor.get()
    mapper = map if executor is None else executor.map
    return list(mapper(function, *stacks))


def in_threads(function: Callable[..., Any], parts: Iterable[Any]) -> Iterator[Any]:
    """Yield ``function(part)`` for all parts, in order, computed by several threads.

    There are as many threads as BLAS was allowed, each with one BLAS thread. Only a few results are
    computed ahead. If the generator is interrupted, it ends its threads first.
    """
    with SingleThreadedBlas() as allowed:
        if allowed == 1:
            yield from map(function, parts)
            return
        executor, waiting = ThreadPoolExecutor(allowed), deque[Future[Any]]()
        try:
            for part in parts:
                waiting.append(executor.submit(function, part))
                if len(waiting) > MAX_QUEUED_PER_THREAD * allowed:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            executor.shutdown(cancel_futures=True)
