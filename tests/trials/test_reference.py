"""The simulator against a second cluster, written from the docs (`tests/support`), to the
millisecond.  `python -m trials.reference` compares a thousand worlds.
"""

from itertools import count

import msgspec
import pytest

from callboard.scheduler.model import Locality, SlotKind
from tests.support.reference_worlds import (
    BY_SIZE,
    by_the_simulator,
    disagreement,
    draw_calm_world,
)
from trials.swarm.bug_planter import planted
from trials.swarm.planted_bugs import BUGS

WORLDS = [draw_calm_world(seed) for seed in range(60)]


def test_launches_and_ends_are_equal_to_the_millisecond() -> None:
    found = {seed: disagreement(world) for seed, world in zip(count(), WORLDS)}
    assert not {seed: told for seed, told in found.items() if told}


def test_the_worlds_are_of_all_kinds() -> None:
    """Every order and wait, both kinds of task, every level of locality, one task a heartbeat."""
    ran = [each for world in WORLDS[:30] for each in by_the_simulator(world)]
    assert {each.level for each in ran if each.kind == SlotKind.MAP} == set(Locality)
    assert any(each.kind == SlotKind.REDUCE for each in ran)
    orders = {world.order.spelling.partition("(")[0] for world in WORLDS}
    assert orders == {"fifo", "fair", "las", "ps", *BY_SIZE}
    assert any("pools" in world.policy for world in WORLDS)
    assert {world.wait.spelling[:11] for world in WORLDS} == {"", "+delay(node", "+delay(skip"}
    rules = {world.spec.scenario.cluster.heartbeat.tasks_per_heartbeat for world in WORLDS}
    assert rules == {"one", "many"}


@pytest.mark.parametrize(
    "bug",
    [
        "SJF goes by what is left",
        "LAS does not count what runs",
        "Fair serves the needy last",
        "virtual time goes at half speed",
        "a job is passed over twice as often",
    ],
)
def test_an_order_or_a_wait_that_is_wrong_is_seen(bug: str) -> None:
    """Whatever is wrong with it: none of these breaks an invariant."""
    with planted(next(each for each in BUGS if each.what == bug)):
        assert any(disagreement(world) for world in WORLDS)


def test_a_latency_more_is_a_disagreement() -> None:
    """The comparison sees a millisecond."""
    world = WORLDS[0]
    cluster = world.spec.scenario.cluster
    slower = msgspec.structs.replace(cluster, latency_ms=cluster.latency_ms + 1)
    scenario = msgspec.structs.replace(world.spec.scenario, cluster=slower)
    other = world._replace(spec=msgspec.structs.replace(world.spec, scenario=scenario))
    assert by_the_simulator(other) != by_the_simulator(world)
