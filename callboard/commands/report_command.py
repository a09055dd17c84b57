"""Write a report of recorded runs, or of a sweep's store, as one page to open in a browser or to
mail: what was asked, tables, figures, what failed, how to run it again.

examples:
  callboard report fifo.journal fair.journal --to report.html
  callboard report sweep.sqlite --slo 300 --to report.html
"""

import argparse
from pathlib import Path

from callboard.arguments import OneFile, parse_moment
from callboard.experiments.journal_paths import file_path, is_one_of, refuse_twice
from callboard.experiments.many.result_store import is_store
from callboard.experiments.pages.report.report_source import (
    ReportSource,
    source_of_journals,
    source_of_store,
)
from callboard.experiments.pages.report.write_report import check_report, write_report
from callboard.experiments.user_errors import InputError
from callboard.experiments.whole_files import replacement_words
from callboard.scheduler.text.quantities import count


def _parse_seconds(text: str) -> float:
    """An argparse `type`: a length of time, in seconds."""
    ms = parse_moment(text)
    if not ms:
        raise argparse.ArgumentTypeError(f"expected a time above 0, got {text!r}")
    return ms / 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    what = "what `callboard run --journal` has written, or the store of `callboard sweep`"
    add("inputs", nargs="+", type=Path, metavar="JOURNAL|STORE", help=what)
    add(
        "--to", action=OneFile, required=True, metavar="FILE", help="the page to write, report.html"
    )
    slo = "also say which share of the jobs was done within this time, as 90, 1:40 or 5m"
    add("--slo", type=_parse_seconds, metavar="TIME", help=slo)


def report_command(options: argparse.Namespace) -> int:
    path = _checked_target(options.to, options.inputs)
    check_report()
    source = _read_source(options.inputs, options.slo)
    replaces = replacement_words(path)
    write_report(source, path)
    played, every = source.played_count, count(len(source.cells), "run")
    runs = every if played == len(source.cells) else f"{played:,} of {every}"
    print(f"report of {runs} written to {path}{replaces}")
    return 0


def _checked_target(to: str, inputs: list[Path]) -> Path:
    """The file to write; InputError if it cannot be, or is one of those that are read."""
    path = file_path("--to", to)
    if path.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--to {to}: a report is a page; end its name in .html")
    if is_one_of(path, inputs):
        raise InputError(f"--to {to}: this is what is to be told of; choose another name")
    return path


def _read_source(inputs: list[Path], within_s: float | None) -> ReportSource:
    stores = [path for path in inputs if is_store(path)]
    if stores and len(inputs) > 1:
        raise InputError(f"{stores[0]}: a store has a report of its own; name it alone")
    if stores:
        return source_of_store(stores[0], within_s)
    refuse_twice(inputs)
    try:
        return source_of_journals(inputs, within_s)
    except ValueError as error:
        raise InputError(str(error)) from None
