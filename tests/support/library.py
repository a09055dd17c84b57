"""Runs of the library's scenarios, each played once for all tests of a process."""

from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import blake2b
from typing import NamedTuple, TypeVar

import msgspec

from callboard.actors.job_spec import JobSpec
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary.events import AnyEvent, Event, RunEnded, RunStarted
from callboard.experiments.run.run_loading import load_run
from callboard.experiments.run.run_result import RunResult
from callboard.experiments.run.simulation import run_simulation
from callboard.experiments.run.solo_runs import solo_times
from callboard.journal.figures.slowdown import SlowdownStatistics, slowdowns
from callboard.scheduler.model import JobId, Millis

E = TypeVar("E", bound=Event)


class EventDigest(Onlooker):
    """What a journal says happened, as 32 characters.

    The header and the last event are left out: they hold the version, the scenario field by
    field, and how many messages it took.
    """

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)
        self._encode = msgspec.msgpack.Encoder(order="deterministic").encode

    def observe(self, event: AnyEvent) -> None:
        if not isinstance(event, RunStarted | RunEnded):
            self._hash.update(self._encode(event))

    def text(self) -> str:
        return self._hash.hexdigest()


class EventRecorder(EventDigest):
    """Keeps the events of a run too."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[AnyEvent] = []

    def observe(self, event: AnyEvent) -> None:
        super().observe(event)
        self.events.append(event)


class LibraryRun(NamedTuple):
    """A run of a scenario: its jobs, its figures, the digest of its events, and these."""

    jobs: Mapping[JobId, JobSpec]
    result: RunResult
    digest: str
    events: Sequence[AnyEvent] = ()

    def all(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if type(event) is kind]

    def mean_s(self, name: str = "") -> float:
        """The mean response time in seconds, of the jobs whose name begins so."""
        table = self.result.jobs
        chosen = [self.jobs[job].name.startswith(name) for job in table.job.tolist()]
        return float(table.response_ms[chosen].mean()) / 1000


def ran(name: str, policy: str, *overrides: str, calm: bool = False) -> LibraryRun:
    """A scenario under a policy, perhaps without its events; `calm` leaves its timeline out."""
    if (name, policy, overrides) in _WITH_EVENTS and not calm:
        return _WITH_EVENTS[name, policy, overrides]
    return _ran(name, policy, overrides, calm=calm)


def ran_with_events(name: str, policy: str, *overrides: str) -> LibraryRun:
    """The same with all events: for the smaller ones, and before others ask for it without."""
    key = name, policy, overrides
    if key not in _WITH_EVENTS:
        ear = EventRecorder()
        _WITH_EVENTS[key] = _play(*key, ear)._replace(events=ear.events)
    return _WITH_EVENTS[key]


_WITH_EVENTS: dict[tuple[str, str, tuple[str, ...]], LibraryRun] = {}


@cache
def _ran(name: str, policy: str, overrides: Sequence[str], *, calm: bool) -> LibraryRun:
    return _play(name, policy, overrides, EventDigest(), calm=calm)


def _play(
    name: str, policy: str, overrides: Sequence[str], ear: EventDigest, *, calm: bool = False
) -> LibraryRun:
    spec = msgspec.structs.replace(load_run(name, overrides, faults=not calm), policy=policy)
    result = run_simulation(spec, driver="direct", watcher=ear)
    return LibraryRun({job.job: job for job in spec.jobs}, result, ear.text())


@cache
def slowdown_of(name: str, policy: str) -> SlowdownStatistics:
    """How much longer the scenario's jobs take than alone."""
    return slowdowns(ran_with_events(name, policy).result.jobs, _alone(name)).statistics


@cache
def _alone(name: str) -> dict[JobId, Millis]:
    return solo_times(load_run(name))
