"""The commands that only read: `show`, `diff`, `scenarios`, `policies`."""

import argparse
import sys
from pathlib import Path

from rich import box
from rich.table import Table

from callboard.errors import InputError
from journal.diff import compare, diff_lines
from journal.names import parse_job, parse_node
from journal.show import KINDS, ShowOptions, check_kind, show
from scenarios.spec import library
from scheduler.registry import ORDERS
from tui.console import PlainConsole, plain


def add_show_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard show`."""
    parser.description = (
        "Print a journal, one sentence an event.  The filters may be combined; an event must pass"
        " all of them."
    )
    parser.add_argument(
        "journal",
        type=Path,
        metavar="JOURNAL",
        help="a file that `callboard run --journal` has written, or is still writing",
    )
    parser.add_argument("--job", metavar="JOB", help="only what concerns this job (12 or job-12)")
    parser.add_argument(
        "--node", metavar="NODE", help="only what happens on this node (3 or node-3)"
    )
    parser.add_argument("--kind", metavar="KIND", help=f"only one kind: {', '.join(KINDS)}")
    parser.add_argument("--limit", type=_limit, metavar="N", help="at most so many events")


def _limit(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 19):
        raise argparse.ArgumentTypeError(f"expected a whole number of at least 0, got {text!r}")
    return int(text)


def show_command(options: argparse.Namespace) -> int:
    """Print a journal."""
    try:
        wanted = ShowOptions(
            job=None if options.job is None else parse_job(options.job),
            node=None if options.node is None else parse_node(options.node),
            kind=None if options.kind is None else check_kind(options.kind),
            limit=options.limit,
        )
    except ValueError as error:
        raise InputError(str(error)) from None
    for line in show(options.journal, wanted):
        print(line)
    return 0


def add_diff_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard diff`."""
    parser.description = (
        "Name the first event at which two journals part.  Exit status 0 if they tell the same"
        " events, 1 if they do not."
    )
    parser.add_argument("left", type=Path, metavar="A", help="a journal")
    parser.add_argument("right", type=Path, metavar="B", help="the journal to compare it with")
    parser.add_argument(
        "--no-reasons",
        action="store_true",
        help="let equal decisions count as equal though their reasons differ",
    )


def diff_command(options: argparse.Namespace) -> int:
    """Compare two journals."""
    found = compare(options.left, options.right, reasons=not options.no_reasons)
    for line in diff_lines(found, str(options.left), str(options.right)):
        print(line)
    return 0 if found.same_events else 1


def scenarios_command(_options: argparse.Namespace) -> int:
    """List the library."""
    _print_list([(name, story) for name, _, story in library()])
    return 0


def policies_command(_options: argparse.Namespace) -> int:
    """List the policies."""
    _print_list([(name, order.story) for name, order in ORDERS.items()])
    return 0


def _print_list(items: list[tuple[str, str]]) -> None:
    """A table for people; for a program one line an item, neither wrapped nor padded."""
    if not sys.stdout.isatty():
        for name, story in items:
            print(f"{name}  {story}")
        return
    table = Table(box=box.SIMPLE, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True, style="bold")
    table.add_column()
    for name, story in items:
        table.add_row(plain(name), plain(story))
    PlainConsole().print(table)
