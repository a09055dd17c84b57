"""Which job of a journal somebody means."""

from pathlib import Path

from callboard.actors.vocabulary.events import JobSubmitted
from callboard.actors.vocabulary.job_names import find_job
from callboard.journal.reader import Journal
from callboard.scheduler.model import JobId


def job_in_journal(path: str | Path, job: JobId | str) -> JobId:
    """The job of that number, or what a text means (see `find_job`) among the jobs that the journal
    has seen submitted.

    Raises LookupError, with a message for people, if a text means none or several; JournalError
    and OSError as `Journal` does.
    """
    if not isinstance(job, str):
        return job
    journal = Journal(path)
    names = {event.job: event.name for event in journal if isinstance(event, JobSubmitted)}
    try:
        return find_job(job, names)
    except LookupError as error:
        so_far = "" if journal.complete else " (as far as the journal goes)"
        raise LookupError(f"{path}: {error}{so_far}") from None
