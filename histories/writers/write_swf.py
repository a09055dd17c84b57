"""A run as a log in the Standard Workload Format 2.2: a line a job, its maps as processors."""

from collections.abc import Iterator

from callboard.actors.vocabulary.events import Outcome
from callboard.histories.played_history import PlayedHistory, PlayedJob, PlayedTask
from callboard.scheduler.model import MAP, MAPS, Millis
from callboard.scheduler.text.quantities import count, printable

_STATUS = {Outcome.SUCCEEDED: 1, Outcome.FAILED: 0, Outcome.KILLED: 5}
_UNKNOWN = -1


def swf_lines(history: PlayedHistory) -> Iterator[str]:
    """The lines, each without its end: a header, then the jobs by their submission."""
    started = history.started
    yield "; Version: 2.2"
    yield f"; Computer: {printable(started.name)}, simulated by Callboard {started.version}"
    yield f"; MaxJobs: {len(history.jobs)}"
    yield f"; MaxNodes: {len(started.nodes)}"
    yield f"; MaxProcs: {history.slots(MAP)}"
    yield "; Note: a processor is a map of a job, the run time that of its maps"
    users: dict[str, int] = {}
    queues: dict[str, int] = {}
    for job in history.jobs.values():
        told = job.submitted
        user = users.setdefault(told.user, len(users) + 1)
        queue = queues.setdefault(told.pool, len(queues) + 1) if told.pool else _UNKNOWN
        yield _line(job, user, queue)


def not_in_swf(history: PlayedHistory) -> list[str]:
    """What the format cannot say of this run."""
    jobs = history.jobs.values()
    reduces = sum(job.submitted.reduces for job in jobs)
    unequal = sum(len({_ran_ms(task) for task in job.of(MAPS)} - {None}) > 1 for job in jobs)
    large = sum(job.submitted.maps > history.slots(MAP) for job in jobs)
    more = "processors than the cluster has map slots: logs are of jobs that fit"
    several = count(unequal, "job")
    have = "it has" if large == 1 else "they have"
    found = [
        (large, f"that {count(large, 'job')} had maps in turn: {have} more {more}"),
        (reduces, f"{count(reduces, 'reduce')}: a job is that many processors for one time"),
        (unequal, f"maps of several lengths in {several}: their mean stands for each"),
    ]
    return [text for number, text in found if number]


def _line(job: PlayedJob, user: int, queue: int) -> str:
    told, end = job.submitted, job.finished
    ran = [ms for task in job.of(MAPS) if (ms := _ran_ms(task)) is not None]
    begun = [each.started_ms for task in job.of(MAPS) for each in task.attempts if each.started_ms]
    wait = _seconds(min(begun) - told.at_ms) if begun else _UNKNOWN
    run = _seconds(round(sum(ran) / len(ran))) if ran else _UNKNOWN
    status = _UNKNOWN if end is None else _STATUS[end.outcome]
    fields = (
        *(told.job + 1, _seconds(told.at_ms), wait, run, told.maps, _UNKNOWN, _UNKNOWN),
        *(told.maps, _UNKNOWN, _UNKNOWN, status, user, _UNKNOWN, _UNKNOWN, queue),
        *(_UNKNOWN, _UNKNOWN, _UNKNOWN),
    )
    return " ".join(map(str, fields))


def _ran_ms(task: PlayedTask) -> Millis | None:
    """How long the attempt ran that counts: the last to succeed, else the last."""
    counts = task.best or task.attempts[-1]
    if counts.started_ms is None or counts.ended_ms is None:
        return None
    return counts.ended_ms - counts.started_ms


def _seconds(ms: Millis) -> str:
    """Whole seconds where they are, else with milliseconds."""
    return str(ms // 1000) if ms % 1000 == 0 else f"{ms / 1000:.3f}"
