"""Doing what is still to be done: on this machine's cores, or on a Dask cluster."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from contextlib import AbstractContextManager, contextmanager
from multiprocessing import get_context
from typing import Any, NamedTuple, TypeAlias

from callboard.experiments.ideal_study.cache import Cache
from callboard.experiments.ideal_study.cells import RunOutcome, StudyCell, WorkerAnswer, compute
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.swim import Trace
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
Workers: TypeAlias = Callable[[Sequence[Batch]], Iterator[WorkerAnswer]]


def cached_outcomes(study: Study, cache: Cache) -> Found:
    """What the cache has of the study."""
    return {
        cell: {
            run: outcome
            for run, outcome in cache.find(cell).items()
            if run in cell.runs(study.runs)
        }
        for _, cell in study.cells()
    }


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
    cache: Cache,
    workers: Workers,
    progress: Callable[[int], None],
) -> None:
    """Do the tasks; each answer is on disk before it counts as done."""
    for answer in workers(tasks):
        cache.add(answer)
        found[answer.cell].update(zip(answer.runs, answer.outcomes, strict=True))
        progress(len(answer.runs))


@contextmanager
def local_workers(cores: int | None = None) -> Iterator[Workers]:
    """Workers on this machine, one a core.

    Threads where the loops are compiled, since those let go of the interpreter's lock;
    processes where they are plain.
    """
    count = cores or _cores()
    pool: AbstractContextManager[Executor]
    if compiled_is_available():
        pool = ThreadPoolExecutor(count)
    else:
        pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    with pool as executor:

        def run(tasks: Sequence[Batch]) -> Iterator[WorkerAnswer]:
            futures = [executor.submit(compute, *task) for task in tasks]
            try:
                for future in as_completed(futures):
                    yield future.result()
            finally:
                for future in futures:
                    future.cancel()

        yield run


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def dask_workers(address: str) -> Iterator[Workers]:
    """Workers of the Dask cluster at `dask://HOST:PORT`; they must have Callboard installed."""
    if not address.startswith("dask://"):
        raise InputError(f"--on {address}: an address reads dask://HOST:PORT")
    try:
        import distributed
    except ImportError:
        raise InputError("--on needs Dask: pip install 'callboard[dask]'") from None
    try:
        client: Any = distributed.Client("tcp://" + address.removeprefix("dask://"), timeout="10s")
    except (OSError, ValueError) as error:
        raise InputError(f"--on {address}: no scheduler answers ({error})") from None
    with client:

        def run(tasks: Sequence[Batch]) -> Iterator[WorkerAnswer]:
            sent = {
                trace.digest: client.scatter(trace, broadcast=True)
                for trace in {task.trace.digest: task.trace for task in tasks}.values()
            }
            futures = [
                client.submit(compute, sent[task.cell.trace], task.cell, task.runs, pure=False)
                for task in tasks
            ]
            for future in distributed.as_completed(futures):
                yield future.result()

        yield run
