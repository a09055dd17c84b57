"""What can be drawn of a run or a store: measures by name, and any figure of a run by its path."""

from collections.abc import Callable, Mapping
from functools import reduce
from types import NoneType
from typing import NamedTuple, get_args

import msgspec

from callboard.experiments.many.seed_runs import Figure, mean_slowdown
from callboard.experiments.user_errors import InputError
from callboard.journal.figures.summary import Summary
from callboard.scheduler.text.strict_decoder import nearest

NOT_ALONE = "the jobs were not played alone; sweep with --slowdown, in Python with slowdown=True"

COUNTED = "(number)"
"""What stands behind a measure that is counted, in place of a unit."""

OfSummary = Callable[[Summary], float | None]


class Measure(NamedTuple):
    """A figure of runs, and what an axis calls it.  `of_summary` is None for one that takes more
    than a run's summary.
    """

    label: str
    figure: Figure
    of_summary: OfSummary | None = None

    @property
    def missing_in_words(self) -> str:
        """What runs must have been played with to have it, if none of a store has; else empty."""
        return NOT_ALONE if self.of_summary is None else ""


def _summary_measure(label: str, of: OfSummary) -> Measure:
    return Measure(label, lambda run: of(run.summary), of)


MEASURES: Mapping[str, Measure] = {
    "mean": _summary_measure("mean response time (s)", lambda run: run.response_seconds.mean),
    "median": _summary_measure(
        "median of response times (s)", lambda run: run.response_seconds.median
    ),
    "p95": _summary_measure("p95 of response times (s)", lambda run: run.response_seconds.p95),
    "p99": _summary_measure("p99 of response times (s)", lambda run: run.response_seconds.p99),
    "longest": _summary_measure("longest response time (s)", lambda run: run.response_seconds.max),
    "waiting": _summary_measure(
        "mean wait for a first launch (s)", lambda run: run.waiting_seconds.mean
    ),
    "slowdown": Measure("mean slowdown (×)", mean_slowdown),
    "completed": _summary_measure(f"completed jobs {COUNTED}", lambda run: run.jobs.completed),
    "locality": _summary_measure("node-local maps (share)", lambda run: run.locality.node),
    "map-slots": _summary_measure("map slots busy (share)", lambda run: run.utilisation.map),
    "reduce-slots": _summary_measure(
        "reduce slots busy (share)", lambda run: run.utilisation.reduce
    ),
    "wasted": _summary_measure("wasted slot time (s)", lambda run: run.slot_seconds.wasted),
    "killed": _summary_measure(f"killed attempts {COUNTED}", lambda run: run.attempts.killed),
    "duration": _summary_measure("length of the run (s)", lambda run: run.virtual_seconds),
}
"""Those with a name."""


def measure_named(name: str) -> Measure:
    """The measure of that name, or the figure at that path of a run's JSON, as in
    `slot_seconds.wasted`; InputError where there is none.
    """
    if name in MEASURES:
        return MEASURES[name]
    path = name.split(".")
    if not _leads_to_number(path):
        known = ", ".join(MEASURES)
        told = f"there are {known}, and the figures of a run's JSON, as in attempts.failed"
        if meant := nearest(name, MEASURES):
            told = f"did you mean `{meant}`?"
        raise InputError(f"{name}: no measure is called so; {told}")

    def at_path(run: Summary) -> float | None:
        value: float | None = reduce(getattr, path, run)  # type: ignore[assignment]
        return value

    return _summary_measure(_path_words(path), at_path)


def _leads_to_number(path: list[str]) -> bool:
    """Whether the path leads to a number in a summary."""
    found: object = Summary
    for part in path:
        if not (isinstance(found, type) and issubclass(found, msgspec.Struct)):
            return False
        fields = {field.name: field.type for field in msgspec.structs.fields(found)}
        found = fields.get(part)
    kinds = {*(get_args(found) or (found,))} - {NoneType}
    return bool(kinds) and kinds <= {int, float}


_TIMES = {"slot": "slot time", "response": "response time", "waiting": "wait for a first launch"}
"""What a time in a run's JSON is called, without its unit."""


def _path_words(path: list[str]) -> str:
    """The path in words, with its unit: `slot time: map, idle (ms)`."""
    first, *others = path
    unit = ""
    for ending, short in (("_seconds", " (s)"), ("_ms", " (ms)")):
        if first.endswith(ending):
            first, unit = first.removesuffix(ending), short
    words = ": ".join(filter(None, (_TIMES.get(first, first), ", ".join(others))))
    return words.replace("_", " ") + unit
