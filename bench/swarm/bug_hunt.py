"""How soon the swarm catches planted bugs: `python -m bench.swarm --bugs`.

Each bug is planted by itself, and seeds are tried from the first on until one finds a flaw.  Every
bug of the list takes minutes; what was found is kept in the folder and not looked for again while
the bug and the code are the same.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import msgspec

from bench.swarm.bug_planter import PlantedBug, planted
from bench.swarm.planted_bugs import BUGS
from bench.swarm.seed_trial import try_seed
from callboard.experiments.result_store import Kept, ResultStore, key_of
from callboard.experiments.sweeps.content_key import model_version
from callboard.experiments.task_pool import Lost, answers, local_workers

NAME = "bugs.results"
SEEDS_MAX = 100


class Catch(msgspec.Struct, frozen=True):
    """How a bug was caught: after so many worlds and seeds, by which kind of flaw; "" if not."""

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
            try:
                record = try_seed(seed)
            except Exception as error:  # the bug broke what tries the seed
                return Catch(bug.what, bug.room, worlds + 1, seed, type(error).__name__, seconds)
            worlds, seconds = worlds + record.worlds, seconds + record.seconds
            if record.flaws:
                return Catch(bug.what, bug.room, worlds, seed, record.flaws[0][0], seconds)
    return Catch(bug.what, bug.room, worlds, most, "", seconds)


def catches(folder: Path, cores: int | None, most: int = SEEDS_MAX) -> Iterator[Catch]:
    """Every bug's, in the order of the list; those that are known are not looked for again."""
    folder.mkdir(parents=True, exist_ok=True)
    with ResultStore(folder / NAME) as store, local_workers(cores) as workers:
        keys = {bug: key_of(model_version(), *bug, most) for bug in BUGS}
        left = [bug for bug, key in keys.items() if key not in store.find([key])]
        for bug, answer in answers(workers, partial(caught, most=most), left):
            if isinstance(answer, Lost):
                raise RuntimeError(f"{bug.what}: {answer.why}")
            store.add([(keys[bug], Kept(msgspec.msgpack.encode(answer), "", answer.seconds))])
            print(f"{answer.kind or 'MISSED':12} {answer.seeds:4} seeds  {bug.what}", flush=True)
        kept = store.find(keys.values())
    for key in keys.values():
        yield msgspec.msgpack.decode(kept[key].value or b"", type=Catch)
