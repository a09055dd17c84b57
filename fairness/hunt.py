"""The hunt for the scenario in which one policy looks worst against another.

Hypothesis draws scenarios and climbs towards larger numbers (`target`); the best of them breed: a
small population of scenarios is changed a little again and again.  The worst scenario is then made
smaller as long as it stays nearly as bad.
"""

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

import msgspec
from hypothesis import Phase, given, target
from hypothesis import seed as seeded

from callboard.actors.config import Cluster
from callboard.fairness.goals import GOALS, Goal
from callboard.fairness.search import Suspect, Watch, effort, ignore
from callboard.fairness.strategies import scenarios
from callboard.fairness.worlds import PLAIN, Worlds
from callboard.scenarios.joblist import JobEntry, JobsWorkload
from callboard.scenarios.spec import Scenario

GROUND: Worlds = msgspec.structs.replace(
    PLAIN, jobs=6, reduces=True, lengths_s=(1.0, 4.0, 10.0, 30.0, 99.0), streams=10
)
"""Where is hunted: nothing goes wrong, and tasks take what they say."""

POPULATION = 8
"""So many scenarios breed."""

NEARLY = 0.95
"""A smaller scenario may be so much less bad."""

LENGTHS_S = (0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 99.0, 300.0)
MAPS_MAX = 40
JOBS_MAX = 60


class Prey(NamedTuple):
    """A scenario, and by how much the one policy is worse than the other there."""

    worse: float
    scenario: Scenario


class Hunt:
    """One hunt; `tried` counts scenarios."""

    def __init__(self, hunted: Suspect, against: Suspect, goal: str, watch: Watch = ignore) -> None:
        self._hunted = hunted
        self._against = against
        self._goal: Goal = GOALS[goal][1]
        self._watch = watch
        self._known: dict[bytes, float] = {}
        self.best: list[Prey] = []

    @property
    def tried(self) -> int:
        """How many scenarios were played."""
        return len(self._known)

    def worse(self, scenario: Scenario) -> float:
        """By how much it is worse in this scenario; 0 if one of the runs did not end well."""
        label = msgspec.msgpack.encode(scenario)
        if label not in self._known:
            runs = [each.trial(scenario).run for each in (self._hunted, self._against)]
            sound = all(run.trouble is None and run.ended.reason == "complete" for run in runs)
            self._known[label] = self._goal(*runs) if sound else 0.0
            self._keep(Prey(self._known[label], scenario))
        return self._known[label]

    def _keep(self, prey: Prey) -> None:
        self.best = sorted([*self.best, prey], key=lambda each: -each.worse)[:POPULATION]

    def draw(self, examples: int, seed: int) -> None:
        """Let Hypothesis draw so many scenarios, and climb."""

        @seeded(seed)
        @effort(examples, Phase.generate, Phase.target)
        @given(scenario=scenarios(GROUND))
        def look(scenario: Scenario) -> None:
            target(self.worse(scenario), label="worse")
            self._watch("drawing", 1)

        look()

    def breed(self, times: int, seed: int) -> None:
        """Change the best so many times."""
        chance = Random(seed)
        for _ in range(times):
            parent = self.best[min(int(chance.expovariate(0.7)), len(self.best) - 1)].scenario
            self.worse(_changed(parent, chance))
            self._watch("breeding", 1)

    def smallest(self) -> Prey:
        """The worst scenario, made smaller step by step."""
        worst = self.best[0]
        least = worst.worse * NEARLY
        found = worst
        again = True
        while again:
            again = False
            for smaller in _smaller(found.scenario):
                self._watch("making it smaller", 0)
                worse = self.worse(smaller)
                if worse >= least:
                    found, again = Prey(worse, smaller), True
                    break
        return found


def _entries(scenario: Scenario) -> tuple[JobEntry, ...]:
    assert isinstance(scenario.workload, JobsWorkload)
    return scenario.workload.job


def _with(scenario: Scenario, entries: tuple[JobEntry, ...]) -> Scenario:
    return msgspec.structs.replace(scenario, workload=JobsWorkload(job=entries))


def _changed(scenario: Scenario, chance: Random) -> Scenario:
    """The scenario with one or two small changes."""
    for _ in range(chance.choice([1, 1, 2])):
        if chance.random() < 0.15:
            scenario = msgspec.structs.replace(scenario, cluster=_moved(scenario.cluster, chance))
        else:
            scenario = _with(scenario, _mutated(_entries(scenario), chance))
    return scenario


def _moved(cluster: Cluster, chance: Random) -> Cluster:
    nodes = max(1, min(4, cluster.nodes + chance.choice([-1, 0, 1])))
    slots = max(1, min(4, cluster.map_slots + chance.choice([-1, 0, 1])))
    return msgspec.structs.replace(
        cluster, nodes=nodes, map_slots=slots, racks=min(cluster.racks, nodes)
    )


def _mutated(entries: tuple[JobEntry, ...], chance: Random) -> tuple[JobEntry, ...]:
    place = chance.randrange(len(entries))
    entry, rest = entries[place], (*entries[:place], *entries[place + 1 :])
    jobs = sum(each.count for each in entries)
    how = chance.randrange(6)
    if how == 0 and rest:
        return rest
    if how == 1 and jobs + entry.count <= JOBS_MAX:
        return (*entries, msgspec.structs.replace(entry, at_s=float(chance.randrange(60))))
    changes: dict[str, object]
    if how == 2:
        changes = {"maps": max(1, min(MAPS_MAX, entry.maps + chance.choice([-3, -1, 1, 3])))}
    elif how == 3:
        changes = {"map_s": chance.choice(LENGTHS_S)}
    elif how == 4:
        changes = {"at_s": max(0.0, entry.at_s + chance.choice([-10.0, -1.0, 1.0, 10.0]))}
    else:
        most = max(1, JOBS_MAX - jobs + entry.count)
        changes = {
            "count": min(most, chance.choice([1, 5, 20])),
            "every_s": chance.choice([0.0, 1.0, 4.0]),
        }
    changed = msgspec.structs.replace(entry, **changes)
    return (*entries[:place], changed, *entries[place + 1 :])


def _smaller(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with a little less, the largest steps first."""
    entries = _entries(scenario)
    for place, entry in enumerate(entries):
        if len(entries) > 1:
            yield _with(scenario, (*entries[:place], *entries[place + 1 :]))
        for changes in _less(entry):
            less = msgspec.structs.replace(entry, **changes)
            yield _with(scenario, (*entries[:place], less, *entries[place + 1 :]))
    cluster = scenario.cluster
    plain = Cluster(nodes=cluster.nodes, racks=1, map_slots=cluster.map_slots, reduce_slots=1)
    for less_cluster in (
        msgspec.structs.replace(cluster, nodes=cluster.nodes - 1, racks=1),
        msgspec.structs.replace(cluster, map_slots=cluster.map_slots - 1),
        plain,
    ):
        if less_cluster != cluster and less_cluster.nodes and less_cluster.map_slots:
            yield msgspec.structs.replace(scenario, cluster=less_cluster)


def _less(entry: JobEntry) -> Iterator[dict[str, object]]:
    for count in sorted({1, entry.count // 2, entry.count - 1}):
        if 1 <= count < entry.count:
            yield {"count": count, **({"every_s": 0.0} if count == 1 else {})}
    for maps in sorted({1, entry.maps // 2, entry.maps - 1}):
        if 1 <= maps < entry.maps:
            yield {"maps": maps}
    if entry.reduces:
        yield {"reduces": 0, "shuffle_s": 0.0, "reduce_s": 0.0}
    if entry.at_s:
        yield {"at_s": 0.0}
        yield {"at_s": float(int(entry.at_s) // 2)}
    if entry.user != "user":
        yield {"user": "user"}


def hunt(
    hunted: Suspect,
    against: Suspect,
    goal: str,
    *,
    examples: int,
    seed: int,
    watch: Watch = ignore,
) -> tuple[Prey, int]:
    """The smallest of the worst scenarios that were found, and how many were tried."""
    chase = Hunt(hunted, against, goal, watch)
    chase.draw(examples, seed)
    chase.breed(examples, seed)
    return chase.smallest(), chase.tried
