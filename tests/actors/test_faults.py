"""What machines and links can suffer, and what the master makes of it (rules T1 to T6, H5, S12).

The expiry is 600 s and the checker wakes every 200 s.  Where times are given, they were worked out
by hand as in `test_heartbeats`: the first heartbeat goes out at 0, latency is 1 ms, the period
3,002 ms.
"""

import msgspec
import pytest
from msgspec.structs import replace

from callboard.actors.central.heartbeat_messages import HeartbeatReply
from callboard.actors.config import Cluster, Heartbeats, NodeGroup
from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.kernel import Stalled
from callboard.actors.network import HEALTHY, Link, LinkConditions
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
    JobBlacklistedNode,
    JobFinished,
    MapOutputsLost,
    NodeLost,
    NodeReturned,
    Outcome,
    ShuffleEnded,
)
from callboard.actors.vocabulary.faults import (
    Crash,
    Disturb,
    Partition,
    PauseMaster,
    PauseNode,
    Restart,
    ResumeMaster,
    ResumeNode,
    Slow,
)
from callboard.scheduler.model import Millis, SlotKind
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.policy import Policy
from tests.support.world import IN_STEP, PlayedRun, job, play

CUT = LinkConditions(cut=True)
TWO = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)


def cut(
    at_ms: Millis, node: int, for_ms: Millis, up: LinkConditions = CUT, down: LinkConditions = CUT
) -> list[ScheduledFault]:
    """The link of a node disturbed for a while."""
    ends = ScheduledFault(at_ms + for_ms, Disturb(node, HEALTHY, HEALTHY))
    return [ScheduledFault(at_ms, Disturb(node, up, down)), ends]


def ends(run: PlayedRun) -> dict[int, Millis]:
    """When each job finished."""
    return {event.job: event.at_ms for event in run.all(JobFinished)}


# T1: detection by missed heartbeats alone.


@pytest.mark.parametrize(
    ("crash_ms", "heard_ms", "lost_ms"),
    [
        (10_000, 9007, 800_000),  # 600 s after 9,007 is past the sweep of 600,000
        (599_999, 597_399, 1_200_000),
        (203_200, 201_135, 1_000_000),
        (198_200, 198_133, 800_000),
    ],
)
def test_t1_a_silent_node_is_lost_at_the_first_sweep_after_the_expiry(
    crash_ms: Millis, heard_ms: Millis, lost_ms: Millis
) -> None:
    jobs = [job(0, maps=4, map_ms=900_000)]
    run = play(jobs, cluster=TWO, script=[ScheduledFault(crash_ms, Crash(1))])
    (lost,) = run.all(NodeLost)
    assert (lost.node, lost.heard_ms, lost.at_ms) == (1, heard_ms, lost_ms)
    assert 600_000 < lost.at_ms - lost.heard_ms <= 800_000


def test_t1_exactly_the_expiry_is_not_yet_too_long() -> None:
    """Period 3,999 ms: the last heartbeat arrives at 23,995, and the sweep of 38,392 finds 14,397
    ms.
    """
    heartbeats = Heartbeats(interval_ms=3997, expiry_ms=14_397, phase_grid_ms=3997)
    cluster = Cluster(nodes=2, racks=1, map_slots=1, heartbeat=heartbeats)
    jobs = [job(0, maps=2, map_ms=90_000)]
    run = play(jobs, cluster=cluster, script=[ScheduledFault(25_000, Crash(1))])
    assert [(e.heard_ms, e.at_ms) for e in run.all(NodeLost)] == [(23_995, 43_191)]


def test_until_it_is_detected_the_master_believes() -> None:
    """It goes on counting the dead node's slot as taken, and launches nothing in its place."""
    jobs = [job(0, maps=2, map_ms=100_000)]
    run = play(jobs, cluster=TWO, script=[ScheduledFault(50_000, Crash(1))])
    closed = {event.attempt: event for event in run.all(AttemptClosed)}
    (lost,) = run.all(NodeLost)
    assert closed[2].at_ms == lost.at_ms == 800_000
    assert [e.at_ms for e in run.launches() if e.number] == [801_535]


def test_s12_a_dead_node_does_nothing() -> None:
    jobs = [job(0, maps=6, map_ms=30_000)]
    script = [ScheduledFault(50_000, Crash(1)), ScheduledFault(900_000, Restart(1))]
    run = play(jobs, cluster=TWO, script=script)
    assert all(not 50_000 < e.at_ms < 900_000 for e in run.all(AttemptStarted) if e.node == 1)


# T2, T3: what is lost with a node.


def lost_with_outputs(reduces: int) -> PlayedRun:
    """Two nodes run four maps; then one is lost, while two long maps are left."""
    jobs = [
        job(0, maps=4, map_ms=10_000, reduces=reduces, reduce_ms=1_500_000),
        job(1, maps=4, map_ms=700_000, submit_ms=1000),
    ]
    return play(jobs, cluster=TWO, script=[ScheduledFault(60_000, Crash(1))])


def test_t2_finished_maps_run_again_first_and_anywhere() -> None:
    """The lost node had done two maps of job 0, which has a reduce running elsewhere."""
    run = lost_with_outputs(reduces=1)
    (undone,) = run.all(MapOutputsLost)
    assert (undone.job, len(undone.attempts), undone.outcome) == (0, 2, Outcome.KILLED)
    again = [e for e in run.launches(SlotKind.MAP) if e.number]
    assert [e.job for e in again][:2] == [0, 0]
    assert all(e.why.skipped == () for e in again)


def test_t2_maps_of_a_job_without_reduces_are_kept() -> None:
    run = lost_with_outputs(reduces=0)
    assert run.all(NodeLost)
    assert not run.all(MapOutputsLost)


def test_t3_what_was_lost_with_a_node_was_killed_and_did_not_fail() -> None:
    run = lost_with_outputs(reduces=1)
    assert {e.outcome for e in run.all(AttemptClosed)} == {Outcome.SUCCEEDED, Outcome.KILLED}


def test_t3_a_reduce_that_still_fetches_waits_for_the_map_to_run_again() -> None:
    """Node 1 dies with an output just before the reduce asks for it; the map runs again after the
    loss is noticed, and only then the shuffle ends.
    """
    jobs = [job(0, maps=2, map_ms=10_000, reduces=1, shuffle_ms=60_000, reduce_ms=1000)]
    run = play(jobs, cluster=TWO, script=[ScheduledFault(12_500, Crash(1))])
    (undone,) = run.all(MapOutputsLost)
    assert undone.outcome is Outcome.KILLED  # one complaint is not enough (T6)
    last_map = max(e.attempt for e in run.launches(SlotKind.MAP))
    told = next(e.at_ms for e in run.all(AttemptClosed) if e.attempt == last_map)
    assert [e.at_ms > told > undone.at_ms for e in run.all(ShuffleEnded)] == [True]


# T4, T5: coming back.


def test_t4_a_node_that_comes_back_too_late_begins_anew() -> None:
    """Cut off for 900 s it runs its map to the end; the master has given it up and run the map
    elsewhere, and does not take the result.
    """
    jobs = [job(0, maps=2, map_ms=100_000), job(1, maps=3, map_ms=500_000, submit_ms=90_000)]
    run = play(jobs, cluster=TWO, script=cut(50_000, 1, 900_000))
    (lost,) = run.all(NodeLost)
    (back,) = run.all(NodeReturned)
    assert lost.at_ms == 800_000
    assert 950_000 < back.at_ms < 956_100
    zombie = next(e.attempt for e in run.launches() if e.node == 1)
    assert [e.outcome for e in run.all(AttemptEnded) if e.attempt == zombie] == [Outcome.SUCCEEDED]
    assert [e.outcome for e in run.all(AttemptClosed) if e.attempt == zombie] == [Outcome.KILLED]


def test_t4_what_it_still_runs_is_killed() -> None:
    jobs = [job(0, maps=2, map_ms=2_000_000)]
    run = play(jobs, cluster=TWO, script=cut(50_000, 1, 900_000))
    zombie = next(e.attempt for e in run.launches() if e.node == 1)
    (ended,) = [e for e in run.all(AttemptEnded) if e.attempt == zombie]
    assert ended.outcome is Outcome.KILLED
    assert 950_000 < ended.at_ms < 956_100


def test_a_partition_shorter_than_the_expiry_costs_nothing_but_time() -> None:
    jobs = [job(0, maps=2, map_ms=100_000)]
    run = play(jobs, cluster=TWO, script=cut(50_000, 1, 300_000))
    assert not run.all(NodeLost)
    assert len(run.launches()) == 2
    assert 350_000 < ends(run)[0] < 356_100


def test_t5_a_fast_restart_counts_as_loss_at_once() -> None:
    jobs = [job(0, maps=2, map_ms=100_000)]
    script = [ScheduledFault(50_000, Crash(1)), ScheduledFault(55_000, Restart(1))]
    run = play(jobs, cluster=TWO, script=script)
    (lost,) = run.all(NodeLost)
    (back,) = run.all(NodeReturned)
    assert (lost.at_ms, lost.again, back.at_ms) == (55_001, True, 55_001)
    assert [e.at_ms for e in run.launches() if e.number] == [58_003]


# Pause and slowness.


def test_a_paused_node_loses_nothing_and_is_late_by_the_pause() -> None:
    jobs = [job(0, maps=1, map_ms=100_000)]
    script = [ScheduledFault(50_000, PauseNode(0)), ScheduledFault(80_000, ResumeNode(0))]
    run = play(jobs, script=script)
    assert [e.at_ms for e in run.all(AttemptEnded)] == [130_002]
    assert not run.all(NodeLost)


def test_a_run_whose_master_is_paused_for_good_is_stuck_for_that() -> None:
    """Nodes and jobs waited, it was told, and not for whom."""
    with pytest.raises(Stalled, match=r"the master has stood still since 00:00:30\.000"):
        play([job(0, maps=8, map_ms=20_000)], script=[ScheduledFault(30_000, PauseMaster())])


def test_a_slow_node_takes_longer_for_what_is_left_and_for_what_comes() -> None:
    """At 40,002 ms 40 of 100 s are done: the rest takes three times as long until 70,002, which
    does 10 s of it, then its own time again.
    """
    jobs = [job(0, maps=1, map_ms=100_000)]
    script = [ScheduledFault(40_002, Slow(0, 3.0)), ScheduledFault(70_002, Slow(0, 1.0))]
    run = play(jobs, script=script)
    assert [e.at_ms for e in run.all(AttemptEnded)] == [120_002]
    later = play(jobs, script=[ScheduledFault(0, Slow(0, 3.0))])
    assert [e.at_ms for e in later.all(AttemptEnded)] == [300_002]


def test_slowness_outlasts_a_pause_and_a_crash() -> None:
    script = [
        ScheduledFault(10_002, PauseNode(0)),
        ScheduledFault(15_000, Slow(0, 2.0)),
        ScheduledFault(20_002, ResumeNode(0)),
    ]
    run = play([job(0, maps=1, map_ms=100_000)], script=script)
    assert [e.at_ms for e in run.all(AttemptEnded)] == [20_002 + 180_000]
    script = [
        ScheduledFault(0, Slow(0, 2.0)),
        ScheduledFault(10_000, Crash(0)),
        ScheduledFault(20_000, Restart(0)),
    ]
    again = play([job(0, maps=1, map_ms=100_000)], script=script)
    begun = max(e.at_ms for e in again.all(AttemptStarted))
    assert max(e.at_ms for e in again.all(AttemptEnded)) == begun + 200_000


# H5, S8: heartbeats at least once.

FLAKY = LinkConditions(loss=0.4, twice=0.4, delay_ms=2000)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("up", "down"), [(FLAKY, HEALTHY), (HEALTHY, FLAKY), (FLAKY, FLAKY)])
def test_s8_lost_doubled_and_late_messages_launch_nothing_twice(
    seed: int, up: LinkConditions, down: LinkConditions
) -> None:
    jobs = [job(0, maps=12, map_ms=20_000, reduces=2, shuffle_ms=1000, reduce_ms=5000)]
    script = [ScheduledFault(1, Disturb(node, up, down)) for node in (0, 1)]
    run = play(jobs, cluster=TWO, script=script, seed=seed)
    assert len(run.launches()) == len(run.all(AttemptStarted)) == 14
    assert [e.outcome for e in run.all(AttemptClosed)] == [Outcome.SUCCEEDED] * 14
    assert ends(run)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("held", [(0.5, 0.0), (0.0, 0.5), (1.0, 1.0)])
@pytest.mark.parametrize("link", [HEALTHY, FLAKY])
def test_s8_reordered_messages_launch_nothing_twice(
    seed: int, held: tuple[float, float], link: LinkConditions
) -> None:
    jobs = [job(0, maps=12, map_ms=20_000, reduces=2, shuffle_ms=1000, reduce_ms=5000)]
    ways = [replace(link, reordered=share) for share in held]
    script = [ScheduledFault(1, Disturb(node, *ways)) for node in (0, 1)]
    run = play(jobs, cluster=TWO, script=script, seed=seed)
    assert len(run.launches()) == len(run.all(AttemptStarted)) == 14
    assert ends(run)


def test_a_message_that_is_held_back_comes_right_behind_the_next() -> None:
    """With a share of 1 every second one; what is lost passes nobody."""
    link = Link(1, "up/0", 5)
    link.conditions = LinkConditions(reordered=1.0)
    sent = [HeartbeatReply(number, 0) for number in range(5)]
    assert [link.draw_deliveries(each) for each in sent[:3]] == [
        [],
        [(5, sent[1]), (5, sent[0])],
        [],
    ]
    link.conditions = LinkConditions(cut=True, reordered=1.0)
    assert link.draw_deliveries(sent[3]) == []
    link.conditions = HEALTHY
    assert link.draw_deliveries(sent[4]) == [(5, sent[4]), (5, sent[2])]


# T6: fetching.

FOUR = Cluster(nodes=4, racks=1, map_slots=1, reduce_slots=2, replication=4, heartbeat=IN_STEP)


def test_t6_enough_complaints_fail_the_maps_before_the_node_is_lost() -> None:
    """Node 3 dies with an output before four reduces ask for it, three of them at 15,012 ms.  A
    try is over after 3.002 s and pauses grow from 10 s by 1.3, so the tenth try has failed 350.2 s
    after the first; the next heartbeats carry three complaints, more than half of the four reduces.
    """
    jobs = [job(0, maps=4, map_ms=10_000, reduces=4, shuffle_ms=90_000, reduce_ms=1000)]
    run = play(jobs, cluster=FOUR, script=[ScheduledFault(12_500, Crash(3))])
    (undone,) = run.all(MapOutputsLost)
    assert (undone.node, undone.outcome, len(undone.attempts)) == (3, Outcome.FAILED, 1)
    assert 15_014 + 350_200 < undone.at_ms < 15_014 + 350_200 + 3_100
    assert len(run.all(JobFinished)) == 1


def test_t6_two_complaints_are_not_enough() -> None:
    jobs = [job(0, maps=4, map_ms=10_000, reduces=2, shuffle_ms=90_000, reduce_ms=1000)]
    run = play(jobs, cluster=FOUR, script=[ScheduledFault(12_500, Crash(3))])
    assert [e.outcome for e in run.all(MapOutputsLost)] == [Outcome.KILLED]
    assert run.all(NodeLost)


def unfetchable_host(policy: str, maps: int) -> PlayedRun:
    """A job of which some maps run on node 0 and none of the reduces, and nobody can fetch there;
    fetching is given up at 366 s.
    """
    only_maps = Cluster(nodes=1, racks=1, map_slots=4, reduce_slots=0, heartbeat=IN_STEP)
    others = (NodeGroup(nodes=5, map_slots=4, reduce_slots=1),)
    cluster = msgspec.structs.replace(only_maps, group=others)
    spec = job(0, maps=maps, map_ms=10_000, reduces=4, shuffle_ms=1000, reduce_ms=5000)
    script = [ScheduledFault(1000, Partition(0, (1, 2, 3, 4, 5)))]
    return play([spec], policy, cluster=cluster, script=script)


@pytest.mark.parametrize("policy", ["fifo", "sparrow", "hawk", "omega"])
def test_t6_a_map_that_nobody_could_fetch_runs_again_on_another_host(policy: str) -> None:
    """Its host counts as one where it failed (JobInProgress.fetchFailureNotification calls
    failedTask, and that TaskInProgress.incompleteSubTask, which adds to machinesWhereFailed).
    """
    run = unfetchable_host(policy, maps=24)
    (undone,) = run.all(MapOutputsLost)
    assert (undone.node, undone.outcome) == (0, Outcome.FAILED)
    again = [e for e in run.launches(SlotKind.MAP) if e.number]
    assert len(again) == len(undone.attempts) > 0
    assert all(e.node != 0 for e in again)
    (end,) = run.all(JobFinished)
    assert end.at_ms < undone.at_ms + 60_000


def test_t6_a_job_blacklists_a_host_where_nobody_could_fetch_four_of_its_maps() -> None:
    """Each counts as a failure there (JobInProgress.addTrackerTaskFailure); the event comes once,
    though all are booked at one moment.
    """
    run = unfetchable_host("fifo", maps=24)
    (undone,) = run.all(MapOutputsLost)
    (shunned,) = run.all(JobBlacklistedNode)
    assert len(undone.attempts) == 4
    assert (shunned.node, shunned.at_ms, shunned.in_force) == (0, undone.at_ms, True)
    assert run.events[shunned.cause - 1] == undone


def test_a_shuffle_waits_for_a_host_out_of_reach_and_goes_on_when_it_is_back() -> None:
    """Node 1 cannot be reached by others from 5 to 60 s; heartbeats get through all the while."""
    jobs = [job(0, maps=2, map_ms=10_000, reduces=1, shuffle_ms=2000, reduce_ms=1000)]
    script = [ScheduledFault(5000, Partition(1, (0,))), ScheduledFault(60_000, Partition(1, ()))]
    run = play(jobs, cluster=TWO, script=script)
    (ended,) = run.all(ShuffleEnded)
    assert 60_000 < ended.at_ms < 100_000
    assert not run.all(NodeLost)
    assert not run.all(MapOutputsLost)


def test_t6_after_thirty_failures_a_reduce_has_failed() -> None:
    """Nodes 0 and 1 do not reach each other for a day.  Pauses of 10 s · 1.3ⁿ, 29 of them, and
    tries of 3 s: the thirtieth has failed after 67,236 s.  Of 32 reduces only four complain, so the
    maps are not made again.
    """
    sixteen = msgspec.structs.replace(FOUR, nodes=16)
    spec = job(0, maps=16, map_ms=10_000, reduces=32, shuffle_ms=90_000, reduce_ms=200_000_000)
    script = [
        ScheduledFault(5000, Partition(0, (1,))),
        ScheduledFault(86_400_000, Partition(0, ())),
    ]
    run = play([spec], cluster=sixteen, script=script, until_ms=68_000_000)
    assert not run.all(MapOutputsLost)
    failed = [e for e in run.all(AttemptEnded) if e.outcome is Outcome.FAILED]
    where = {e.attempt: e.node for e in run.launches(SlotKind.REDUCE)}
    assert sorted(where[e.attempt] for e in failed) == [0, 0, 1, 1]
    tries_ms = 30 * 3002 + sum(round(10_000 * 1.3**n) for n in range(29))
    assert all(10_000 < e.at_ms - tries_ms < 25_000 for e in failed)


def test_a_long_split_is_no_stall_though_the_next_try_is_hours_away() -> None:
    """Pauses have grown by 1.3 all day: the run does not count as stuck before the next one."""
    jobs = [job(0, maps=8, map_ms=10_000, reduces=8, shuffle_ms=2000, reduce_ms=1000)]
    for hours in (6, 18):
        script = [
            ScheduledFault(5000, Partition(1, (0,))),
            ScheduledFault(hours * 3_600_000, Partition(1, ())),
        ]
        run = play(jobs, cluster=FOUR, script=script)
        assert run.all(JobFinished)[0].at_ms < 1.31 * hours * 3_600_000


def test_a_launch_to_a_node_that_has_just_died_is_not_lost_for_ever() -> None:
    """The reply is under way when the node dies: the attempt never starts, and is run elsewhere."""
    run = play([job(0, maps=2, map_ms=10_000)], cluster=TWO, script=[ScheduledFault(1, Crash(1))])
    assert len(run.all(AttemptLaunched)) == len(run.all(AttemptStarted)) + 1
    assert run.all(JobFinished)


@pytest.mark.parametrize(("until_ms", "slots"), [(799_999, 2), (800_000, 1)])
def test_hfsps_virtual_cluster_shrinks_when_the_loss_is_detected_and_not_before(
    until_ms: Millis, slots: int
) -> None:
    """HFSP, III-B, Failures: until then its ages grow as if the dead node's slot served."""
    order = Hfsp()
    jobs = [job(0, maps=9, map_ms=500_000)]
    play(
        jobs,
        Policy(order),
        cluster=TWO,
        script=[ScheduledFault(10_000, Crash(1))],
        until_ms=until_ms,
    )
    assert order.clusters[SlotKind.MAP]._slots == slots


def test_a_world_that_can_come_to_nothing_is_stuck_however_busy_it_is() -> None:
    """Heartbeats every 3 s and an expiry of 2.4 s: the node is lost and returns for ever, and its
    map of a minute never ends.  The budget after the last fault is said, and who waits.
    """
    heartbeats = Heartbeats(expiry_ms=2400, phase_grid_ms=3000)
    cluster = Cluster(nodes=1, racks=1, heartbeat=heartbeats)
    with pytest.raises(Stalled) as caught:
        play(
            [job(0, maps=1, map_ms=60_000)],
            cluster=cluster,
            script=[ScheduledFault(0, PauseNode(0)), ScheduledFault(1, ResumeNode(0))],
        )
    assert "no attempt has succeeded or failed for" in str(caught.value)
    assert "job 0 (j0) waits: 0 of 1 maps" in str(caught.value)
    assert caught.value.at_ms < 3_600_000


def test_a_master_that_stands_still_goes_on_however_often_it_was_told_to_stand_still() -> None:
    script = [
        ScheduledFault(500, PauseMaster()),
        ScheduledFault(2000, PauseMaster()),
        ScheduledFault(9000, ResumeMaster()),
    ]
    run = play([job(0, maps=1)], cluster=Cluster(nodes=1, racks=1), script=script)
    assert run.all(JobFinished)
