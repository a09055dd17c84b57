"""What a journal's first event tells of its scenario, which may be of another version."""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Literal, TypeVar

import msgspec

from callboard.actors.config import Cluster, Tasks
from callboard.actors.vocabulary.events import RunStarted
from callboard.scheduler.model import Millis
from callboard.scheduler.registry.parts import PartSettings

Table = TypeVar("Table")


class _ToldTasks(msgspec.Struct, frozen=True):
    slowstart: float = Tasks().slowstart


class _ToldCluster(msgspec.Struct, frozen=True):
    latency_ms: Millis = Cluster().latency_ms


class _ToldWorkload(msgspec.Struct, frozen=True):
    kind: str = ""


class _ToldJob(msgspec.Struct, frozen=True):
    name: str = ""


class ToldBurst(msgspec.Struct, frozen=True):
    """An entry of the timeline that brings jobs; those of one without a name cannot be told."""

    what: Literal["burst"]
    job: _ToldJob
    times: int = 1

    def burst_name_of_job(self, job: str) -> str:
        """What it is called, or that repetition of it which a job of this name came with; empty if
        the job came with none.
        """
        found = re.fullmatch(rf"{re.escape(self.job.name)}(-\d+)?(-\d+)?", job)
        if found is None or not self.job.name:
            return ""
        return self.job.name + (found[1] or "") * (self.times > 1)


class ToldScenario(msgspec.Struct, frozen=True):
    """The few settings that readers of journals need, with the defaults where they are not told."""

    tasks: _ToldTasks = _ToldTasks()
    cluster: _ToldCluster = _ToldCluster()
    workload: _ToldWorkload = _ToldWorkload()
    policies: tuple[str, ...] = ()
    timeline: Any = ()

    def bursts(self) -> Iterator[ToldBurst]:
        """Those of the timeline."""
        for entry in self.timeline if isinstance(self.timeline, list) else ():
            with suppress(msgspec.ValidationError):  # another kind of entry
                yield msgspec.convert(entry, ToldBurst)

    @property
    def plays_history(self) -> bool:
        """Whether the jobs are a recorded history's."""
        return self.workload.kind == "recorded"


def told_scenario(started: RunStarted) -> ToldScenario:
    """Those settings; all by default where one of them cannot be read."""
    try:
        return msgspec.convert(started.scenario, ToldScenario)
    except msgspec.ValidationError:
        return ToldScenario()


def told_scenario_table(started: RunStarted, name: str, kind: type[Table]) -> Table | None:
    """A whole table; None where it is not told, or is not of this version."""
    try:
        return msgspec.convert(started.scenario[name], kind)
    except (KeyError, msgspec.ValidationError):
        return None


def told_part_settings(started: RunStarted) -> PartSettings:
    """The settings of policies' parts."""
    return told_scenario_table(started, "parts", dict[str, dict[str, Any]]) or {}
