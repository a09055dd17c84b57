"""Turn a journal into a page that plays it back, a trace for Perfetto, a table, or what other
systems read.

formats, told by the end of the file's name or by --format:
  .html     a page that plays the run back in any browser, and needs nothing else
  .json     a trace in the Trace Event Format: open it in https://ui.perfetto.dev
  .csv      a table, times in virtual milliseconds
  .parquet  the same table; needs pyarrow: pip install "callboard[parquet]"
  .history  the job history of Hadoop 1, which Rumen and `callboard import` read
  .swf      a log in the Standard Workload Format
  .xml      the policy: capacity-scheduler.xml, of Hadoop 1 for the order capacity and of YARN for
            yarn, else the allocation file of YARN's Fair Scheduler
  sls       with --format: a folder for YARN's Scheduler Load Simulator, with the policy as the
            file of its Capacity or Fair Scheduler
  batsim    with --format: the table of jobs that Batsim writes
What a format cannot say of the run is listed.

examples:
  callboard export run.journal --to run.html
  callboard export run-fifo.journal run-fair.journal --to both.html
  callboard export run.journal --to trace.json
  callboard export run.journal --to attempts.csv
  callboard export run.journal --to jobs.parquet --rows jobs
  callboard export run.journal --to - --format csv --rows jobs | column -t -s,
  callboard export run.journal --to run.history
  callboard export run.journal --format sls --to sls/
"""

import argparse
import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal, TextIO, get_args

from callboard.arguments import OneFile, add_journal_argument
from callboard.experiments.files_for_other_systems import (
    write_history,
    write_scheduler_file,
    write_sls_folder,
)
from callboard.experiments.journal_paths import check_folder, file_path, is_one_of
from callboard.experiments.live.job_oracles import oracle_of_journal
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import replacement_words, whole_file
from callboard.journal.export import table_files
from callboard.journal.export.export_data import ExportData
from callboard.journal.export.page_collector import PageCollector
from callboard.journal.export.page_data import compared_page_data, page_data
from callboard.journal.export.rows import ROW_KINDS, RowKind, attempts_or_jobs_table
from callboard.journal.export.run_history import played_history_of_run
from callboard.journal.export.run_page import run_page
from callboard.journal.export.trace import trace_lines
from callboard.journal.reader import Journal
from callboard.scheduler.text.quantities import count, printable

Format = Literal["html", "trace", "csv", "parquet", "hadoop1", "swf", "sls", "batsim", "policy"]
SUFFIXES: dict[str, Format] = {
    ".html": "html",
    ".json": "trace",
    ".csv": "csv",
    ".parquet": "parquet",
    ".history": "hadoop1",
    ".swf": "swf",
    ".xml": "policy",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_journal_argument(parser, "; one cut off is taken as far as it goes")
    other = "for a page: the same scenario and seed under another policy, to show beside it"
    add("beside", nargs="?", type=Path, metavar="OTHER", help=other)
    add(
        "--to",
        action=OneFile,
        required=True,
        metavar="FILE",
        help="the file to write; - for standard output",
    )
    add("--format", choices=get_args(Format), help="else by the end of the file's name")
    rows = "of a table: a row for each attempt, which is usual, or for each job"
    add("--rows", choices=ROW_KINDS, help=rows)


def export_command(options: argparse.Namespace) -> int:
    form = _asked_format(options.to, options.format)
    if options.rows is not None and form not in ("csv", "parquet"):
        what = {"html": "a page", "trace": "a trace"}.get(form, form)
        raise InputError(f"--rows: {what} has no rows; use it with .csv or .parquet")
    if options.beside is not None and form != "html":
        raise InputError(f"{options.beside}: only a page (.html) takes a second journal")
    rows: RowKind = options.rows or "attempts"
    if form == "parquet":
        _check_parquet(options.to)
    if form == "sls" and options.to == "-":
        raise InputError("--to -: SLS takes a folder of several files; name one")
    journals = [each for each in (options.journal, options.beside) if each is not None]
    path = None if options.to == "-" else _checked_target(options.to, journals, form)
    replaces = "" if path is None else replacement_words(path)
    journal = Journal(options.journal)
    beside = None if options.beside is None else Journal(options.beside)
    try:
        written, unsaid = _write_in_format(journal, beside, form, rows, path)
    except ValueError as error:
        raise InputError(f"{options.journal}: {error}") from None
    if path is not None:
        cut = "" if journal.complete else "; the run is not complete, and goes as far as it does"
        print(f"{written} written to {path}{replaces}{cut}")
    for line in unsaid:
        print(f"  it cannot say {printable(line)}", file=sys.stderr)
    return 0


def _write_in_format(
    journal: Journal, beside: Journal | None, form: Format, rows: RowKind, path: Path | None
) -> tuple[str, Sequence[str]]:
    """Write the journal in this form; what was written, in words, and what could not be."""
    match form:
        case "trace" | "csv" | "parquet":
            return _write_trace_or_table(ExportData.of_events(journal), form, rows, path), ()
        case "html":
            return _write_page(journal, beside, path), ()
        case "sls":
            assert path is not None
            return write_sls_folder(played_history_of_run(journal), journal.path, path)
        case "policy":
            with _opened_output(path) as file:
                called = "" if path is None else path.name
                return write_scheduler_file(played_history_of_run(journal), file, called)
        case _:
            history = played_history_of_run(journal)
            with _opened_output(path) as file:
                return write_history(form, history, journal.path, file)


def _write_page(journal: Journal, beside: Journal | None, path: Path | None) -> str:
    """Write the page that plays the run back, or two runs; what was written, in words."""
    collector = PageCollector.of_events(journal, oracle_of_journal)
    other = None if beside is None else _second_page_collector(beside)
    data = page_data(collector) if other is None else compared_page_data(collector, other)
    with _opened_output(path) as file:
        file.write(run_page(data))
    attempts = collector.attempts + (0 if other is None else other.attempts)
    return f"a page of {count(attempts, 'attempt')}"


def _second_page_collector(journal: Journal) -> PageCollector:
    try:
        return PageCollector.of_events(journal, oracle_of_journal)
    except ValueError as error:
        raise InputError(f"{journal.path}: {error}") from None


def _asked_format(to: str, asked: Format | None) -> Format:
    found = asked or SUFFIXES.get(Path(to).suffix.lower())
    if found is None:
        unknown = f"--to {to}: cannot tell the format from this name"
        raise InputError(f"{unknown}; end it in one of {', '.join(SUFFIXES)}, or say --format")
    return found


def _check_parquet(to: str) -> None:
    if to == "-":
        raise InputError("--to -: Parquet cannot go to standard output; name a file")
    table_files.check_parquet()


def _checked_target(to: str, journals: Sequence[Path], form: Format) -> Path:
    """The file or folder to write; InputError if it cannot be, or is a journal itself."""
    if form == "sls":
        path = Path(to)
        if path.exists() and not path.is_dir():
            raise InputError(f"--to {to}: this is a file; SLS takes a folder")
        check_folder("--to", path)
        return path
    path = file_path("--to", to)
    if is_one_of(path, journals):
        raise InputError(f"--to {to}: this is the journal itself; choose another name")
    return path


def _write_trace_or_table(data: ExportData, form: Format, rows: RowKind, path: Path | None) -> str:
    """Write the data; what was written, in words."""
    if form == "trace":
        with _opened_output(path) as file:
            number = -2  # the first line and the last
            for line in trace_lines(data):
                file.write(f"{line}\n")
                number += 1
        return count(number, "trace event")
    columns = attempts_or_jobs_table(data, rows)
    if form == "csv":
        with _opened_output(path) as file:
            number = table_files.write_csv(columns, file)
    else:
        run = data.started
        about = {"scenario": run.name, "policy": run.policy, "seed": str(run.seed)}
        assert path is not None
        with whole_file(path) as part:
            number = table_files.write_parquet(columns, part, about)
    return count(number, rows[:-1])


@contextlib.contextmanager
def _opened_output(path: Path | None) -> Iterator[TextIO]:
    """The file to write text to; standard output without a path."""
    if path is None:
        yield sys.stdout
        return
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield file
