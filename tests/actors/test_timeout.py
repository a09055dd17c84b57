"""Attempts that hang, and the timeout that ends them (rule T7: mapred.task.timeout, 600 s)."""

import msgspec
import pytest

from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptStalled,
    AttemptSuspended,
    JobFinished,
    Outcome,
)
from callboard.actors.vocabulary.faults import Flaky, Hang, PauseNode, ResumeNode, Slow
from callboard.scheduler.model import Priority, SlotKind
from tests.support.world import IN_STEP, job, play

FIVE = Cluster(nodes=5, racks=1, map_slots=1, reduce_slots=1, replication=5, heartbeat=IN_STEP)
TIMEOUT_MS = 600_000


def hung(map_ms: int = 10_000, *, reduces: int = 0, at: float | None = 0.4) -> JobSpec:
    spec = job(0, maps=1, map_ms=map_ms, reduces=reduces, reduce_ms=30_000)
    hanging = ((), (0,)) if reduces else ((0,), ())
    return msgspec.structs.replace(spec, hanging=hanging, fails_at=at)


@pytest.mark.parametrize("kind", SlotKind)
def test_t7_an_attempt_that_makes_no_progress_for_600_s_has_failed(kind: SlotKind) -> None:
    """It counts as a failure: after four on four hosts the job has failed too."""
    spec = hung(reduces=int(kind))
    run = play([spec], cluster=FIVE)
    stalls = run.all(AttemptStalled)
    failed = [e for e in run.all(AttemptEnded) if e.outcome is Outcome.FAILED]
    assert [e.at_ms - s.at_ms for s, e in zip(stalls, failed, strict=True)] == [TIMEOUT_MS] * 4
    assert len({e.node for e in run.launches(kind)}) == 4
    assert run.all(JobFinished)[0].outcome is Outcome.FAILED
    came = 0.4 if kind is SlotKind.MAP else 1 / 3 + 2 / 3 * 0.4
    assert [s.progress for s in stalls] == pytest.approx([came] * 4)


def test_t7_the_timeout_is_the_scenarios() -> None:
    run = play([hung()], cluster=FIVE, tasks=Tasks(timeout_ms=45_000))
    (stall, *_), (end, *_) = run.all(AttemptStalled), run.all(AttemptEnded)
    assert end.at_ms - stall.at_ms == 45_000
    assert stall.at_ms - end.started_ms == 4000


def test_what_hangs_on_one_node_succeeds_on_another() -> None:
    """Two of node 2's attempts hang; the master hears of it when they have been killed."""
    script = [ScheduledFault(0, Hang(2, 1.0, 0.5)), ScheduledFault(30_000, Hang(2, 0.0))]
    run = play([job(0, maps=10, map_ms=20_000)], cluster=FIVE, script=script)
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.SUCCEEDED}
    on_two = {e.attempt for e in run.launches() if e.node == 2}
    assert {e.attempt for e in run.all(AttemptStalled)} <= on_two
    assert run.all(AttemptStalled)[0].progress == 0.5


def test_attempts_may_fail_at_a_stated_progress() -> None:
    script = [ScheduledFault(0, Flaky(0, 1.0, 0.25))]
    run = play([job(0, maps=5, map_ms=20_000)], cluster=FIVE, script=script)
    failed = [e for e in run.all(AttemptEnded) if e.outcome is Outcome.FAILED]
    assert {e.at_ms - e.started_ms for e in failed} == {5000}


@pytest.mark.parametrize(("pause_ms", "after_ms"), [(100_000, 600_000), (700_000, 710_000)])
def test_the_clock_of_a_timeout_runs_on_while_the_node_stands_still(
    pause_ms: int, after_ms: int
) -> None:
    """Paused 10 s after the hang: killed 600 s after it, or when the node goes on if later."""
    first = play([hung()], cluster=FIVE).all(AttemptStalled)[0].at_ms
    node = play([hung()], cluster=FIVE).launches()[0].node
    script = [
        ScheduledFault(first + 10_000, PauseNode(node)),
        ScheduledFault(first + 20_000, Slow(node, 3.0)),
        ScheduledFault(first + 10_000 + pause_ms, ResumeNode(node)),
    ]
    long_expiry = msgspec.structs.replace(IN_STEP, expiry_ms=10_000_000)
    cluster = msgspec.structs.replace(FIVE, heartbeat=long_expiry)
    run = play([hung()], cluster=cluster, script=script)
    assert run.all(AttemptEnded)[0].at_ms - first == after_ms


def test_a_hung_attempt_that_was_suspended_hangs_on() -> None:
    """It gives way to a job of higher priority; its ten minutes begin anew when it goes on."""
    one = msgspec.structs.replace(FIVE, nodes=1)
    urgent = job(1, maps=1, map_ms=20_000, submit_ms=30_000, priority=Priority.HIGH)
    policy = 'fifo+preemptive(how="suspend")'
    run = play([hung(), urgent], policy, cluster=one, until_ms=700_000)
    assert len(run.all(AttemptSuspended)) == 1
    (stall,) = [e for e in run.all(AttemptStalled) if e.at_ms < 100_000]
    failed = next(e for e in run.all(AttemptEnded) if e.outcome is Outcome.FAILED)
    assert failed.at_ms - stall.at_ms > TIMEOUT_MS + 20_000


def test_a_hung_task_is_a_straggler_and_its_copy_does_the_work() -> None:
    """Its progress stands still in what heartbeats tell, so it is found long before its timeout."""
    script = [ScheduledFault(0, Hang(0, 1.0, 0.5)), ScheduledFault(10_000, Hang(0, 0.0))]
    jobs = [job(0, maps=10, map_ms=100_000)]
    late = play(jobs, "fifo+naive", cluster=FIVE, script=script)
    assert late.all(JobFinished)[0].at_ms < TIMEOUT_MS
    assert [e.original for e in late.launches() if e.original]
    alone = play(jobs, "fifo", cluster=FIVE, script=script)
    assert alone.all(JobFinished)[0].at_ms > TIMEOUT_MS


def test_the_progress_of_what_will_fail_is_the_progress_of_its_work() -> None:
    """A heartbeat just before an attempt fails half way does not say that it is nearly done."""
    spec = msgspec.structs.replace(
        job(0, maps=1, map_ms=100_000), poisoned=((0,), ()), fails_at=0.5
    )
    run = play([spec], "fifo+naive", cluster=FIVE, until_ms=50_000)
    (entry,) = run.master.ledger.attempts()
    assert entry.progress == pytest.approx(entry.ran_ms / 100_000)
