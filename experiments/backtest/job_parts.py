"""The parts of a job's response time, as recorded and as predicted, and which differ most."""

from itertools import pairwise
from typing import NamedTuple

from callboard.journal.export.played_history import PlayedJob
from callboard.journal.tell.names import duration
from callboard.scenarios.formats.attempt_log import SUCCEEDED, AttemptLog
from callboard.scheduler.model import KINDS, MAP, REDUCE, STAGES, Millis


class JobParts(NamedTuple):
    """Milliseconds until its first task began, from there to the end of its last map, to the end of
    its last reduce, and to its own end.
    """

    wait_ms: Millis
    maps_ms: Millis
    reduces_ms: Millis
    end_ms: Millis


_WORDS = (
    "until its first task began",
    "for its maps",
    "from its last map to its last reduce",
    "from its last task to its end",
)


def parts_of(
    submit_ms: Millis, first_ms: Millis, map_ms: Millis, reduce_ms: Millis, end_ms: Millis
) -> JobParts:
    """The parts between these moments; without a reduce, or with clocks apart, some are 0."""
    moments = [submit_ms]
    for at_ms in (first_ms, map_ms, reduce_ms, end_ms):
        moments.append(max(at_ms, moments[-1]))
    wait_ms, maps_ms, reduces_ms, last_ms = (after - before for before, after in pairwise(moments))
    return JobParts(wait_ms, maps_ms, reduces_ms, last_ms)


def recorded_parts(
    log: AttemptLog, submit_ms: Millis, response_ms: Millis, job: int
) -> JobParts | None:
    """Of a job of the history, submitted at `submit_ms` by its own clock; None if no task tells."""
    mine = (log.job == job) & (log.timed(MAP) | log.timed(REDUCE)) & (log.ending == SUCCEEDED)
    if not mine.any():
        return None
    maps_ms, reduces_ms = (
        int(log.end_ms[mine & (log.kind == kind)].max(initial=0)) for kind in KINDS
    )
    first_ms = int(log.begin_ms[mine].min())
    return parts_of(submit_ms, first_ms, maps_ms, reduces_ms, submit_ms + response_ms)


def predicted_parts(job: PlayedJob) -> JobParts | None:
    """Of a job that was played to its end."""
    if job.finished is None or not job.tasks:
        return None
    begun = [
        each.started_ms
        for task in job.tasks.values()
        for each in task.attempts
        if each.started_ms is not None
    ]
    maps_ms, reduces_ms = (
        max((each.best.ended_ms or 0 for each in job.of(stage) if each.best), default=0)
        for stage in STAGES
    )
    submit_ms, end_ms = job.submitted.at_ms, job.finished.at_ms
    return parts_of(submit_ms, min(begun, default=submit_ms), maps_ms, reduces_ms, end_ms)


def difference_in_words(recorded: JobParts, predicted: JobParts) -> str:
    """Where most of the difference is."""
    apart = [one - other for one, other in zip(predicted, recorded, strict=True)]
    place = max(range(len(apart)), key=lambda each: abs(apart[each]))
    if not apart[place]:
        return "no part of it differs"
    took = duration(recorded[place])
    return f"{_WORDS[place]} it took {took}, and in the prediction {duration(predicted[place])}"
