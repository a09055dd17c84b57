"""The Fair Sojourn Protocol and its kin: FSP+FIFO, FSP+PS, FSP+LAS, PSBS.

FSP (Friedman and Henderson, SIGMETRICS 2003; the simulator report, §2.3) runs a virtual machine
under PS beside the real one, on the estimates.  The real machine serves the present job that is
virtually done first.  Really finished jobs stay in the virtual machine until they are virtually
finished.  A job virtually finished but really not is late; late jobs go before all others, and
the disciplines differ only in how they share among themselves:

- FSP+FIFO serves the one that became late first;
- FSP+PS shares equally, PSBS by weight (and PSBS's virtual machine ages by weight too);
- FSP+LAS serves the late jobs of least attained service.

In the virtual machine the order of a job never changes after its arrival, so a heap of present
jobs keyed by their virtual finish serves as it stands.  O(log n) a job, amortised.
"""

from typing import Any, NamedTuple

from callboard.scheduler.ideal.heap import NONE, Heap, Links, pop, push
from callboard.scheduler.ideal.loops import Jobs, complete, due, pause
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
)

SHARE, FIRST, LEAST = 0, 1, 2
"""How late jobs share the machine: by weight, first late first, least attained service."""


class Twin(NamedTuple):
    """The real machine and its virtual twin.

    `virtual` holds every job not virtually done, `present` those of them not really done, under
    the same keys.  Of `shared`, `queue` with its `ends`, and `levels` one is in use: the late
    jobs under `SHARE`, `FIRST` (from `ends[0]` to before `ends[1]`) and `LEAST`.
    """

    virtual: Pool
    present: Heap
    shared: Pool
    queue: Links
    ends: Links
    levels: Levels


def late_gap(jobs: Jobs, twin: Twin, late: int) -> Any:
    """Seconds until something changes among the late jobs; infinite if there are none."""
    if late == SHARE:
        return gap(twin.shared, 0)
    if late == LEAST:
        return levels_gap(twin.levels)
    if twin.ends[0] == twin.ends[1]:
        return INF
    return jobs.left[twin.queue[twin.ends[0]]]


def serve_late(jobs: Jobs, twin: Twin, late: int, seconds: Any) -> None:
    """Let the late jobs, of whom there are some, have the machine."""
    if late == SHARE:
        serve(twin.shared, seconds, 0)
    elif late == LEAST:
        serve_levels(twin.levels, seconds)
    else:
        jobs.left[twin.queue[twin.ends[0]]] -= seconds


def leave_late(twin: Twin, late: int) -> int:
    """Settle the event that `late_gap` foretold: the late job that is done, or `NONE`."""
    if late == SHARE:
        return leave(twin.shared)
    if late == LEAST:
        return leave_levels(twin.levels)
    twin.ends[0] += 1
    return int(twin.queue[twin.ends[0] - 1])


def become_late(jobs: Jobs, twin: Twin, late: int) -> None:
    """The first present job is virtually but not really done: put it among the late."""
    job = pop(twin.present, 0)
    if late == SHARE:
        enter(twin.shared, job, jobs.left[job])
    elif late == LEAST:
        join(twin.levels, job, jobs.size[job] - jobs.left[job], jobs.size[job])
    else:
        twin.queue[twin.ends[1]] = job
        twin.ends[1] += 1


def arrive(jobs: Jobs, twin: Twin, job: int) -> None:
    """Put a new job into both machines; the virtual one reckons with the estimate."""
    enter(twin.virtual, job, jobs.estimate[job])
    push(twin.present, 0, job, twin.virtual.heap.key[job])


def fsp(jobs: Jobs, twin: Twin, late: int, until: Any) -> None:
    """Run FSP whose late jobs share by `late`."""
    now = 0
    i = 0
    while True:
        wait = pause(jobs, i, now, until)
        virtual_finish = gap(twin.virtual, 0)
        late_change = late_gap(jobs, twin, late)
        head = twin.present.top[0] if late_change == INF else NONE
        finish = INF if head == NONE else jobs.left[head]
        step = min(late_change, finish, virtual_finish, wait)
        if step == INF:
            return
        serve(twin.virtual, step, 0)
        if head != NONE:
            jobs.left[head] -= step
        elif late_change < INF:
            serve_late(jobs, twin, late, step)
        now += step
        if late_change == step:
            job = leave_late(twin, late)
            if job != NONE:
                complete(jobs, job, now)
        elif finish == step:
            complete(jobs, pop(twin.present, 0), now)
        elif virtual_finish == step:
            if jobs.done[leave(twin.virtual)] == INF:
                become_late(jobs, twin, late)
        elif due(jobs, i, until):
            now = jobs.arrival[i]
            arrive(jobs, twin, i)
            i += 1
        else:
            drain(twin.shared, jobs.left)
            drain_levels(twin.levels, jobs.left)
            return


HELPERS = (late_gap, serve_late, leave_late, become_late, arrive)
"""What the compiled loops call from this module."""
