"""The hunt for the scenario in which one policy looks worst against another.

Hypothesis draws scenarios and climbs towards larger numbers (`target`); the best of them breed: a
small population of scenarios is changed a little again and again.  The worst scenario is then made
smaller as long as it stays nearly as bad.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from random import Random
from typing import NamedTuple

import msgspec
from hypothesis import Phase, target

from callboard.actors.config import Cluster
from callboard.fairness import search
from callboard.fairness.catalogue import property_name_of_rule
from callboard.fairness.experiment import Experiment
from callboard.fairness.objectives import OBJECTIVES
from callboard.fairness.variants import (
    entries_of,
    repeat_changes,
    with_cluster,
    with_entries,
    with_entry,
)
from callboard.scenarios.listed_jobs import ListedJob
from callboard.scenarios.scenario_file import Scenario

POPULATION = 8
"""How many scenarios breed."""

SHRINK_TOLERANCE = 0.95
"""What share of the worst a smaller scenario has to come to."""

HUNT_LENGTHS_S = (0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 99.0, 300.0)
HUNT_MAPS_MAX = 40
HUNT_JOBS_MAX = 60


class WorstCase(NamedTuple):
    """A scenario, and by how much the one policy is worse than the other there."""

    worse: float
    scenario: Scenario


class FailedRun(NamedTuple):
    """Why a run did not come to its end, and the property that shows it."""

    why: str
    shown_by: str


class HuntResult(NamedTuple):
    """The smallest of the worst scenarios, and how many were tried; of those in which a run did not
    come to its end how many there were by policy, and what became of the first.
    """

    worst: WorstCase
    tried: int
    failures: Mapping[str, int]
    first_failures: Mapping[str, FailedRun]


class Hunt:
    """One hunt; `tried` counts scenarios."""

    def __init__(
        self,
        hunted: search.PolicyUnderTest,
        against: search.PolicyUnderTest,
        goal: str,
        on_progress: search.OnProgress = search.ignore_progress,
    ) -> None:
        self._hunted = hunted
        self._against = against
        self._goal = OBJECTIVES[goal]
        self._on_progress = on_progress
        self._known: dict[bytes, float] = {}
        self.failures: Counter[str] = Counter()
        """By policy, scenarios in which its run did not come to its end."""
        self.first_failures: dict[str, FailedRun] = {}
        self.best: list[WorstCase] = []

    @property
    def tried(self) -> int:
        return len(self._known)

    def how_much_worse(self, scenario: Scenario) -> float:
        """By how much it is worse in this scenario; 0 if one of the runs did not end well."""
        label = msgspec.msgpack.encode(scenario)
        if label not in self._known:
            played = [each(scenario) for each in (self._hunted, self._against)]
            sound = [self._ends_well(each) for each in played]
            worse = self._goal.worse(*(each.run for each in played)) if all(sound) else 0.0
            self._known[label] = worse
            self._keep_if_among_worst(WorstCase(worse, scenario))
        return self._known[label]

    def _ends_well(self, experiment: Experiment) -> bool:
        """Whether its run comes to its end; counts those that do not."""
        why, violation = experiment.run.why_unfinished, experiment.run.violation
        if why:
            shown_by = property_name_of_rule("" if violation is None else violation.rule)
            self.failures[experiment.policy] += 1
            self.first_failures.setdefault(experiment.policy, FailedRun(why, shown_by))
        return not why

    def _keep_if_among_worst(self, worst_case: WorstCase) -> None:
        self.best = sorted([*self.best, worst_case], key=lambda each: -each.worse)[:POPULATION]

    def draw_scenarios(self, examples: int, seed: int) -> None:
        """Let Hypothesis draw `examples` scenarios, and climb."""

        def look(scenario: Scenario) -> None:
            target(self.how_much_worse(scenario), label="worse")
            self._on_progress("drawing", 1)

        phases = (Phase.generate, Phase.target)
        search.for_each_drawn_scenario(self._goal.family, look, examples, seed, phases)

    def breed_scenarios(self, times: int, seed: int) -> None:
        chance = Random(seed)
        for _ in range(times):
            parent = self.best[min(int(chance.expovariate(0.7)), len(self.best) - 1)].scenario
            self.how_much_worse(_randomly_changed_scenario(parent, chance))
            self._on_progress("breeding", 1)

    def smallest_worst_case(self) -> WorstCase:
        """The worst scenario, made smaller step by step."""
        smallest = self.best[0]
        least = smallest.worse * SHRINK_TOLERANCE
        while (smaller := self._smaller_and_still_bad(smallest.scenario, least)) is not None:
            smallest = smaller
        return smallest

    def _smaller_and_still_bad(self, scenario: Scenario, least: float) -> WorstCase | None:
        for smaller in _smaller_scenarios(scenario):
            self._on_progress("making it smaller", 0)
            worse = self.how_much_worse(smaller)
            if worse >= least:
                return WorstCase(worse, smaller)
        return None


def _randomly_changed_scenario(scenario: Scenario, chance: Random) -> Scenario:
    for _ in range(chance.choice([1, 1, 2])):
        if chance.random() < 0.15:
            scenario = _with_resized_cluster(scenario, chance)
        else:
            scenario = _with_mutated_job(scenario, chance)
    return scenario


def _with_resized_cluster(scenario: Scenario, chance: Random) -> Scenario:
    cluster = scenario.cluster
    nodes, map_slots = (
        max(1, min(4, number + chance.choice([-1, 0, 1])))
        for number in (cluster.nodes, cluster.map_slots)
    )
    racks = min(cluster.racks, nodes)
    return with_cluster(scenario, nodes=nodes, map_slots=map_slots, racks=racks)


def _with_mutated_job(scenario: Scenario, chance: Random) -> Scenario:
    entries = entries_of(scenario)
    place = chance.randrange(len(entries))
    entry = entries[place]
    jobs = sum(each.count for each in entries)
    how = chance.randrange(6)
    if how == 0 and len(entries) > 1:
        return with_entry(scenario, place)
    if how == 1 and jobs + entry.count <= HUNT_JOBS_MAX:
        later = msgspec.structs.replace(entry, at_s=float(chance.randrange(60)))
        return with_entries(scenario, (*entries, later))
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
    return with_entry(scenario, place, msgspec.structs.replace(entry, **changes))


def _smaller_scenarios(scenario: Scenario) -> Iterator[Scenario]:
    """The scenario with a little less, the largest steps first."""
    entries = entries_of(scenario)
    for place, entry in enumerate(entries):
        if len(entries) > 1:
            yield with_entry(scenario, place)
        for changes in _reductions_of_job(entry):
            yield with_entry(scenario, place, msgspec.structs.replace(entry, **changes))
    cluster = scenario.cluster
    if cluster.nodes > 1:
        yield with_cluster(scenario, nodes=cluster.nodes - 1, racks=1)
    if cluster.map_slots > 1:
        yield with_cluster(scenario, map_slots=cluster.map_slots - 1)
    plain = Cluster(nodes=cluster.nodes, racks=1, map_slots=cluster.map_slots, reduce_slots=1)
    if cluster != plain:
        yield msgspec.structs.replace(scenario, cluster=plain)


def _reductions_of_job(entry: ListedJob) -> Iterator[dict[str, object]]:
    alone, no_reduces = entry.count == 1, entry.reduces == 0
    unused = ["every_s"] * alone + ["shuffle_s", "reduce_s"] * no_reduces
    if any(getattr(entry, key) for key in unused):
        yield dict.fromkeys(unused, 0.0)
    for count in _smaller_counts(entry.count):
        yield repeat_changes(count)
    for maps in _smaller_counts(entry.maps):
        yield {"maps": maps}
    if entry.reduces:
        yield {"reduces": 0, "shuffle_s": 0.0, "reduce_s": 0.0}
    if entry.at_s:
        yield {"at_s": 0.0}
        yield {"at_s": float(int(entry.at_s) // 2)}
    if entry.user != "user":
        yield {"user": "user"}


def _smaller_counts(number: int) -> list[int]:
    return [fewer for fewer in sorted({1, number // 2, number - 1}) if 1 <= fewer < number]


def hunt(
    hunted: search.PolicyUnderTest,
    against: search.PolicyUnderTest,
    goal: str,
    *,
    examples: int,
    seed: int,
    on_progress: search.OnProgress = search.ignore_progress,
) -> HuntResult:
    """Hunt for the scenario in which `hunted` looks worst against another by a goal."""
    chase = Hunt(hunted, against, goal, on_progress)
    chase.draw_scenarios(examples, seed)
    chase.breed_scenarios(examples, seed)
    return HuntResult(
        chase.smallest_worst_case(), chase.tried, chase.failures, chase.first_failures
    )
