"""What each job is due: its fair share of the slots, by the pools of the scenario.

The shares are those of Hadoop's Fair Scheduler (`Fair.claims`), whatever policy is in force: they
are what one holds a policy against.  Pools are the policy's own if it is `fair`, else those that
the scenario sets up for `fair`; without any, jobs share by their priorities.  What is counted is
what the master has booked: slots of nodes that it has not given up, tasks that are not done,
reduces from slowstart on.
"""

from math import ceil
from typing import cast

import numpy as np
from numpy.typing import NDArray

from callboard.actors.config import Tasks
from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.replay.cluster_state import ClusterState
from callboard.journal.replay.job_stats import JobStats
from callboard.scheduler.facts import JobArrived
from callboard.scheduler.model import (
    KINDS,
    PRIORITY_WEIGHTS,
    JobId,
    Locality,
    Millis,
    NodeId,
    Priority,
    TaskKind,
)
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import SHIPPED, PartSettings, parse_policy
from callboard.scheduler.view import ClusterView, JobView

_Floats = NDArray[np.float64]


class FairShares:
    """How the slots of one run would be shared out fairly, at any moment of it."""

    def __init__(self, started: RunStarted) -> None:
        self._params = _params_of(started)
        tasks = started.scenario.get("tasks")
        share = tasks.get("slowstart") if isinstance(tasks, dict) else None
        self._slowstart = Tasks().slowstart if share is None else float(share)
        self._slots = np.array([(node.map_slots, node.reduce_slots) for node in started.nodes])
        self._computed_at = (-1, 0)
        self._shares: dict[JobId, float] = {}

    def at(self, cluster: ClusterState) -> dict[JobId, float]:
        """What each job in the system is due, in slots, maps and reduces together."""
        moment = (cluster.index, len(cluster.jobs.live))
        if self._computed_at != moment:
            self._computed_at, self._shares = moment, self._shared(cluster)
        return self._shares

    def _shared(self, cluster: ClusterState) -> dict[JobId, float]:
        if not cluster.jobs.live:
            return {}
        return (
            self.among_jobs(cluster) if self._params == Fair.Params() else self.among_pools(cluster)
        )

    def among_jobs(self, cluster: ClusterState) -> dict[JobId, float]:
        """Without pools: what `among_pools` comes to, in a fraction of the time."""
        view = _ClusterView(cluster, self._slots, self._slowstart)
        jobs = [view.job(job) for job in cluster.jobs.live]
        weights = np.array([float(PRIORITY_WEIGHTS[job.priority]) for job in jobs])
        shares = np.zeros(len(jobs))
        for kind in KINDS:
            demands = np.array([job.running(kind) + job.pending(kind) for job in jobs], np.float64)
            shares += np.minimum(
                demands, weights * _water_level(demands, weights, view.slots(kind))
            )
        return dict(zip(cluster.jobs.live, shares.tolist(), strict=True))

    def among_pools(self, cluster: ClusterState) -> dict[JobId, float]:
        """As the Fair Scheduler itself has it."""
        fair, view = Fair(self._params), _ClusterView(cluster, self._slots, self._slowstart)
        seen = cast(ClusterView, view)
        for job in cluster.jobs.live:
            fair.observe(JobArrived(job), seen)
        shares = dict.fromkeys(cluster.jobs.live, 0.0)
        for kind in KINDS:
            for claim in fair.entitlements(kind, seen, "job"):
                shares[claim.jobs[0]] += float(claim.share)
        return shares


def _water_level(demands: _Floats, weights: _Floats, slots: int) -> float:
    """How much each gets a unit of weight, at most its demand, so that all slots are given away
    (`scheduler.orders.fair.water_filling`, here in floating point: it is for the eye alone).
    """
    order = np.argsort(demands / weights)
    wanted, weight = demands[order], weights[order]
    met = np.concatenate(((0.0,), np.cumsum(wanted)[:-1]))
    left = np.cumsum(weight[::-1])[::-1]
    levels = (slots - met) / left
    short = np.flatnonzero(levels < wanted / weight)
    return float(levels[short[0]]) if len(short) else np.inf


def _params_of(started: RunStarted) -> Fair.Params:
    """How jobs fall into pools; nothing special where that cannot be read."""
    parts = started.scenario.get("parts")
    settings = cast(PartSettings, parts) if isinstance(parts, dict) else {}
    for text in (started.policy, "fair"):
        try:
            spec = parse_policy(
                text, SHIPPED.with_settings({k: v for k, v in settings.items() if k == "fair"})
            )
        except PolicySpecError:
            continue
        if isinstance(spec["order"].params, Fair.Params):
            return spec["order"].params
    return Fair.Params()


class _ClusterView:
    """What `Fair` asks of the cluster: slots that are believed to be there, and jobs."""

    def __init__(self, cluster: ClusterState, slots: NDArray[np.int64], slowstart: float) -> None:
        self._cluster = cluster
        self._slowstart = slowstart
        there = np.frombuffer(cluster.lost, np.uint8) == 0
        self._slots: list[int] = slots[there].sum(axis=0).tolist()

    def slots(self, kind: TaskKind) -> int:
        return self._slots[kind]

    def job(self, job: JobId) -> JobView:
        return _JobView(self._cluster.jobs.rows[job], self._slowstart)


class _JobView:
    """A job of the table as a scheduler sees one."""

    def __init__(self, row: JobStats, slowstart: float) -> None:
        self._row = row
        self._opens = ceil(slowstart * row.submission.maps)
        self.job: JobId = row.submission.job
        self.submitted_ms: Millis = row.submission.at_ms
        self.user = row.submission.user
        self.pool = row.submission.pool
        self.priority: Priority = row.submission.priority

    def total(self, kind: TaskKind) -> int:
        return self._row.submission.reduces if kind else self._row.submission.maps

    def pending(self, kind: TaskKind) -> int:
        if kind is TaskKind.REDUCE and self._row.maps_done < self._opens:
            return 0
        return max(self.total(kind) - self.finished(kind) - self.running(kind), 0)

    def suspended(self, kind: TaskKind) -> int:  # noqa: ARG002
        return 0  # they count as running here: the demand is the same

    def resumable(self, kind: TaskKind, node: NodeId) -> None:  # noqa: ARG002
        return None

    def running(self, kind: TaskKind) -> int:
        return self._row.reduces_running if kind else self._row.maps_running

    def finished(self, kind: TaskKind) -> int:
        return self._row.reduces_done if kind else self._row.maps_done

    def nearest(self, kind: TaskKind, node: NodeId) -> Locality | None:
        raise NotImplementedError
