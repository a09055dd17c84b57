"""A master that thinks about each heartbeat before it answers, one after the other."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given, settings

from callboard.actors.config import Cluster, Heartbeats
from callboard.actors.injector import ScheduledFault
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.faults import Disturb, PauseMaster, ResumeMaster
from tests.support.accounts import check_accounts, check_calm_accounts
from tests.support.soak import one_in
from tests.support.strategies import WORLDS, WORLDS_WITH_FAULTS, DrawnWorld
from tests.support.world import job, play

THREE = Cluster(
    nodes=3,
    racks=1,
    map_slots=1,
    reduce_slots=0,
    heartbeat=Heartbeats(interval_ms=3000, phase_grid_ms=3002, thinking_ms=100),
)
"""All three heartbeats arrive at 1, and a round of 3,002 ms later."""


def test_the_first_of_three_is_answered_first_by_hand() -> None:
    """Thought about from 1 on they are answered at 101, 201 and 301, and come again a round later:
    the interval counts from the answer, as that of Hadoop's nodes does (H3).
    """
    run = play([job(0, maps=6, map_ms=1000)], cluster=THREE)
    assert [launch.at_ms for launch in run.launches()] == [101, 201, 301, 3203, 3303, 3403]


def test_no_two_answers_come_within_one_thought() -> None:
    """Ten heartbeats a second are more than a master answers that thinks for 200 ms: five."""
    cluster = Cluster(
        nodes=10, racks=2, map_slots=1, heartbeat=Heartbeats(interval_ms=1000, thinking_ms=200)
    )
    run = play([job(0, maps=40, map_ms=500)], "fair", cluster=cluster)
    gaps = [b.at_ms - a.at_ms for a, b in pairwise(run.launches())]
    assert min(gaps) >= 200
    assert run.launches()[-1].at_ms >= 40 * 200


def test_a_heartbeat_that_comes_twice_is_thought_about_once() -> None:
    """Else each thought of 8 s would leave the queue longer."""
    heartbeats = Heartbeats(interval_ms=3000, thinking_ms=8000)
    cluster = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=0, heartbeat=heartbeats)
    script = [ScheduledFault(0, Disturb(0, LinkConditions(twice=1.0), HEALTHY))]
    run = play([job(0, maps=20, map_ms=1000)], cluster=cluster, script=script)
    gaps = [b.at_ms - a.at_ms for a, b in pairwise(run.launches())]
    assert set(gaps) == {8000}
    assert len(gaps) == 19


def test_a_pause_in_the_middle_of_a_thought_loses_no_heartbeat() -> None:
    """The thought is over when the master goes on; what waited behind it takes its time then."""
    script = [ScheduledFault(150, PauseMaster()), ScheduledFault(1000, ResumeMaster())]
    run = play([job(0, maps=3, map_ms=1000)], cluster=THREE, script=script)
    assert [launch.at_ms for launch in run.launches()] == [101, 1000, 1100]


def thoughtful(world: DrawnWorld, thinking_ms: int) -> DrawnWorld:
    heartbeats = msgspec.structs.replace(world.cluster.heartbeat, thinking_ms=thinking_ms)
    return world._replace(cluster=msgspec.structs.replace(world.cluster, heartbeat=heartbeats))


@pytest.mark.parametrize("thinking_ms", one_in(2, [40, 7]))
def test_drawn_worlds_add_up_and_end(thinking_ms: int) -> None:
    @given(calm=WORLDS, hostile=WORLDS_WITH_FAULTS)
    @settings(derandomize=True, max_examples=12, deadline=None, database=None)
    def check(calm: DrawnWorld, hostile: DrawnWorld) -> None:
        check_calm_accounts(calm, thoughtful(calm, thinking_ms).play())
        check_accounts(hostile, thoughtful(hostile, thinking_ms).play())

    check()
