"""A run as a log in the Standard Workload Format 2.2: a line a job, its maps as processors."""

from collections.abc import Iterator

from callboard.histories.model.cluster_history import Ending, HistoryJob, HistoryTask
from callboard.histories.played_history import PlayedHistory
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.text.quantities import count, printable

_UNKNOWN = -1
_STATUS: dict[Ending, int] = {"succeeded": 1, "failed": 0, "killed": 5, "unknown": _UNKNOWN}


def swf_lines(history: PlayedHistory) -> Iterator[str]:
    """The lines, each without its end: a header, then the jobs by their submission."""
    started = history.started
    yield "; Version: 2.2"
    yield f"; Computer: {printable(started.name)}, simulated by Callboard {started.version}"
    yield f"; MaxJobs: {len(history.jobs)}"
    yield f"; MaxNodes: {len(started.nodes)}"
    yield f"; MaxProcs: {_map_slot_count(history)}"
    yield "; Note: a processor is a map of a job, the run time that of its maps"
    users: dict[str, int] = {}
    queues: dict[str, int] = {}
    for number, job in history.jobs.items():
        user = users.setdefault(job.user, len(users) + 1)
        queue = queues.setdefault(job.queue, len(queues) + 1) if job.queue else _UNKNOWN
        yield _job_line(number, job, user, queue)


def what_swf_cannot_say(history: PlayedHistory) -> list[str]:
    """What the format cannot say of this run."""
    jobs = history.jobs.values()
    reduces = sum(job.task_counts[1] for job in jobs)
    unequal = sum(
        len({_task_ran_ms(task) for task in job.maps.values()} - {None}) > 1 for job in jobs
    )
    large = sum(job.task_counts[0] > _map_slot_count(history) for job in jobs)
    more = "processors than the cluster has map slots: logs are of jobs that fit"
    several = count(unequal, "job")
    have = "it has" if large == 1 else "they have"
    found = [
        (large, f"that {count(large, 'job')} had maps in turn: {have} more {more}"),
        (reduces, f"{count(reduces, 'reduce')}: a job is that many processors for one time"),
        (unequal, f"maps of several lengths in {several}: their mean stands for each"),
    ]
    return [text for number, text in found if number]


def _map_slot_count(history: PlayedHistory) -> int:
    return sum(node.map_slots for node in history.started.nodes)


def _job_line(number: JobId, job: HistoryJob, user: int, queue: int) -> str:
    maps, submit_ms, tasks = job.task_counts[0], job.submit_ms or 0, job.maps.values()
    ran = [ms for task in tasks if (ms := _task_ran_ms(task)) is not None]
    begun = [each.start_ms for task in tasks for each in task.attempts if each.start_ms]
    wait = _seconds_text(min(begun) - submit_ms) if begun else _UNKNOWN
    run = _seconds_text(round(sum(ran) / len(ran))) if ran else _UNKNOWN
    fields = (
        *(number + 1, _seconds_text(submit_ms), wait, run, maps, _UNKNOWN, _UNKNOWN),
        *(maps, _UNKNOWN, _UNKNOWN, _STATUS[job.ending], user, _UNKNOWN, _UNKNOWN, queue),
        *(_UNKNOWN, _UNKNOWN, _UNKNOWN),
    )
    return " ".join(map(str, fields))


def _task_ran_ms(task: HistoryTask) -> Millis | None:
    """How long the attempt ran that counts: the last to succeed, else the last."""
    counts = task.last_success or task.launches[-1]
    if counts.start_ms is None or counts.ended_ms is None:
        return None
    return counts.ended_ms - counts.start_ms


def _seconds_text(ms: Millis) -> str:
    """Whole seconds where they are, else with milliseconds."""
    return str(ms // 1000) if ms % 1000 == 0 else f"{ms / 1000:.3f}"
