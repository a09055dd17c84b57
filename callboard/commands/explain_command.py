"""Say why a job waited, what went first, which job preempted which, and where its response went, in
parts that sum to it.
"""

import argparse
from pathlib import Path

from callboard.actors.vocabulary.events import JobFinished, JobSubmitted
from callboard.actors.vocabulary.job_names import job_name, job_title
from callboard.arguments import add_journal_argument
from callboard.experiments.user_errors import InputError
from callboard.journal.reader import Journal
from callboard.journal.tell.explain import explain
from callboard.scheduler.text.quantities import duration, printable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_journal_argument(parser)
    parser.add_argument("job", metavar="JOB", nargs="?", help="12, job-12 or its name")


def explain_command(options: argparse.Namespace) -> int:
    if options.job is not None and not options.journal.exists() and Path(options.job).is_file():
        meant = f"`callboard explain {options.job} {options.journal}`"
        raise InputError(f"{options.journal}: the journal comes first: {meant}")
    try:
        if options.job is None:
            raise InputError(_which_job_message(options.journal))
        for line in explain(options.journal, options.job):
            print(line)
    except (ValueError, LookupError) as error:
        raise InputError(str(error)) from None
    return 0


def _which_job_message(path: Path) -> str:
    """That a job has to be named, and which one took longest.  Errors as `Journal`."""
    names: dict[int, str] = {}
    took: dict[int, int] = {}
    for event in Journal(path):
        if isinstance(event, JobSubmitted):
            names[event.job] = event.name
        elif isinstance(event, JobFinished):
            took[event.job] = event.at_ms - event.submitted_ms
    if not names:
        return f"{path}: no job has been submitted in it, so none can be explained"
    longest = max(took, key=lambda job: (took[job], -job), default=min(names))
    what = printable(job_title(longest, names.get(longest, job_name(longest))))
    why = f" took longest ({duration(took[longest])})" if longest in took else " is there"
    return f"explain which job of {path}? {what}{why}: `callboard explain {path} {longest}`"
