"""Estimate a cluster's slots, heartbeats, localities, noise and slow start from its history.

Every figure has an interval of 95 %, or bounds; what the history cannot tell is said as plainly.
Best are histories with attempts, hosts and racks: Hadoop 1's and 2's, Rumen's traces, tables with a
row a task.  --to writes a scenario that plays the history on the cluster as it was estimated.

examples:
  callboard calibrate history/done
  callboard calibrate trace.json.gz --to mine.toml
  callboard calibrate tasks.csv --map job=job,task=id,kind=kind,start=begin,end=end,host=host
"""

import argparse
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from callboard.console import ReportConsole, plain
from callboard.experiments.calibration.calibrate import Calibration, calibrate
from callboard.experiments.calibration.estimate import Estimate
from callboard.experiments.journal_paths import file_path
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import whole_file
from callboard.journal.tell.names import count, printable
from callboard.scenarios.formats.recording_scenario import scenario_of
from callboard.scenarios.formats.source_path import checked_source
from callboard.scenarios.scenario_file import from_dict
from callboard.scenarios.toml_writer import to_toml

_LATENCY_MS = 1
"""Of the scenario that is written, each way: no history tells it."""

_OF_DRAWN_TASKS = ("tasks.sigma", "tasks.straggler_share", "tasks.straggler_factor")
"""Recorded tasks have these in what they took: they are for workloads that are drawn."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="files of one format, or folders of them")
    columns = "what the columns of a table mean (`callboard import --help`)"
    add("--map", default="", metavar="MEANING=COLUMN,...", help=columns)
    to = "write a scenario that plays the history with these figures; of one file or folder"
    add("--to", metavar="FILE", help=to)
    add("--json", action="store_true", help="print the figures as JSON")


def calibrate_command(options: argparse.Namespace) -> int:
    paths = [checked_source(each) for each in options.files]
    to = None if options.to is None else _checked(options.to, paths)
    found = calibrate(paths, options.map)
    if to is not None:
        _write(found, paths[0], options.map, to)
    if options.json:
        print(json.dumps(_as_json(found), indent=2))
    else:
        _print(found, paths[0], to)
    return 0


def _checked(to: str, paths: list[Path]) -> Path:
    if len(paths) > 1:
        raise InputError("--to: a scenario plays one file or folder; put these into one folder")
    path = file_path("--to", to)
    if path.exists():
        raise InputError(f"--to {to}: it is there already; choose another name")
    return path


def _write(found: Calibration, path: Path, columns: str, to: Path) -> None:
    recording = found.imported.recording
    beside = os.path.relpath(path.absolute(), to.absolute().parent)
    written = scenario_of(recording, to.stem, beside, columns)
    for estimate in found.estimates:
        if estimate.field and estimate.field not in _OF_DRAWN_TASKS:
            _set(written, estimate)
    scenario = from_dict(written, to)
    remarks = ["Estimated by `callboard calibrate`:", *_lines(found)]
    with whole_file(to) as part:
        part.write_text(to_toml(scenario, map(printable, remarks)), encoding="utf-8")


def _set(written: dict[str, Any], estimate: Estimate) -> None:
    """Put the estimate into its field."""
    assert estimate.value is not None
    *tables, name = estimate.field.split(".")
    table = written
    for each in tables:
        table = table.setdefault(each, {})
    if name == "interval_ms":
        table[name] = max(round(estimate.value) - 2 * _LATENCY_MS, 1)
    else:
        whole = name in ("map_slots", "reduce_slots", "replication")
        table[name] = round(estimate.value) if whole else round(estimate.value, 4)


def _as_json(found: Calibration) -> dict[str, object]:
    return {
        "format": found.imported.recording.format,
        "jobs": found.imported.jobs,
        "attempts": found.imported.attempts,
        "estimates": msgspec.to_builtins(found.estimates),
        "untold": msgspec.to_builtins(found.untold),
    }


def _print(found: Calibration, path: Path, to: Path | None) -> None:
    console, imported = ReportConsole(), found.imported
    jobs, attempts = count(imported.jobs, "job"), count(imported.attempts, "attempt")
    console.print_line(plain(f"{path.name}: {imported.recording.format}, {jobs}, {attempts}"))
    console.print()
    for line in _lines(found):
        console.print_line(plain(line))
    if to is not None:
        console.print()
        console.print_line(plain(f"{to}: a scenario that plays it so"))


def _lines(found: Calibration) -> Iterator[str]:
    yield f"{'':<22}{'estimate':>12}  {'interval of 95 %':<22}  by"
    for each in found.estimates:
        yield f"{each.name:<22}{_figure(each.value, each):>12}  {_interval(each):<22}  {each.of}"
    yield ""
    yield "it cannot tell"
    for one in found.untold:
        yield f"{one.name:<22}{one.why}"


def _interval(estimate: Estimate) -> str:
    low, high = estimate.low, estimate.high
    if high is None:
        return f"at least {_figure(low, estimate)}"
    if low == high:
        return "exactly"
    return f"{_figure(low, estimate)} to {_figure(high, estimate)}"


def _figure(value: float | None, estimate: Estimate) -> str:
    if value is None:
        return ""
    if estimate.unit == "ms":
        return f"{value:,.1f} ms"
    if estimate.unit == "×":
        return f"{value:.2f} ×"
    if estimate.unit == "MB/s":
        return f"{value:.3g} MB/s"
    if estimate.unit == "sigma":
        return f"{value:.3f}"
    return f"{value:g}" if estimate.field.startswith("cluster.") else f"{value:.1%}"
