"""The swarm's results in a file: resumed where they ended, and summed up over all nights."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from callboard.experiments.many.content_key import scenario_version
from callboard.experiments.many.result_store import Kept, ResultStore, key_of
from trials.swarm.seed_trial import SeedRecord

NAME = "swarm.results"


class SeedRecords:
    """The records of seeds that were tried by the present version of the model."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._store = ResultStore(folder / NAME)

    def left(self, first: int) -> Iterator[int]:
        """The seeds from the first on that have not been tried yet."""
        seed = first
        while True:
            some = range(seed, seed + 500)
            known = self._store.find(map(_key, some))
            yield from (each for each in some if _key(each) not in known)
            seed += 500

    def add(self, record: SeedRecord) -> None:
        kept = Kept(msgspec.msgpack.encode(record), "", record.seconds)
        self._store.add([(_key(record.seed), kept)])
        self._store.put_places([(f"{scenario_version()}/{record.seed}", _key(record.seed))])

    def all(self, *, of_this_version: bool = False) -> list[SeedRecord]:
        """Every record, of all versions or of the present one."""
        places = self._store.keys_by_place()
        wanted = [
            key
            for place, key in places.items()
            if not of_this_version or place.startswith(f"{scenario_version()}/")
        ]
        kept = self._store.find(wanted).values()
        return [msgspec.msgpack.decode(each.value or b"", type=SeedRecord) for each in kept]


def _key(seed: int) -> str:
    return key_of("swarm", scenario_version(), seed)


YEAR_MS = 365 * 86_400_000


class Totals(NamedTuple):
    """Records summed up; `a_day` is node-years simulated by one core in a day."""

    seeds: int
    worlds: int
    events: int
    node_years: float
    core_hours: float
    a_day: float
    flaws: Counter[str]
    reasons: Counter[str]
    checked: Counter[str]
    met: Counter[str]


def totals(records: Iterable[SeedRecord]) -> Totals:
    """What the records come to together."""
    known = list(records)
    node_years = sum(each.node_ms for each in known) / YEAR_MS
    hours = sum(each.seconds for each in known) / 3600
    return Totals(
        seeds=len(known),
        worlds=sum(each.worlds for each in known),
        events=sum(each.events for each in known),
        node_years=node_years,
        core_hours=hours,
        a_day=24 * node_years / hours if hours else 0.0,
        flaws=Counter(kind for each in known for kind, _, _ in each.flaws),
        reasons=Counter(each.reason for each in known),
        checked=Counter(name for each in known for name in each.checked),
        met=Counter(what for each in known for what in each.met),
    )
