"""The disciplines without a virtual machine: FIFO, PS and GPS, LAS, SRPT, SRPT+PS.

Each loop goes from event to event: the next completion or change of who is served, the next
arrival, the end of the run.  Of events at one instant completions come first, then changes
inside the discipline, then arrivals, these by job number.  Each job costs O(log n), amortised.

Jobs are numbered by (arrival, index); times and sizes are seconds on a machine of speed 1.  The
functions use nothing but indexing and arithmetic, so that they run on Fractions as they stand
and are compiled for floats as they stand.
"""

from typing import Any, NamedTuple

from callboard.scheduler.ideal.heap import NONE, Heap, Row, pop, push
from callboard.scheduler.ideal.pool import (
    INF,
    Levels,
    Pool,
    drain,
    drain_levels,
    enter,
    gap,
    join,
    leave,
    leave_levels,
    levels_gap,
    serve,
    serve_levels,
    weight_of,
)


class Jobs(NamedTuple):
    """What is given and what is found, one entry a job, in order of arrival.

    `left` begins as the sizes and ends as the work left at the end of the run; `done` begins as
    infinity and ends as the completions.
    """

    arrival: Row
    size: Row
    estimate: Row
    left: Row
    done: Row


def due(jobs: Jobs, i: int, until: Any) -> bool:
    """Whether job `i` exists and arrives before the run ends."""
    return bool(i < len(jobs.arrival) and jobs.arrival[i] <= until)


def pause(jobs: Jobs, i: int, now: Any, until: Any) -> Any:
    """Seconds until job `i` arrives or the run ends."""
    if due(jobs, i, until):
        return jobs.arrival[i] - now
    return until - now


def complete(jobs: Jobs, job: int, now: Any) -> None:
    """Note that `job` is done."""
    jobs.done[job] = now
    jobs.left[job] = 0


def fifo(jobs: Jobs, until: Any) -> None:
    """First in, first out: the whole machine to the job that came first (report §2.3)."""
    free = 0
    for job in range(len(jobs.arrival)):
        start = max(free, jobs.arrival[job])
        free = start + jobs.size[job]
        if free <= until:
            complete(jobs, job, free)
        elif start < until:
            jobs.left[job] = free - until


def share(jobs: Jobs, pool: Pool, until: Any) -> None:
    """PS and GPS: everyone present is served, in proportion to the weights (report §2.3)."""
    now = 0
    i = 0
    while True:
        wait = pause(jobs, i, now, until)
        finish = gap(pool, 0)
        step = min(finish, wait)
        if step == INF:
            return
        serve(pool, step, 0)
        now += step
        if finish <= wait:
            complete(jobs, leave(pool), now)
        elif due(jobs, i, until):
            now = jobs.arrival[i]
            enter(pool, i, jobs.size[i])
            i += 1
        else:
            drain(pool, jobs.left)
            return


def las(jobs: Jobs, levels: Levels, until: Any) -> None:
    """Least attained service: those who have had least share the machine equally."""
    now = 0
    i = 0
    while True:
        wait = pause(jobs, i, now, until)
        change = levels_gap(levels)
        step = min(change, wait)
        if step == INF:
            return
        serve_levels(levels, step)
        now += step
        if change <= wait:
            job = leave_levels(levels)
            if job != NONE:
                complete(jobs, job, now)
        elif due(jobs, i, until):
            now = jobs.arrival[i]
            join(levels, i, 0, jobs.size[i])
            i += 1
        else:
            drain_levels(levels, jobs.left)
            return


def srpt(jobs: Jobs, heap: Heap, until: Any) -> None:
    """Shortest remaining processing time, by estimates (report §2.3).

    The remaining estimate may fall below zero: an underestimated job keeps the machine until it
    is really done.  Only the first job's key falls, so the heap stays a heap.
    """
    now = 0
    i = 0
    while True:
        wait = pause(jobs, i, now, until)
        head = heap.top[0]
        finish = INF if head == NONE else jobs.left[head]
        step = min(finish, wait)
        if step == INF:
            return
        if head != NONE:
            heap.key[head] -= step
            jobs.left[head] -= step
        now += step
        if finish <= wait:
            complete(jobs, pop(heap, 0), now)
        elif due(jobs, i, until):
            now = jobs.arrival[i]
            push(heap, 0, i, jobs.estimate[i])
            i += 1
        else:
            return


def srpt_ps(jobs: Jobs, heap: Heap, late: Pool, until: Any) -> None:
    """SRPT whose late jobs share: one whose estimate is used up joins the late ones.

    The late jobs and the one job of smallest remaining estimate share the machine equally.  A
    late job never goes back.
    """
    now = 0
    i = 0
    while True:
        wait = pause(jobs, i, now, until)
        head = heap.top[0]
        guests = 0 if head == NONE else 1
        sharers = weight_of(late) + guests
        late_finish = gap(late, guests)
        head_finish = INF if head == NONE else jobs.left[head] * sharers
        used_up = INF if head == NONE else max(heap.key[head], 0) * sharers
        step = min(late_finish, head_finish, used_up, wait)
        if step == INF:
            return
        serve(late, step, guests)
        if head != NONE:
            heap.key[head] -= step / sharers
            jobs.left[head] -= step / sharers
        now += step
        if late_finish == step:
            complete(jobs, leave(late), now)
        elif head_finish == step:
            complete(jobs, pop(heap, 0), now)
        elif used_up == step:
            enter(late, pop(heap, 0), jobs.left[head])
        elif due(jobs, i, until):
            now = jobs.arrival[i]
            push(heap, 0, i, jobs.estimate[i])
            i += 1
        else:
            drain(late, jobs.left)
            return


HELPERS = (due, pause, complete)
"""What the compiled loops call from this module."""
