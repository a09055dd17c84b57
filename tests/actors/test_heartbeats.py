"""Heartbeats by Hadoop's rules H1 to H9, worked by hand on one node.

The node's first heartbeat goes out at 0.  Latency is 1 ms, the interval 3,000 ms, so by rule H3 a
heartbeat follows its predecessor by 3,002 ms: they go out at 0, 3002, 6004, 9006, 12008, ... and
reach the master 1 ms later (H2 and H8 have files of their own: `tests/actors/test_expiry.py` is
H8's, and H2 is H1 of the profile `mr1-1.0`).
"""

import pytest

from callboard.actors.central.heartbeat_messages import Heartbeat
from callboard.actors.config import Cluster, Heartbeats, Tasks, node_facts
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
    JobFinished,
    ShuffleEnded,
)
from callboard.actors.vocabulary.faults import KillJob
from callboard.actors.vocabulary.messages import LaunchTask
from callboard.scheduler.model import SlotKind
from tests.support.world import IN_STEP, job, play


@pytest.mark.parametrize(
    ("profile", "nodes", "interval_ms"),
    [
        ("mr1-1.0", 10, 3000),
        ("mr1-1.0", 300, 3000),
        ("mr1-1.0", 600, 6000),
        ("mr1-1.2.1", 10, 300),
        ("mr1-1.2.1", 600, 6000),
    ],
)
def test_h1_the_interval_grows_with_the_cluster(profile: str, nodes: int, interval_ms: int) -> None:
    heartbeats = Heartbeats(profile=profile)  # type: ignore[arg-type]
    assert heartbeats.period_ms(nodes) == interval_ms


def test_one_job_on_one_node_by_hand() -> None:
    """One map of 10 s and one reduce: 4 s of shuffle, 5 s of the rest.

    The first heartbeat arrives at 1 and finds the job's map; the slot starts it at 2 and ends it at
    10002.  The heartbeat of 12008 tells it at 12009, the reduce opens, and the next heartbeat, at
    15011, takes it to the slot at 15012.  Its question reaches the job at 15013 and the answer the
    slot at 15014; the last map's output alone takes the whole 4 s, so the shuffle ends at 19014 and
    the reduce at 24014.  The heartbeat of 24016 tells it at 24017.
    """
    run = play([job(0, maps=1, map_ms=10_000, reduces=1, shuffle_ms=4000, reduce_ms=5000)])
    assert [e.at_ms for e in run.all(AttemptLaunched)] == [1, 15011]
    assert [e.at_ms for e in run.all(AttemptStarted)] == [2, 15012]
    assert [e.at_ms for e in run.all(ShuffleEnded)] == [19014]
    assert [e.at_ms for e in run.all(AttemptEnded)] == [10002, 24014]
    assert [e.at_ms for e in run.all(AttemptClosed)] == [12009, 24017]
    assert [e.at_ms for e in run.all(JobFinished)] == [24017]


def test_h4_out_of_band_a_heartbeat_follows_an_attempts_end_at_once() -> None:
    """The map ends at 10002 and is told at 10003; the next interval counts from the reply at
    10004, so the heartbeat of 13004 launches the reduce at 13005.  It starts at 13006, learns at
    13008 that its outputs are there, and 9 s later, at 22008, it is done.
    """
    heartbeats = Heartbeats(phase_grid_ms=3000, out_of_band=True)
    cluster = Cluster(nodes=1, racks=1, heartbeat=heartbeats)
    run = play([job(0, reduces=1, shuffle_ms=4000, reduce_ms=5000)], cluster=cluster)
    assert [e.at_ms for e in run.all(AttemptClosed)] == [10003, 22009]
    assert [e.at_ms for e in run.all(AttemptLaunched)] == [1, 13005]


def test_h5_a_repeated_heartbeat_gets_the_stored_reply_and_launches_nothing() -> None:
    run = play([job(0, maps=9)], until_ms=10)
    ledger = run.master.ledger
    talk = run.talk(0)
    stored, pending = talk.reply, ledger.pending(SlotKind.MAP)
    run.master.receive(Heartbeat(node=0, response=stored.response - 1, reports=()))
    assert len(stored.launches) == 2
    assert (talk.reply, ledger.pending(SlotKind.MAP)) == (stored, pending)
    run.kernel.reason, run.kernel._until_ms = None, run.kernel.now_ms + 1
    (addressee,) = run.kernel.advance() or ()
    assert addressee.name == "node 0"
    assert [message for _, _, _, message, _ in addressee.mailbox] == [stored]


def test_h6_a_heartbeats_news_is_booked_before_it_is_given_work() -> None:
    """The heartbeat that tells that a map has ended takes the next one along, and the order to kill
    that waits for the node, in one reply.
    """
    jobs = [job(0, maps=2, map_ms=1000), job(1, maps=1, map_ms=60_000)]
    one = Cluster(nodes=1, racks=1, map_slots=2, heartbeat=IN_STEP)
    run = play(jobs, cluster=one, script=[ScheduledFault(2500, KillJob(0))], until_ms=3003)
    assert [e.at_ms for e in run.all(AttemptClosed)] == [3003, 3003]
    assert [(e.at_ms, e.job) for e in run.launches()][2:] == [(3003, 1)]
    three = [job(0, maps=1, map_ms=60_000), job(1, maps=1, map_ms=1000), job(2, submit_ms=2000)]
    run = play(three, cluster=one, script=[ScheduledFault(2500, KillJob(0))], until_ms=3003)
    reply = run.talk(0).reply
    assert [each.job for each in reply.launches if isinstance(each, LaunchTask)] == [2]
    assert [each.attempt for each in reply.kills] == [1]


def test_h7_a_node_without_a_free_slot_is_given_nothing() -> None:
    """Two maps run until 60 s: whatever heartbeats come meanwhile, the third waits."""
    run = play([job(0, maps=3, map_ms=60_000)])
    assert [e.at_ms for e in run.launches()][:2] == [1, 1]
    assert run.launches()[2].at_ms > 60_000


def test_h9_a_node_has_two_slots_of_each_kind_unless_the_scenario_says_otherwise() -> None:
    (facts,) = node_facts(Cluster(nodes=1, racks=1))
    assert (facts.map_slots, facts.reduce_slots) == (2, 2)


def test_one_task_a_heartbeat_where_the_scenario_says_so() -> None:
    heartbeats = Heartbeats(phase_grid_ms=3000, tasks_per_heartbeat="one")
    run = play([job(0, maps=2)], cluster=Cluster(nodes=1, racks=1, heartbeat=heartbeats))
    assert [e.at_ms for e in run.launches()] == [1, 3003]


def test_many_tasks_a_heartbeat_fill_the_node() -> None:
    run = play([job(0, maps=2)], cluster=Cluster(nodes=1, racks=1, heartbeat=IN_STEP))
    assert [e.at_ms for e in run.launches()] == [1, 1]


def test_the_shuffle_waits_for_the_last_map_and_holds_its_slot() -> None:
    """S5: four maps on two slots, two waves; the reduce starts after the first map's news
    (slowstart 0.05) and sits in its shuffle until the second wave has been told.
    """
    run = play([job(0, maps=4, map_ms=10_000, reduces=1, shuffle_ms=400, reduce_ms=1000)])
    started = next(e.at_ms for e in run.all(AttemptStarted) if e.slot == 2)
    last_map_told = max(
        closed.at_ms for closed in run.all(AttemptClosed) if closed.at_ms < run.kernel.now_ms
    )
    ended = run.all(ShuffleEnded)[0].at_ms
    assert started < last_map_told < ended
    assert ended == last_map_told + 1 + 400 // 4


def test_slowstart_holds_the_reduces_back() -> None:
    """With slowstart 1.0 no reduce is launched before every map has been told (S5)."""
    jobs = [job(0, maps=4, map_ms=10_000, reduces=2, shuffle_ms=400, reduce_ms=1000)]
    run = play(jobs, tasks=Tasks(slowstart=1.0))
    reduces = [e.at_ms for e in run.launches() if e.kind is SlotKind.REDUCE]
    maps_told = sorted(e.at_ms for e in run.all(AttemptClosed))[:4]
    assert min(reduces) > max(maps_told)


def test_a_job_without_maps_or_without_anything_ends_too() -> None:
    run = play([job(0, maps=0, reduces=1, reduce_ms=1000), job(1, maps=0)])
    assert [e.job for e in run.all(JobFinished)] == [1, 0]


def test_a_cluster_with_one_heartbeat_a_day_is_slow_and_not_stuck() -> None:
    day_ms = 86_400_000
    heartbeats = Heartbeats(interval_ms=day_ms, phase_grid_ms=day_ms, send="all")
    run = play([job(0)], cluster=Cluster(nodes=1, racks=1, heartbeat=heartbeats))
    assert run.kernel.reason == "complete"
    assert run.kernel.now_ms == day_ms + 3


def test_a_stated_phase_is_that_of_the_nodes_first_heartbeat() -> None:
    """Node 0's is stated, node 1's is drawn as ever, node 2's counts within a round of 3,002 ms."""
    heartbeats = Heartbeats(phases_ms=(1234, -1, 3002 + 77))
    stated = first_launches(Cluster(nodes=4, racks=1, heartbeat=heartbeats))
    drawn = first_launches(Cluster(nodes=4, racks=1))
    assert (stated[0], stated[2]) == (1235, 78)
    assert (stated[1], stated[3]) == (drawn[1], drawn[3])


def first_launches(cluster: Cluster) -> dict[int, int]:
    """When each node is given its first task: at its first heartbeat, there is enough for all."""
    launches = play([job(0, maps=30)], cluster=cluster).all(AttemptLaunched)
    return {each.node: each.at_ms for each in reversed(launches)}
