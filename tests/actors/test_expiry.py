"""Launches that never begin, and the master that gives them up (rule H8: ExpireLaunchingTasks)."""

import msgspec
import pytest

from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptStalled,
    AttemptSuspended,
    JobFinished,
    LaunchExpired,
    NodeLost,
    Outcome,
    Stall,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    PauseMaster,
    Restart,
    ResumeMaster,
    StickLaunches,
)
from callboard.scheduler.decisions import Suspend
from callboard.scheduler.model import Millis, Priority, SlotKind
from callboard.scheduler.registry.parts import make_policy
from tests.support.preempt import Scripted
from tests.support.world import IN_STEP, PlayedRun, job, play

FIVE = Cluster(nodes=5, racks=1, map_slots=1, reduce_slots=1, replication=5, heartbeat=IN_STEP)
EXPIRY_MS: Millis = 600_000
SWEEP_MS: Millis = 200_000


def closings(run: PlayedRun, attempt: int) -> list[Outcome]:
    return [e.outcome for e in run.all(AttemptClosed) if e.attempt == attempt]


@pytest.mark.parametrize("submit_ms", [0, 1000, 150_000, 199_990])
@pytest.mark.parametrize("kind", SlotKind)
def test_h8_a_launch_that_has_not_begun_for_600_s_has_failed(
    kind: SlotKind, submit_ms: Millis
) -> None:
    """The master looks every 200 s: 600 to 800 s after the launch.  The node, which sends
    heartbeats all the while, is told to stop it, and the task runs elsewhere.
    """
    spec = job(0, maps=1, reduces=1, reduce_ms=5000, submit_ms=submit_ms)
    stuck = range(5) if kind is SlotKind.MAP else range(4)
    script = [ScheduledFault(0, StickLaunches(node, 1.0)) for node in stuck]
    run = play([spec], cluster=FIVE, script=script)
    expired = run.all(LaunchExpired)
    for gone in expired:
        (launch,) = [e for e in run.launches() if e.attempt == gone.attempt]
        assert EXPIRY_MS < gone.at_ms - launch.at_ms <= EXPIRY_MS + SWEEP_MS
        assert gone.at_ms % SWEEP_MS == 0
        assert closings(run, gone.attempt) == [Outcome.FAILED]
        later = [e for e in run.launches() if e.task == launch.task and e.at_ms > gone.at_ms]
        assert all(e.node != launch.node for e in later if e.kind is launch.kind)
    assert not run.all(NodeLost)
    if kind is SlotKind.MAP:  # every node is stuck: it counts as a failure, and four are the end
        assert len(expired) == 4
        assert run.all(JobFinished)[0].outcome is Outcome.FAILED


def test_h8_what_is_stuck_holds_its_slot_and_no_other() -> None:
    """Node 0's only map slot is taken until the attempt has been stopped; then it is free, and the
    machine, which is well again, runs what comes.
    """
    one = msgspec.structs.replace(FIVE, nodes=1)
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(10_000, StickLaunches(0, 0.0)),
    ]
    run = play([job(0, maps=3, map_ms=10_000)], cluster=one, script=script)
    (gone,) = run.all(LaunchExpired)
    (stalled,) = run.all(AttemptStalled)
    assert (stalled.attempt, stalled.why, stalled.progress) == (gone.attempt, Stall.NOT_BEGUN, 0.0)
    (end,) = [e for e in run.all(AttemptEnded) if e.attempt == gone.attempt]
    assert gone.at_ms < end.at_ms <= gone.at_ms + 3010
    others = [e.at_ms for e in run.launches() if e.attempt != gone.attempt]
    assert min(others) > end.at_ms
    assert run.all(JobFinished)[0].outcome is Outcome.SUCCEEDED


def test_h8_an_attempt_that_runs_long_does_not_expire() -> None:
    script = [ScheduledFault(0, StickLaunches(0, 1.0))]
    run = play([job(0, maps=5, map_ms=2_000_000)], cluster=FIVE, script=script)
    (gone,) = run.all(LaunchExpired)
    assert {e.node for e in run.launches() if e.attempt == gone.attempt} == {0}


def test_h8_a_copy_need_not_wait_for_it() -> None:
    """Its progress is 0, so it is a straggler long before it expires."""
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(10_000, StickLaunches(0, 0.0)),
    ]
    run = play([job(0, maps=10, map_ms=100_000)], "fifo+naive", cluster=FIVE, script=script)
    assert not run.all(LaunchExpired)
    (stalled,) = run.all(AttemptStalled)
    assert stalled.attempt in [e.original for e in run.launches()]
    assert run.all(JobFinished)[0].at_ms < EXPIRY_MS


def test_h8_a_node_that_dies_before_it_has_stopped_it_takes_it_along_as_killed() -> None:
    """Given up for lost after its launch has expired: nothing of that is a failure."""
    soon = msgspec.structs.replace(IN_STEP, expiry_ms=90_000)
    one = msgspec.structs.replace(FIVE, nodes=1, heartbeat=soon)
    stick = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(10_000, StickLaunches(0, 0.0)),
    ]
    (gone,) = play([job(0)], cluster=one, script=stick).all(LaunchExpired)
    crash = [
        ScheduledFault(gone.at_ms + 1, Crash(0)),
        ScheduledFault(gone.at_ms + 400_000, Restart(0)),
    ]
    run = play([job(0)], cluster=one, script=[*stick, *crash])
    assert run.all(LaunchExpired) == [gone]
    assert len(run.all(NodeLost)) == 1
    assert closings(run, gone.attempt) == [Outcome.KILLED]
    assert run.all(JobFinished)[0].outcome is Outcome.SUCCEEDED


def test_h8_a_master_that_stood_still_looks_when_it_goes_on() -> None:
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(10_000, StickLaunches(0, 0.0)),
        ScheduledFault(550_000, PauseMaster()),
        ScheduledFault(900_000, ResumeMaster()),
    ]
    one = msgspec.structs.replace(FIVE, nodes=1)
    run = play([job(0, maps=1)], cluster=one, script=script)
    assert [e.at_ms for e in run.all(LaunchExpired)] == [900_000]
    assert run.all(JobFinished)[0].outcome is Outcome.SUCCEEDED


def test_a_stuck_launch_that_was_suspended_tries_again() -> None:
    """It gives way to a job of higher priority; when it goes on its machine is well."""
    one = msgspec.structs.replace(FIVE, nodes=1)
    urgent = job(1, maps=1, map_ms=20_000, submit_ms=30_000, priority=Priority.HIGH)
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(20_000, StickLaunches(0, 0.0)),
    ]
    policy = 'fifo+preemptive(how="suspend")'
    run = play([job(0, maps=1), urgent], policy, cluster=one, script=script)
    assert len(run.all(AttemptSuspended)) == 1
    assert len(run.launches()) == 2
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.SUCCEEDED}


def suspended_at_10_s(script: list[ScheduledFault], map_ms: Millis) -> PlayedRun:
    """One map on one node whose launches stick: suspended at 12,010 ms, resumed at 15,012."""
    one = msgspec.structs.replace(FIVE, nodes=1)
    policy = make_policy("fifo")
    policy.preemption = Scripted((10_000, Suspend, 1))
    return play([job(0, map_ms=map_ms)], policy, cluster=one, script=script)


def test_s3_an_attempt_that_did_not_begin_twice_is_given_up_once() -> None:
    """It is stuck, suspended, resumed, and stuck again: its node has told twice of one launch."""
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(20_000, StickLaunches(0, 0.0)),
    ]
    run = suspended_at_10_s(script, 10_000)
    assert [(e.attempt, e.at_ms) for e in run.all(AttemptStalled)] == [(1, 2), (1, 15_012)]
    assert [(e.attempt, e.at_ms) for e in run.all(LaunchExpired)] == [(1, 800_000)]
    assert closings(run, 1) == [Outcome.FAILED]
    assert closings(run, 2) == [Outcome.SUCCEEDED]


def test_h8_an_attempt_that_begins_after_a_suspension_does_not_expire() -> None:
    """Stuck at first, it begins at 15,012 ms and runs far beyond the expiry of its launch."""
    script = [
        ScheduledFault(0, StickLaunches(0, 1.0)),
        ScheduledFault(13_000, StickLaunches(0, 0.0)),
    ]
    run = suspended_at_10_s(script, 2_000_000)
    assert not run.all(LaunchExpired)
    assert closings(run, 1) == [Outcome.SUCCEEDED]
