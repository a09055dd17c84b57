"""Elided heartbeats change nothing: `send = "needed"` and `send = "all"` give the same journal.

The issue asks for runs "equal, event for event".  Hypothesis draws small worlds whose times are
short and round, so that heartbeats, ends of attempts and submissions often fall on the same
instant.
"""

from typing import Literal

import msgspec
import pytest
from hypothesis import example, given, settings

from callboard.actors.config import Cluster, Heartbeats, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.kernel.drivers import run_on_trio
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.faults import Disturb, RestartMaster
from callboard.scheduler.model import SlotKind
from tests.support.accounts import check_accounts, check_calm_accounts
from tests.support.library import ran
from tests.support.preempt import KillNewestParams
from tests.support.strategies import WORLDS, WORLDS_WITH_FAULTS, DrawnWorld
from tests.support.world import PlayedRun, job, play

SENDS: tuple[Literal["all", "needed"], ...] = ("all", "needed")

SLIPPED = DrawnWorld(
    jobs=[
        job(0, maps=3, map_ms=0, reduces=3, reduce_ms=3002),
        job(1, maps=2, map_ms=1, reduces=1, reduce_ms=3002, submit_ms=17_000),
        job(2, maps=9, map_ms=0, reduces=2, shuffle_ms=1, submit_ms=18_000),
        job(3, maps=2, map_ms=0, reduces=1, shuffle_ms=600, reduce_ms=3002, submit_ms=20_000),
    ],
    cluster=Cluster(
        nodes=1,
        racks=1,
        map_slots=3,
        reduce_slots=1,
        latency_ms=50,
        heartbeat=Heartbeats(interval_ms=1000, out_of_band=True),
    ),
    tasks=Tasks(),
    policy="fifo",
    rule=KillNewestParams(3002, 30, SlotKind.REDUCE),
    speculation="no_speculation",
    tie_order=1,
    until_ms=None,
    seed=1,
)
"""Ends of attempts in two rounds of one instant once moved an out-of-band heartbeat by a round."""

DEAF = [
    SLIPPED._replace(
        jobs=[job(0, maps=1, map_ms=20_000)],
        cluster=Cluster(nodes=1, racks=1, latency_ms=700),
        rule="no_preemption",
        script=(
            ScheduledFault(at_ms, Disturb(0, HEALTHY, LinkConditions(cut=True))),
            ScheduledFault(at_ms + 15_000, Disturb(0, HEALTHY, HEALTHY)),
        ),
    )
    for at_ms in range(6_000, 10_400, 350)
]
"""The reply to a heartbeat is lost that was elided and under way when the link broke: the next one
was sent all the same.  The instants are those of one whole interval.
"""


ANSWERED = [
    world._replace(
        seed=seed,
        jobs=[job(0, maps=40, map_ms=4000)],
        tasks=Tasks(sigma=1.0),
        cluster=Cluster(
            nodes=1,
            racks=1,
            map_slots=4,
            latency_ms=1500,
            heartbeat=Heartbeats(interval_ms=1000, out_of_band=out_of_band),
        ),
    )
    for seed, world in enumerate(DEAF)
    for out_of_band in (False, True)
]
"""The same where heartbeats have something to say: they are sent, some of their replies are not."""

BEGUN_AGAIN = SLIPPED._replace(
    jobs=[job(0, maps=1, map_ms=0), job(1, maps=1, map_ms=0, submit_ms=500)],
    cluster=Cluster(nodes=1, racks=1, heartbeat=Heartbeats(expiry_ms=3000)),
    policy="fair",
    rule="kill",
    until_ms=150_000,
    script=(ScheduledFault(1, RestartMaster(recover=False)),),
)
"""A master that begins anew has a new preemption rule; the test's limit on kills once asked the one
of before, which had never heard of the jobs.
"""


def played(world: DrawnWorld, send: Literal["all", "needed"]) -> PlayedRun:
    heartbeats = msgspec.structs.replace(world.cluster.heartbeat, send=send)
    cluster = msgspec.structs.replace(world.cluster, heartbeat=heartbeats)
    return world._replace(cluster=cluster).play()


def check_calm(world: DrawnWorld) -> None:
    run = played(world, "needed")
    check_calm_accounts(world, run)
    assert played(world, "all").events == run.events


def check_with_faults(world: DrawnWorld) -> None:
    run = played(world, "needed")
    check_accounts(world, run)
    assert played(world, "all").events == run.events


@given(world=WORLDS)
@example(world=SLIPPED)
@settings(derandomize=True, max_examples=30, deadline=None)
def test_elided_heartbeats_change_nothing(world: DrawnWorld) -> None:
    check_calm(world)


@given(world=WORLDS_WITH_FAULTS)
@example(world=BEGUN_AGAIN)
@settings(derandomize=True, max_examples=15, deadline=None)
def test_nor_do_they_where_nodes_fail_and_messages_are_lost(world: DrawnWorld) -> None:
    check_with_faults(world)


@pytest.mark.soak
@given(calm=WORLDS, hostile=WORLDS_WITH_FAULTS)
@settings(derandomize=True, max_examples=400, deadline=None)
def test_in_more_worlds_neither(calm: DrawnWorld, hostile: DrawnWorld) -> None:
    check_calm(calm)
    check_with_faults(hostile)


@pytest.mark.parametrize("world", DEAF + ANSWERED)
def test_nor_where_the_link_breaks_behind_a_heartbeat(world: DrawnWorld) -> None:
    assert played(world, "all").events == played(world, "needed").events


def test_a_hundred_idle_nodes_say_next_to_nothing() -> None:
    """One short job in a cluster of 100: every heartbeat would be some 2,000 messages."""
    messages = {}
    for send in SENDS:
        cluster = Cluster(nodes=100, heartbeat=Heartbeats(send=send))
        run = play([job(0, maps=3, map_ms=20_000)], cluster=cluster)
        messages[send] = run.kernel.messages
    assert messages["all"] > 2000
    assert messages["needed"] < 400


def test_both_hosts_give_the_same_bytes() -> None:
    """Trio's own order of tasks, which it shuffles, has no part in a run."""
    jobs = [job(n, maps=1 + n % 7, map_ms=4000 + 311 * n, submit_ms=900 * n) for n in range(40)]
    cluster = Cluster(nodes=12, racks=3, heartbeat=Heartbeats(phase_grid_ms=500))
    plain = play(jobs, "fair", cluster=cluster, tasks=Tasks(sigma=0.5))
    hosted = play(jobs, "fair", cluster=cluster, tasks=Tasks(sigma=0.5), host=run_on_trio)
    assert hosted.kernel.digest() == plain.kernel.digest()
    assert msgspec.msgpack.encode(hosted.events) == msgspec.msgpack.encode(plain.events)


@pytest.mark.soak
@pytest.mark.parametrize("policy", ["fair+delay(node=5,rack=5)", "fifo+delay(skips=7)"])
def test_waits_of_delay_scheduling_are_the_same_on_a_busy_cluster(policy: str) -> None:
    """The slides' small jobs: 26,000 events, thousands of jobs passed over."""
    sent, needed = (
        ran("small-jobs", policy, "cluster.heartbeat.send=all"),
        ran("small-jobs", policy),
    )
    assert needed.digest == sent.digest
    messages = [run.result.summary.messages or 0 for run in (needed, sent)]
    assert 0 < messages[0] < messages[1] / 2
