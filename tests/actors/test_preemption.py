"""The way of a kill: decision, next reply, slot, next heartbeat, and the task is pending again."""

import pytest

from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedOffer
from callboard.actors.config import Cluster
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    JobFinished,
    JobSubmitted,
    KillOrdered,
    NodeFacts,
    Outcome,
    SuspendOrdered,
)
from callboard.actors.vocabulary.lifecycle import BookedChange
from callboard.scheduler.decisions import Kill, Launch, Suspend
from callboard.scheduler.facts import JobArrived, Launched, TasksPending
from callboard.scheduler.model import MAPS, Locality
from callboard.scheduler.reasons import Claimant, JobClaimant, PoolClaimant, UserClaimant
from callboard.scheduler.registry.parts import make_policy
from tests.support.preempt import KillNewest, Scripted
from tests.support.submissions import submit_maps
from tests.support.world import IN_STEP, PlayedRun, job, play


def test_a_killed_map_runs_again_first_and_its_first_run_is_waste() -> None:
    """One slot, heartbeats at the master at 1 + 3002 k.  Decided at 10000 and so sent with the
    reply to the heartbeat of 12009; the slot hears at 12010, the next heartbeat tells it at 15011.
    The job asks for it again in that very instant, and the heartbeat of 18013 takes it.
    """
    policy = make_policy("fifo")
    policy.preemption = KillNewest(times=1)
    cluster = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=0, heartbeat=IN_STEP)
    run = play([job(0, maps=2, map_ms=30_000)], policy, cluster=cluster)
    assert [e.at_ms for e in run.all(KillOrdered)] == [10_000]
    ended, closed = run.all(AttemptEnded)[0], run.all(AttemptClosed)[0]
    assert (ended.at_ms, ended.outcome) == (12_010, Outcome.KILLED)
    assert (closed.at_ms, closed.outcome) == (15_011, Outcome.KILLED)
    assert run.talk(0).kills == []  # an order to kill goes out once
    tries = [(e.task, e.number) for e in run.all(AttemptLaunched)]
    assert tries[0] == (0, 0)
    assert (0, 1) in tries
    assert [e.outcome for e in run.all(JobFinished)] == [Outcome.SUCCEEDED]


@pytest.mark.parametrize("order", [Kill, Suspend])
@pytest.mark.parametrize("job_number", [0, 1, 2])
def test_the_submission_of_the_job_that_benefits_is_the_cause(
    order: type[Kill | Suspend], job_number: int
) -> None:
    """Of a job that is here, that is: job 2 comes later."""
    run = given_for(order, JobClaimant(job_number))
    (ordered,) = run.all(KillOrdered if order is Kill else SuspendOrdered)
    if job_number == 2:
        assert ordered.cause == NO_CAUSE
        return
    submission = run.events[ordered.cause - 1]
    assert isinstance(submission, JobSubmitted)
    assert submission.job == job_number


@pytest.mark.parametrize("claimant", [PoolClaimant("ads"), UserClaimant("ann"), None])
def test_no_single_event_causes_what_is_for_several_jobs(claimant: Claimant | None) -> None:
    (ordered,) = given_for(Kill, claimant).all(KillOrdered)
    assert ordered.cause == NO_CAUSE


def given_for(order: type[Kill | Suspend], claimant: Claimant | None) -> PlayedRun:
    """Attempt 1, of job 0, is preempted for the claimant at 10 s."""
    policy = make_policy("fifo")
    policy.preemption = Scripted((10_000, order, 1), beneficiary=claimant)
    jobs = [job(number, maps=1, map_ms=20_000, submit_ms=number * 7000) for number in range(3)]
    return play(jobs, policy, cluster=Cluster(nodes=1, racks=1, map_slots=1, heartbeat=IN_STEP))


def test_a_map_that_must_run_again_goes_before_maps_that_never_ran() -> None:
    policy = make_policy("fifo")
    policy.preemption = KillNewest(times=1)
    cluster = Cluster(nodes=1, racks=1, map_slots=2, reduce_slots=0, heartbeat=IN_STEP)
    run = play([job(0, maps=6, map_ms=40_000)], policy, cluster=cluster)
    again = next(e for e in run.launches() if e.number == 1)
    later = [e.task for e in run.launches() if e.attempt > again.attempt]
    assert later == [task for task in range(6) if task >= 3 or task in later]
    assert len(later) == 3


def test_a_map_that_runs_again_counts_as_local_wherever_it_runs() -> None:
    """Rules 0 of findNewMapTask and FIFO's one off-rack map a heartbeat: the retry is off-rack for
    node 1, but it does not use up the heartbeat: the node-local maps follow it, up to the node's
    share of the load, ceil(5 · 4 / 8) = 3.
    """
    ledger = Ledger(racks=2, heartbeat_ms=3000)
    nodes = [ledger.members.join_node(NodeFacts(n, n, 4, 0, 1.0)) for n in range(2)]
    entry = submit_maps(ledger, 0, homes=[0, 1, 1, 1, 1])
    policy = make_policy("fifo")
    policy.observe(JobArrived(0), ledger)
    ledger.close_attempt(ledger.launch_task(entry, MAPS, nodes[0]), BookedChange.LOSE)
    entry.give_back(MAPS, 0, cause=3)
    policy.observe(TasksPending(0, MAPS), ledger)
    offer, taken = BookedOffer(nodes[1]), []
    while (launch := policy.decide(offer, ledger)) is not None:
        assert isinstance(launch, Launch)
        attempt = ledger.launch_task(entry, MAPS, nodes[1])
        offer.count_given(launch.kind, launch.level)
        policy.observe(Launched(0, MAPS, attempt.attempt, 1), ledger)
        taken.append((attempt.task, attempt.level))
    assert taken[0] == (0, Locality.OFF_RACK)
    assert [level for _, level in taken[1:]] == [Locality.NODE] * 2
