"""The commands that only read: `show`, `explain`, `diff`, `scenarios`, `policies`."""

import argparse
import sys
from pathlib import Path

import msgspec
from rich import box
from rich.table import Table

from callboard.arguments import whole_number
from callboard.console import PlainConsole, plain
from callboard.experiments import plugins
from callboard.experiments.user_errors import InputError
from callboard.journal.tell.diff import diff_journals, diff_lines
from callboard.journal.tell.explain import explain
from callboard.journal.tell.names import parse_job, parse_node
from callboard.journal.tell.show import EVENT_KINDS, ShowOptions, check_kind, show
from callboard.scenarios.scenario_file import library_scenarios
from callboard.scheduler.policy import Part, PolicySpecError
from callboard.scheduler.registry.parts import PART_BASES, PARTS, part_kind


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
    parser.add_argument("--kind", metavar="KIND", help=f"only one kind: {', '.join(EVENT_KINDS)}")
    parser.add_argument("--limit", type=whole_number(0), metavar="N", help="at most so many events")


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


def add_explain_arguments(parser: argparse.ArgumentParser) -> None:
    """The arguments of `callboard explain`."""
    parser.description = "Say why a job waited, what went first, and who preempted whom."
    parser.add_argument("journal", type=Path, metavar="JOURNAL")
    parser.add_argument("job", metavar="JOB", help="12 or job-12")


def explain_command(options: argparse.Namespace) -> int:
    """Print one job's story."""
    try:
        for line in explain(options.journal, parse_job(options.job)):
            print(line)
    except (ValueError, LookupError) as error:
        raise InputError(str(error)) from None
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
    found = diff_journals(options.left, options.right, reasons=not options.no_reasons)
    for line in diff_lines(found, str(options.left), str(options.right)):
        print(line)
    return 0 if found.same_events else 1


def scenarios_command(_options: argparse.Namespace) -> int:
    """List the library."""
    _print_list([(name, story) for name, _, story in library_scenarios()])
    return 0


def policies_command(_options: argparse.Namespace) -> int:
    """List the parts of policies, kind by kind, with their parameters."""
    found, broken = _all_parts()
    for line in broken:
        print(f"callboard: {line}", file=sys.stderr)
    parts = [(part_kind(part) or "", name, part) for name, part in found.items()]
    if not sys.stdout.isatty():  # one line a part, for a program
        for slot, name, part in parts:
            print("  ".join(filter(None, (slot, name, part.summary, _parameters(part)))))
        return 0
    for slot in PART_BASES:
        print(slot)
        own = [(name, part) for of, name, part in parts if of == slot]
        _print_list([line for name, part in own for line in _lines(name, part)])
    print(POLICIES_EPILOG)
    return 0


POLICIES_EPILOG = """\
A policy is an order and at most one part of each other kind: fair+delay(node=5,rack=5)
A part of your own: --policy ./mine.py:MyOrder (docs/policies.md says how to write one)"""


def _all_parts() -> tuple[dict[str, type[Part]], list[str]]:
    """The shipped parts and the installed ones by name, and what is wrong with the others."""
    found, broken = dict(PARTS), []
    for name, load in plugins.installed().items():
        try:
            if name in PARTS:
                raise PolicySpecError(f"an installed `{name}` is hidden by the one that ships")
            found[name] = load()
        except PolicySpecError as error:
            broken.append(str(error))
    return found, broken


def _lines(name: str, part: type[Part]) -> list[tuple[str, str]]:
    """The part's name and story and, on a second line, its parameters with their defaults."""
    parameters = _parameters(part)
    return [(name, part.summary), *([("", f"  {parameters}")] if parameters else [])]


def _parameters(part: type[Part]) -> str:
    """The part's parameters with their defaults."""
    defaults = msgspec.to_builtins(part.Params())
    return ", ".join(f"{k}={'unset' if v is None else v}" for k, v in defaults.items())


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
