"""Recorded runs, made once."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path

from callboard.actors.kernel.drivers import run_direct
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.plugins import load_policy
from callboard.experiments.run_spec import prepare_scenario
from callboard.experiments.simulation import RunOptions, make_kernel, run_ended, run_started
from callboard.journal.replay.recorded import RecordedSource

OUTAGE = Path(__file__).with_name("outage.toml")


@cache
def events_of(scenario: str, policy: str, *overrides: str) -> tuple[AnyEvent, ...]:
    """All events of a run, played once."""
    found, jobs, _ = prepare_scenario(scenario, overrides)
    events: list[AnyEvent] = [run_started(found, policy)]
    kernel = make_kernel(found, jobs, load_policy(policy), RunOptions(), events.append)
    run_direct(kernel)
    return (*events, run_ended(kernel))


def outage() -> tuple[AnyEvent, ...]:
    """A run in which a rack fails, is given up, and comes back: a scenario that stays as it is,
    whatever becomes of the library's.
    """
    return events_of(str(OUTAGE), "fair")


def recorded(events: Sequence[AnyEvent]) -> RecordedSource:
    """The events as a source that has been read to its end."""
    source = RecordedSource(iter(events))
    source.read_on()
    return source
