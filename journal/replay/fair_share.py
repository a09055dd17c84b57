"""Each job's fair share of the slots, by the pools of the scenario.

The shares are those of Hadoop's Fair Scheduler (`Fair.entitlements`), under every policy.
Pools are the policy's own if it is `fair`, else those that the scenario sets up for `fair`; without
any, jobs share by their priorities.  The shares follow the master's books: slots of nodes that it
has not given up, tasks that are not done, reduces from slowstart on.
"""

from contextlib import suppress
from math import ceil
from typing import Protocol, cast

import numpy as np
from numpy.typing import NDArray

from callboard.actors.vocabulary.events import RunStarted
from callboard.journal.run_records import JobRecord
from callboard.journal.run_state import RunState
from callboard.journal.told_scenario import told_part_settings, told_scenario
from callboard.scheduler import model
from callboard.scheduler.facts import JobArrived
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.policy import PolicySpecError
from callboard.scheduler.registry.parts import SHIPPED, parse_policy
from callboard.scheduler.view import ClusterView, JobView

_Floats = NDArray[np.float64]


class BookedCluster(Protocol):
    """What shares follow: the jobs, and for each node whether the master has given it up."""

    @property
    def run(self) -> RunState: ...

    @property
    def lost(self) -> bytearray: ...


class FairShares:
    """Fair shares at any moment of one run."""

    def __init__(self, started: RunStarted) -> None:
        self._params = _fair_params_of_run(started)
        self._fair = Fair(self._params)
        self._slowstart = told_scenario(started).tasks.slowstart
        self._slots = np.array([(node.map_slots, node.reduce_slots) for node in started.nodes])
        self._computed_at = (-1, 0)
        self._shares: dict[model.JobId, float] = {}

    def pool_of(self, job: JobRecord) -> str:
        """The pool that shares for the job, as a path; empty where jobs share without pools."""
        return self._fair.pool_of(cast(JobView, _JobView(job, self._slowstart)))

    def shares_at(self, cluster: BookedCluster) -> dict[model.JobId, float]:
        """The fair share of each job in the system, in slots, maps and reduces together."""
        moment = (cluster.run.index, len(cluster.run.live))
        if self._computed_at != moment:
            share = self.among_jobs if self._params == Fair.Params() else self.among_pools
            self._computed_at = moment
            self._shares = share(cluster) if cluster.run.live else {}
        return self._shares

    def among_jobs(self, cluster: BookedCluster) -> dict[model.JobId, float]:
        """Without pools: the result of `among_pools` in a fraction of the time."""
        view = _ClusterView(cluster, self._slots, self._slowstart)
        jobs = [view.job(job) for job in cluster.run.live]
        weights = np.array([float(model.PRIORITY_WEIGHTS[job.priority]) for job in jobs])
        shares = np.zeros(len(jobs))
        for kind in model.KINDS:
            demands = np.array([job.running(kind) + job.pending(kind) for job in jobs], np.float64)
            level = _water_level(demands, weights, view.slots(kind))
            shares += np.minimum(demands, weights * level)
        return dict(zip(cluster.run.live, shares.tolist(), strict=True))

    def among_pools(self, cluster: BookedCluster) -> dict[model.JobId, float]:
        """With pools, by the Fair Scheduler itself."""
        fair, view = Fair(self._params), _ClusterView(cluster, self._slots, self._slowstart)
        seen = cast(ClusterView, view)
        for job in cluster.run.live:
            fair.observe(JobArrived(job), seen)
        shares = dict.fromkeys(cluster.run.live, 0.0)
        for kind in model.KINDS:
            for claim in fair.entitlements(kind, seen, "job"):
                shares[claim.jobs[0]] += float(claim.share)
        return shares


def _water_level(demands: _Floats, weights: _Floats, slots: int) -> float:
    """The slots per unit of weight that hand out all slots, no job getting more than its demand
    (`scheduler.orders.fair.water_filling`, here in floating point: it is only shown).
    """
    order = np.argsort(demands / weights)
    wanted, weight = demands[order], weights[order]
    met = np.concatenate(((0.0,), np.cumsum(wanted)[:-1]))
    left = np.cumsum(weight[::-1])[::-1]
    levels = (slots - met) / left
    short = np.flatnonzero(levels < wanted / weight)
    return float(levels[short[0]]) if len(short) else np.inf


def _fair_params_of_run(started: RunStarted) -> Fair.Params:
    """How jobs fall into pools; the defaults where that cannot be read."""
    known = SHIPPED.with_settings(
        {k: v for k, v in told_part_settings(started).items() if k == "fair"}
    )
    for text in (started.policy, "fair"):
        with suppress(PolicySpecError):
            params = parse_policy(text, known)["order"].params
            if isinstance(params, Fair.Params):
                return params
    return Fair.Params()


class _ClusterView:
    """The cluster as `Fair` asks for it: the slots that the master counts on, and jobs."""

    def __init__(self, cluster: BookedCluster, slots: NDArray[np.int64], slowstart: float) -> None:
        self._cluster = cluster
        self._slowstart = slowstart
        there = np.frombuffer(cluster.lost, np.uint8) == 0
        self._slots: list[int] = slots[there].sum(axis=0).tolist()

    def slots(self, kind: model.SlotKind) -> int:
        return self._slots[kind]

    def job(self, job: model.JobId) -> JobView:
        return _JobView(self._cluster.run.jobs[job], self._slowstart)


class _JobView:
    """A job of the table as a scheduler sees one."""

    def __init__(self, row: JobRecord, slowstart: float) -> None:
        self._row = row
        self._opens = ceil(slowstart * row.submission.maps)
        self.job: model.JobId = row.submission.job
        self.submitted_ms: model.Millis = row.submission.at_ms
        self.user = row.submission.user
        self.pool = row.pool
        self.priority: model.Priority = row.priority

    def total(self, stage: model.Stage) -> int:
        return self._row.total(stage)

    def pending(self, kind: model.SlotKind) -> int:
        if kind is model.REDUCE and self._row.phases[model.MAPS].done < self._opens:
            return 0
        stage = model.stage_on(kind)
        return max(self.total(stage) - self.finished(stage) - self.running(kind), 0)

    def suspended(self, kind: model.SlotKind) -> int:  # noqa: ARG002
        return 0  # they count as running: the demand is the same

    def resumable(self, kind: model.SlotKind, node: model.NodeId) -> None:  # noqa: ARG002
        return None

    def running(self, kind: model.SlotKind) -> int:
        return self._row.phases[model.stage_on(kind)].running

    def finished(self, stage: model.Stage) -> int:
        return self._row.phases[stage].done

    def nearest(self, kind: model.SlotKind, node: model.NodeId) -> model.Locality | None:
        raise NotImplementedError
