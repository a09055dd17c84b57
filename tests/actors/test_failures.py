"""Attempts and jobs that fail, and nodes that are shunned for it."""

import msgspec
import pytest

from callboard.actors.config import Cluster, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    JobBlacklistedNode,
    JobFinished,
    KillOrdered,
    Outcome,
)
from callboard.actors.vocabulary.faults import Crash, Flaky, KillJob, Restart
from callboard.scheduler.model import SlotKind
from callboard.scheduler.reasons import Reason
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.world import IN_STEP, PlayedRun, job, play

FIVE = Cluster(nodes=5, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
ALWAYS = 1.0


def outcomes(run: PlayedRun) -> dict[int, Outcome]:
    """How each job ended."""
    return {event.job: event.outcome for event in run.all(JobFinished)}


def nodes_of(run: PlayedRun, task: int, kind: SlotKind = SlotKind.MAP) -> list[int]:
    """Where the attempts of job 0's task were launched, in order."""
    return [e.node for e in run.launches(kind) if (e.job, e.task) == (0, task)]


@pytest.mark.parametrize("kind", SlotKind)
def test_a_task_that_fails_four_times_fails_its_job(kind: SlotKind) -> None:
    """On four different hosts, each time somewhere on its way."""
    poisoned = ((2,), ()) if kind is SlotKind.MAP else ((), (0,))
    spec = job(0, maps=5, map_ms=10_000, reduces=1, reduce_ms=10_000, poisoned=poisoned)
    run = play([spec, job(1, maps=1)], cluster=FIVE)
    assert outcomes(run) == {0: Outcome.FAILED, 1: Outcome.SUCCEEDED}
    hosts = nodes_of(run, 2 if kind is SlotKind.MAP else 0, kind)
    assert len(hosts) == len(set(hosts)) == 4
    failed = [e for e in run.all(AttemptEnded) if e.outcome is Outcome.FAILED]
    assert len({e.at_ms - e.started_ms for e in failed}) == len(failed) == 4
    assert [e.outcome for e in run.all(AttemptClosed)].count(Outcome.FAILED) == 4


def test_a_task_that_failed_on_every_host_runs_on_any_again() -> None:
    """Two nodes: after a failure on each, both may have it again."""
    two = Cluster(nodes=2, racks=1, map_slots=1, heartbeat=IN_STEP)
    run = play([job(0, maps=1, map_ms=10_000, poisoned=((0,), ()))], cluster=two)
    hosts = nodes_of(run, 0)
    assert sorted(hosts[:2]) == [0, 1]
    assert len(hosts) == 4


def test_a_job_does_not_avoid_the_only_node_with_slots() -> None:
    """Two reduces that hang fail four times on node 0, a fifth of the cluster; no other node has a
    reduce slot, so the job would wait for ever.
    """
    group = NodeGroup(nodes=4, reduce_slots=0)
    cluster = Cluster(nodes=1, racks=1, group=(group,), heartbeat=IN_STEP)
    hanging = msgspec.structs.replace(job(0, maps=1, reduces=3), hanging=((), (1, 2)))
    run = play([hanging], cluster=cluster, tasks=Tasks(timeout_ms=30_000))
    assert outcomes(run) == {0: Outcome.FAILED}
    assert not any(told.in_force for told in run.all(JobBlacklistedNode))


def test_a_task_returns_where_it_failed_if_the_job_avoids_all_others() -> None:
    """Nodes 0 and 1 have slots.  Node 0 fails what it starts, and the job comes to avoid it; the
    task that failed on node 1 has nowhere else to go.
    """
    group = NodeGroup(nodes=4, map_slots=0)
    cluster = Cluster(nodes=2, racks=1, map_slots=2, group=(group,), heartbeat=IN_STEP)
    jobs = [job(0, maps=9, map_ms=20_000, poisoned=((8,), ()))]
    run = play(jobs, cluster=cluster, script=[ScheduledFault(0, Flaky(0, ALWAYS, 0.1))])
    assert len(run.all(JobFinished)) == 1


def test_what_was_killed_does_not_count() -> None:
    """Node 0 crashes and comes back five times under a task that never fails."""
    one = Cluster(nodes=1, racks=1, map_slots=1, heartbeat=IN_STEP)
    crashes = [20_000 + 40_000 * n for n in range(5)]
    script = [ScheduledFault(at_ms, Crash(0)) for at_ms in crashes]
    script += [ScheduledFault(at_ms + 1000, Restart(0)) for at_ms in crashes]
    run = play([job(0, maps=1, map_ms=45_000)], cluster=one, script=script)
    assert len(run.launches()) == 6
    assert outcomes(run) == {0: Outcome.SUCCEEDED}


def test_a_job_that_fails_takes_its_other_tasks_with_it() -> None:
    """Whatever of it runs is killed, nothing of it is launched any more, others go on."""
    poisoned = job(0, maps=30, map_ms=60_000, poisoned=((0,), ()))
    run = play([poisoned, job(1, maps=4, map_ms=10_000)], "fair", cluster=FIVE)
    (end,) = [e.at_ms for e in run.all(JobFinished) if e.outcome is Outcome.FAILED]
    assert not [e for e in run.launches() if e.job == 0 and e.at_ms > end]
    killed = [e for e in run.all(KillOrdered) if e.why.reason is Reason.JOB_ENDS]
    assert killed
    assert all(e.at_ms == end for e in killed)
    assert outcomes(run)[1] is Outcome.SUCCEEDED


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("at_ms", [0, 5000, 15_001, 40_000, 10**7])
def test_a_user_may_kill_a_job_at_any_time_under_any_order(order: str, at_ms: int) -> None:
    jobs = [
        job(0, maps=8, map_ms=10_000, reduces=2, shuffle_ms=1000, reduce_ms=20_000),
        job(1, maps=4, map_ms=5000, submit_ms=12_000, reduces=1, reduce_ms=1000),
    ]
    run = play(jobs, order, cluster=FIVE, script=[ScheduledFault(at_ms, KillJob(0))])
    ended = outcomes(run)
    assert ended[0] is (Outcome.SUCCEEDED if at_ms == 10**7 else Outcome.KILLED)
    assert ended[1] is Outcome.SUCCEEDED


def test_four_failures_on_one_node_and_the_job_uses_it_no_more() -> None:
    """Of nine nodes one is always flaky.  Each of the job's tasks that comes there fails once and
    goes elsewhere; after the fourth none comes any more.  Another job is not concerned.
    """
    nine = Cluster(nodes=9, racks=1, map_slots=1, heartbeat=IN_STEP)
    jobs = [job(0, maps=100, map_ms=30_000), job(1, maps=9, map_ms=5000, submit_ms=300_000)]
    run = play(jobs, "fair", cluster=nine, script=[ScheduledFault(0, Flaky(3, ALWAYS))])
    (shunned,) = [e for e in run.all(JobBlacklistedNode) if e.job == 0]
    assert (shunned.node, shunned.in_force) == (3, True)
    of_job = [e for e in run.launches() if (e.job, e.node) == (0, 3)]
    assert len(of_job) == 4
    assert all(e.at_ms <= shunned.at_ms for e in of_job)
    assert [e for e in run.launches() if (e.job, e.node) == (1, 3)]
    assert set(outcomes(run).values()) == {Outcome.SUCCEEDED}


def test_a_quarter_of_the_cluster_is_too_much_to_shun() -> None:
    """Of eight nodes two are flaky: the first is shunned until the second would be, then both are
    used again (shouldRunOnTaskTracker: flaky < 0.25 · cluster size).
    """
    eight = Cluster(nodes=8, racks=1, map_slots=1, heartbeat=IN_STEP)
    script = [ScheduledFault(0, Flaky(0, ALWAYS)), ScheduledFault(0, Flaky(1, 0.6))]
    run = play([job(0, maps=300, map_ms=20_000)], cluster=eight, script=script)
    first, second = run.all(JobBlacklistedNode)
    assert (first.node, first.in_force) == (0, True)
    assert (second.node, second.in_force) == (1, False)
    times = [e.at_ms for e in run.launches() if e.node == 0]
    assert not [at_ms for at_ms in times if first.at_ms < at_ms < second.at_ms]
    assert [at_ms for at_ms in times if at_ms > second.at_ms]


def test_on_four_nodes_shunning_never_takes_effect() -> None:
    four = Cluster(nodes=4, racks=1, map_slots=1, heartbeat=IN_STEP)
    script = [ScheduledFault(0, Flaky(0, ALWAYS))]
    run = play([job(0, maps=60, map_ms=10_000)], cluster=four, script=script)
    assert [e.in_force for e in run.all(JobBlacklistedNode)] == [False]


def test_a_map_that_succeeds_after_its_job_was_killed_leaves_nothing_behind() -> None:
    """It ends at 10.002 s, its job is killed at 11 s, and the heartbeat of 12.008 s tells of it.
    When the node crashed the master looked for the job to which that output belonged.
    """
    one = Cluster(nodes=1, racks=1, map_slots=2, heartbeat=IN_STEP)
    script = [
        ScheduledFault(11_000, KillJob(0)),
        ScheduledFault(20_000, Crash(0)),
        ScheduledFault(21_000, Restart(0)),
    ]
    jobs = [job(0, maps=1, reduces=1), job(1, maps=1, map_ms=60_000)]
    run = play(jobs, cluster=one, script=script)
    late = [e for e in run.all(AttemptClosed) if e.outcome is Outcome.SUCCEEDED]
    assert late[0].at_ms == 12_009
    assert outcomes(run) == {0: Outcome.KILLED, 1: Outcome.SUCCEEDED}


@pytest.mark.parametrize("tie_order", range(6))
def test_nobody_kills_a_job_before_its_submission(tie_order: int) -> None:
    """At one instant the two may come in either order."""
    jobs = [job(0), job(1, submit_ms=5000)]
    run = play(jobs, cluster=FIVE, script=[ScheduledFault(0, KillJob(0))], tie_order=tie_order)
    assert len(run.all(JobFinished)) == 2
