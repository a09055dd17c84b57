"""Which scenarios a property speaks of: the same words draw them and say why one is no such."""

import msgspec

from callboard.actors.config import Cluster
from callboard.scenarios.listed_jobs import ListedJob, ListedWorkload
from callboard.scenarios.scenario_file import Scenario
from callboard.scenarios.validation import slot_count


class ScenarioFamily(msgspec.Struct, frozen=True, kw_only=True):
    """A family of scenarios with listed jobs.

    The numbers limit what is drawn (`min_slots` is the least of map slots a node), and no file of
    a user's own.  The others say what there may be: `reduces`; `priorities` other than normal;
    `noise` in the length of tasks; maps that take longer far from their input
    (`locality_matters`); nodes that differ, or tasks by a node's type (`heterogeneous`); `faults`,
    of all kinds or `only_crashes`; heartbeats other than Hadoop 1.0's (`heartbeat_options`);
    different `arrivals`.  `pools` are those that jobs name.  In `prompt` scenarios nodes send a
    heartbeat at every end of an attempt and often besides.  `stream_length` equal jobs may come
    one after the other.
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

    def why_excludes(self, scenario: Scenario) -> str | None:
        """Why the scenario is none of the family; None if it is."""
        cluster, tasks, jobs = scenario.cluster, scenario.tasks, scenario.workload
        if not isinstance(jobs, ListedWorkload):
            return 'its workload is not of the kind "jobs"'
        entries = jobs.job
        noisy = tasks.sigma or tasks.straggler_share
        skewed = any(e.skewed_maps or e.skewed_reduces for e in entries)
        unlike = cluster.group or cluster.speed != 1.0
        repeated = any(e.count > 1 and e.every_s for e in entries)
        arrivals = repeated or len({e.at_s for e in entries}) > 1
        by_type = any(e.on for e in entries)
        failing = any(map(_has_failing_tasks, entries))
        farther_is_slower = (tasks.rack_factor, tasks.off_rack_factor) != (1.0, 1.0)
        one_task = cluster.heartbeat.tasks_per_heartbeat == "one"
        checks = (
            (self.faults, scenario.timeline, "it has a timeline"),
            (self.noise, noisy or skewed, "tasks of a job differ in length"),
            (self.heterogeneous, unlike, "its nodes are unlike"),
            (self.heterogeneous, by_type, "how long a job's tasks take depends on the node's type"),
            (self.reduces, any(e.reduces for e in entries), "a job has reduces"),
            (self.priorities, any(e.priority != "normal" for e in entries), "a job has a priority"),
            (self.arrivals, arrivals, "jobs come at different times"),
            (self.locality_matters, farther_is_slower, "a map far from its input takes longer"),
            (self.heartbeat_options, one_task, "a heartbeat takes one task only"),
            (not self.prompt, not _is_prompt(cluster), "its nodes are not prompt"),
            (self.faults, failing, "a job has tasks that fail"),
        )
        return next((why for may, is_so, why in checks if is_so and not may), None)


PROMPT_PERIOD_MS = 22
"""The longest time between two heartbeats of a node in a prompt scenario."""

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
    return scenario.cluster.node_count(), count, slot_count(scenario.cluster)


def _has_failing_tasks(entry: ListedJob) -> bool:
    poisoned = entry.poisoned_maps or entry.poisoned_reduces
    return bool(poisoned or entry.hanging_maps or entry.hanging_reduces)


def _is_prompt(cluster: Cluster) -> bool:
    return cluster.heartbeat.out_of_band and cluster.heartbeat_cycle_ms() <= PROMPT_PERIOD_MS
