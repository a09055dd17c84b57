"""Which scenarios a property speaks of: the same words draw them and say why one is no such."""

import msgspec

from scenarios.checks import node_count, slot_count
from scenarios.joblist import JobsWorkload
from scenarios.spec import Scenario


class Worlds(msgspec.Struct, frozen=True, kw_only=True):
    """A family of scenarios with listed jobs.

    The numbers are the most of what is drawn, and bind nobody's own file.  The others are what
    may be there: `reduces`; `priorities` other than normal; `noise` in the length of tasks;
    `distance`, so that a map far from its input takes longer; `unlike` nodes; `faults`; `beats`
    other than Hadoop 1.0's.  `arrivals` says whether jobs come at different times, `pools` which
    pools they name.
    """

    nodes: int = 3
    slots: int = 3
    jobs: int = 5
    maps: int = 6
    reduces: bool = True
    priorities: bool = True
    noise: bool = True
    distance: bool = True
    unlike: bool = True
    faults: bool = False
    beats: bool = True
    arrivals: bool = True
    pools: tuple[str, ...] = ()
    lengths_s: tuple[float, ...] = (1.0, 4.0, 10.0, 30.0)

    def objection(self, scenario: Scenario) -> str | None:
        """Why the scenario is none of the family; None if it is."""
        cluster, tasks, jobs = scenario.cluster, scenario.tasks, scenario.workload
        if not isinstance(jobs, JobsWorkload):
            return 'its workload is not of the kind "jobs"'
        if scenario.timeline and not self.faults:
            return "it has a timeline"
        if (tasks.sigma or tasks.straggler_share) and not self.noise:
            return "tasks of a job differ in length"
        if (cluster.group or cluster.speed != 1.0) and not self.unlike:
            return "its nodes are unlike"
        entries = jobs.job
        checks = (
            (self.reduces, any(e.reduces for e in entries), "a job has reduces"),
            (self.priorities, any(e.priority != "normal" for e in entries), "a job has a priority"),
            (self.arrivals, len({(e.at_s, e.every_s * (e.count > 1)) for e in entries}) > 1, LATER),
            (self.distance, _distance_matters(scenario), "a map far from its input takes longer"),
            (self.beats, cluster.heartbeat.tasks_per_beat == "one", "a beat takes one task only"),
            (self.noise, any(_skewed(e) for e in entries), "tasks of a job differ in length"),
            (self.faults, any(e.poisoned_maps or e.poisoned_reduces for e in entries), POISONED),
        )
        return next((why for may, is_so, why in checks if is_so and not may), None)


LATER = "jobs come at different times"
POISONED = "a job has tasks that fail"

ANY = Worlds()
"""Everything but faults."""

TROUBLED = Worlds(faults=True)
"""Everything."""

PLAIN = Worlds(
    reduces=False, priorities=False, noise=False, distance=False, unlike=False, beats=False
)
"""Equal jobs of equal nodes: maps alone, each as long as it says, wherever it runs."""


def size(scenario: Scenario) -> tuple[int, int, int]:
    """(nodes, jobs, slots) of a scenario with listed jobs."""
    jobs = scenario.workload
    assert isinstance(jobs, JobsWorkload)
    count = sum(entry.count for entry in jobs.job)
    return node_count(scenario.cluster), count, slot_count(scenario.cluster)


def _distance_matters(scenario: Scenario) -> bool:
    tasks = scenario.tasks
    return (tasks.rack_factor, tasks.off_rack_factor) != (1.0, 1.0)


def _skewed(entry: object) -> bool:
    return bool(getattr(entry, "skewed_maps", ()) or getattr(entry, "skewed_reduces", ()))
