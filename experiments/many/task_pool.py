"""Tasks computed elsewhere: by processes on this machine's cores, a Dask cluster, or any executor.

Nothing that a task's answer says depends on who computed it, nor on the order of the answers.
"""

import ctypes
import os
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    wait,
)
from contextlib import contextmanager
from multiprocessing import get_context, parent_process
from signal import SIG_IGN, SIGINT, signal
from threading import Thread
from types import ModuleType
from typing import Any, NamedTuple, Protocol, TypeVar

from callboard.experiments.user_errors import InputError

_T = TypeVar("_T")
_R = TypeVar("_R")

TASKS_A_WORKER = 4
"""That many are handed out for each worker, so that none waits for the next one."""

_POLLS_A_SECOND = 8


class Lost(NamedTuple):
    """In place of an answer: the process that computed it was killed, or could not be reached."""

    why: str


class Workers(Protocol):
    """The processes that compute: an executor of theirs, a new one after `renew`."""

    count: int

    @property
    def executor(self) -> Executor: ...

    def renew(self) -> bool:
        """Take a new executor in the place of a broken one, if there can be one."""


class OtherWorkers:
    """Those of an executor that somebody else has made."""

    def __init__(self, executor: Executor, count: int) -> None:
        self.executor = executor
        self.count = count

    def renew(self) -> bool:
        return False


def answers_by_workers(
    workers: Workers,
    function: Callable[[_T], _R],
    tasks: Iterable[_T],
    look: Callable[[], object] | None = None,
) -> Iterator[tuple[_T, _R | Lost]]:
    """Each task with what `function` says of it, as they come in.

    Tasks are taken from the iterable as workers become free.  `look` is called a few times a second
    while nothing comes in.  A worker that dies takes others' tasks with it (a pool of processes
    breaks as a whole); those are tried again one at a time, and the one at fault is `Lost`, as is
    one for which `function` raises.
    """
    left, suspects = iter(tasks), deque[_T]()
    waiting: dict[Future[_R], _T] = {}
    try:
        while True:
            _hand_out_tasks(workers, function, left, suspects, waiting)
            if not waiting:
                return
            done = _first_completed(waiting, look)
            alone = len(waiting) == 1
            for future in done:
                task = waiting.pop(future)
                if future.cancelled() and not alone:
                    suspects.append(task)  # its worker was given up by those who run it
                    continue
                error = CancelledError() if future.cancelled() else future.exception()
                if not isinstance(error, BrokenExecutor):
                    yield task, future.result() if error is None else Lost(_why_lost(error))
                    continue
                if not workers.renew():
                    raise error
                if alone:
                    yield task, Lost(_why_lost(error))
                else:
                    suspects.extend([task, *waiting.values()])
                    waiting.clear()
                break
    finally:
        for future in waiting:
            future.cancel()


def _hand_out_tasks(
    workers: Workers,
    function: Callable[[_T], _R],
    left: Iterator[_T],
    suspects: deque[_T],
    waiting: dict[Future[_R], _T],
) -> None:
    """Hand out as many tasks as keep the workers busy; those under suspicion one at a time."""
    if suspects:
        if not waiting:
            task = suspects.popleft()
            waiting[workers.executor.submit(function, task)] = task
        return
    while len(waiting) < TASKS_A_WORKER * workers.count:
        try:
            task = next(left)
        except StopIteration:
            return
        waiting[workers.executor.submit(function, task)] = task


def _first_completed(
    waiting: dict[Future[_R], Any], look: Callable[[], object] | None
) -> Iterable[Future[_R]]:
    """Those that are done, once any is."""
    timeout = None if look is None else 1 / _POLLS_A_SECOND
    while True:
        done, _ = wait(waiting, timeout, FIRST_COMPLETED)
        if look is not None:
            look()
        if done:
            return [future for future in waiting if future in done]


def _why_lost(error: BaseException) -> str:
    if isinstance(error, CancelledError):
        return "the process that computed it was given up"
    if isinstance(error, BrokenExecutor):
        return "the process that computed it was killed, perhaps for lack of memory"
    return f"{type(error).__name__}: {error}"


def cores_here() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class SharedBoard:
    """Numbers that processes share while they compute: whether to stop, and how far each task is.

    A row of three for each of the first `tasks` tasks: what is counted, the virtual time in ms,
    messages.
    """

    def __init__(self, tasks: int) -> None:
        context = get_context("spawn")
        self.stop = context.RawValue(ctypes.c_bool, False)
        self.rows = context.RawArray(ctypes.c_double, 3 * tasks)

    def request_stop(self) -> None:
        """Ask all who compute to stop soon."""
        self.stop.value = True


class Interrupted(Exception):
    """What a function raises that the board has stopped on its way: it has no answer."""


_board: SharedBoard | None = None


def current_board() -> SharedBoard | None:
    """What the processes of this pool share; None elsewhere."""
    return _board


def _join_pool(shared: SharedBoard) -> None:
    """Begin as a process of the pool: Ctrl-C is for the process that asked, and when that dies,
    however it dies, this one has nobody to work for.
    """
    global _board  # noqa: PLW0603 - there is one for each process
    _board = shared
    signal(SIGINT, SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)


class LocalWorkers:
    """Processes on this machine, `count` of them."""

    def __init__(self, count: int, shared: SharedBoard) -> None:
        self.count = count
        self._shared = shared
        self.executor: Executor = self._new_executor()

    def renew(self) -> bool:
        self.executor.shutdown(wait=False)
        self.executor = self._new_executor()
        return True

    def close(self) -> None:
        """Let what is being computed stop soon, and wait for that."""
        self._shared.request_stop()
        self.executor.shutdown(cancel_futures=True)

    def _new_executor(self) -> Executor:
        return _LazyProcessPool(
            self.count, get_context("spawn"), initializer=_join_pool, initargs=(self._shared,)
        )


class _LazyProcessPool(ProcessPoolExecutor):
    """Processes that start when there is something to do."""

    def submit(self, fn: Callable[..., _R], /, *arguments: Any, **named: Any) -> "Future[_R]":
        with _without_main_module():
            return super().submit(fn, *arguments, **named)


@contextmanager
def _without_main_module() -> Iterator[None]:
    """Let processes start without the program's main module: a script that calls us at its top
    level, without asking for its `__name__`, would be run again in each of them.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextmanager
def local_workers(count: int | None = None, shared: SharedBoard | None = None) -> Iterator[Workers]:
    """Processes on this machine's cores, as many as it has unless told; they end at the exit."""
    workers = LocalWorkers(count or cores_here(), shared or SharedBoard(0))
    try:
        yield workers
    finally:
        workers.close()


@contextmanager
def dask_workers(address: str) -> Iterator[Workers]:
    """The workers of the Dask cluster at `dask://HOST:PORT`, which must have Callboard installed.

    InputError for an address at which none answers.  Dask itself computes again what a worker had
    that is gone.
    """
    if not address.startswith("dask://"):
        raise InputError(f"--on {address}: an address reads dask://HOST:PORT")
    try:
        import distributed
    except ImportError:
        raise InputError("--on needs Dask: pip install 'callboard[dask]'") from None
    try:
        client: Any = distributed.Client("tcp://" + address.removeprefix("dask://"), timeout="30s")
    except (OSError, ValueError) as error:
        raise InputError(f"--on {address}: no scheduler answers ({error})") from None
    with client:
        yield OtherWorkers(client.get_executor(pure=False), sum(client.ncores().values()) or 1)
