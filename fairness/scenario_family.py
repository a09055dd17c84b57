"""Which scenarios a property speaks of: the same words draw them and say why one is no such."""

import msgspec

from callboard.scenarios.listed_jobs import ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.validation import node_count, slot_count


class ScenarioFamily(msgspec.Struct, frozen=True, kw_only=True):
    """A family of scenarios with listed jobs.

    The numbers are the most of what is drawn (of map slots a node also the least), and bind
    nobody's own file.  The others are what may be there: `reduces`; `priorities` other than
    normal; `noise` in the length of tasks; `distance`, so that a map far from its input takes
    longer; `unlike` nodes; `faults`, of all kinds or `only_crashes`; `beats` other than Hadoop
    1.0's.  `arrivals` says whether jobs come at different times, `pools` which pools they name.
    In `prompt` ones nodes beat at every end of an attempt and often besides.  A stream is so many
    equal jobs, one after the other.
    """

    nodes: int = 3
    slots: int = 3
    min_slots: int = 1
    jobs: int = 5
    maps: int = 6
    reduces: bool = True
    priorities: bool = True
    noise: bool = True
    locality_matters: bool = True
    heterogeneous: bool = True
    faults: bool = False
    only_crashes: bool = False
    heartbeat_options: bool = True
    arrivals: bool = True
    pools: tuple[str, ...] = ()
    lengths_s: tuple[float, ...] = (1.0, 4.0, 10.0, 30.0)
    shuffles_s: tuple[float, ...] = (0.0, 0.5, 3.0)
    prompt: bool = False
    stream_length: int = 1

    def validate(self, scenario: Scenario) -> str | None:
        """Why the scenario is none of the family; None if it is."""
        cluster, tasks, jobs = scenario.cluster, scenario.tasks, scenario.workload
        if not isinstance(jobs, ListedWorkload):
            return 'its workload is not of the kind "jobs"'
        if scenario.timeline and not self.faults:
            return "it has a timeline"
        if (tasks.sigma or tasks.straggler_share) and not self.noise:
            return "tasks of a job differ in length"
        if (cluster.group or cluster.speed != 1.0) and not self.heterogeneous:
            return "its nodes are unlike"
        entries = jobs.job
        checks = (
            (self.reduces, any(e.reduces for e in entries), "a job has reduces"),
            (self.priorities, any(e.priority != "normal" for e in entries), "a job has a priority"),
            (
                self.arrivals,
                len({(e.at_s, e.every_s * (e.count > 1)) for e in entries}) > 1,
                STAGGERED,
            ),
            (
                self.locality_matters,
                _locality_matters(scenario),
                "a map far from its input takes longer",
            ),
            (
                self.heartbeat_options,
                cluster.heartbeat.tasks_per_heartbeat == "one",
                "a beat takes one task only",
            ),
            (self.noise, any(_skewed(e) for e in entries), "tasks of a job differ in length"),
            (not self.prompt, not _is_prompt(scenario), "nodes do not beat at once and often"),
            (self.faults, any(e.poisoned_maps or e.poisoned_reduces for e in entries), POISONED),
        )
        return next((why for may, is_so, why in checks if is_so and not may), None)


PROMPT_PERIOD_MS = 22
"""The longest time from beat to beat in a prompt world."""

STAGGERED = "jobs come at different times"
POISONED = "a job has tasks that fail"

WITHOUT_FAULTS = ScenarioFamily()
"""Everything but faults."""

WITH_FAULTS = ScenarioFamily(faults=True)
"""Everything."""

CRASHING = ScenarioFamily(
    nodes=2,
    jobs=1,
    maps=3,
    heterogeneous=False,
    faults=True,
    only_crashes=True,
    lengths_s=(10.0, 20.0),
    shuffles_s=(20.0, 3.0),
)
"""Nodes crash under jobs that have reduces."""

HOMOGENEOUS = ScenarioFamily(
    reduces=False,
    priorities=False,
    noise=False,
    locality_matters=False,
    heterogeneous=False,
    heartbeat_options=False,
)
"""Equal jobs of equal nodes: maps alone, each as long as it says, wherever it runs."""


def scenario_size(scenario: Scenario) -> tuple[int, int, int]:
    """(nodes, jobs, slots) of a scenario with listed jobs."""
    jobs = scenario.workload
    assert isinstance(jobs, ListedWorkload)
    count = sum(entry.count for entry in jobs.job)
    return node_count(scenario.cluster), count, slot_count(scenario.cluster)


def _locality_matters(scenario: Scenario) -> bool:
    tasks = scenario.tasks
    return (tasks.rack_factor, tasks.off_rack_factor) != (1.0, 1.0)


def _is_prompt(scenario: Scenario) -> bool:
    cluster = scenario.cluster
    period_ms = cluster.heartbeat.period_ms(node_count(cluster)) + 2 * cluster.latency_ms
    return cluster.heartbeat.out_of_band and period_ms <= PROMPT_PERIOD_MS


def _skewed(entry: object) -> bool:
    return bool(getattr(entry, "skewed_maps", ()) or getattr(entry, "skewed_reduces", ()))
