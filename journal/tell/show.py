"""What `callboard show JOURNAL` prints: the events as sentences, one a line."""

from collections.abc import Iterator
from pathlib import Path

import msgspec

from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.job_names import find_job
from callboard.journal.lock import is_being_written
from callboard.journal.reader import Journal
from callboard.journal.run_state import RunState
from callboard.journal.tell.names import class_name_in_words, node_name
from callboard.journal.tell.sentences import Narrator
from callboard.scheduler.model import JobId, NodeId
from callboard.scheduler.text.strict_decoder import suggestion

EVENT_KINDS: dict[str, type[ev.AnyEvent]] = {
    class_name_in_words(each, "-"): each for each in ev.EVENT_TYPES
}
"""The kinds of event by the names that `--kind` takes: `job-submitted`, `attempt-launched`, …"""


class ShowOptions(msgspec.Struct, frozen=True, kw_only=True):
    """Which events to print: all, or those about one job, on one node, of one kind.

    Several filters must all hold.  `job` is a number, or a text that means one job (see
    `find_job`).  `limit` is the most events to print.
    """

    job: JobId | str | None = None
    node: NodeId | None = None
    kind: str | None = None
    limit: int | None = None


def check_kind(kind: str) -> str:
    """`kind` if it is one of `EVENT_KINDS`.  Raises ValueError, naming a near one or all."""
    if kind in EVENT_KINDS:
        return kind
    raise ValueError(f"{kind!r} is no kind of event; {suggestion(kind, EVENT_KINDS)}")


def show(path: str | Path, options: ShowOptions | None = None) -> Iterator[str]:
    """The lines for the journal at `path`, read as they are asked for.

    The last line says so when the limit cut the list, or when the journal was cut off or still
    grows.  Raises ValueError for an unknown kind, LookupError for a job or a node that is not
    there; JournalError and OSError as `Journal` does.
    """
    options = options or ShowOptions()
    if options.node is not None:
        _check_node(path, options.node)
    if options.job is not None:
        options = msgspec.structs.replace(options, job=job_in_journal(path, options.job))
    wanted = EVENT_KINDS[check_kind(options.kind)] if options.kind is not None else None
    return _event_lines(Journal(path), options, wanted)


def _event_lines(
    journal: Journal, options: ShowOptions, wanted: type[ev.AnyEvent] | None
) -> Iterator[str]:
    run_state, shown = RunState(), 0
    narrator, grows = Narrator(run_state), is_being_written(journal.path)
    for event in journal:
        if _is_wanted(run_state, event, options, wanted):
            if shown == options.limit:
                yield f"… more follow; the limit is {options.limit}"
                return
            shown += 1
            yield narrator.line(event)
        run_state.observe_if_possible(event)
    if not journal.complete and grows:  # looked at before: its writer may have ended since
        yield "… so far: the run is still being recorded"
    elif journal.truncated:
        yield "… the journal breaks off here: the run was killed"
    elif not journal.complete:
        yield "… the journal ends here, without the end of the run"


def _is_wanted(
    run_state: RunState, event: ev.AnyEvent, options: ShowOptions, wanted: type[ev.AnyEvent] | None
) -> bool:
    if wanted is not None and not isinstance(event, wanted):
        return False
    job, node = run_state.job_and_node_of(event)
    return options.job in (None, job) and options.node in (None, node)


def _check_node(path: str | Path, node: NodeId) -> None:
    """LookupError for a node that the run has not."""
    started = next(iter(Journal(path)), None)
    if isinstance(started, ev.RunStarted) and node >= len(started.nodes):
        last = node_name(len(started.nodes) - 1)
        raise LookupError(f"there is no {node_name(node)}; there are {node_name(0)} to {last}")


def job_in_journal(path: str | Path, job: JobId | str) -> JobId:
    """The job of that number, or what a text means (see `find_job`) among the jobs that the journal
    has seen submitted.

    Raises LookupError, with a message for people, if a text means none or several; JournalError
    and OSError as `Journal` does.
    """
    if not isinstance(job, str):
        return job
    journal = Journal(path)
    names = {event.job: event.name for event in journal if isinstance(event, ev.JobSubmitted)}
    try:
        return find_job(job, names)
    except LookupError as error:
        so_far = "" if journal.complete else " (as far as the journal goes)"
        raise LookupError(f"{path}: {error}{so_far}") from None
