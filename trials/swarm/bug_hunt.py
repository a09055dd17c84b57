"""How soon the swarm catches planted bugs: `python -m trials.swarm --bugs`.

Each bug is planted by itself, and seeds are tried from the first on until one finds a flaw.  Every
bug of the list takes minutes; what was found is kept in the folder and not looked for again while
the bug and the code are the same.
"""

import multiprocessing
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

import msgspec

from callboard.experiments.many.content_key import scenario_version
from callboard.experiments.many.result_store import Kept, ResultStore, key_of
from trials.swarm.bug_planter import PlantedBug, planted
from trials.swarm.planted_bugs import BUGS
from trials.swarm.seed_trial import try_seed

NAME = "bugs.results"
SEEDS_MAX = 400
SEED_SECONDS_MAX = 20.0
"""Processor time for a seed: bugs make worlds that do not end."""


class Catch(msgspec.Struct, frozen=True):
    """How a bug was caught: after that many worlds and seeds, by which kind of flaw; "" if not."""

    what: str
    room: str
    worlds: int
    seeds: int
    kind: str
    seconds: float


def caught(bug: PlantedBug, most: int = SEEDS_MAX) -> Catch:
    """Try seeds from 1 on with the bug until one finds a flaw."""
    worlds, seconds = 0, 0.0
    with planted(bug):
        for seed in range(1, most + 1):
            record = try_seed(seed, limit_s=SEED_SECONDS_MAX)
            worlds, seconds = worlds + record.worlds, seconds + record.seconds
            if record.flaws:
                return Catch(bug.what, bug.room, worlds, seed, record.flaws[0][0], seconds)
    return Catch(bug.what, bug.room, worlds, most, "", seconds)


def catches(
    folder: Path, cores: int | None, bugs: Sequence[PlantedBug] = BUGS, most: int = SEEDS_MAX
) -> list[Catch]:
    """These bugs', in their order; those that are known are not looked for again."""
    folder.mkdir(parents=True, exist_ok=True)
    keys = _keys(bugs, most)
    with ResultStore(folder / NAME) as store:
        kept = store.find(keys.values())
        store.put_places([(bug.what, key) for bug, key in keys.items() if key in kept])
        left = {bug: key for bug, key in keys.items() if key not in kept}
        if left:
            _hunt(left, store, cores, most)
    named = {bug.what for bug in bugs}
    return [each for each in known_catches(folder) if each.what in named]


def known_catches(folder: Path) -> list[Catch]:
    """What was found last of each bug, in the order of the list."""
    with ResultStore(folder / NAME) as store:
        places = store.keys_by_place()
        kept = store.find(places.values())
    found = (kept[places[bug.what]] for bug in BUGS if bug.what in places)
    return [msgspec.msgpack.decode(each.value or b"", type=Catch) for each in found]


def _keys(bugs: Sequence[PlantedBug], most: int) -> dict[PlantedBug, str]:
    return {bug: key_of(scenario_version(), *bug, most) for bug in bugs}


def _hunt(keys: Mapping[PlantedBug, str], store: ResultStore, cores: int | None, most: int) -> None:
    """Each in a process of its own: a run that was stopped midway may leave things behind."""
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(cores, spawn, max_tasks_per_child=1) as workers:
        asked = {workers.submit(caught, bug, most): bug for bug in keys}
        for done in as_completed(asked):
            bug, found = asked[done], done.result()
            store.add([(keys[bug], Kept(msgspec.msgpack.encode(found), "", found.seconds))])
            store.put_places([(bug.what, keys[bug])])
            print(f"{found.kind or 'MISSED':12} {found.seeds:4} seeds  {bug.what}", flush=True)
