"""Nodes that join later, and nodes that are taken out of service."""

import pytest

from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.vocabulary.events import (
    AttemptEnded,
    JobFinished,
    MapOutputsLost,
    NodeLost,
    NodeReturned,
    Outcome,
)
from callboard.actors.vocabulary.faults import Crash, Drain, Restart
from callboard.scheduler.model import SlotKind
from callboard.scheduler.registry.shipped import ORDERS
from tests.support.world import IN_STEP, job, play

FOUR = Cluster(nodes=4, racks=2, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)


def test_a_node_that_is_off_from_the_start_joins_when_it_is_started() -> None:
    """It is new to the master, neither lost nor returned, and works from then on."""
    script = [ScheduledFault(0, Crash(3)), ScheduledFault(30_000, Restart(3))]
    run = play([job(0, maps=20, map_ms=10_000)], cluster=FOUR, script=script)
    there = [e.at_ms for e in run.launches() if e.node == 3]
    assert min(there) == 30_001
    assert not run.all(NodeLost)
    assert not run.all(NodeReturned)


@pytest.mark.parametrize("order", ORDERS)
def test_a_drained_node_ends_what_it_runs_and_gets_no_more(order: str) -> None:
    """Its map outputs are still there for the reduces; back in service it gets tasks again."""
    jobs = [job(0, maps=20, map_ms=10_000, reduces=2, shuffle_ms=1000, reduce_ms=5000)]
    script = [ScheduledFault(15_000, Drain(1, True)), ScheduledFault(45_000, Drain(1, False))]
    run = play(jobs, order, cluster=FOUR, script=script)
    on_it = [e for e in run.launches(SlotKind.MAP) if e.node == 1]
    assert not [e for e in on_it if 15_000 < e.at_ms < 45_000]
    assert [e for e in on_it if e.at_ms > 45_000]
    assert {e.outcome for e in run.all(AttemptEnded)} == {Outcome.SUCCEEDED}
    assert not run.all(MapOutputsLost)
    assert run.all(JobFinished)


def test_a_node_out_of_service_stays_so_when_it_comes_back() -> None:
    script = [
        ScheduledFault(5000, Drain(1, True)),
        ScheduledFault(6000, Crash(1)),
        ScheduledFault(7000, Restart(1)),
    ]
    run = play([job(0, maps=12, map_ms=10_000)], cluster=FOUR, script=script)
    assert [e.at_ms for e in run.launches() if e.node == 1] == [1]
    assert run.all(JobFinished)
