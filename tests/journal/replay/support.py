"""Recorded runs, made once."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import msgspec

from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.replay.recorded import RecordedSource

OUTAGE = Path(__file__).with_name("outage.toml")


@cache
def events_of(scenario: str, policy: str, *overrides: str) -> tuple[AnyEvent, ...]:
    """All events of a run, played once."""
    events: list[AnyEvent] = []
    spec = msgspec.structs.replace(load_run(scenario, overrides), policy=policy)
    Simulation(spec, [events.append]).run()
    return tuple(events)


def outage() -> tuple[AnyEvent, ...]:
    """A run in which a rack fails, is given up, and comes back: a scenario that stays as it is,
    whatever becomes of the library's.
    """
    return events_of(str(OUTAGE), "fair")


def recorded(events: Sequence[AnyEvent]) -> RecordedSource:
    """The events as a source that has been read to its end."""
    source = RecordedSource(iter(events), oracle_of_journal)
    source.read_on()
    return source
