"""The way a kill takes: decision, next reply, slot, next beat, and the task is pending again."""

from actors.config import Cluster
from actors.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    JobFinished,
    KillOrdered,
    Outcome,
)
from scheduler.registry import make_policy
from tests.support.preempt import KillNewest
from tests.support.world import IN_STEP, job, play


def test_a_killed_map_runs_again_first_and_its_first_run_is_waste() -> None:
    """One slot, beats at the master at 1 + 3002 k.  Decided at 10000 and so sent with the reply
    to the beat of 12009; the slot hears at 12010, the next beat tells it at 15011.  The job asks
    for it again in that very instant, and the beat of 18013 takes it.
    """
    policy = make_policy("fifo")
    policy.preemption = KillNewest(times=1)
    cluster = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=0, heartbeat=IN_STEP)
    run = play([job(0, maps=2, map_ms=30_000)], policy, cluster=cluster)
    assert [e.at_ms for e in run.all(KillOrdered)] == [10_000]
    ended, closed = run.all(AttemptEnded)[0], run.all(AttemptClosed)[0]
    assert (ended.at_ms, ended.outcome) == (12_010, Outcome.KILLED)
    assert (closed.at_ms, closed.outcome) == (15_011, Outcome.KILLED)
    tries = [(e.task, e.number) for e in run.all(AttemptLaunched)]
    assert tries[0] == (0, 0)
    assert (0, 1) in tries
    assert [e.outcome for e in run.all(JobFinished)] == [Outcome.SUCCEEDED]


def test_a_map_that_must_run_again_goes_before_maps_that_never_ran() -> None:
    policy = make_policy("fifo")
    policy.preemption = KillNewest(times=1)
    cluster = Cluster(nodes=1, racks=1, map_slots=2, reduce_slots=0, heartbeat=IN_STEP)
    run = play([job(0, maps=6, map_ms=40_000)], policy, cluster=cluster)
    again = next(e for e in run.launches() if e.number == 1)
    later = [e.task for e in run.launches() if e.attempt > again.attempt]
    assert later == [task for task in range(6) if task >= 3 or task in later]
    assert len(later) == 3
