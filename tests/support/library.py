"""Runs of the library's scenarios, each played once for all tests of a process."""

from collections.abc import Sequence
from functools import cache
from hashlib import blake2b
from typing import NamedTuple, TypeVar

import msgspec

from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary.events import AnyEvent, Event, RunEnded, RunStarted
from callboard.experiments.simulation import RunOptions, RunResult, run_simulation
from callboard.experiments.solo_runs import slowdown_statistics, solo_times
from callboard.journal.figures.slowdown import SlowdownStatistics
from callboard.scenarios import scenario_file
from callboard.scheduler.model import JobId, Millis

E = TypeVar("E", bound=Event)


class EventDigest:
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

    def on_progress(self, kernel: Kernel) -> None:
        pass

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

    jobs: tuple[JobSpec, ...]
    result: RunResult
    digest: str
    events: Sequence[AnyEvent] = ()

    def all(self, kind: type[E]) -> list[E]:
        """The events of one type, in order."""
        return [event for event in self.events if type(event) is kind]

    def mean_s(self, name: str = "") -> float:
        """The mean response time in seconds, of the jobs whose name begins so."""
        table = self.result.metrics.jobs()
        chosen = [self.jobs[job].name.startswith(name) for job in table.job.tolist()]
        return float(table.response_ms[chosen].mean()) / 1000


@cache
def ran(name: str, policy: str, *overrides: str, calm: bool = False) -> LibraryRun:
    """A scenario under a policy, without its events; `calm` leaves its timeline out."""
    digest = EventDigest()
    jobs, result = _play(name, policy, overrides, calm, digest)
    return LibraryRun(jobs, result, digest.text())


@cache
def ran_with_events(name: str, policy: str, *overrides: str) -> LibraryRun:
    """The same with all events: for the smaller ones."""
    listener = EventRecorder()
    jobs, result = _play(name, policy, overrides, calm=False, ear=listener)
    return LibraryRun(jobs, result, listener.text(), listener.events)


@cache
def slowdown_of(name: str, policy: str) -> SlowdownStatistics:
    """How much longer the scenario's jobs take than alone."""
    return slowdown_statistics(ran_with_events(name, policy).result.metrics, _alone(name))


@cache
def _alone(name: str) -> dict[JobId, Millis]:
    scenario, jobs = _loaded(name, (), calm=False)
    return solo_times(scenario, jobs)


def _loaded(
    name: str, overrides: Sequence[str], calm: bool
) -> tuple[scenario_file.Scenario, tuple[JobSpec, ...]]:
    path = scenario_file.find_scenario(name)
    scenario = scenario_file.load_scenario(path, overrides)
    if calm:
        scenario = msgspec.structs.replace(scenario, timeline=())
    return scenario, scenario_file.make_jobs(scenario, path.parent)


def _play(
    name: str, policy: str, overrides: Sequence[str], calm: bool, ear: EventDigest
) -> tuple[tuple[JobSpec, ...], RunResult]:
    scenario, jobs = _loaded(name, overrides, calm)
    return jobs, run_simulation(scenario, jobs, policy, RunOptions(host="direct"), ear)
