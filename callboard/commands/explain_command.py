"""Say why a job waited, what went first, which job preempted which, and where its response went, in
parts that sum to it.
"""

import argparse

from callboard.arguments import add_journal_argument
from callboard.experiments.user_errors import InputError
from callboard.journal.tell.explain import explain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal_argument(parser)
    parser.add_argument("job", metavar="JOB", help="12, job-12 or its name")


def explain_command(options: argparse.Namespace) -> int:
    try:
        for line in explain(options.journal, options.job):
            print(line)
    except (ValueError, LookupError) as error:
        raise InputError(str(error)) from None
    return 0
