"""Journals of before are read as today's: what a run of today would tell."""

from pathlib import Path

import msgspec

from callboard.actors.config import Cluster
from callboard.actors.vocabulary.events import AnyEvent, RunEnded, RunStarted
from callboard.experiments.run.simulation import Simulation
from callboard.journal.reader import Journal
from tests.support.world import IN_STEP, job, spec_of

OLD = Path(__file__).parent / "old"


def told(events: list[AnyEvent]) -> list[AnyEvent]:
    return [each for each in events if not isinstance(each, RunStarted | RunEnded)]


def test_setups_and_cleanups_with_events_of_their_own() -> None:
    """Format 6: two jobs of two maps and a reduce on two nodes, each with a setup of 2 s and a
    cleanup of 1 s.
    """
    jobs = [
        msgspec.structs.replace(
            job(number, maps=2, reduces=1, submit_ms=4000 * number),
            shuffle_ms=1000,
            reduce_ms=1000,
            setup_ms=2000,
            cleanup_ms=1000,
        )
        for number in range(2)
    ]
    nodes = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=IN_STEP)
    today: list[AnyEvent] = []
    Simulation(spec_of(jobs, cluster=nodes), [today.append]).run()
    journal = Journal(OLD / "setups-format-6.journal")
    assert told(list(journal)) == told(today)
    assert journal.complete
