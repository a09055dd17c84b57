"""What each job is due: its fair share of the slots, by the pools of the scenario.

The shares are those of Hadoop's Fair Scheduler (`Fair.claims`), whatever policy is in force: they
are what one holds a policy against.  Pools are the policy's own if it is `fair`, else those that
the scenario sets up for `fair`; without any, jobs share by their priorities.  What is counted is
what the master has booked: slots of nodes that it has not given up, tasks that are not done,
reduces from slowstart on.
"""

from math import ceil
from typing import cast

from actors.config import Tasks
from actors.events import RunStarted
from scheduler.facts import JobArrived
from scheduler.model import KINDS, JobId, Locality, Millis, NodeId, Priority, TaskKind
from scheduler.orders.fair import Fair
from scheduler.registry import SHIPPED, PolicySpecError, Settings, parse
from scheduler.view import ClusterView, JobView
from tui.stage import Stage
from tui.tally import Tally


class Dues:
    """How the slots of one run would be shared out fairly, at any moment of it."""

    def __init__(self, started: RunStarted) -> None:
        self._params = _params_of(started)
        tasks = started.scenario.get("tasks")
        share = tasks.get("slowstart") if isinstance(tasks, dict) else None
        self._slowstart = Tasks().slowstart if share is None else float(share)
        self._slots = [(node.map_slots, node.reduce_slots) for node in started.nodes]

    def at(self, stage: Stage) -> dict[JobId, float]:
        """What each job in the system is due, in slots, maps and reduces together."""
        if not stage.jobs.live:
            return {}
        fair, view = Fair(self._params), _Cluster(stage, self._slots, self._slowstart)
        seen = cast(ClusterView, view)
        for job in stage.jobs.live:
            fair.observe(JobArrived(job), seen)
        due = dict.fromkeys(stage.jobs.live, 0.0)
        for kind in KINDS:
            for claim in fair.claims(kind, seen, "job"):
                due[claim.jobs[0]] += float(claim.share)
        return due


def _params_of(started: RunStarted) -> Fair.Params:
    """How jobs fall into pools; nothing special where that cannot be read."""
    parts = started.scenario.get("parts")
    settings = cast(Settings, parts) if isinstance(parts, dict) else {}
    for text in (started.policy, "fair"):
        try:
            spec = parse(text, SHIPPED.given({k: v for k, v in settings.items() if k == "fair"}))
        except PolicySpecError:
            continue
        if isinstance(spec["order"].params, Fair.Params):
            return spec["order"].params
    return Fair.Params()


class _Cluster:
    """What `Fair` asks of the cluster: slots that are believed to be there, and jobs."""

    def __init__(self, stage: Stage, slots: list[tuple[int, int]], slowstart: float) -> None:
        self._stage = stage
        self._slowstart = slowstart
        there = [own for own, lost in zip(slots, stage.lost, strict=True) if not lost]
        self._slots = (sum(maps for maps, _ in there), sum(reduces for _, reduces in there))

    def slots(self, kind: TaskKind) -> int:
        return self._slots[kind]

    def job(self, job: JobId) -> JobView:
        return _Seen(self._stage.jobs.rows[job], self._slowstart)


class _Seen:
    """A job of the table as a scheduler sees one."""

    def __init__(self, row: Tally, slowstart: float) -> None:
        self._row = row
        self._opens = ceil(slowstart * row.told.maps)
        self.job: JobId = row.told.job
        self.submitted_ms: Millis = row.told.at_ms
        self.user = row.told.user
        self.pool = row.told.pool
        self.priority: Priority = row.told.priority

    def total(self, kind: TaskKind) -> int:
        return self._row.told.reduces if kind else self._row.told.maps

    def pending(self, kind: TaskKind) -> int:
        if kind is TaskKind.REDUCE and self._row.maps_done < self._opens:
            return 0
        return max(self.total(kind) - self.finished(kind) - self.running(kind), 0)

    def suspended(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0  # they count as running here: the demand is the same

    def resumable(self, kind: TaskKind, node: NodeId) -> None:  # noqa: ARG002
        return None

    def running(self, kind: TaskKind) -> int:
        return self._row.reduces_on if kind else self._row.maps_on

    def finished(self, kind: TaskKind) -> int:
        return self._row.reduces_done if kind else self._row.maps_done

    def nearest(self, kind: TaskKind, node: NodeId) -> Locality | None:
        raise NotImplementedError
