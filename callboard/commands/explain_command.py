"""`callboard explain`: why a job waited."""

import argparse
from pathlib import Path

from callboard.experiments.user_errors import InputError
from callboard.journal.tell.explain import explain


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's arguments."""
    parser.description = "Say why a job waited, what went first, and who preempted whom."
    parser.add_argument("journal", type=Path, metavar="JOURNAL")
    parser.add_argument("job", metavar="JOB", help="12, job-12 or its name")


def explain_command(options: argparse.Namespace) -> int:
    """Print one job's story."""
    try:
        for line in explain(options.journal, options.job):
            print(line)
    except (ValueError, LookupError) as error:
        raise InputError(str(error)) from None
    return 0
