"""Doing what is still to be done: on this machine's cores, or on a Dask cluster."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import NamedTuple, TypeAlias

from callboard.experiments.ideal_study.cache import add_outcomes, find_outcomes
from callboard.experiments.ideal_study.cells import RunOutcome, StudyCell, WorkerAnswer, compute
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.swim import Trace
from callboard.experiments.many.result_store import ResultStore
from callboard.experiments.many.task_pool import (
    Lost,
    OtherWorkers,
    Workers,
    answers,
    cores_here,
    local_workers,
)
from callboard.experiments.user_errors import InputError
from callboard.scheduler.ideal import compiled_is_available

JOB_RUNS_PER_BATCH = 400_000
"""About how many jobs are simulated between two looks at the progress, and lost by a kill."""


class Batch(NamedTuple):
    """Some runs of a cell; short enough that progress shows and a kill costs little."""

    trace: Trace
    cell: StudyCell
    runs: tuple[int, ...]


Found: TypeAlias = dict[StudyCell, dict[int, RunOutcome]]


def cached_outcomes(study: Study, store: ResultStore) -> Found:
    """What the store has of the study."""
    return {cell: find_outcomes(store, cell, cell.runs(study.runs)) for _, cell in study.cells()}


def compute_batch(batch: Batch) -> WorkerAnswer:
    """What a worker does."""
    return compute(*batch)


def missing_batches(study: Study, found: Found) -> list[Batch]:
    """What is still to be computed, the most costly first so that no core idles at the end."""
    tasks = []
    for trace, cell in study.cells():
        runs = [run for run in cell.runs(study.runs) if run not in found[cell]]
        size = max(1, JOB_RUNS_PER_BATCH // len(trace.submit_s))
        tasks += [Batch(trace, cell, tuple(runs[k : k + size])) for k in range(0, len(runs), size)]
    return sorted(tasks, key=lambda task: -len(task.trace.submit_s) * len(task.runs))


def run_batches(
    tasks: Sequence[Batch],
    found: Found,
    store: ResultStore,
    workers: Workers,
    progress: Callable[[int], None],
) -> None:
    """Do the tasks; each answer is on disk before it counts as done."""
    for task, answer in answers(workers, compute_batch, tasks):
        if isinstance(answer, Lost):
            raise InputError(f"{task.trace.name}: some runs could not be computed: {answer.why}")
        add_outcomes(store, answer)
        found[answer.cell].update(zip(answer.runs, answer.outcomes, strict=True))
        progress(len(answer.runs))


@contextmanager
def study_workers(cores: int | None = None) -> Iterator[Workers]:
    """Workers on this machine, one a core.

    Threads where the loops are compiled, since those let go of the interpreter's lock;
    processes where they are plain.
    """
    if compiled_is_available():
        count = cores or cores_here()
        with ThreadPoolExecutor(count) as executor:
            yield OtherWorkers(executor, count)
    else:
        with local_workers(cores) as workers:
            yield workers
