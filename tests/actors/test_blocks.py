"""Input of which no replica can be read: the map waits for one, and then it has failed."""

import msgspec
import pytest

from callboard.actors.blocks import Blocks
from callboard.actors.config import Cluster, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.placement import Placement
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    AttemptStalled,
    AttemptSuspended,
    JobFinished,
    Outcome,
    Stall,
    StallEnded,
)
from callboard.actors.vocabulary.faults import AnyFault, Crash, PauseNode, Restart, ResumeNode
from callboard.scheduler.model import Priority
from tests.support.world import IN_STEP, PlayedRun, job, play

SIX = Cluster(nodes=6, racks=2, map_slots=1, reduce_slots=1, replication=2, heartbeat=IN_STEP)
HOLDERS = Placement(1, nodes=6, racks=2, replication=2).place_block(0, 0)
OTHERS = [node for node in range(6) if node not in HOLDERS]
WAIT_MS = 100_000


def lost(*more: ScheduledFault, at_ms: int = 1, submit_ms: int = 10_000, **tasks: int) -> PlayedRun:
    """A job of one map whose two replicas' nodes crash."""
    script = [ScheduledFault(at_ms, Crash(node)) for node in HOLDERS]
    times = Tasks(**{"input_wait_ms": WAIT_MS, **tasks})
    spec = job(0, maps=1, map_ms=10_000, submit_ms=submit_ms)
    return play([spec], cluster=SIX, tasks=times, script=[*script, *more])


def test_a_job_whose_input_is_lost_fails_when_four_attempts_have_waited_in_vain() -> None:
    """Each on another host, each for as long as the scenario says."""
    run = lost()
    stalls = run.all(AttemptStalled)
    assert {(e.why, e.progress) for e in stalls} == {(Stall.NO_INPUT, 0.0)}
    ends = [(e.outcome, e.at_ms - e.started_ms) for e in run.all(AttemptEnded)]
    assert ends == [(Outcome.FAILED, WAIT_MS)] * 4
    assert sorted(e.node for e in run.launches()) == OTHERS
    (end,) = run.all(JobFinished)
    assert end.outcome is Outcome.FAILED
    assert 4 * WAIT_MS < end.at_ms - end.submitted_ms < 4 * (WAIT_MS + 6010)


def test_without_a_wait_it_fails_at_once() -> None:
    run = lost(input_wait_ms=0)
    assert {e.at_ms - e.started_ms for e in run.all(AttemptEnded)} == {0}
    assert run.all(JobFinished)[0].at_ms < 60_000


@pytest.mark.parametrize("back_ms", [40_000, 63_003])
def test_a_map_that_waits_begins_when_a_replica_is_there_again(back_ms: int) -> None:
    """It looks every 3 s; the waiting is no work, so it ends a map's time after it has found it."""
    run = lost(ScheduledFault(back_ms, Restart(HOLDERS[1])))
    (stall,), (found,) = run.all(AttemptStalled), run.all(StallEnded)
    (end,) = run.all(AttemptEnded)
    assert back_ms < found.at_ms <= back_ms + 3000
    assert (found.at_ms - stall.at_ms) % 3000 == 0
    assert end.outcome is Outcome.SUCCEEDED
    assert end.at_ms - found.at_ms in (10_000, 12_500, 20_000)  # by locality


def test_one_replica_is_enough() -> None:
    run = lost(ScheduledFault(2, Restart(HOLDERS[0])))
    assert not run.all(AttemptStalled)


def test_what_has_begun_to_read_reads_to_its_end() -> None:
    assert not lost(at_ms=15_000).all(AttemptStalled)


def test_a_paused_node_looks_when_it_goes_on() -> None:
    """Its wait was over in the pause: the master hears of the failure late."""
    first = lost().launches()[0]
    pause: list[AnyFault] = [PauseNode(first.node), ResumeNode(first.node)]
    times = [first.at_ms + 10_000, first.at_ms + 200_000]
    run = lost(*map(ScheduledFault, times, pause))
    assert run.all(AttemptEnded)[0].at_ms == times[1]
    back = lost(
        *map(ScheduledFault, times, pause), ScheduledFault(times[0] + 1, Restart(HOLDERS[0]))
    )
    assert [e.at_ms for e in back.all(StallEnded)] == [times[1]]


def test_one_that_was_suspended_looks_anew_when_it_goes_on() -> None:
    """It gives way to a job that has its input; when it goes on a replica is there again."""
    soon = msgspec.structs.replace(IN_STEP, expiry_ms=9000)
    cluster = msgspec.structs.replace(SIX, replication=1, heartbeat=soon)
    place = Placement(1, nodes=6, racks=2, replication=1).place_block
    gone, host = place(0, 0)[0], place(1, 0)[0]
    assert gone != host
    script = [ScheduledFault(1, Crash(node)) for node in range(6) if node != host]
    script.append(ScheduledFault(45_000, Restart(gone)))
    jobs = [
        job(0, maps=1, submit_ms=20_000),
        job(1, maps=1, map_ms=40_000, submit_ms=30_000, priority=Priority.HIGH),
    ]
    policy = 'fifo+preemptive(how="suspend",interval_s=3)'
    run = play(jobs, policy, cluster=cluster, script=script)
    (halted,) = run.all(AttemptSuspended)
    assert [(e.attempt, e.outcome) for e in run.all(AttemptEnded)][-1] == (
        halted.attempt,
        Outcome.SUCCEEDED,
    )
    assert not run.all(StallEnded)


def test_nodes_that_join_later_take_no_input_with_them() -> None:
    """Off from the start: what would lie there lies elsewhere until they have joined."""
    script = [ScheduledFault(0, Crash(node)) for node in HOLDERS]
    script += [ScheduledFault(500_000, Restart(node)) for node in HOLDERS]
    run = play([job(0, maps=1)], cluster=SIX, script=script)
    assert not run.all(AttemptStalled)


def test_what_happens_at_an_instant_is_seen_after_it() -> None:
    """So nothing hangs on who comes first within it; a crash and a restart at once are nothing."""
    blocks = Blocks(Placement(1, nodes=1, racks=1, replication=1))
    told: list[tuple[int, bool]] = [(10, True), (20, False), (30, True), (30, False), (40, False)]
    seen = {}
    for at_ms, down in told:
        blocks.set_down(0, down, at_ms)
        seen[at_ms] = blocks.readable(0, 0, at_ms), blocks.readable(0, 0, at_ms + 1)
    assert seen == {10: (True, False), 20: (False, True), 30: (True, True), 40: (True, True)}


def test_who_waits_for_input_says_so() -> None:
    """What a run that is stuck would tell."""
    script = [ScheduledFault(1, Crash(node)) for node in HOLDERS]
    run = play([job(0, submit_ms=10_000)], cluster=SIX, script=script, until_ms=20_000)
    waits = [wait for actor in run.kernel.actors.values() if (wait := actor.waiting_reason())]
    (launch,) = run.launches()
    told = f"attempt {launch.attempt} of job 0: no replica of its input can be read"
    assert f"slot 0 of node {launch.node} holds {told}" in waits
