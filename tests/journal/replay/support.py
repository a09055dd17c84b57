"""Recorded runs, made once."""

from collections.abc import Sequence
from functools import cache
from itertools import islice
from pathlib import Path

import msgspec
import numpy as np

from callboard.actors.config import Cluster, Tasks
from callboard.actors.job_spec import JobSpec
from callboard.actors.vocabulary.events import AnyEvent
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.simulation import Simulation
from callboard.journal.figures.steps import Steps
from callboard.journal.figures.tables import Ints
from callboard.journal.replay.event_log import LogFilter, events_before, log_line
from callboard.journal.replay.frame import LogLine
from callboard.journal.replay.recorded import RecordedSource
from callboard.journal.replay.recording import Recording
from tests.support import world

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


def with_setup(job: JobSpec) -> JobSpec:
    return msgspec.structs.replace(job, setup_ms=2000, cleanup_ms=1000)


@cache
def with_setups() -> tuple[AnyEvent, ...]:
    """Two jobs of three node-local maps of 30 s, one after the other, each with a setup and a
    cleanup, which are launched as off-rack maps (rule H6).
    """
    cluster = Cluster(nodes=2, racks=1, map_slots=2, reduce_slots=1)
    jobs = [with_setup(world.job(n, maps=3, map_ms=30_000, submit_ms=60_000 * n)) for n in (0, 1)]
    return (world.header(cluster, Tasks()), *world.play(jobs, cluster=cluster).events)


def lines_before(recording: Recording, index: int, count: int, wanted: LogFilter) -> list[LogLine]:
    """The last `count` lines among the first `index` events, the oldest first."""
    numbers = islice(events_before(recording, index, wanted), count)
    return [log_line(recording, each) for each in numbers][::-1]


def counts_at(steps: Steps, ms: Ints) -> Ints:
    """The counts that hold at some times (each 0 or later)."""
    return steps.counts[np.searchsorted(steps.times, ms, side="right") - 1]


def recorded(events: Sequence[AnyEvent]) -> RecordedSource:
    """The events as a source that has been read to its end."""
    source = RecordedSource(iter(events), oracle_of_journal)
    source.read_on()
    return source
