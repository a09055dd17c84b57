"""Turn a history of another system into a scenario and a file of its tasks, with a report.

Formats are told by what stands in the files, which may be gzipped; a folder means all files in it.
The report says what was read, what was inferred from it and how, what was guessed, and what was
dropped and why, each with how often and where first.

formats:
  Hadoop 1 job history         as JobTrackers write it; many in one file with !!FILE= lines
  Hadoop 2 job history         .jhist, in JSON
  Rumen trace                  JSON, an object a job
  SLS                          jobs (inputsls, DAG), topologies, and both dialects of SYNTH
  Standard Workload Format     2.2: n processors are n equal maps
  CSV or Parquet               with --map; OpenDC's tasks need none
  OpenDC failures              beside files of jobs: outages of nodes

columns of a table, for --map MEANING=COLUMN,...:
  a row a job     job, submit, maps, map_time, reduces, reduce_time, user, pool, estimate;
                  start, and end or duration, which tell how long the job took to respond
  a row a task    job, task, kind, submit, start, end or duration, host, user, pool;
                  rows of one task in one job are its attempts
  state           of either: COMPLETED and the like succeeded, PENDING and RUNNING are left
                  out, attempts with KILLED were killed, all others failed
  memory, vcores  of either: what a task takes besides its slot; memory in MB, or as 4000M or 4G
  unit=ms         of all times: us, ms, s, min or h; rows=tasks if neither task nor kind is there
  #3              the third column, of a table without a header

examples:
  callboard import job_201001010000_0001_user_sort        a JobTracker's history
  callboard import batch.csv --map job=id,submit=start,maps=n,map_time=s,unit=s
  callboard import history/done --to mine                 a folder of them
  callboard import history/done --to mine/october.toml    and what the scenario is called
  callboard run mine/done.toml --nodes 40 --policy fair   and then: what if?
"""

import argparse
import shlex
from pathlib import Path

import msgspec

from callboard.arguments import OneFile
from callboard.experiments.journal_paths import check_folder, refuse_journal_as_history
from callboard.experiments.user_errors import InputError
from callboard.histories.model.import_report import FATES
from callboard.histories.model.tasks_file import TASKS_SUFFIX, tasks_digest, write_recording
from callboard.histories.recording_file import Imported, attempt_lines, import_files, is_tasks_file
from callboard.histories.source_path import checked_history_source
from callboard.scenarios.failures import outage_lines
from callboard.scenarios.recording_scenario import name_without_suffixes, scenario_of
from callboard.scenarios.scenario_file import from_dict
from callboard.scenarios.toml_writer import to_toml
from callboard.scheduler.model import Millis
from callboard.scheduler.text.quantities import count, duration, printable
from callboard.stdio import print_json

_DAY_MS = 86_400_000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="files of one format, or folders of them")
    to = "where to write, a folder or the scenario's file; made if it is not there"
    add("--to", action=OneFile, default=".", metavar="DIR|FILE.toml", help=to)
    add("--name", help="the scenario's name; else that of --to's file, or of the first one read")
    columns = "what the columns of a table mean, as in `submit=start_time,maps=n,map_time=s,unit=s`"
    add("--map", default="", metavar="MEANING=COLUMN,...", help=columns)
    add("--json", action="store_true", help="print the report as JSON")


def import_command(options: argparse.Namespace) -> int:
    paths = [_history_path(each, options.map) for each in options.files]
    to = Path(options.to)
    is_file = to.suffix == ".toml" and not to.is_dir()
    name = _scenario_name(options.name, Path(to.stem) if is_file else paths[0])
    folder, stem = (to.parent, to.stem) if is_file else (to, name)
    files = (folder / f"{stem}.toml", folder / f"{stem}{TASKS_SUFFIX}")
    outages = folder / f"{stem}.outages.csv"
    check_folder("--to", folder)
    imported = import_files(paths, options.map)
    for path in (*files, outages):  # after the reading: what is wrong with the history comes first
        if path.exists():
            problem = f"{path} is there already; name another folder with --to, or a --name"
            raise InputError(problem)
    _write_import(imported, name, *files, outages)
    if options.json:
        print_json(_as_json(imported))
    else:
        _print_import(imported, name, *files, outages)
    return 0


def _history_path(name: str, columns: str) -> Path:
    """The history of that name; InputError for what can be played as it is."""
    path = checked_history_source(name, columns)
    play = f"`callboard run {shlex.quote(name)}` plays"
    if path.is_file() and path.suffix == ".toml":
        raise InputError(f"{name}: this is a scenario already: {play} it")
    refuse_journal_as_history(name, path)
    if is_tasks_file(path):
        raise InputError(f"{name}: these are the tasks of an import already: {play} them")
    return path


def _scenario_name(asked: str | None, path: Path) -> str:
    if asked is None:
        return name_without_suffixes(path)
    if not asked or asked != Path(asked).name:
        raise InputError(f"--name {asked[:80]}: expected a name, without a folder")
    return asked


def _write_import(imported: Imported, name: str, to: Path, tasks: Path, outages: Path) -> None:
    recording = imported.recording
    written = scenario_of(imported, name, tasks.name)
    if imported.outages:
        written["timeline"] = [{"what": "trace", "path": outages.name}]
    from_dict(written, to)  # before anything is written
    to.parent.mkdir(parents=True, exist_ok=True)
    write_recording(recording, tasks, attempt_lines(imported))
    written["workload"]["digest"] = tasks_digest(tasks)
    if imported.outages:
        outages.write_text("".join(outage_lines(imported.outages)), encoding="utf-8")
    remarks = [f"Imported: {recording.format}.", *imported.remarks.lines()]
    to.write_text(to_toml(from_dict(written, to), map(printable, remarks)), encoding="utf-8")


def _as_json(imported: Imported) -> dict[str, object]:
    recording = imported.recording
    fates: dict[str, object] = {
        fate: msgspec.to_builtins(imported.remarks.with_fate(fate)) for fate in FATES
    }
    return {
        "format": recording.format,
        "jobs": imported.jobs,
        "tasks": imported.tasks,
        "attempts": imported.attempts,
        "span_seconds": recording.span_ms / 1000,
        "hosts": recording.nodes,
        **fates,
    }


def _span_text(ms: Millis) -> str:
    """From the first submission to the last end; in days where seconds would be too many."""
    return f"{ms / 1000:,.0f} s" if ms < _DAY_MS else duration(ms)


def _print_import(imported: Imported, name: str, to: Path, tasks: Path, outages: Path) -> None:
    recording = imported.recording
    sizes = (count(imported.jobs, "job"), count(imported.tasks, "task"))
    print(f"{printable(name)}: {recording.format}")
    told = f"{', '.join(sizes)}, {count(imported.attempts, 'attempt')}"
    print(f"{told} in {_span_text(recording.span_ms)}")
    if recording.cut:
        print(f"note: {printable(recording.cut)}")
    print()
    for line in imported.remarks.lines():
        print(printable(line))
    print()
    played, tasks_played = count(len(recording.jobs), "job"), recording.task_count
    if tasks_played > imported.tasks:  # some that never ran are known by their number alone
        played += f" and {count(tasks_played, 'task')} (with those that never ran)"
    print(f"{printable(str(to))}: the scenario, {played} on {count(recording.nodes, 'node')}")
    print(f"{printable(str(tasks))}: its tasks, which have to stay beside it")
    if imported.outages:
        print(f"{printable(str(outages))}: when nodes are down; it has to stay there too")
