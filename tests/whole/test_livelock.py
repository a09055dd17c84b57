"""Preemption that goes round: what a rule must not do, and how a run ends that does it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from callboard.actors.central.central import Central
from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AnyEvent,
    JobFinished,
    KillOrdered,
    RunEnded,
    SuspendOrdered,
)
from callboard.actors.vocabulary.faults import Slow
from callboard.experiments.run.plugins import load_policy
from callboard.experiments.run.run_result import LIVELOCK
from callboard.experiments.run.simulation import Simulation
from callboard.scheduler.decisions import Kill
from callboard.scheduler.model import Millis, Priority
from callboard.scheduler.policy import Policy, PreemptionRule
from callboard.scheduler.reasons import JobClaimant, Reason, Why
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.view import ClusterView
from tests.callboard.conftest import Run, callboard
from tests.support.world import IN_STEP, job, play, spec_of

__all__ = ["callboard"]

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


@pytest.mark.parametrize("rule", ["kill", "global", "suspend"])
def test_a_job_is_due_what_its_place_in_the_queue_says(rule: str) -> None:
    """Job 1 stands at 240 s, four times the guess, behind job 0 with 200 s left.  Job 2's short
    maps would make it smaller if it were estimated anew, but the queue does not do so: slots that
    were taken for it went to job 0, every ten seconds.
    """
    jobs = [
        job(0, maps=4, map_ms=100_000),
        job(1, maps=4, map_ms=4000, submit_ms=1000),
        job(2, maps=3, map_ms=5000, submit_ms=95_000),
    ]
    run = play(jobs, f"srpt+{rule}", cluster=Cluster(nodes=2, racks=1, map_slots=1))
    assert [each.job for each in run.all(JobFinished)] == [2, 0, 1]
    assert not run.all(KillOrdered)
    assert not run.all(SuspendOrdered)


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


class KillAll(PreemptionRule):
    """Kills whatever runs, again and again."""

    name = "kill-all"
    summary = "for tests"

    @dataclass
    class Times:
        interval_s: float = 5.0

    def __init__(self, interval_ms: Millis) -> None:
        self.params = KillAll.Times(interval_ms / 1000)
        self.interval_ms = interval_ms

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        for attempt in view.attempts():
            yield Kill(attempt.attempt, Why(Reason.OWN, self.name, 1, beneficiary=JobClaimant(7)))


JOBS = [job(0, maps=2, map_ms=60_000)]


def ended(
    interval_ms: Millis,
    *,
    patient: bool = False,
    until_ms: Millis = 20_000_000,
    script: tuple[ScheduledFault, ...] = (),
) -> tuple[RunEnded, str]:
    """How a run of one job ends when all that runs is killed so often, and what it told."""
    policy = Policy(make_policy("fifo").order, preemption=KillAll(interval_ms))
    spec = spec_of(JOBS, script=script, until_ms=until_ms)
    events: list[AnyEvent] = []
    spec = msgspec.structs.replace(spec, patient=patient)
    run = Simulation(spec, [events.append], architecture=Central(policy, load_policy))
    run.run()
    last = events[-1]
    assert isinstance(last, RunEnded)
    return last, "" if run.livelock is None else run.livelock.story


def test_a_run_that_goes_round_is_ended_within_the_bound_and_says_why() -> None:
    end, story = ended(5000)
    assert end.reason == LIVELOCK
    assert 60_000 < end.at_ms < 6_000_000
    first, who, how, which = story.split("\n")
    assert "no attempt has succeeded, and preemption took" in first
    assert "`kill-all` took" in who
    assert who.endswith("of job-0 for job-7")
    assert how == "  they had run 4.005 s on average, too short for any to end"
    assert which.startswith("  `kill-all` goes by interval_s = 5: let it take attempts later")


@pytest.mark.soak
def test_a_patient_run_goes_on_to_its_limit() -> None:
    assert ended(5000, patient=True) == (ended(5000, patient=True)[0], "")
    assert ended(5000, patient=True)[0].reason == "until"


def test_a_run_in_which_something_succeeds_now_and_then_is_not_ended() -> None:
    """Every 70 s the maps of 60 s are killed, or what has begun since they ended."""
    assert ended(70_000)[0].reason == "complete"


def test_while_faults_are_scripted_the_run_is_given_time() -> None:
    """The node's slowness ends at 10,000 s, and the bound is counted from there."""
    script = (ScheduledFault(0, Slow(0, 2.0)), ScheduledFault(10_000_000, Slow(0, 1.0)))
    plain, waited = ended(5000)[0], ended(5000, script=script)[0]
    assert waited.reason == LIVELOCK
    assert waited.at_ms > 10_000_000 + plain.at_ms


RULE = """
from callboard.scheduler.decisions import Kill
from callboard.scheduler.policy import PreemptionRule
from callboard.scheduler.reasons import Reason, Why

class KillAll(PreemptionRule):
    name, summary, interval_ms = "kill-all", "kills whatever runs", 5000

    def victims(self, view):
        for attempt in view.attempts():
            yield Kill(attempt.attempt, Why(Reason.OWN, self.name, 1))
"""


@pytest.mark.soak
def test_on_the_command_line_it_is_told_with_status_1_unless_patient(
    callboard: Run, tmp_path: Path
) -> None:
    rule = tmp_path / "mine.py"
    rule.write_text(RULE)
    run = ("run", "two-jobs", "--policy", f"fifo+{rule}:KillAll")
    status, out, err = callboard(*run)
    assert status == 1
    assert "ended because its preemption goes round" in out
    assert "no attempt has succeeded, and preemption took" in err
    assert "\n  `kill-all` took" in err
    assert "of job-0" in err
    assert "--patient" in err
    status, out, err = callboard(*run, "--patient", "--until", "20000")
    assert status == 0
    assert "stopped by --until" in out
