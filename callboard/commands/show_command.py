"""`callboard show`: a journal as sentences."""

import argparse
from pathlib import Path

from callboard.arguments import whole_number
from callboard.experiments.user_errors import InputError
from callboard.journal.tell.names import parse_node
from callboard.journal.tell.show import EVENT_KINDS, ShowOptions, check_kind, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
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
    parser.add_argument(
        "--job", metavar="JOB", help="only what concerns this job (12, job-12 or its name)"
    )
    parser.add_argument(
        "--node", metavar="NODE", help="only what happens on this node (3 or node-3)"
    )
    parser.add_argument("--kind", metavar="KIND", help=f"only one kind: {', '.join(EVENT_KINDS)}")
    parser.add_argument("--limit", type=whole_number(0), metavar="N", help="at most so many events")


def show_command(options: argparse.Namespace) -> int:
    """Print a journal."""
    try:
        wanted = ShowOptions(
            job=options.job,
            node=None if options.node is None else parse_node(options.node),
            kind=None if options.kind is None else check_kind(options.kind),
            limit=options.limit,
        )
        lines = show(options.journal, wanted)
    except (ValueError, LookupError) as error:
        raise InputError(str(error)) from None
    for line in lines:
        print(line)
    return 0
