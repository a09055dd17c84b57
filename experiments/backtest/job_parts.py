"""The moments of a job's response, as recorded and as predicted; where they differ most, and by
which causes.

A job waits along its last map and its last reduce: until its tasks may run it is initialised and
set up, then its last map waits for a slot and runs, then its last reduce, if that had not begun,
and what is left is the reduce and the job's cleanup.
"""

from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.histories.model.attempt_log import AUXILIARY, SUCCEEDED, UNTOLD, AttemptLog
from callboard.histories.model.cluster_history import HistoryJob, HistoryTask, PlayedAttempt
from callboard.histories.played_history import PlayedHistory
from callboard.journal.figures.steps import Steps, steps
from callboard.journal.figures.tables import Ints
from callboard.scheduler.model import (
    KINDS,
    MAP,
    MAPS,
    REDUCE,
    REDUCES,
    SETUP,
    STAGES,
    Millis,
    Stage,
)
from callboard.scheduler.text.quantities import compared_durations, duration


class JobMoments(NamedTuple):
    """When a job was submitted, when its own tasks might run, when the first began, when the last
    map to end began and ended, the same of the last reduce, and when the job ended.  Each is at
    least the one before, but for the reduce's beginning.
    """

    submit_ms: Millis
    ready_ms: Millis
    first_ms: Millis
    map_begin_ms: Millis
    map_end_ms: Millis
    reduce_begin_ms: Millis
    reduce_end_ms: Millis
    end_ms: Millis


class Causes(NamedTuple):
    """Milliseconds of a job's response by what they went to: until its tasks might run, waiting
    while slots of the kind were free or all taken (by what is known to have run), and the rest.
    """

    initialised: Millis
    waited_free: Millis
    waited_full: Millis
    worked: Millis

    def less_recorded(self, recorded: "Causes") -> "Causes":
        """What a prediction differs by from what was recorded, cause by cause.  Only a history can
        have load that is not seen: where the prediction waits longer beside free slots, it waits.
        """
        found = Causes(*(one - two for one, two in zip(self, recorded, strict=True)))
        more_ms = max(found.waited_free, 0)
        free_ms, full_ms = found.waited_free - more_ms, found.waited_full + more_ms
        return found._replace(waited_free=free_ms, waited_full=full_ms)


_WORDS = (
    "until its first task began",
    "for its maps",
    "from its last map to its last reduce",
    "from its last task to its end",
)


def recorded_moments(
    log: AttemptLog, submit_ms: Millis, response_ms: Millis, job: int
) -> JobMoments | None:
    """Of a job of the history, submitted at `submit_ms` by its own clock; None if no task tells."""
    mine = (log.job == job) & (log.ending == SUCCEEDED)
    rows = np.flatnonzero(mine & (log.timed_rows(MAP) | log.timed_rows(REDUCE)))
    if not len(rows):
        return None
    begins, ends = log.begin_ms[rows], log.end_ms[rows]
    last_map, last_reduce = (
        _last_task_span(begins, ends, log.kind[rows] == kind) for kind in KINDS
    )
    ready_ms = submit_ms if log.launch_ms[job] == UNTOLD else int(log.launch_ms[job])
    setups = log.end_ms[mine & (log.kind == AUXILIARY)]
    before = setups[(setups != UNTOLD) & (setups <= begins.min())]
    return _moments_in_order(
        submit_ms,
        max(ready_ms, int(before.max(initial=ready_ms))),
        int(begins.min()),
        last_map,
        last_reduce,
        submit_ms + response_ms,
    )


def _last_task_span(begins: Ints, ends: Ints, kept: NDArray[np.bool_]) -> tuple[Millis, Millis]:
    """When the last to end began and ended; 0 and 0 without any."""
    if not kept.any():
        return 0, 0
    at = int(ends[kept].argmax())
    return int(begins[kept][at]), int(ends[kept][at])


def predicted_moments(job: HistoryJob) -> JobMoments | None:
    """Of a job that was played to its end."""
    if job.finish_ms is None or not any(job.own_tasks()):
        return None
    submit_ms = job.submit_ms or 0
    setups = (each.last_success for each in job.others.values() if each.purpose == SETUP)
    ready_ms = next((each.ended_ms for each in setups if each is not None), None)
    last_map, last_reduce = (_last_played_task_span(job.tasks_of(stage)) for stage in STAGES)
    return _moments_in_order(
        submit_ms,
        ready_ms or job.launch_ms or submit_ms,
        min(job.starts_ms(), default=submit_ms),
        last_map,
        last_reduce,
        job.finish_ms,
    )


def _last_played_task_span(tasks: Iterable[HistoryTask]) -> tuple[Millis, Millis]:
    best = [each.last_success for each in tasks if each.last_success is not None]
    latest = max(best, key=_ended_ms, default=None)
    return (0, 0) if latest is None else (latest.start_ms or 0, _ended_ms(latest))


def _ended_ms(attempt: PlayedAttempt) -> Millis:
    return attempt.ended_ms or 0


def _moments_in_order(
    submit_ms: Millis,
    ready_ms: Millis,
    first_ms: Millis,
    last_map: tuple[Millis, Millis],
    last_reduce: tuple[Millis, Millis],
    end_ms: Millis,
) -> JobMoments:
    """The moments in order, whatever the clocks say; without a reduce its are the map's end."""
    ready_ms = max(ready_ms, submit_ms)
    first_ms = max(first_ms, ready_ms)
    map_begin_ms = max(last_map[0], first_ms)
    map_end_ms = max(last_map[1], map_begin_ms)
    reduce_begin_ms = max(last_reduce[0], ready_ms) if last_reduce[1] else map_end_ms
    reduce_end_ms = max(last_reduce[1], map_end_ms)
    end_ms = max(end_ms, reduce_end_ms)
    begun = (submit_ms, ready_ms, first_ms, map_begin_ms, map_end_ms)
    return JobMoments(*begun, reduce_begin_ms, reduce_end_ms, end_ms)


_USUAL_LEAST_MS = 60_000
"""Less is told in seconds everywhere."""


def difference_in_words(recorded: JobMoments, predicted: JobMoments) -> str:
    """Where most of the difference is."""
    apart = [
        one - other
        for one, other in zip(
            _lengths_of_parts(predicted), _lengths_of_parts(recorded), strict=True
        )
    ]
    place = max(range(len(apart)), key=lambda each: abs(apart[each]))
    if not apart[place]:
        return "no part of it differs"
    spans = _lengths_of_parts(recorded)[place], _lengths_of_parts(predicted)[place]
    took, takes = compared_durations(*spans)
    usual = duration(spans[1])  # as `explain` says it in the lines that follow
    also = "" if usual == takes or spans[1] < _USUAL_LEAST_MS else f" ({usual})"
    return f"{_WORDS[place]} it took {took}, and in the prediction {takes}{also}"


def _lengths_of_parts(job: JobMoments) -> list[Millis]:
    moments = (job.submit_ms, job.first_ms, job.map_end_ms, job.reduce_end_ms, job.end_ms)
    return [after - before for before, after in pairwise(moments)]


def response_by_cause(job: JobMoments, busy: tuple[Steps, Steps], slots: tuple[int, int]) -> Causes:
    """Where the response went, given how many slots were held over time by the same clock."""
    waits = [(MAP, job.ready_ms, job.map_begin_ms)]
    if job.reduce_begin_ms > job.map_end_ms:
        waits.append((REDUCE, job.map_end_ms, job.reduce_begin_ms))
    free = sum(_time_with_free_slot_ms(busy[kind], slots[kind], *wait) for kind, *wait in waits)
    waited = sum(until - since for _, since, until in waits)
    initialised = job.ready_ms - job.submit_ms
    worked = job.end_ms - job.submit_ms - initialised - waited
    return Causes(initialised, free, waited - free, worked)


def played_busy(played: PlayedHistory, held_on_ms: Millis) -> tuple[Steps, Steps]:
    """How many tasks of each kind ran at once in a run, each for `held_on_ms` after its end."""
    return _held_slots_over_time(played, MAPS, held_on_ms), _held_slots_over_time(
        played, REDUCES, held_on_ms
    )


def _held_slots_over_time(played: PlayedHistory, stage: Stage, held_on_ms: Millis) -> Steps:
    spans = [
        (each.start_ms, each.ended_ms + held_on_ms)
        for job in played.jobs.values()
        for task in job.tasks_of(stage)
        for each in task.launches
        if each.start_ms is not None and each.ended_ms is not None
    ]
    begins, ends = np.array(spans, np.int64).reshape(-1, 2).T
    return steps(begins, ends, int(ends.max(initial=0)))


def _time_with_free_slot_ms(busy: Steps, slots: int, since_ms: Millis, until_ms: Millis) -> Millis:
    """For how long from one moment to another fewer slots than these were held."""
    begins = np.clip(busy.times, since_ms, until_ms)
    ends = np.clip(np.append(busy.times[1:], max(busy.until_ms, until_ms)), since_ms, until_ms)
    return int((ends - begins)[busy.counts < slots].sum())
