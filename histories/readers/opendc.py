"""OpenDC's Parquet files beside its tasks: traces of failures, and fragments of what tasks used.

A row of a trace of failures says that `failure_interval` ms after the row before it a share
(`failure_intensity`) of all nodes fails for `failure_duration` ms.  Which nodes is not told: they
are drawn, among those that are up.
"""

import math
from collections.abc import Iterator
from pathlib import Path

from callboard.actors.config import SECONDS_MAX
from callboard.actors.kernel.streams import Stream
from callboard.histories.model.import_report import Remarks
from callboard.histories.model.outage import Outage
from callboard.histories.readers.column_map import PARQUET_MAGIC, parquet_table
from callboard.histories.readers.unpacked_text import first_bytes
from callboard.scheduler.text.scenario_error import ScenarioError

OUTAGES_MAX = 100_000
"""Half of what a timeline may hold: each outage is a crash and a restart."""

_FAILURES = ("failure_interval", "failure_duration", "failure_intensity")
_FRAGMENTS = {"id", "duration", "cpu_count", "cpu_usage"}


def is_failure_trace(path: Path) -> bool:
    """Whether it is a trace of failures."""
    return {*_FAILURES} <= _column_names(path)


def has_no_jobs(path: Path) -> bool:
    """Whether it is one of OpenDC's files that have no jobs."""
    columns = _column_names(path)
    return {*_FAILURES} <= columns or columns == _FRAGMENTS


def outages_of_failure_trace(
    path: Path, nth: int, nodes: int, remarks: Remarks
) -> Iterator[Outage]:
    """The outages that a trace of failures, the `nth` from 0, comes to on `nodes` nodes; the trace
    begins with the run.
    """
    draw, up_from = Stream(nth, "import/failures"), [0] * nodes
    at_ms = drawn = 0
    for number, row in parquet_table(path)[1]:
        place = f"{path.name}:{number}"
        interval, length, share = (
            _checked_number(row[name], name, path, number) for name in _FAILURES
        )
        at_ms += round(interval)
        wanted = min(math.ceil(share * nodes), nodes)
        free = [node for node in range(nodes) if up_from[node] < at_ms or not up_from[node]]
        free.sort(key=lambda node: (draw.bits(number, node), node))
        if drawn + len(free[:wanted]) > OUTAGES_MAX or at_ms > SECONDS_MAX * 1000 or length < 1:
            remarks.add("dropped", "failures of no length, or beyond what a run can hold", place)
            continue
        remarks.add(
            "dropped", "failures of nodes of which too few are up", place, wanted > len(free)
        )
        remarks.add("read", "failures of a share of the nodes", count=1)
        for node in sorted(free[:wanted]):
            drawn += 1
            up_from[node] = at_ms + round(length)
            yield Outage(node, at_ms, at_ms + round(length))
    remarks.add("inferred", "outages of single nodes, drawn by the shares of failures", count=drawn)


def _checked_number(value: object, name: str, path: Path, row: int) -> float:
    if isinstance(value, int | float) and 0 <= value < 1e15:
        return float(value)
    raise ScenarioError(
        f"expected a number of at least 0, got {value!r}", source=path, key=name, line=row
    )


def _column_names(path: Path) -> set[str]:
    """The columns of a Parquet file; none of another file."""
    return {*parquet_table(path)[0]} if first_bytes(path, 4) == PARQUET_MAGIC else set()
