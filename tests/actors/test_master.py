"""The master stands still, or starts again."""

import pytest

from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    JobFinished,
    JobResubmitted,
    NodeLost,
    NodeReturned,
    Outcome,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    Disturb,
    PauseMaster,
    Restart,
    RestartMaster,
    ResumeMaster,
)
from callboard.scheduler.model import Millis
from tests.support.world import IN_STEP, PlayedRun, job, play

FOUR = Cluster(nodes=4, racks=2, map_slots=2, reduce_slots=1, heartbeat=IN_STEP)
JOBS = [
    job(0, maps=24, map_ms=20_000, reduces=2, shuffle_ms=2000, reduce_ms=20_000),
    job(1, maps=6, map_ms=5000, submit_ms=40_000),
]


def paused(at_ms: Millis, for_ms: Millis) -> PlayedRun:
    script = [ScheduledFault(at_ms, PauseMaster()), ScheduledFault(at_ms + for_ms, ResumeMaster())]
    return play(JOBS, cluster=FOUR, script=script)


@pytest.mark.parametrize("for_ms", [1, 30_000, 599_000, 2_000_000])
def test_a_pause_of_the_master_loses_no_node_however_long(for_ms: Millis) -> None:
    """Heartbeats that came in the pause are answered before the sweep that fell due in it (T1)."""
    run = paused(25_000, for_ms)
    assert not run.all(NodeLost)
    assert {e.outcome for e in run.all(JobFinished)} == {Outcome.SUCCEEDED}
    assert len(run.launches()) == 24 + 2 + 6


def test_nothing_is_launched_while_the_master_stands_still_and_what_runs_goes_on() -> None:
    run = paused(25_000, 60_000)
    assert not [e for e in run.launches() if 25_000 < e.at_ms < 85_000]
    assert [e for e in run.all(AttemptEnded) if 25_000 < e.at_ms < 85_000]


@pytest.mark.parametrize("recover", [False, True])
def test_a_restart_kills_what_runs_and_loses_or_repeats_the_jobs(recover: bool) -> None:
    """At 50 s both jobs are there; every node is told to begin anew at its next heartbeat."""
    run = play(JOBS, cluster=FOUR, script=[ScheduledFault(50_000, RestartMaster(recover))])
    outcome = Outcome.SUCCEEDED if recover else Outcome.KILLED
    assert {e.job: e.outcome for e in run.all(JobFinished)} == {0: outcome, 1: outcome}
    assert [e.job for e in run.all(JobResubmitted)] == ([0, 1] if recover else [])
    assert not run.all(NodeLost)
    before = [e for e in run.launches() if e.at_ms < 50_000]
    after = [e for e in run.launches() if e.at_ms > 50_000]
    closed = {e.attempt for e in run.all(AttemptClosed) if e.at_ms <= 50_000}
    assert {e.attempt for e in before} == closed
    if recover:
        assert len(after) == 24 + 2 + 6
        assert after[0].attempt > before[-1].attempt + 1000
        assert not run.all(NodeReturned)  # the new master never knew them
    else:
        assert not after


def test_a_job_that_came_after_the_restart_is_not_concerned() -> None:
    script = [ScheduledFault(30_000, RestartMaster())]
    run = play(JOBS, cluster=FOUR, script=script)
    assert {e.job: e.outcome for e in run.all(JobFinished)} == {
        0: Outcome.KILLED,
        1: Outcome.SUCCEEDED,
    }


@pytest.mark.parametrize("map_ms", [1000, 10_000])
def test_t4_a_heartbeat_that_joined_before_a_restart_does_not_join_again_after_it(
    map_ms: Millis,
) -> None:
    """The node returns while the master stands still, and keeps sending its first heartbeat.  The
    master answers one with tasks, restarts, and finds the others: it must not take the node, which
    has those tasks, for a new one.
    """
    one = Cluster(nodes=1, racks=1, map_slots=3, reduce_slots=1, heartbeat=IN_STEP)
    script = [
        ScheduledFault(5789, Crash(0)),
        ScheduledFault(14_716, PauseMaster()),
        ScheduledFault(22_465, Restart(0)),
        ScheduledFault(25_859, RestartMaster(True)),
        ScheduledFault(60_000, ResumeMaster()),
    ]
    jobs = [job(0, maps=8, map_ms=map_ms, reduces=3, shuffle_ms=1000, reduce_ms=5000)]
    run = play(jobs, cluster=one, script=script)
    assert [e.outcome for e in run.all(JobFinished)] == [Outcome.SUCCEEDED]


@pytest.mark.parametrize("at_ms", [40_900, 41_300, 42_100])
def test_t4_nor_does_one_that_the_link_brings_twice_and_late(at_ms: Millis) -> None:
    two = Cluster(nodes=2, racks=1, map_slots=2, reduce_slots=1, heartbeat=IN_STEP)
    late = LinkConditions(twice=1.0, delay_ms=3000)
    script = [
        ScheduledFault(10_000, Crash(0)),
        ScheduledFault(30_000, Disturb(0, late, HEALTHY)),
        ScheduledFault(40_000, Restart(0)),
        ScheduledFault(at_ms, RestartMaster(True)),
    ]
    for seed in (1, 2):
        run = play([job(0, maps=12, map_ms=10_000)], cluster=two, script=script, seed=seed)
        assert [e.outcome for e in run.all(JobFinished)] == [Outcome.SUCCEEDED]
