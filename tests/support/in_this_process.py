"""Workers that compute in the test's own process: to start others costs more than what they do."""

from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from callboard.experiments.many import task_pool
from callboard.experiments.many.task_pool import OtherWorkers, SharedBoard


class AtOnce(Executor):
    """Does what it is given before it is asked for it."""

    def submit(self, work: Callable[..., Any], /, *args: Any, **named: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(work(*args, **named))
        except BaseException as error:
            future.set_exception(error)
        return future


@contextmanager
def here(count: int | None = None, shared: SharedBoard | None = None) -> Iterator[OtherWorkers]:  # noqa: ARG001
    """In place of `local_workers`."""
    before, task_pool._board = task_pool._board, shared or SharedBoard(0)
    try:
        yield OtherWorkers(AtOnce(), 1)
    finally:
        task_pool._board = before
