"""The simulator against a second cluster, written from the docs (`tests/support`), to the
millisecond.  `python -m bench.reference` compares a thousand worlds.
"""

from itertools import count

import msgspec

from callboard.scheduler.model import Locality, TaskKind
from tests.support.reference_worlds import by_the_simulator, disagreement, draw_calm_world

WORLDS = [draw_calm_world(seed) for seed in range(60)]


def test_launches_and_ends_are_equal_to_the_millisecond() -> None:
    found = {seed: disagreement(world) for seed, world in zip(count(), WORLDS)}
    assert not {seed: told for seed, told in found.items() if told}


def test_the_worlds_are_of_all_kinds() -> None:
    """Both policies, both kinds of task, every level of locality, one task a heartbeat."""
    ran = [each for world in WORLDS[:30] for each in by_the_simulator(world)]
    assert {each.level for each in ran if each.kind == TaskKind.MAP} == set(Locality)
    assert any(each.kind == TaskKind.REDUCE for each in ran)
    assert {world.policy for world in WORLDS} == {"fifo", "fair"}
    rules = {world.spec.scenario.cluster.heartbeat.tasks_per_heartbeat for world in WORLDS}
    assert rules == {"one", "many"}


def test_a_latency_more_is_a_disagreement() -> None:
    """The comparison sees a millisecond."""
    world = WORLDS[0]
    cluster = world.spec.scenario.cluster
    slower = msgspec.structs.replace(cluster, latency_ms=cluster.latency_ms + 1)
    scenario = msgspec.structs.replace(world.spec.scenario, cluster=slower)
    other = world._replace(spec=msgspec.structs.replace(world.spec, scenario=scenario))
    assert by_the_simulator(other) != by_the_simulator(world)
