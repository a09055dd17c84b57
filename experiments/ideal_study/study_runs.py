"""Computing the runs of a study that a store has not, on this machine's cores or elsewhere."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeAlias

import msgspec

from callboard.experiments.ideal_study.cells import (
    RunOutcome,
    StudyCell,
    program_digest,
    run_outcomes,
)
from callboard.experiments.ideal_study.study import Study
from callboard.experiments.ideal_study.swim import Trace
from callboard.experiments.many.computing import Call, compute_missing
from callboard.experiments.many.result_store import Kept, ResultStore, key_of
from callboard.experiments.many.task_pool import OtherWorkers, Workers, cores_here, local_workers
from callboard.experiments.user_errors import InputError
from callboard.scheduler.numba_cache import numba_is_installed

JOBS_AT_ONCE = 400_000
"""About how many jobs a worker simulates between two looks at the progress, and a kill loses."""

Found: TypeAlias = dict[StudyCell, dict[int, RunOutcome]]


def study_runs(study: Study) -> dict[str, tuple[Trace, StudyCell, int]]:
    """Every run of the study by its key, the most costly first so that no core idles at the end."""
    runs = [(trace, cell, run) for trace, cell in study.cells() for run in cell.runs(study.runs)]
    runs.sort(key=lambda each: -len(each[0].submit_s))
    return {_run_key(cell, run): (trace, cell, run) for trace, cell, run in runs}


def count_known_runs(study: Study, store: ResultStore) -> int:
    """How many runs of the study the store has."""
    return sum(kept.value is not None for kept in store.find(study_runs(study)).values())


def compute_study(
    study: Study,
    store: ResultStore,
    workers: Workers,
    progress: Callable[[int], object] = lambda _: None,
) -> Found:
    """What each run comes to, those of them computed that the store has not; `progress` is told of
    these.  InputError if one could not be computed.
    """
    runs = study_runs(study)
    calls = [
        Call(key, play_study_run, run, min(1.0, len(run[0].submit_s) / JOBS_AT_ONCE))
        for key, run in runs.items()
    ]
    found: Found = {cell: {} for _, cell in study.cells()}
    for call, kept, computed in compute_missing(calls, store, workers, retry=True):
        trace, cell, run = runs[call.key]
        if kept is None or kept.value is None:
            why = "" if kept is None else kept.error
            raise InputError(f"{trace.name}: some runs could not be computed: {why}")
        found[cell][run] = _decoded_outcome(kept)
        progress(int(computed))
    return found


def play_study_run(trace: Trace, cell: StudyCell, run: int) -> bytes:
    """What a worker does."""
    (outcome,) = run_outcomes(trace, cell, (run,))
    return msgspec.msgpack.encode(outcome)


def _decoded_outcome(kept: Kept) -> RunOutcome:
    return msgspec.msgpack.decode(kept.value or b"", type=RunOutcome)


def _run_key(cell: StudyCell, run: int) -> str:
    """A seed may be larger than MessagePack's integers."""
    return key_of("ideal", program_digest(), *cell[:-1], str(cell.seed), run)


@contextmanager
def open_study_pool(cores: int | None = None) -> Iterator[Workers]:
    """Workers on this machine, one a core.

    Threads where the loops are compiled, since those let go of the interpreter's lock;
    processes where they are plain.
    """
    if numba_is_installed():
        count = cores or cores_here()
        with ThreadPoolExecutor(count) as executor:
            yield OtherWorkers(executor, count)
    else:
        with local_workers(cores) as workers:
            yield workers
