"""The Fair Sojourn Protocol and its kin: FSP+FIFO, FSP+PS, FSP+LAS, PSBS.

FSP (Friedman and Henderson, SIGMETRICS 2003; the simulator report, §2.3) runs a virtual machine
under PS beside the real one, on the estimates; the real one serves the job that is virtually done
first.  A job virtually finished but really not is late; late jobs go before all others:

- FSP+FIFO serves the one that became late first;
- FSP+PS shares equally, PSBS by weight (and PSBS's virtual machine ages by weight too);
- FSP+LAS serves the late jobs of least attained service.

Virtually the order of a job never changes after its arrival, so a heap keyed by virtual finish
serves as it stands.  O(log n) a job, amortised.
"""

from typing import Any, NamedTuple

from callboard.scheduler.ideal import sharing_queues as queues
from callboard.scheduler.ideal.heap import NO_JOB, Heap, JobLinks, pop, push
from callboard.scheduler.ideal.loops import LoopJobs, complete, has_arrival, until_arrival
from callboard.scheduler.ideal.sharing_queues import INF

LATE_PS, LATE_FIFO, LATE_LAS = 0, 1, 2
"""How late jobs share the machine: by weight, first late first, least attained service."""


class FspMachine(NamedTuple):
    """The real machine and its virtual twin.

    `virtual` holds the jobs not virtually done, `present` those of them not really done, under the
    same keys.  The late jobs are in `shared` (LATE_PS), in `queue` from `ends[0]` to before
    `ends[1]` (LATE_FIFO) or in `levels` (LATE_LAS).
    """

    virtual: queues.PsQueue
    present: Heap
    shared: queues.PsQueue
    queue: JobLinks
    ends: JobLinks
    levels: queues.LasQueue


def until_late_change(jobs: LoopJobs, twin: FspMachine, late: int) -> Any:
    """Seconds until something changes among the late jobs; infinite if there are none."""
    if late == LATE_PS:
        return queues.until_ps_departure(twin.shared, 0)
    if late == LATE_LAS:
        return queues.until_las_change(twin.levels)
    if twin.ends[0] == twin.ends[1]:
        return INF
    return jobs.left[twin.queue[twin.ends[0]]]


def serve_late(jobs: LoopJobs, twin: FspMachine, late: int, seconds: Any) -> None:
    """Give the machine to the late jobs; there must be some."""
    if late == LATE_PS:
        queues.serve_ps(twin.shared, seconds, 0)
    elif late == LATE_LAS:
        queues.serve_las(twin.levels, seconds)
    else:
        jobs.left[twin.queue[twin.ends[0]]] -= seconds


def leave_late(twin: FspMachine, late: int) -> int:
    """Settle the event of `until_late_change`: the late job that is done, or `NO_JOB`."""
    if late == LATE_PS:
        return queues.leave_ps(twin.shared)
    if late == LATE_LAS:
        return queues.leave_las(twin.levels)
    twin.ends[0] += 1
    return int(twin.queue[twin.ends[0] - 1])


def become_late(jobs: LoopJobs, twin: FspMachine, late: int) -> None:
    """The first present job is virtually but not really done: put it among the late."""
    job = pop(twin.present, 0)
    if late == LATE_PS:
        queues.enter_ps(twin.shared, job, jobs.left[job])
    elif late == LATE_LAS:
        queues.enter_las(twin.levels, job, jobs.size[job] - jobs.left[job], jobs.size[job])
    else:
        twin.queue[twin.ends[1]] = job
        twin.ends[1] += 1


def arrive(jobs: LoopJobs, twin: FspMachine, job: int) -> None:
    """Put a new job into both machines; the virtual one reckons with the estimate."""
    queues.enter_ps(twin.virtual, job, jobs.estimate[job])
    push(twin.present, 0, job, twin.virtual.heap.key[job])


def fsp(jobs: LoopJobs, twin: FspMachine, late: int, until: Any) -> None:
    """Run FSP whose late jobs share by `late`."""
    now = 0
    i = 0
    while True:
        wait = until_arrival(jobs, i, now, until)
        virtual_finish = queues.until_ps_departure(twin.virtual, 0)
        late_change = until_late_change(jobs, twin, late)
        head = twin.present.top[0] if late_change == INF else NO_JOB
        finish = INF if head == NO_JOB else jobs.left[head]
        step = min(late_change, finish, virtual_finish, wait)
        if step == INF:
            return
        queues.serve_ps(twin.virtual, step, 0)
        if head != NO_JOB:
            jobs.left[head] -= step
        elif late_change < INF:
            serve_late(jobs, twin, late, step)
        now += step
        if late_change == step:
            job = leave_late(twin, late)
            if job != NO_JOB:
                complete(jobs, job, now)
        elif finish == step:
            complete(jobs, pop(twin.present, 0), now)
        elif virtual_finish == step:
            if jobs.done[queues.leave_ps(twin.virtual)] == INF:
                become_late(jobs, twin, late)
        elif has_arrival(jobs, i, until):
            now = jobs.arrival[i]
            arrive(jobs, twin, i)
            i += 1
        else:
            queues.unload_ps(twin.shared, jobs.left)
            queues.unload_las(twin.levels, jobs.left)
            return
