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
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from callboard.arguments import OneFile
from callboard.console import ReportConsole
from callboard.experiments.journal_paths import file_path, refuse_journal_as_history
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import whole_file
from callboard.histories.calibration.calibrate import Calibration, calibrate
from callboard.histories.calibration.estimate import Estimate
from callboard.histories.model.tasks_file import tasks_digest
from callboard.histories.recording_file import is_tasks_file
from callboard.histories.source_path import checked_history_source
from callboard.scenarios.calibrated_scenario import (
    ScenarioFigure,
    calibrated,
    changed_figures,
    kept_defaults,
)
from callboard.scenarios.recorded_workload import RecordedWorkload
from callboard.scenarios.recording_scenario import scenario_of
from callboard.scenarios.scenario_file import from_dict, load_scenario
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.text.quantities import count, printable
from callboard.stdio import print_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    files = "files of one format, or folders of them; or what `import` wrote"
    add("files", nargs="+", metavar="FILE", help=files)
    columns = "what the columns of a table mean (`callboard import --help`)"
    add("--map", default="", metavar="MEANING=COLUMN,...", help=columns)
    to = "write a scenario that plays the history with these figures; of one file or folder"
    add("--to", action=OneFile, metavar="FILE", help=to)
    add("--json", action="store_true", help="print the figures as JSON")


def calibrate_command(options: argparse.Namespace) -> int:
    paths, columns = _sources_and_columns(
        [_source_path(each, options.map) for each in options.files], options.map
    )
    to = None if options.to is None else _checked_target(options.to, paths)
    found = calibrate(paths, columns)
    if to is not None:
        _write_scenario(found, paths[0], columns, to)
    if options.json:
        print_json(_as_json(found))
    else:
        _print_estimates(found, paths[0], to)
    return 0


def _source_path(name: str, columns: str) -> Path:
    """The history of that name, or the scenario that plays one."""
    path = checked_history_source(name, columns)
    refuse_journal_as_history(name, path)
    return path


def _sources_and_columns(paths: list[Path], columns: str) -> tuple[list[Path], str]:
    """What to read, and what its columns mean; in place of a scenario the history that it plays."""
    scenarios = [each for each in paths if each.suffix == ".toml"]
    if len(paths) > 1 and scenarios:
        raise InputError(f"{scenarios[0]}: a scenario is calibrated alone; leave the others out")
    if not scenarios:
        return paths, columns
    workload = load_scenario(paths[0]).workload
    if not isinstance(workload, RecordedWorkload):
        raise InputError(f"{paths[0]}: it plays no recorded history, so that nothing tells")
    return [workload.located_file(paths[0].parent)], columns or workload.columns


def _checked_target(to: str, paths: list[Path]) -> Path:
    if len(paths) > 1:
        raise InputError("--to: a scenario plays one file or folder; put these into one folder")
    path = file_path("--to", to)
    if path.exists():
        raise InputError(f"--to {to}: it is there already; choose another name")
    return path


def _write_scenario(found: Calibration, path: Path, columns: str, to: Path) -> None:
    beside = os.path.relpath(path.absolute(), to.absolute().parent)
    written = scenario_of(found.imported, to.stem, beside, columns)
    if is_tasks_file(path):
        written["workload"]["digest"] = tasks_digest(path)
    scenario = from_dict(calibrated(written, found), to)
    remarks = ["Estimated by `callboard calibrate`:", *_estimate_lines(found)]
    with whole_file(to) as part:
        part.write_text(to_toml(scenario, map(printable, remarks)), encoding="utf-8")


def _as_json(found: Calibration) -> dict[str, object]:
    return {
        "format": found.imported.recording.format,
        "jobs": found.imported.jobs,
        "attempts": found.imported.attempts,
        "estimates": msgspec.to_builtins(found.estimates),
        "untold": msgspec.to_builtins(found.untold),
        "written": [each._asdict() for each in changed_figures(found)],
        "defaults": [each._asdict() for each in kept_defaults(found)],
    }


def _print_estimates(found: Calibration, path: Path, to: Path | None) -> None:
    console, imported = ReportConsole(), found.imported
    jobs, attempts = count(imported.jobs, "job"), count(imported.attempts, "attempt")
    console.print_line(f"{path.name}: {imported.recording.format}, {jobs}, {attempts}")
    if imported.recording.cut:
        console.print_line(f"note: {imported.recording.cut}")
    console.print()
    console.print_lines(_estimate_lines(found))
    if to is not None:
        console.print()
        console.print_line(f"{to}: a scenario that plays it {_changed_figures_words(found)}")


def _estimate_lines(found: Calibration) -> Iterator[str]:
    yield f"{'':<22}{'estimate':>12}  {'interval of 95 %':<22}  by"
    for each in found.estimates:
        estimate, interval = _figure_text(each.value, each), _interval_text(each)
        yield f"{each.name:<22}{estimate:>12}  {interval:<22}  {each.of}"
    yield ""
    yield "it cannot tell"
    for one in found.untold:
        yield f"{one.name:<22}{one.why}"
    if kept := kept_defaults(found):
        yield ""
        yield "left at the default"
    for default in kept:
        yield f"{default.name:<22}{_scenario_figure_text(default):>12}  {default.why}"
    changed = changed_figures(found)
    if bounded := [each for each in changed if each.why and each.field.startswith("tasks.")]:
        yield ""
        yield "moved from the default, though its interval may hold it"
    for moved in bounded:
        yield f"{moved.name:<22}{_scenario_figure_text(moved):>12}  {moved.why}"


def _changed_figures_words(found: Calibration) -> str:
    """What the scenario has of them: `with map slots a node: 4; slow start: 6.2%`."""
    changed = changed_figures(found)
    if not changed:
        return "with the defaults"
    told = (
        f"{each.name}: {_scenario_figure_text(each)}" + (f" ({each.why})" if each.why else "")
        for each in changed
    )
    return f"with {'; '.join(told)}"


def _scenario_figure_text(figure: ScenarioFigure) -> str:
    if figure.field == "tasks.slowstart":
        return f"{figure.value:.1%}"
    unit = {"tasks": "×", "cluster": "ms" if figure.field.endswith("_ms") else ""}
    return f"{figure.value:,g} {unit[figure.field.partition('.')[0]]}".rstrip()


def _interval_text(estimate: Estimate) -> str:
    low, high = estimate.low, estimate.high
    if high is None:
        return f"at least {_figure_text(low, estimate)}"
    if low == high:
        return "exactly"
    return f"{_figure_text(low, estimate)} to {_figure_text(high, estimate)}"


def _figure_text(value: float | None, estimate: Estimate) -> str:
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
