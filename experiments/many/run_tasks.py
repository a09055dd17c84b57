"""What a worker is asked for: a run, or how long a run's jobs take alone."""

import traceback
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, JobFinished
from callboard.experiments.error_messages import describe_error
from callboard.experiments.many.task_pool import Interrupted, SharedBoard, current_board
from callboard.experiments.run.run_result import (
    ACTORS,
    TWIN,
    EngineName,
    RunResult,
    pack_result,
)
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.run_watcher import RunWatcher
from callboard.experiments.run.simulation import DriverName, Sink, run_simulation
from callboard.experiments.user_errors import EXIT_FAILED, InputError
from callboard.scheduler.model import JobId, Millis

if TYPE_CHECKING:
    from callboard.twin.twin_run import TwinRun


WORTH_THE_TWIN = 100_000
"""With fewer tasks in all the runs the actors are done before the twin is compiled, or loaded."""


def worthy_engine(asked: EngineName, tasks: int) -> EngineName:
    """The engine for runs of `tasks` tasks in all: the actors where the twin does not pay."""
    return ACTORS if asked == "auto" and tasks < WORTH_THE_TWIN else asked


class RunTask(msgspec.Struct, frozen=True):
    """A run; `place` is its row of the board that shows how far it is, and `title` what its line
    begins with there.  What is to be checked, event by event, the actors play.
    """

    spec: RunSpec
    driver: DriverName = "direct"
    journal: Path | None = None
    check: bool = False
    place: int = 0
    engine: EngineName = ACTORS
    title: str = ""
    messages_most: int | None = None
    """What it is worth to the actors; with more it is given up."""

    def run(
        self, watcher: RunWatcher | None = None, listen: Callable[[], Sink] | None = None
    ) -> RunResult:
        """Play it; raises what `run_simulation` does, and InputError if only the twin may play it
        and cannot.

        `listen` gives a sink for every event.  It is asked for another, and the events begin anew,
        where the twin finds only on the way that it cannot play on.
        """
        if self.engine == ACTORS:
            return self._play_by_actors(watcher, listen)
        from callboard.experiments.run.twin_play import run_by_twin
        from callboard.twin.cannot_play import CannotPlay

        try:
            if self.check:
                raise CannotPlay("every rule is to be checked while it goes on")
            sink = None if listen is None else listen()
            return run_by_twin(self.spec, watcher, journal=self.journal, sink=sink)
        except CannotPlay as why:
            if self.engine == TWIN:
                raise InputError(f"the twin cannot play {self.spec.policy}: {why}") from None
            return msgspec.structs.replace(
                self._play_by_actors(watcher, listen), why_actors=str(why)
            )

    def _play_by_actors(
        self, watcher: RunWatcher | None, listen: Callable[[], Sink] | None
    ) -> RunResult:
        return run_simulation(
            self.spec,
            driver=self.driver,
            journal=self.journal,
            sink=None if listen is None else listen(),
            check=self.check,
            watcher=watcher,
            messages_most=self.messages_most,
        )


class SoloTask(msgspec.Struct, frozen=True):
    """How long each of the run's jobs takes alone, under any policy: a task of sweeps, which
    keep that once for all policies; `at_once` if one of these waits for no heartbeats.
    """

    spec: RunSpec
    place: int = 0
    at_once: bool = False


WorkerTask = RunTask | SoloTask


class SoloTimes(msgspec.Struct, frozen=True):
    """The response time in ms of each job alone on the empty cluster."""

    alone_ms: dict[JobId, Millis]

    def with_solo_times(self, result: RunResult) -> RunResult:
        """The result with these times beside its jobs."""
        from callboard.experiments.run.solo_runs import solo_times_of_jobs

        return msgspec.structs.replace(
            result, solo_ms=solo_times_of_jobs(result.jobs, self.alone_ms)
        )


class TaskFailure(msgspec.Struct, frozen=True):
    """Why there is no answer, as a person is told, and the exit status that it means."""

    message: str
    status: int = EXIT_FAILED


def perform_task(task: RunTask) -> RunResult | TaskFailure | None:
    """Play the run; whatever goes wrong is told in the answer.  None where the board says that
    nothing is to be begun.
    """
    shared = current_board()
    if shared is not None and shared.stop.value:
        return None
    try:
        return task.run(board_watcher(task.place))
    except Exception as error:
        message, status = describe_error(error)
        return TaskFailure(traceback.format_exc() if message is None else message, status)


def play_task(task: WorkerTask) -> bytes:
    """What a run came to, or its jobs alone, as a store keeps it; raises what `RunTask.run` does,
    and Interrupted if the board has stopped it.
    """
    if isinstance(task, SoloTask):
        from callboard.experiments.run.solo_runs import solo_times

        return msgspec.msgpack.encode(SoloTimes(solo_times(task.spec, at_once=task.at_once)))
    result = task.run(board_watcher(task.place))
    if result.interrupted:
        raise Interrupted
    return pack_result(result)


def unpack_solo_times(data: bytes) -> SoloTimes:
    """The times alone again."""
    return msgspec.msgpack.decode(data, type=SoloTimes)


def board_watcher(place: int = 0) -> RunWatcher | None:
    """Who tells a worker's board how far the run at this place is; None without a board."""
    shared = current_board()
    return None if shared is None else _BoardWatcher(shared, place)


class _BoardWatcher(RunWatcher):
    """Says on the board how far a run is, and stops it when the board says so."""

    def __init__(self, shared: SharedBoard, place: int) -> None:
        self._shared = shared
        self._first = 3 * place
        self._done = 0

    def observe(self, event: AnyEvent) -> None:
        if type(event) is JobFinished:
            self._done += 1

    def on_progress(self, kernel: Kernel) -> None:
        self._write_progress_row(self._done, kernel.now_ms, kernel.messages)
        if self._shared.stop.value:
            kernel.end_run("interrupted")

    def on_twin_progress(self, run: "TwinRun") -> None:
        self._write_progress_row(run.ended_job_count, run.now_ms, 0)
        if self._shared.stop.value:
            run.interrupt()

    def _write_progress_row(self, done: int, now_ms: Millis, messages: int) -> None:
        row = slice(self._first, self._first + 3)
        if row.stop <= len(self._shared.rows):
            self._shared.rows[row] = [done, now_ms, messages]
