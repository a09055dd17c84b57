"""Preemption that goes round: what a rule must not do, and how a run ends that does it."""

import msgspec
import pytest

from callboard.actors.config import Cluster
from callboard.actors.vocabulary.events import JobFinished, KillOrdered
from callboard.scheduler.model import Priority
from callboard.scheduler.reasons import JobClaimant
from tests.support.world import IN_STEP, job, play

HURRIED = "interval_s=2,fair_share_timeout_s=0"


@pytest.mark.parametrize("rule", [f"kill({HURRIED})", f"global({HURRIED})"])
def test_training_tasks_are_not_killed(rule: str) -> None:
    """HFSP III-E: they are not preempted.  A killed one would begin anew before the job for which
    it was killed got the slot, and be killed again: 6,656 times in 20,000 s.
    """
    jobs = [
        job(0, maps=10, map_ms=1000, poisoned=((0,), ())),
        job(1, maps=7, map_ms=10_000, submit_ms=14_000, priority=Priority.HIGH),
    ]
    cluster = Cluster(nodes=1, racks=1, map_slots=2, heartbeat=IN_STEP)
    run = play(jobs, f"hfsp+{rule}", cluster=cluster, until_ms=1_000_000)
    assert len(run.all(JobFinished)) == 2
    victims = {e.attempt for e in run.all(KillOrdered)}
    assert len(victims) < 4


@pytest.mark.parametrize("order", ["fsp+fifo", "fsp+ps", "psbs"])
@pytest.mark.parametrize("victims", ["job", "global"])
def test_a_slot_that_was_taken_for_a_job_is_that_jobs(order: str, victims: str) -> None:
    """The claims go by the queue's own rank: by what was left, a job came first for which slots
    were taken, and another in the queue, which lost them again: 210 kills in 28 tasks.
    """
    sizes_s = [(3, 10), (9, 60), (9, 60), (2, 60), (5, 60)]
    jobs = [job(n, maps=maps, map_ms=1000 * s) for n, (maps, s) in enumerate(sizes_s)]
    heartbeats = msgspec.structs.replace(IN_STEP, interval_ms=200)
    cluster = Cluster(nodes=1, racks=1, map_slots=3, heartbeat=heartbeats)
    rule = f'kill(victims="{victims}",{HURRIED})'
    run = play(jobs, f"{order}+{rule}", cluster=cluster)
    assert len(run.all(JobFinished)) == 5
    for order_given in run.all(KillOrdered):
        beneficiary = order_given.why.beneficiary
        assert isinstance(beneficiary, JobClaimant)
        later = [e for e in run.launches() if e.at_ms > order_given.at_ms]
        assert later[0].job == beneficiary.job
    assert len(run.all(KillOrdered)) <= 6


@pytest.mark.parametrize("speculation", ["", "+late(lag_s=1,cap=1.0)"])
def test_no_slot_is_taken_where_the_task_may_not_run(speculation: str) -> None:
    """Job 0's map has failed on nodes 0 and 1 and may not return to them; node 2 is full of the job
    itself.  What others run on nodes 0 and 1 is no help to it: they would begin anew there, and be
    killed again, every two heartbeats until node 2 is free.
    """
    heartbeats = msgspec.structs.replace(IN_STEP, interval_ms=1000)
    cluster = Cluster(nodes=3, racks=1, map_slots=1, heartbeat=heartbeats)
    ill = msgspec.structs.replace(
        job(0, maps=2, map_ms=2000, poisoned=((0,), ()), priority=Priority.HIGH),
        skewed=((1,), ()),
        skew=200.0,
    )
    run = play(
        [ill, job(1, maps=8, map_ms=60_000)], f"fifo+preemptive{speculation}", cluster=cluster
    )
    assert len(run.all(JobFinished)) == 2
    assert len(run.all(KillOrdered)) <= 3
