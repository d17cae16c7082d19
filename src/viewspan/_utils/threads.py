"""Threads over views or parts of the data; BLAS and OpenMP get one thread each.

Threads of BLAS wait for each other thousands of times in one decomposition. If another process
occupies a core, every wait lasts until that process is paused, and a fit may take 30 times as long.
Threads over views or blocks of samples hardly wait for each other. So every call of BLAS and of
scikit-learn in a fit runs on one thread, and larger problems run several such calls at a time
(``benchmarks/threads.py`` has the measurements).
"""

import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, ClassVar, ParamSpec, TypeVar

from threadpoolctl import ThreadpoolController

P = ParamSpec("P")
R = TypeVar("R")

MIN_SIZE_FOR_VIEW_THREADS = 150
"""Number of directions from which every view gets its own thread."""
MAX_QUEUED_PER_THREAD = 2
"""Maximal number of parts per thread whose results have not been taken."""

_executor: ContextVar[Executor | None] = ContextVar("viewspan_executor", default=None)


class OneThread:
    """Context manager that limits BLAS and OpenMP to one thread while at least one fit uses it.

    Fits in parallel threads share the limit of BLAS, so that they do not undo each other's. The
    last one to leave restores the former limits. OpenMP has a limit for every thread that calls it.

    Ctrl-C may also arrive inside ``__enter__`` or ``__exit__``, where a ``with`` statement does not
    help. So a use may be ended any number of times, and a use that was never left ends when its
    object is collected.
    """

    # reentrant, because the garbage collector may end one use while another holds the lock
    _lock = threading.RLock()
    _libraries: ClassVar[list[Any]] = []
    # the former limit of every BLAS library; empty while there is no limit
    _before: ClassVar[list[int]] = []
    _users: ClassVar[set[int]] = set()

    def __enter__(self) -> int:
        """Limit the libraries and return how many threads BLAS was allowed before."""
        caller = threading.get_ident()
        openmp = [
            (library, library.get_num_threads()) for library in self._loaded() if is_openmp(library)
        ]
        self._use = (id(self), caller, openmp)
        self._unless_left = weakref.finalize(self, self._end, *self._use)
        for library, _ in openmp:
            library.set_num_threads(1)
        with self._lock:
            self._users.add(id(self))
            if not self._before:
                self._before[:] = [library.get_num_threads() for library in self._blas()]
                for library in self._blas():
                    set_num_threads(library, 1)
            return max(self._before, default=1)

    def __exit__(self, *exception: object) -> None:
        self._end(*self._use)
        self._unless_left.detach()

    @classmethod
    def _loaded(cls) -> list[Any]:
        """Return the libraries, which are looked for once, because that takes milliseconds."""
        if not cls._libraries:
            cls._libraries[:] = ThreadpoolController().lib_controllers
        return cls._libraries

    @classmethod
    def _blas(cls) -> list[Any]:
        return [library for library in cls._loaded() if not is_openmp(library)]

    @classmethod
    def _end(cls, user: int, caller: int, openmp: list[tuple[Any, int]]) -> None:
        if threading.get_ident() == caller:
            for library, allowed in openmp:
                library.set_num_threads(allowed)
        with cls._lock:
            cls._users.discard(user)
            if not cls._users:
                # after a second call _before is empty, and nothing is restored
                for library, allowed in zip(cls._blas(), cls._before, strict=False):
                    set_num_threads(library, allowed)
                cls._before.clear()


def with_one_thread(function: Callable[P, R]) -> Callable[P, R]:
    """Decorate a function that calls BLAS or scikit-learn: these get one thread each."""

    @wraps(function)
    def limited(*args: P.args, **kwargs: P.kwargs) -> R:
        with OneThread():
            return function(*args, **kwargs)

    return limited


def is_openmp(library: Any) -> bool:
    return bool(library.user_api == "openmp")


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
    with OneThread() as allowed:
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
    with OneThread() as allowed:
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
