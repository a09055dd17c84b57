"""YARN's actors: what a resource manager, node managers and applications' masters do together."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.checks.checker import Checker
from callboard.scheduler.reasons import Reason


def played(name: str, policy: str, *overrides: str) -> Sequence[AnyEvent]:
    """The events of a scenario of the library, every rule checked."""
    events: list[AnyEvent] = []
    checker = Checker()
    spec = msgspec.structs.replace(load_run(name, overrides), policy=policy)
    Simulation(spec, [events.append], onlookers=[checker]).run()
    return events


def test_a_master_and_the_resource_manager_may_both_have_a_container_ended() -> None:
    """The monitor takes containers back, a master stops reduces that its maps wait for; neither
    knows of the other's order until the node has told of the end.
    """
    world = ("seed=8", "tasks.slowstart=0.05", "cluster.nodes=3", "cluster.latency_ms=900")
    events = played("yarn-queues", "yarn(monitor=true,natural_termination=1)", *world)
    orders = [each for each in events if isinstance(each, ev.KillOrdered)]
    twice = {
        attempt for attempt, number in Counter(e.attempt for e in orders).items() if number > 1
    }
    assert twice
    for attempt in twice:
        reasons = [each.why.reason for each in orders if each.attempt == attempt]
        assert sorted(reasons) == [Reason.MAPS_WAIT, Reason.OVER_CAPACITY]
    reclaimed = [each for each in orders if each.why.reason is Reason.OVER_CAPACITY]
    ended_ms = {each.attempt: each.at_ms for each in events if isinstance(each, ev.AttemptEnded)}
    assert all(each.at_ms == ended_ms[each.attempt] for each in reclaimed), "none comes too late"
