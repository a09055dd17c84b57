"""The disciplines without a virtual machine: FIFO, PS and GPS, LAS, SJF, PSJF, SRPT, SRPT+PS, and
FIFO and SRPT on several servers.

Each loop goes from event to event.  At one instant completions come first, then changes inside the
discipline, then arrivals by job number.  Each job costs O(log n), amortised.

Jobs are numbered by (arrival, index); times and sizes are seconds on a machine of speed 1.  The
functions only index and calculate, so that they run on Fractions and compile for floats.
"""

from typing import Any, NamedTuple

from callboard.scheduler.ideal import sharing_queues as queues
from callboard.scheduler.ideal.heap import NO_JOB, Heap, JobLinks, NumberRow, pop, push
from callboard.scheduler.ideal.sharing_queues import INF


class LoopJobs(NamedTuple):
    """What is given and found, one entry a job, in order of arrival: `left` begins as the sizes and
    ends as the work left; `done` begins as infinity and ends as the completions.
    """

    arrival: NumberRow
    size: NumberRow
    estimate: NumberRow
    left: NumberRow
    done: NumberRow


def has_arrival(jobs: LoopJobs, i: int, until: Any) -> bool:
    """Whether job `i` exists and arrives before the run ends."""
    return bool(i < len(jobs.arrival) and jobs.arrival[i] <= until)


def until_arrival(jobs: LoopJobs, i: int, now: Any, until: Any) -> Any:
    """Seconds until job `i` arrives or the run ends."""
    if has_arrival(jobs, i, until):
        return jobs.arrival[i] - now
    return until - now


def complete(jobs: LoopJobs, job: int, now: Any) -> None:
    """Note that `job` is done."""
    jobs.done[job] = now
    jobs.left[job] = 0


def fifo(jobs: LoopJobs, until: Any) -> None:
    """First in, first out: the whole machine to the job that came first (report §2.3)."""
    free = 0
    for job in range(len(jobs.arrival)):
        start = max(free, jobs.arrival[job])
        free = start + jobs.size[job]
        if free <= until:
            complete(jobs, job, free)
        elif start < until:
            jobs.left[job] = free - until


def processor_sharing(jobs: LoopJobs, pool: queues.PsQueue, until: Any) -> None:
    """PS and GPS: all jobs present are served, in proportion to the weights (report §2.3)."""
    now = 0
    i = 0
    while True:
        wait = until_arrival(jobs, i, now, until)
        finish = queues.until_ps_departure(pool, 0)
        step = min(finish, wait)
        if step == INF:
            return
        queues.serve_ps(pool, step, 0)
        now += step
        if finish <= wait:
            complete(jobs, queues.leave_ps(pool), now)
        elif has_arrival(jobs, i, until):
            now = jobs.arrival[i]
            queues.enter_ps(pool, i, jobs.size[i])
            i += 1
        else:
            queues.unload_ps(pool, jobs.left)
            return


def las(jobs: LoopJobs, levels: queues.LasQueue, until: Any) -> None:
    """Least attained service: the jobs with the least share the machine equally."""
    now = 0
    i = 0
    while True:
        wait = until_arrival(jobs, i, now, until)
        change = queues.until_las_change(levels)
        step = min(change, wait)
        if step == INF:
            return
        queues.serve_las(levels, step)
        now += step
        if change <= wait:
            job = queues.leave_las(levels)
            if job != NO_JOB:
                complete(jobs, job, now)
        elif has_arrival(jobs, i, until):
            now = jobs.arrival[i]
            queues.enter_las(levels, i, 0, jobs.size[i])
            i += 1
        else:
            queues.unload_las(levels, jobs.left)
            return


def sjf(jobs: LoopJobs, heap: Heap, until: Any) -> None:
    """Shortest job first by estimates, each to its end.  What arrives at the very instant at which
    the machine becomes free comes after the choice.
    """
    now = 0
    i = 0
    while True:
        if heap.top[0] == NO_JOB:
            if not has_arrival(jobs, i, until):
                return
            now = jobs.arrival[i]
            push(heap, 0, i, jobs.estimate[i])
            i += 1
        job = pop(heap, 0)
        end = now + jobs.left[job]
        if end > until:
            jobs.left[job] = end - until
            return
        complete(jobs, job, end)
        now = end
        while has_arrival(jobs, i, until) and jobs.arrival[i] < now:
            push(heap, 0, i, jobs.estimate[i])
            i += 1


def smallest_first(jobs: LoopJobs, heap: Heap, ages: int, until: Any) -> None:
    """The whole machine to the smallest estimate: of what remains (SRPT, report §2.3) where `ages`
    is 1, of the whole job (PSJF) where it is 0.  Under SRPT an underestimated job keeps the machine
    until it is done.  Only the first job's key falls, so the heap stays a heap.
    """
    now = 0
    i = 0
    while True:
        wait = until_arrival(jobs, i, now, until)
        head = heap.top[0]
        finish = INF if head == NO_JOB else jobs.left[head]
        step = min(finish, wait)
        if step == INF:
            return
        if head != NO_JOB:
            heap.key[head] -= ages * step
            jobs.left[head] -= step
        now += step
        if finish <= wait:
            complete(jobs, pop(heap, 0), now)
        elif has_arrival(jobs, i, until):
            now = jobs.arrival[i]
            push(heap, 0, i, jobs.estimate[i])
            i += 1
        else:
            return


def srpt_ps(jobs: LoopJobs, heap: Heap, late: queues.PsQueue, until: Any) -> None:
    """SRPT whose late jobs, those whose estimates are used up, share the machine equally with the
    one job of smallest remaining estimate.  A late job never goes back.
    """
    now = 0
    i = 0
    while True:
        wait = until_arrival(jobs, i, now, until)
        head = heap.top[0]
        guests = 0 if head == NO_JOB else 1
        sharers = queues.total_weight(late) + guests
        late_finish = queues.until_ps_departure(late, guests)
        head_finish = INF if head == NO_JOB else jobs.left[head] * sharers
        used_up = INF if head == NO_JOB else max(heap.key[head], 0) * sharers
        step = min(late_finish, head_finish, used_up, wait)
        if step == INF:
            return
        queues.serve_ps(late, step, guests)
        if head != NO_JOB:
            heap.key[head] -= step / sharers
            jobs.left[head] -= step / sharers
        now += step
        if late_finish == step:
            complete(jobs, queues.leave_ps(late), now)
        elif head_finish == step:
            complete(jobs, pop(heap, 0), now)
        elif used_up == step:
            queues.enter_ps(late, pop(heap, 0), jobs.left[head])
        elif has_arrival(jobs, i, until):
            now = jobs.arrival[i]
            push(heap, 0, i, jobs.estimate[i])
            i += 1
        else:
            queues.unload_ps(late, jobs.left)
            return


def many_servers_fifo(jobs: LoopJobs, servers: Heap, count: int) -> None:
    """FIFO on `count` servers of speed 1: a job goes to the server that is free first.  The heap is
    of servers, by when they are free.
    """
    for server in range(count):
        push(servers, 0, server, 0)
    for job in range(len(jobs.arrival)):
        server = pop(servers, 0)
        end = max(servers.key[server], jobs.arrival[job]) + jobs.size[job]
        complete(jobs, job, end)
        push(servers, 0, server, end)


def last_done(server_job: JobLinks, end: NumberRow) -> int:
    """The server whose job is done last; of equals that of the job that came last."""
    found = 0
    for server in range(1, len(server_job)):
        if (end[server], server_job[server]) > (end[found], server_job[found]):
            found = server
    return found


def first_done(server_job: JobLinks, end: NumberRow) -> int:
    """The server whose job is done first; of equals that of the job that came first."""
    found = 0
    for server in range(1, len(server_job)):
        if (end[server], server_job[server]) < (end[found], server_job[found]):
            found = server
    return found


def many_servers_srpt(jobs: LoopJobs, waiting: Heap, server_job: JobLinks, end: NumberRow) -> None:
    """SRPT on several servers of speed 1: those jobs are served, one on each, that have the least
    left.  The heap is of the jobs that wait, by what is left of them; `server_job` is the job that
    each server has, `end` when that one is done if none takes its place.  O(servers) an event.
    """
    i = 0
    while True:
        first = first_done(server_job, end)
        if has_arrival(jobs, i, INF) and jobs.arrival[i] < end[first]:
            last = last_done(server_job, end)
            now = jobs.arrival[i]
            other = server_job[last]
            if other == NO_JOB or now + jobs.left[i] < end[last]:
                if other != NO_JOB:
                    push(waiting, 0, other, end[last] - now)
                server_job[last] = i
                end[last] = now + jobs.left[i]
            else:
                push(waiting, 0, i, jobs.left[i])
            i += 1
        elif server_job[first] != NO_JOB:
            now = end[first]
            complete(jobs, server_job[first], now)
            server_job[first] = NO_JOB
            end[first] = INF
            if waiting.top[0] != NO_JOB:
                job = pop(waiting, 0)
                server_job[first] = job
                end[first] = now + waiting.key[job]
        else:
            return
