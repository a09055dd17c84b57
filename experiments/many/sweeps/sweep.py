"""Playing what is missing of a sweep, and reading what a store has."""

from collections.abc import Callable, Iterator
from itertools import takewhile
from typing import NamedTuple

import msgspec

from callboard.experiments.many.result_store import Kept, ResultStore, key_of
from callboard.experiments.many.run_tasks import (
    SoloTimes,
    TaskFailure,
    WorkerTask,
    perform,
)
from callboard.experiments.many.sweeps.content_key import model_version, task_key
from callboard.experiments.many.sweeps.played_cell import Place, PlayedCell, Setting
from callboard.experiments.many.sweeps.sweep_plan import SOLO, PlannedCell, PlannedSweep
from callboard.experiments.many.task_pool import Lost, Workers, answers
from callboard.experiments.run.run_result import RunResult, pack_result, unpack_result
from callboard.experiments.user_errors import InputError
from callboard.scheduler.policy import PolicySpecError

_LOOKED_UP_AT_ONCE = 64


class SweepCounts(msgspec.Struct):
    """How many runs a sweep found in its store, has played, and how many of both have failed."""

    found: int = 0
    played: int = 0
    failed: int = 0


class _Asked(NamedTuple):
    """A run of the sweep and the key of its content."""

    cell: PlannedCell
    key: str


class CellAnswer(NamedTuple):
    """What a worker says of a task, and the version of the model that it has."""

    model: str
    answer: RunResult | SoloTimes | TaskFailure | None


def perform_cell(task: WorkerTask) -> CellAnswer:
    """What a worker does."""
    return CellAnswer(model_version(), perform(task))


def run_sweep(
    sweep: PlannedSweep,
    store: ResultStore,
    workers: Workers,
    progress: Callable[[int], object] = lambda _: None,
    *,
    retry: bool = False,
    stopped: Callable[[], bool] = lambda: False,
) -> SweepCounts:
    """Play what the store has not; with `retry` also what has failed.  Each result is on disk
    before the next one is looked at, and `progress` is told how many runs more are known.  Once
    it has `stopped` nothing more is begun.
    """
    counts = SweepCounts()
    asked: dict[int, _Asked] = {}
    missing = _missing(sweep, store, asked, counts, progress, retry=retry)
    wanted = takewhile(lambda _: not stopped(), missing)
    for task, answer in answers(workers, perform_cell, wanted):
        each = asked.pop(task.place)
        kept = _kept(answer)
        if kept is not None:
            store.add([(each.key, kept)])
            counts.played += 1
            counts.failed += kept.value is None
            progress(1)
    return counts


def _missing(
    sweep: PlannedSweep,
    store: ResultStore,
    asked: dict[int, _Asked],
    counts: SweepCounts,
    progress: Callable[[int], object],
    *,
    retry: bool,
) -> Iterator[WorkerTask]:
    """The tasks whose answers the store has not, numbered as they stand in `asked`."""
    number = 0
    seen: set[str] = set()
    for some in _in_batches(sweep.cells()):
        store.put_places((_place(each.cell), each.key) for each in some)
        known = store.find(each.key for each in some)
        for each in some:
            kept = known.get(each.key)
            if each.cell.task is None and kept is None:
                kept = Kept(None, each.cell.error, 0.0)
                store.add([(each.key, kept)])
            if each.key in seen or (kept is not None and not (retry and kept.value is None)):
                counts.found += 1
                counts.failed += kept is not None and kept.value is None
                progress(1)
            elif each.cell.task is not None:
                seen.add(each.key)
                asked[number] = each
                yield msgspec.structs.replace(each.cell.task, place=number)
                number += 1


def _in_batches(cells: Iterator[PlannedCell]) -> Iterator[list[_Asked]]:
    some: list[_Asked] = []
    for cell in cells:
        some.append(_asked(cell))
        if len(some) == _LOOKED_UP_AT_ONCE:
            yield some
            some = []
    if some:
        yield some


def _asked(cell: PlannedCell) -> _Asked:
    """The cell with its key; without a task if its policy cannot be made in its setting."""
    if cell.task is not None:
        try:
            return _Asked(cell, task_key(cell.task))
        except PolicySpecError as error:
            cell = cell._replace(task=None, error=str(error))
    return _Asked(cell, key_of("impossible", model_version(), *cell[:4], cell.error))


def _place(cell: PlannedCell) -> str:
    return msgspec.json.encode(Place(*cell[:4])).decode()


def _kept(answer: CellAnswer | Lost) -> Kept | None:
    """The answer as it is kept; None for a run that was stopped on its way."""
    if isinstance(answer, Lost):
        return Kept(None, answer.why, 0.0)
    if answer.model != model_version():
        raise InputError("a worker has another version of Callboard or NumPy than this one")
    match answer.answer:
        case RunResult() as result:
            if result.interrupted:
                return None
            return Kept(pack_result(result), "", result.wall_seconds)
        case SoloTimes() as times:
            return Kept(msgspec.msgpack.encode(times), "", 0.0)
        case TaskFailure(message):
            return Kept(None, message, 0.0)
    return None


def read_cells(store: ResultStore) -> list[PlayedCell]:
    """All runs that a store knows of, in the order in which they were asked for, with times alone
    where they were played.  ValueError for results that cannot be read.
    """
    places = [(msgspec.json.decode(text, type=Place), key) for text, key in store.places().items()]
    kept = store.find(key for _, key in places)
    alone = {
        _world(place): msgspec.msgpack.decode(times, type=SoloTimes)
        for place, key in places
        if place.policy == SOLO and key in kept and (times := kept[key].value) is not None
    }
    return [
        _played(place, key, kept.get(key), alone.get(_world(place)))
        for place, key in places
        if place.policy != SOLO
    ]


def _world(place: Place) -> tuple[str, Setting, int]:
    return place.scenario, place.setting, place.seed


def _played(place: Place, key: str, kept: Kept | None, alone: SoloTimes | None) -> PlayedCell:
    cell = PlayedCell(place.scenario, place.setting, place.policy, place.seed, key=key)
    if kept is None:
        return cell
    if kept.value is None:
        return msgspec.structs.replace(cell, error=kept.error)
    result = unpack_result(kept.value)
    if alone is not None:
        result = alone.of(result)
    return msgspec.structs.replace(cell, result=result)
