"""What a run came to, and the same as bytes."""

import dataclasses
import zlib
from collections.abc import Collection
from math import isnan, nan
from typing import Any, Literal, Self

import msgspec
import numpy as np

from callboard.experiments.run.stopwatch import SchedulingCost
from callboard.journal.checks.findings import RuleReport
from callboard.journal.figures.map_locality import MapLocality
from callboard.journal.figures.size_estimates import PhaseSizes
from callboard.journal.figures.slowdown import Slowdowns, slowdowns
from callboard.journal.figures.summary import Summary
from callboard.journal.figures.tables import Ints, JobColumns
from callboard.journal.figures.thoughts import SchedulerThoughts
from callboard.scenarios.generators import TAIL
from callboard.scheduler.model import JobId

EngineName = Literal["auto", "actors", "twin"]
"""Who is to play a run: `auto` is the twin where it can, and the actors elsewhere."""

ACTORS: EngineName = "actors"
TWIN: EngineName = "twin"

LIVELOCK = "livelock"
"""The reason with which a run ends whose preemption goes round (`experiments.livelock`)."""


class RunResult(msgspec.Struct, frozen=True, kw_only=True):
    """A run's figures, and its jobs as columns.

    `scheduling` and the times are what computing it has cost, NaN where that is not known.
    `checks` and `solo_ms` are there when they were asked for: the rules that were tested, and the
    response time of each job alone on the empty cluster, in the order of the columns.  `livelock`
    is the story, for people, of a run that was ended because its preemption went round.
    `phase_sizes` are the sizes that an order measured, beside the true ones, `map_locality` where
    each job's maps were launched; None where they were not kept.  `thoughts` are those of each
    scheduler of a shared cell.  `engine` has played it; `why_actors` says why the twin could not,
    if it was to.
    """

    summary: Summary
    jobs: JobColumns
    scheduling: SchedulingCost
    wall_seconds: float
    processor_seconds: float
    checks: tuple[RuleReport, ...] = ()
    livelock: str = ""
    solo_ms: Ints | None = None
    phase_sizes: PhaseSizes | None = None
    map_locality: MapLocality | None = None
    thoughts: tuple[SchedulerThoughts, ...] = ()
    engine: str = ACTORS
    why_actors: str = ""

    @classmethod
    def of_recorded_run(
        cls,
        summary: Summary,
        jobs: JobColumns,
        solo_ms: Ints | None = None,
        phase_sizes: PhaseSizes | None = None,
        map_locality: MapLocality | None = None,
    ) -> Self:
        """Of a run that was recorded some time; what it has cost is not known."""
        return cls(
            summary=summary,
            jobs=jobs,
            scheduling=SchedulingCost(nan, 0, 0, None),
            wall_seconds=nan,
            processor_seconds=nan,
            solo_ms=solo_ms,
            phase_sizes=phase_sizes,
            map_locality=map_locality,
        )

    @property
    def slowdown(self) -> Slowdowns | None:
        """The slowdown of each completed job; None without times alone."""
        return self.slowdown_of(None)

    def slowdown_of(self, eligible: Collection[JobId] | None) -> Slowdowns | None:
        """The same of the `eligible` jobs alone, such as `counted_jobs`."""
        if self.solo_ms is None:
            return None
        jobs, alone = self.jobs.job.tolist(), self.solo_ms.tolist()
        return slowdowns(self.jobs, dict(zip(jobs, alone, strict=True)), eligible)

    @property
    def counted_jobs(self) -> tuple[JobId, ...]:
        """All jobs but those of a generated workload's tail, which only keep the cluster busy."""
        named = zip(self.jobs.job.tolist(), self.jobs.name, strict=True)
        return tuple(job for job, name in named if not name.startswith(TAIL))

    def is_copy_of(self, other: "RunResult") -> bool:
        """Whether the two are one run: of equal digests, where both have one, and in any case with
        jobs that took equal times.
        """
        digests = {self.summary.digest, other.summary.digest} - {None, ""}
        return len(digests) < 2 and self.jobs.equals(other.jobs)

    @property
    def interrupted(self) -> bool:
        return self.summary.reason == "interrupted"

    def as_json(self) -> dict[str, object]:
        """The run as plain data: its summary, with what else is known of it."""
        out = self.summary.as_json(None if isnan(self.wall_seconds) else self.wall_seconds)
        if self.engine != ACTORS:
            out["engine"] = self.engine
        if not isnan(self.scheduling.seconds):
            out["scheduling"] = msgspec.to_builtins(self.scheduling)
        if self.slowdown is not None:
            out["slowdown"] = msgspec.to_builtins(self.slowdown.statistics)
        if self.checks:
            out["checks"] = {check.rule: check.times for check in self.checks}
        if self.thoughts:
            out["schedulers"] = msgspec.to_builtins(self.thoughts)
        if self.livelock:
            out["livelock"] = self.livelock
        return out


_TABLES: dict[str, type[Any]] = {
    "jobs": JobColumns,
    "phase_sizes": PhaseSizes,
    "map_locality": MapLocality,
}
"""The fields that are tables of columns."""

_PLAIN_FIELDS = {
    field.name: field.type
    for field in msgspec.structs.fields(RunResult)
    if field.name not in (*_TABLES, "solo_ms")
}
"""The types of the others."""


def pack_result(result: RunResult) -> bytes:
    """The result as bytes, for a store or a wire: MessagePack, its columns of numbers deflated."""
    plain: dict[str, Any] = msgspec.structs.asdict(result)
    plain["solo_ms"] = None if result.solo_ms is None else _packed_column(result.solo_ms)
    for name in _TABLES:
        table = plain[name]
        plain[name] = None if table is None else _packed_table(table)
    return msgspec.msgpack.encode(plain)


def unpack_result(data: bytes) -> RunResult:
    """The result again; ValueError for other bytes, and for a result of another version."""
    try:
        return _unpacked_result(data)
    except (ValueError, LookupError, TypeError, AttributeError, zlib.error) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ValueError(f"a result cannot be read ({problem})") from None


def _unpacked_result(data: bytes) -> RunResult:
    """Of what stores of before do not have it takes the default."""
    packed: dict[str, Any] = msgspec.msgpack.decode(data)
    there = {name: value for name, value in packed.items() if value is not None}
    plain = {n: msgspec.convert(there[n], of) for n, of in _PLAIN_FIELDS.items() if n in there}
    tables = {n: of(**_unpacked_table(there[n])) for n, of in _TABLES.items() if n in there}
    solo_ms = _unpacked_column(there["solo_ms"]) if "solo_ms" in there else None
    return RunResult(**plain, **tables, solo_ms=solo_ms)


def _packed_table(
    table: JobColumns | PhaseSizes | MapLocality,
) -> dict[str, bytes | tuple[str, ...]]:
    return {
        field.name: _packed_column(getattr(table, field.name))
        for field in dataclasses.fields(table)
    }


def _unpacked_table(packed: dict[str, Any]) -> dict[str, Any]:
    return {name: _unpacked_column(each) for name, each in packed.items()}


def _packed_column(column: Ints | tuple[str, ...]) -> bytes | tuple[str, ...]:
    if isinstance(column, tuple):
        return column
    return zlib.compress(np.ascontiguousarray(column, "<i8").tobytes(), 1)


def _unpacked_column(packed: bytes | list[str]) -> Any:
    if isinstance(packed, list):
        return tuple(packed)
    return np.frombuffer(zlib.decompress(packed), "<i8").astype(np.int64)
