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
from callboard.fairness.objectives import OBJECTIVES, Objective
from callboard.fairness.scenario_family import HOMOGENEOUS, ScenarioFamily
from callboard.fairness.search import OnProgress, PolicyUnderTest, ignore_progress, search_settings
from callboard.fairness.strategies import scenarios
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.scenario_file import Scenario

HUNT_FAMILY: ScenarioFamily = msgspec.structs.replace(
    HOMOGENEOUS, jobs=6, reduces=True, lengths_s=(1.0, 4.0, 10.0, 30.0, 99.0), stream_length=10
)
"""Where is hunted: nothing goes wrong, and tasks take what they say."""

POPULATION = 8
"""So many scenarios breed."""

SHRINK_TOLERANCE = 0.95
"""A smaller scenario may be so much less bad."""

HUNT_LENGTHS_S = (0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 99.0, 300.0)
HUNT_MAPS_MAX = 40
HUNT_JOBS_MAX = 60


class WorstCase(NamedTuple):
    """A scenario, and by how much the one policy is worse than the other there."""

    worse: float
    scenario: Scenario


class Hunt:
    """One hunt; `tried` counts scenarios."""

    def __init__(
        self,
        hunted: PolicyUnderTest,
        against: PolicyUnderTest,
        goal: str,
        on_progress: OnProgress = ignore_progress,
    ) -> None:
        self._hunted = hunted
        self._against = against
        self._goal: Objective = OBJECTIVES[goal][1]
        self._on_progress = on_progress
        self._known: dict[bytes, float] = {}
        self.best: list[WorstCase] = []

    @property
    def tried(self) -> int:
        """How many scenarios were played."""
        return len(self._known)

    def worse(self, scenario: Scenario) -> float:
        """By how much it is worse in this scenario; 0 if one of the runs did not end well."""
        label = msgspec.msgpack.encode(scenario)
        if label not in self._known:
            runs = [each.experiment(scenario).run for each in (self._hunted, self._against)]
            sound = all(run.trouble is None and run.ended.reason == "complete" for run in runs)
            self._known[label] = self._goal(*runs) if sound else 0.0
            self._keep(WorstCase(self._known[label], scenario))
        return self._known[label]

    def _keep(self, worst_case: WorstCase) -> None:
        self.best = sorted([*self.best, worst_case], key=lambda each: -each.worse)[:POPULATION]

    def draw(self, examples: int, seed: int) -> None:
        """Let Hypothesis draw so many scenarios, and climb."""

        @seeded(seed)
        @search_settings(examples, Phase.generate, Phase.target)
        @given(scenario=scenarios(HUNT_FAMILY))
        def look(scenario: Scenario) -> None:
            target(self.worse(scenario), label="worse")
            self._on_progress("drawing", 1)

        look()

    def breed(self, times: int, seed: int) -> None:
        """Change the best so many times."""
        chance = Random(seed)
        for _ in range(times):
            parent = self.best[min(int(chance.expovariate(0.7)), len(self.best) - 1)].scenario
            self.worse(_changed(parent, chance))
            self._on_progress("breeding", 1)

    def smallest(self) -> WorstCase:
        """The worst scenario, made smaller step by step."""
        worst = self.best[0]
        least = worst.worse * SHRINK_TOLERANCE
        found = worst
        again = True
        while again:
            again = False
            for smaller in _smaller(found.scenario):
                self._on_progress("making it smaller", 0)
                worse = self.worse(smaller)
                if worse >= least:
                    found, again = WorstCase(worse, smaller), True
                    break
        return found


def _entries(scenario: Scenario) -> tuple[ListedJob, ...]:
    assert isinstance(scenario.workload, ListedWorkload)
    return scenario.workload.job


def _with(scenario: Scenario, entries: tuple[ListedJob, ...]) -> Scenario:
    return msgspec.structs.replace(scenario, workload=ListedWorkload(job=entries))


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


def _mutated(entries: tuple[ListedJob, ...], chance: Random) -> tuple[ListedJob, ...]:
    place = chance.randrange(len(entries))
    entry, rest = entries[place], (*entries[:place], *entries[place + 1 :])
    jobs = sum(each.count for each in entries)
    how = chance.randrange(6)
    if how == 0 and rest:
        return rest
    if how == 1 and jobs + entry.count <= HUNT_JOBS_MAX:
        return (*entries, msgspec.structs.replace(entry, at_s=float(chance.randrange(60))))
    changes: dict[str, object]
    if how == 2:
        changes = {"maps": max(1, min(HUNT_MAPS_MAX, entry.maps + chance.choice([-3, -1, 1, 3])))}
    elif how == 3:
        changes = {"map_s": chance.choice(HUNT_LENGTHS_S)}
    elif how == 4:
        changes = {"at_s": max(0.0, entry.at_s + chance.choice([-10.0, -1.0, 1.0, 10.0]))}
    else:
        most = max(1, HUNT_JOBS_MAX - jobs + entry.count)
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


def _less(entry: ListedJob) -> Iterator[dict[str, object]]:
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
    hunted: PolicyUnderTest,
    against: PolicyUnderTest,
    goal: str,
    *,
    examples: int,
    seed: int,
    on_progress: OnProgress = ignore_progress,
) -> tuple[WorstCase, int]:
    """The smallest of the worst scenarios that were found, and how many were tried."""
    chase = Hunt(hunted, against, goal, on_progress)
    chase.draw(examples, seed)
    chase.breed(examples, seed)
    return chase.smallest(), chase.tried
