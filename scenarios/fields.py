"""The numbers that a scenario file may hold; decoding checks them, so that runs fit in memory."""

from typing import Annotated

import msgspec
from msgspec import Meta

from callboard.actors.config import AMOUNT_MAX, JOBS_MAX, SECONDS_MAX, TASKS_MAX
from callboard.scheduler.model import Millis

Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
JobCount = Annotated[int, Meta(ge=1, le=JOBS_MAX)]
MapCount = Annotated[int, Meta(ge=1, le=TASKS_MAX)]
TaskNumber = Annotated[int, Meta(ge=0, lt=TASKS_MAX)]
ReduceCount = Annotated[int, Meta(ge=0, le=TASKS_MAX)]
Seconds = Annotated[float, Meta(ge=0, le=SECONDS_MAX)]
PositiveSeconds = Annotated[float, Meta(gt=0, le=SECONDS_MAX)]
Megabytes = Annotated[float, Meta(ge=0.001, le=1e9)]
Rate = Annotated[float, Meta(ge=0.001, le=1e9)]
Factor = Annotated[float, Meta(gt=0, le=1000)]
Share = Annotated[float, Meta(ge=0, le=1)]
Amount = Annotated[int, Meta(ge=0, le=AMOUNT_MAX)]
Sigma = Annotated[float, Meta(ge=0, le=5)]

MEGABYTE = 1_000_000  # bytes, decimal as disks and traces count; 128 MiB are 134.217728


class TableOfKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind"):
    """A table of a scenario file that says by its field `kind` what else it may hold."""


def kind_of(table: type[TableOfKind]) -> object:
    """What such a table says in its field `kind`."""
    return table.__struct_config__.tag


def ceil_div(dividend: int, divisor: int) -> int:
    """The quotient rounded up: how many boxes of `divisor` hold `dividend`."""
    return -(-dividend // divisor)


def to_ms(seconds: float) -> Millis:
    """The nearest whole millisecond, so that durations are equal on every machine."""
    return round(seconds * 1000)


def task_ms(seconds: float) -> Millis:
    """A task's duration: as `to_ms`, but never nothing, since a task that runs takes time."""
    return max(1, to_ms(seconds))
