"""Print a journal, one sentence an event.  The filters may be combined; an event must pass all of
them.
"""

import argparse

from callboard.arguments import add_journal_argument, whole_number_type
from callboard.experiments.user_errors import InputError
from callboard.journal.tell.names import parse_node
from callboard.journal.tell.show import EVENT_KINDS, ShowOptions, check_kind, show


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_journal_argument(parser)
    add("--job", metavar="JOB", help="only what concerns this job (12, job-12 or its name)")
    add("--node", metavar="NODE", help="only what happens on this node (3 or node-3)")
    add("--kind", metavar="KIND", help=f"only one kind: {', '.join(EVENT_KINDS)}")
    add("--limit", type=whole_number_type(0), metavar="N", help="at most that many events")


def show_command(options: argparse.Namespace) -> int:
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
