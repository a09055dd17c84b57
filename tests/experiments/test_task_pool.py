"""Tasks computed elsewhere: every answer comes, whoever dies on the way."""

import os
import signal
from collections.abc import Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path

from callboard.experiments.many.task_pool import (
    Lost,
    OtherWorkers,
    answers_by_workers,
    local_workers,
)


def square(number: int) -> int:
    return number * number


def killed_at_three(number: int) -> int:
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def killed_once(path: Path) -> str:
    """The first one dies, and leaves a note, so that no other does."""
    try:
        path.open("x").close()
    except FileExistsError:
        return "done"
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def test_every_task_is_answered_once_by_processes() -> None:
    with local_workers(2) as workers:
        assert dict(answers_by_workers(workers, square, range(20))) == {n: n * n for n in range(20)}


def test_any_executor_will_do() -> None:
    with ThreadPoolExecutor(3) as executor:
        found = dict(answers_by_workers(OtherWorkers(executor, 3), square, range(20)))
    assert found == {n: n * n for n in range(20)}


def test_a_task_that_kills_its_process_is_lost_and_the_others_are_not() -> None:
    """A dead process breaks its whole pool: what the others had is computed again."""
    with local_workers(2) as workers:
        found = dict(answers_by_workers(workers, killed_at_three, range(8)))
    lost = found.pop(3)
    assert isinstance(lost, Lost)
    assert "killed" in lost.why
    assert found == {n: n * n for n in range(8) if n != 3}


def test_a_process_that_was_killed_from_outside_costs_no_task(tmp_path: Path) -> None:
    with local_workers(1) as workers:
        assert [a for _, a in answers_by_workers(workers, killed_once, [tmp_path / "note"])] != [
            "never"
        ]
        again = [
            answer for _, answer in answers_by_workers(workers, killed_once, [tmp_path / "note"])
        ]
    assert again == ["done"]


def test_what_raises_is_lost_with_what_it_said() -> None:
    with ThreadPoolExecutor(1) as executor:
        ((_, lost),) = answers_by_workers(OtherWorkers(executor, 1), int, ["x"])
    assert isinstance(lost, Lost)
    assert "ValueError: invalid literal" in lost.why


class Counting(Executor):
    """Computes at once, and counts what was handed out."""

    def __init__(self) -> None:
        self.handed_out = 0

    def submit(self, fn, /, *arguments, **named):  # type: ignore[no-untyped-def]
        self.handed_out += 1
        future: Future[object] = Future()
        future.set_result(fn(*arguments, **named))
        return future


class Forgetful(Executor):
    """Cancels the first few futures by itself, as a cluster does that gives up a worker."""

    def __init__(self, cancelled: int) -> None:
        self.left = cancelled

    def submit(self, fn, /, *arguments, **named):  # type: ignore[no-untyped-def]
        future: Future[object] = Future()
        if self.left:
            self.left -= 1
            future.cancel()
            future.set_running_or_notify_cancel()
        else:
            future.set_result(fn(*arguments, **named))
        return future


def test_what_was_cancelled_elsewhere_is_handed_out_again() -> None:
    found = dict(answers_by_workers(OtherWorkers(Forgetful(3), 2), square, range(5)))
    assert found == {n: n * n for n in range(5)}
    found = dict(answers_by_workers(OtherWorkers(Forgetful(99), 2), square, range(5)))
    assert all(isinstance(answer, Lost) for answer in found.values())


def test_tasks_are_taken_as_workers_become_free() -> None:
    """A million tasks are not all handed out before the first answer is looked at."""
    executor, taken = Counting(), []

    def tasks() -> Iterator[int]:
        for number in range(1000):
            taken.append(number)
            yield number

    next(answers_by_workers(OtherWorkers(executor, 2), square, tasks()))
    assert len(taken) == executor.handed_out < 20
