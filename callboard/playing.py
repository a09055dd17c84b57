"""Playing what a command has planned: here one after the other, or in as many processes as there
are cores, with live lines on a terminal, and with what is done kept when Ctrl-C comes.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.console import PlainConsole, plain
from callboard.experiments.journal_paths import RunKey
from callboard.experiments.many.run_tasks import (
    RunTask,
    SoloTimes,
    TaskFailure,
    perform_task,
    worthy_engine,
)
from callboard.experiments.many.task_pool import (
    Lost,
    SharedBoard,
    answers_by_workers,
    cores_here,
    local_workers,
)
from callboard.experiments.run.run_result import ACTORS, EngineName, RunResult
from callboard.experiments.run.run_spec import RunSpec
from callboard.experiments.run.simulation import DriverName, stopping_on_ctrl_c
from callboard.experiments.user_errors import RunFailed
from callboard.journal.checks.findings import Violation
from callboard.progress_line import ProgressLine, parallel_runs_progress, run_progress
from callboard.run_arguments import run_key
from callboard.scenarios.file_lookup import file_beside
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.timeline import TraceEntry

WORTH_PROCESSES = 30_000
"""With fewer tasks in all the runs they are over before processes have started."""


TWIN_IS_FASTER = 50
"""How many times as fast the twin is, at the least."""


class PlayedRows(NamedTuple):
    """A result for each run that was asked for, None for those that Ctrl-C has left out; and
    whether it came.
    """

    rows: list[list[RunResult | None]]
    interrupted: bool


def play_rows(
    rows: Sequence[Sequence[RunSpec]],
    console: PlainConsole,
    *,
    driver: DriverName = "direct",
    check: bool = False,
    paths: Mapping[RunKey, Path] | None = None,
    slowdown: bool = False,
    cores: int | None = None,
    engine: EngineName = "auto",
) -> PlayedRows:
    """Play rows of runs, each of one world under several policies, and record them at their paths;
    with `slowdown` every result has its jobs' times alone.  Raises what `play` does.
    """
    specs, paths = [spec for row in rows for spec in row], paths or {}
    engine = worthy_engine(engine, sum(spec.task_count for spec in specs))
    tasks = [
        RunTask(spec, driver, paths.get(run_key(spec)), check, engine=engine) for spec in specs
    ]
    done, interrupted = play(tasks, console, cores)
    results = iter([done.get(place) for place in range(len(tasks))])
    played = [[next(results) for _ in row] for row in rows]
    if slowdown and not interrupted:
        interrupted = _add_solo_times(rows, played)
    for place in done:
        say_recorded(tasks[place], console)
    return PlayedRows(played, interrupted)


def _add_solo_times(
    rows: Sequence[Sequence[RunSpec]], played: Sequence[list[RunResult | None]]
) -> bool:
    """Put them beside the results; whether Ctrl-C has left the later rows without."""
    from callboard.experiments.run.solo_runs import any_without_heartbeats, solo_times

    try:
        for row, found in zip(rows, played, strict=True):
            alone = SoloTimes(solo_times(row[0], at_once=any_without_heartbeats(row)))
            found[:] = [None if each is None else alone.with_solo_times(each) for each in found]
    except KeyboardInterrupt:
        return True
    return False


class PlayedTasks(NamedTuple):
    """The results by the task's place, in their order, and whether Ctrl-C has cut it short: then
    some are missing, and those of runs that were stopped on their way say so.
    """

    results: Mapping[int, RunResult]
    interrupted: bool


def play(tasks: Sequence[RunTask], console: PlainConsole, cores: int | None = None) -> PlayedTasks:
    """Play all, on `cores` cores.  Raises what `run_simulation` does, or RunFailed for a process.

    Ctrl-C stops the runs that go on between two supersteps, and begins no other; a second one is an
    ordinary KeyboardInterrupt.
    """
    tasks = [msgspec.structs.replace(task, place=place) for place, task in enumerate(tasks)]
    used = min(cores or cores_here(), len(tasks))
    if used > 1 and sum(map(_run_cost, tasks)) >= WORTH_PROCESSES:
        return _play_in_processes(tasks, console, used)
    return _play_here(tasks, console)


def _play_here(tasks: Sequence[RunTask], console: PlainConsole) -> PlayedTasks:
    done: dict[int, RunResult] = {}
    for task in tasks:
        try:
            with run_progress(console, _task_title(task), len(task.spec.jobs)) as watcher:
                result = done[task.place] = task.run(watcher)
        except KeyboardInterrupt:
            if not done:
                raise
            return PlayedTasks(done, interrupted=True)  # what is done is still worth a table
        except Violation:
            say_recorded(task, console)
            raise
        if result.interrupted:
            return PlayedTasks(done, interrupted=True)
    return PlayedTasks(done, interrupted=False)


def _play_in_processes(tasks: Sequence[RunTask], console: PlainConsole, cores: int) -> PlayedTasks:
    shared, done = SharedBoard(len(tasks)), dict[int, RunResult]()
    lines = [ProgressLine(_task_title(task), len(task.spec.jobs)) for task in tasks]
    with (
        stopping_on_ctrl_c(shared.request_stop),
        parallel_runs_progress(console, lines, shared, done) as look,
        local_workers(cores, shared) as workers,
    ):
        for task, answer in answers_by_workers(
            workers, perform_task, _tasks_until_stopped(tasks, shared), look
        ):
            if isinstance(answer, RunResult):
                done[task.place] = answer
            elif isinstance(answer, Lost | TaskFailure) and not shared.stop.value:
                raise _run_failure(task, answer, console)
        stopped = bool(shared.stop.value)
    whole = sum(not result.interrupted for result in done.values())
    interrupted = stopped and whole < len(tasks)
    return PlayedTasks(dict(sorted(done.items())), interrupted)


def _tasks_until_stopped(tasks: Sequence[RunTask], shared: SharedBoard) -> Iterator[RunTask]:
    for task in tasks:
        if shared.stop.value:
            return
        yield task


def _run_failure(task: RunTask, answer: Lost | TaskFailure, console: PlainConsole) -> RunFailed:
    say_recorded(task, console)
    if isinstance(answer, TaskFailure):
        return RunFailed(answer.message, answer.status)
    return RunFailed(f"{_task_title(task)}, seed {task.spec.scenario.seed}: {answer.why}")


def say_replaced(paths: Iterable[Path], console: PlainConsole) -> None:
    """Say which journals make way for those that are now recorded."""
    for path in paths:
        if path.is_file() and path.stat().st_size:
            console.print(plain(f"{path} is there already, and is replaced"), soft_wrap=True)


def say_recorded(task: RunTask, console: PlainConsole) -> None:
    """Say where a run is recorded, if it is."""
    if task.journal is not None:
        files = _history_files(task.spec.scenario)
        lacks = [
            Path(each).name for each in files if file_beside(task.journal.parent, each) is None
        ]
        needs = f"; to be played again it needs {' and '.join(lacks)} of its scenario beside it"
        told = needs if lacks else ""
        console.print(plain(f"recorded in {task.journal}{told}"), soft_wrap=True)


def _history_files(scenario: Scenario) -> list[str]:
    """The files of a recorded history, its tasks and its outages: a journal has neither."""
    if not isinstance(scenario.workload, RecordedWorkload):
        return []
    outages = (entry.path for entry in scenario.timeline if isinstance(entry, TraceEntry))
    return [scenario.workload.path, *outages]


def _task_title(task: RunTask) -> str:
    """What its line on a terminal is called."""
    return f"{task.title}{task.spec.policy} · {task.spec.scenario.name}"


def _run_cost(task: RunTask) -> int:
    """How long it takes, in tasks of the cluster that actors play."""
    tasks = task.spec.task_count
    return tasks if task.engine == ACTORS else tasks // TWIN_IS_FASTER
