"""Playing what is missing of a sweep, and reading what a store has."""

from collections.abc import Callable, Iterator, Mapping
from itertools import islice

import msgspec

from callboard.experiments.many.computing import (
    LOOKED_UP_AT_ONCE,
    Call,
    call_raising_error,
    compute_missing,
)
from callboard.experiments.many.content_key import task_key
from callboard.experiments.many.result_store import Kept, ResultStore
from callboard.experiments.many.run_tasks import SoloTask, SoloTimes, play_task, unpack_solo_times
from callboard.experiments.many.sweeps.played_cell import CellOptions, Place, PlayedCell, Setting
from callboard.experiments.many.sweeps.sweep_plan import SOLO, PlannedCell, PlannedSweep
from callboard.experiments.many.task_pool import Workers
from callboard.experiments.run.run_result import unpack_result
from callboard.experiments.user_errors import InputError
from callboard.scheduler.policy import PolicySpecError


class SweepCounts(msgspec.Struct):
    """How many runs a sweep found in its store, has played, and how many of both have failed; how
    many of before it has left out, since their scenario or the code of their policy has changed.
    Runs are those of its table, each counted once; of how many worlds it has played the jobs
    `alone` is told apart.
    """

    found: int = 0
    played: int = 0
    failed: int = 0
    outdated: int = 0
    alone: int = 0


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
    for given in sweep.plan.scenarios:
        file = sweep.file_of(given)
        if file is None:
            store.put_scenario_source(sweep.scenario_name(given), given)
        else:
            store.put_scenario_path(sweep.scenario_name(given), file)
    counts, before, asked = SweepCounts(), store.keys_by_place(), dict[str, str]()
    calls, own = _calls_noted_in_store(sweep, store, asked), set[str]()
    for answered in compute_missing(calls, store, workers, retry=retry, stopped=stopped):
        if isinstance(answered.call.arguments[0], SoloTask):
            counts.alone += answered.computed
        else:
            counts.played += answered.computed
            if answered.kept is not None and answered.call.key not in own:
                own.add(answered.call.key)  # a point that a question draws twice counts once
                counts.found += not answered.computed
        counts.failed += answered.kept is not None and answered.kept.value is None
        progress(1)
    if not stopped():
        outdated = outdated_places(before, asked)
        store.drop_places(outdated)
        counts.outdated = len(outdated)
    return counts


def outdated_places(before: Mapping[str, str], asked: Mapping[str, str]) -> list[str]:
    """The places of before that were not asked for, where of their scenario under their policy
    what was asked for has another key now.
    """

    def world(place: str) -> tuple[str, str]:
        read = msgspec.json.decode(place, type=Place)
        return read.scenario, read.policy

    changed = {world(place) for place, key in before.items() if asked.get(place, key) != key}
    return [place for place in before if place not in asked and world(place) in changed]


def _calls_noted_in_store(
    sweep: PlannedSweep, store: ResultStore, asked: dict[str, str]
) -> Iterator[Call]:
    """A call for each run, after where it stands has been noted, in `asked` too."""
    cells, options = sweep.cells(), msgspec.json.encode(sweep.plan.options).decode()
    while some := [
        (_encoded_place(cell), _call_for_cell(cell)) for cell in islice(cells, LOOKED_UP_AT_ONCE)
    ]:
        places = {place: call.key for place, call in some}
        store.put_places(places.items(), options)
        asked |= places
        yield from (call for _, call in some)


def _call_for_cell(cell: PlannedCell) -> Call:
    """What plays the cell; what refuses it if its policy cannot be made in its setting."""
    if cell.task is None:
        return call_raising_error(InputError(cell.error), *cell[:4])
    try:
        return Call(task_key(cell.task), play_task, (cell.task,))
    except PolicySpecError as error:
        return call_raising_error(error, *cell[:4])


def _encoded_place(cell: PlannedCell) -> str:
    return msgspec.json.encode(Place(*cell[:4])).decode()


def read_cells(store: ResultStore) -> list[PlayedCell]:
    """All runs that a store knows of, in the order in which they were asked for, with times alone
    where they were played.  InputError for results that cannot be read.
    """
    with store.unreadable_content_told():
        return list(_cells_of_store(store))


def _cells_of_store(store: ResultStore) -> Iterator[PlayedCell]:
    places = [
        (msgspec.json.decode(text, type=Place), key) for text, key in store.keys_by_place().items()
    ]
    kept = store.find(key for _, key in places)
    alone = {
        _world_of_place(place): unpack_solo_times(times)
        for place, key in places
        if place.policy == SOLO and key in kept and (times := kept[key].value) is not None
    }
    options = {
        key: msgspec.json.decode(asked, type=CellOptions)
        for key, asked in store.options_by_key().items()
    }
    for place, key in places:
        if place.policy != SOLO:
            cell = _cell_with_result(place, key, kept.get(key), alone.get(_world_of_place(place)))
            yield msgspec.structs.replace(cell, options=options.get(key))


def _world_of_place(place: Place) -> tuple[str, Setting, int]:
    return place.scenario, place.setting, place.seed


def _cell_with_result(
    place: Place, key: str, kept: Kept | None, alone: SoloTimes | None
) -> PlayedCell:
    cell = PlayedCell(place.scenario, place.setting, place.policy, place.seed, key=key)
    if kept is None:
        return cell
    if kept.value is None:
        return msgspec.structs.replace(cell, error=kept.error)
    result = unpack_result(kept.value)
    if alone is not None:
        result = alone.with_solo_times(result)
    return msgspec.structs.replace(cell, result=result)
