"""Playing what a command has planned: here one after the other, or in as many processes as there
are cores, with live lines on a terminal, and with what is done kept when Ctrl-C comes.
"""

import argparse
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.console import PlainConsole, plain
from callboard.experiments.journal_paths import RunKey
from callboard.experiments.run_result import RunResult
from callboard.experiments.run_spec import RunSpec
from callboard.experiments.run_tasks import (
    RunTask,
    SoloTask,
    SoloTimes,
    TaskFailure,
    WorkerTask,
    perform,
)
from callboard.experiments.simulation import run_simulation, stopping_on_ctrl_c
from callboard.experiments.solo_runs import solo_times
from callboard.experiments.task_pool import Lost, SharedBoard, answers, cores_here, local_workers
from callboard.experiments.user_errors import RunFailed
from callboard.journal.checks.rule import Violation
from callboard.journal.tell.names import count
from callboard.progress_line import ProgressLine, board_progress, run_progress
from callboard.run_arguments import run_key

WORTH_PROCESSES = 30_000
"""With fewer tasks in all the runs they are over before processes have started."""

Answer = RunResult | SoloTimes


class PlayedRows(NamedTuple):
    """A result for each run that was asked for, None for those that Ctrl-C has left out; and
    whether it came.
    """

    rows: list[list[RunResult | None]]
    interrupted: bool


def play_rows(
    rows: Sequence[Sequence[RunSpec]],
    options: argparse.Namespace,
    paths: Mapping[RunKey, Path],
    console: PlainConsole,
) -> PlayedRows:
    """Play rows of runs, each of one world under several policies, as the options of `callboard
    run` say; raises what `play` does.
    """
    tasks: list[WorkerTask] = [
        RunTask(spec, options.driver, paths.get(run_key(spec)), options.check)
        for row in rows
        for spec in row
    ]
    runs = len(tasks)
    if options.slowdown:
        tasks += [SoloTask(row[0]) for row in rows]
    answers, interrupted = play(tasks, console, options.cores)
    places = iter(range(runs))
    results = [[_result(answers.get(next(places))) for _ in row] for row in rows]
    for number, row in enumerate(results):
        alone = answers.get(runs + number)
        if isinstance(alone, SoloTimes):
            row[:] = [None if each is None else alone.of(each) for each in row]
    for place in sorted(answers):
        say_recorded(tasks[place], console)
    return PlayedRows(results, interrupted)


def _result(answer: Answer | None) -> RunResult | None:
    assert not isinstance(answer, SoloTimes)
    return answer


class PlayedTasks(NamedTuple):
    """The answers by the task's place, in their order, and whether Ctrl-C has cut it short: then
    answers are missing, and those of runs that were stopped on their way say so.
    """

    answers: Mapping[int, Answer]
    interrupted: bool


def play(
    tasks: Sequence[WorkerTask], console: PlainConsole, cores: int | None = None
) -> PlayedTasks:
    """Play all, on so many cores.  Raises what `run_simulation` does, or RunFailed for a process.

    Ctrl-C stops the runs that go on between two supersteps, and begins no other; a second one is an
    ordinary KeyboardInterrupt.
    """
    tasks = [msgspec.structs.replace(task, place=place) for place, task in enumerate(tasks)]
    used = min(cores or cores_here(), len(tasks))
    if used > 1 and sum(map(_size, tasks)) >= WORTH_PROCESSES:
        return _play_in_processes(tasks, console, used)
    return _play_here(tasks, console)


def _play_here(tasks: Sequence[WorkerTask], console: PlainConsole) -> PlayedTasks:
    done: dict[int, Answer] = {}
    for task in tasks:
        try:
            answer = _play_one(task, console)
        except KeyboardInterrupt:
            if not done:
                raise
            return PlayedTasks(done, interrupted=True)  # what is done is still worth a table
        except Violation:
            say_recorded(task, console)
            raise
        done[task.place] = answer
        if isinstance(answer, RunResult) and answer.interrupted:
            return PlayedTasks(done, interrupted=True)
    return PlayedTasks(done, interrupted=False)


def _play_one(task: WorkerTask, console: PlainConsole) -> Answer:
    if isinstance(task, SoloTask):
        return SoloTimes(solo_times(task.spec))
    with run_progress(console, _title(task), _jobs(task)) as watcher:
        return run_simulation(
            task.spec,
            driver=task.driver,
            journal=task.journal,
            check=task.check,
            watcher=watcher,
        )


def _play_in_processes(
    tasks: Sequence[WorkerTask], console: PlainConsole, cores: int
) -> PlayedTasks:
    shared, done = SharedBoard(len(tasks)), dict[int, Answer]()
    lines = [ProgressLine(_title(task), _jobs(task)) for task in tasks]
    with (
        stopping_on_ctrl_c(shared.request_stop),
        board_progress(console, lines, shared, done) as look,
        local_workers(cores, shared) as workers,
    ):
        for task, answer in answers(workers, perform, _until_stopped(tasks, shared), look):
            if isinstance(answer, RunResult | SoloTimes):
                done[task.place] = answer
            elif answer is not None and not shared.stop.value:
                raise _failure(task, answer, console)
        stopped = bool(shared.stop.value)
    interrupted = stopped and len(_whole(done)) < len(tasks)
    return PlayedTasks(dict(sorted(done.items())), interrupted)


def _until_stopped(tasks: Sequence[WorkerTask], shared: SharedBoard) -> Iterator[WorkerTask]:
    for task in tasks:
        if shared.stop.value:
            return
        yield task


def _whole(done: Mapping[int, Answer]) -> list[Answer]:
    return [a for a in done.values() if not (isinstance(a, RunResult) and a.interrupted)]


def _failure(task: WorkerTask, answer: Lost | TaskFailure, console: PlainConsole) -> RunFailed:
    say_recorded(task, console)
    if isinstance(answer, TaskFailure):
        return RunFailed(answer.message, answer.status)
    return RunFailed(f"{_title(task)}, seed {task.spec.scenario.seed}: {answer.why}")


def say_recorded(task: WorkerTask, console: PlainConsole) -> None:
    """Say where a run is recorded, if it is."""
    if isinstance(task, RunTask) and task.journal is not None:
        console.print(plain(f"recorded in {task.journal}"), soft_wrap=True)


def _title(task: WorkerTask) -> str:
    """What its line on a terminal is called."""
    if isinstance(task, SoloTask):
        return f"measuring {count(_jobs(task), 'job')} alone"
    return f"{task.spec.policy} · {task.spec.scenario.name}"


def _jobs(task: WorkerTask) -> int:
    """How many jobs it plays."""
    return len(task.spec.jobs)


def _size(task: WorkerTask) -> int:
    """How many tasks of the cluster it plays."""
    if isinstance(task, SoloTask):
        return 0
    return sum(job.maps + job.reduces for job in task.spec.jobs)
