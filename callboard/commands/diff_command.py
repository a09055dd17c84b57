"""Name the first event at which two journals differ.  Exit status 0 if they tell the same events, 1
if they do not.
"""

import argparse
from pathlib import Path

from callboard.journal.tell.diff import diff_journals, diff_lines


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("left", type=Path, metavar="A", help="a journal")
    parser.add_argument("right", type=Path, metavar="B", help="the journal to compare it with")
    counted = "count equal decisions as different if their reasons are; else only under one policy"
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--reasons", action="store_true", default=None, help=counted)
    ignored = "count them as equal whatever their reasons"
    choice.add_argument("--no-reasons", dest="reasons", action="store_false", help=ignored)


def diff_command(options: argparse.Namespace) -> int:
    found = diff_journals(options.left, options.right, reasons=options.reasons)
    for line in diff_lines(found, str(options.left), str(options.right)):
        print(line)
    return 0 if found.same_events else 1
