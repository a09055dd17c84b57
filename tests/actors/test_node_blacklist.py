"""The list of bad nodes across jobs (Hadoop: FaultyTrackersInfo)."""

import msgspec
import pytest

from callboard.actors.central.membership import BUCKET_MS, NodeBlacklist
from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.events import (
    JobBlacklistedNode,
    JobFinished,
    NodeBlacklisted,
    NodeReturned,
    NodeUnblacklisted,
    Outcome,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    Disturb,
    Flaky,
    PauseMaster,
    Restart,
    RestartMaster,
    ResumeMaster,
)
from callboard.scheduler.model import Millis, SlotKind
from tests.support.world import IN_STEP, PlayedRun, job, play

NINE = Cluster(nodes=9, racks=1, map_slots=1, heartbeat=IN_STEP)
BAD = 3
HOUR_MS: Millis = 3_600_000
JOBS = [job(n, maps=90, map_ms=30_000, submit_ms=400_000 * n) for n in range(6)]
"""One after the other; each but the first four would come to the bad node."""


def troubled(
    *more: ScheduledFault,
    bad_nodes: str | None = None,
    later_ms: Millis | None = None,
    jobs: int = 6,
) -> PlayedRun:
    """A run in which every attempt on node 3 fails, with a small job at `later_ms`."""
    cluster = msgspec.structs.replace(NINE, bad_nodes=bad_nodes)
    late = [] if later_ms is None else [job(jobs, maps=9, map_ms=5000, submit_ms=later_ms)]
    return play(
        [*JOBS[:jobs], *late],
        "fifo",
        cluster=cluster,
        script=[ScheduledFault(0, Flaky(BAD, 1.0)), *more],
    )


def after(run: PlayedRun, at_ms: Millis) -> int:
    """How many launches the bad node got after a moment."""
    return len([e for e in run.launches() if e.node == BAD and e.at_ms > at_ms])


def test_a_node_that_four_jobs_had_to_shun_gets_no_more_tasks() -> None:
    """Each lost four attempts there and succeeded; the fifth job does not come there."""
    run = troubled()
    (listed,) = run.all(NodeBlacklisted)
    assert (listed.node, listed.faults, listed.in_force) == (BAD, 4, True)
    assert [e.job for e in run.all(JobBlacklistedNode)] == [0, 1, 2, 3]
    assert listed.at_ms == run.all(JobFinished)[3].at_ms
    assert not after(run, listed.at_ms)
    assert run.master.ledger.slots(SlotKind.MAP) == 8


def test_to_hadoop_1_2_1_the_list_is_advice() -> None:
    """Graylisting: the node is named and gets tasks as before."""
    run = troubled(bad_nodes="advisory")
    (listed,) = run.all(NodeBlacklisted)
    assert not listed.in_force
    assert len(run.all(JobBlacklistedNode)) == 6
    assert after(run, listed.at_ms) == 8


@pytest.mark.parametrize(
    ("profile", "stated", "removed"),
    [
        ("mr1-1.0", None, True),
        ("mr1-1.2.1", None, False),
        ("mr1-1.0", "advisory", False),
        ("mr1-1.2.1", "removed", True),
    ],
)
def test_what_becomes_of_a_bad_node_goes_by_the_version(
    profile: str, stated: str | None, removed: bool
) -> None:
    raw = {"bad_nodes": stated, "heartbeat": {"profile": profile}}
    assert msgspec.convert(raw, Cluster).removes_bad_nodes is removed


def test_jobs_that_fail_hold_nothing_against_a_node() -> None:
    """Whoever fails may be at fault itself: of six such jobs nobody speaks."""
    poisoned = [
        msgspec.structs.replace(spec, maps=90, poisoned=((89,), ()), submit_ms=10**6 * n)
        for n, spec in enumerate(JOBS)
    ]
    run = play(poisoned, "fifo", cluster=NINE, script=[ScheduledFault(0, Flaky(BAD, 1.0))])
    assert len(run.all(JobBlacklistedNode)) == 6
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.FAILED}
    assert not run.all(NodeBlacklisted)


def test_after_three_hours_a_node_is_off_the_list() -> None:
    """All four faults fall into the first quarters of an hour; when the first one's is 180 minutes
    old three are left, and the node gets tasks again.
    """
    run = troubled(later_ms=4 * HOUR_MS, jobs=4)
    (listed,), (cleared,) = run.all(NodeBlacklisted), run.all(NodeUnblacklisted)
    first = run.all(JobFinished)[0].at_ms
    assert cleared.at_ms == (first // BUCKET_MS + 12) * BUCKET_MS
    assert after(run, listed.at_ms) == after(run, cleared.at_ms) > 0


def test_a_restart_clears_a_node_and_a_loss_does_not() -> None:
    """markTrackerHealthy: its machine started again, be it slowly or fast.  Who was only out of
    reach and is told to begin anew is as bad as before.
    """
    at_ms, later_ms = 2_000_000, 4_000_000
    fast = troubled(
        ScheduledFault(at_ms, Crash(BAD)),
        ScheduledFault(at_ms + 10_000, Restart(BAD)),
        later_ms=later_ms,
        jobs=4,
    )
    slow = troubled(
        ScheduledFault(at_ms, Crash(BAD)),
        ScheduledFault(at_ms + 10**6, Restart(BAD)),
        later_ms=later_ms,
        jobs=4,
    )
    for run in fast, slow:
        (cleared,) = run.all(NodeUnblacklisted)
        assert cleared.at_ms == run.all(NodeReturned)[0].at_ms
        assert after(run, cleared.at_ms)
    cut = troubled(
        ScheduledFault(at_ms, Disturb(BAD, LinkConditions(cut=True), HEALTHY)),
        ScheduledFault(at_ms + 10**6, Disturb(BAD, HEALTHY, HEALTHY)),
        later_ms=later_ms,
        jobs=4,
    )
    assert len(cut.all(NodeReturned)) == 1
    assert not cut.all(NodeUnblacklisted)
    assert not after(cut, at_ms)


def test_a_master_that_starts_again_has_forgotten_who_is_bad() -> None:
    run = troubled(ScheduledFault(2_000_000, RestartMaster()), later_ms=3_000_000, jobs=4)
    assert len(run.all(NodeBlacklisted)) == 1
    assert not run.all(NodeUnblacklisted)
    assert after(run, 2_000_000)


def test_forgiveness_that_falls_due_in_a_pause_comes_after_it() -> None:
    at_ms = 12 * BUCKET_MS
    pause = (
        ScheduledFault(at_ms - 60_000, PauseMaster()),
        ScheduledFault(at_ms + 60_000, ResumeMaster()),
    )
    run = troubled(*pause, later_ms=4 * HOUR_MS, jobs=4)
    (cleared,) = run.all(NodeUnblacklisted)
    assert cleared.at_ms == at_ms + 60_000


def test_bounds_of_the_list() -> None:
    """Four faults, of 180 minutes in quarters of an hour, more than 1.5 times the average, while
    less than half of the cluster is listed.
    """
    faulty = NodeBlacklist()
    for at_ms in (0, BUCKET_MS, 2 * BUCKET_MS):
        faulty.add(1, at_ms)
    assert not faulty.exceeds(1, 3 * BUCKET_MS, 10)
    faulty.add(1, 3 * BUCKET_MS)
    assert faulty.exceeds(1, 3 * BUCKET_MS, 10)
    assert faulty.exceeds(1, 12 * BUCKET_MS - 1, 10)
    assert not faulty.exceeds(1, 12 * BUCKET_MS, 10)
    assert faulty.listed_until_ms(1) == 12 * BUCKET_MS

    even = NodeBlacklist()
    for node, faults in ((0, 6), (1, 4), (2, 2), (3, 4)):
        for _ in range(faults):
            even.add(node, 0)
    assert not even.exceeds(0, 0, 4)  # the average is 4, and 6 is not more than 1.5 times it
    even.add(0, 0)
    assert even.exceeds(0, 0, 4)
    even.blacklisted.update({1: None, 3: None})
    assert not even.exceeds(0, 0, 4)
    assert even.exceeds(0, 0, 5)
