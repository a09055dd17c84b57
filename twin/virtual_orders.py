"""What orders by virtual time make of what the master hears, and their queue: who has training
tasks to launch while there are training slots, the late, then the others.
"""

from callboard.twin import columns as c
from callboard.twin.believed_sizes import learn_length, learn_length_of_its_job
from callboard.twin.columns import Tables
from callboard.twin.trained_phases import (
    begin_training_task,
    end_training_task,
    estimate_anew,
    leave_training_slot,
)
from callboard.twin.virtual_line import sort_line
from callboard.twin.virtual_phases import (
    LATE_POOL,
    TRAINING_POOL,
    catch_up,
    correct_once,
    leave_phases,
    place_phase,
)

# What is heard.


def hear_launch(w: Tables, berth: int) -> None:
    """An attempt of a task is launched."""
    place_phase(w, w.berths[berth, c.OF_KIND], w.berths[berth, c.OF_JOB])
    if w.given[c.ORDER] == c.BY_HFSP:
        begin_training_task(w, berth)


def hear_end(w: Tables, berth: int, work_ms: int) -> None:
    """An attempt has done its task."""
    job, kind = w.berths[berth, c.OF_JOB], w.berths[berth, c.OF_KIND]
    if w.given[c.ORDER] != c.BY_HFSP:
        learn_length(w, kind, job, work_ms)
        place_phase(w, kind, job)
        if w.given[c.SIZE_SOURCE] == c.SIZE_LEARNT and w.jobs[job, c.DONE_TASKS + kind] == 1:
            correct_once(w, kind, job)
        return
    learn_length_of_its_job(w, kind, job, work_ms)
    leave_training_slot(w, berth)
    if w.virtual[2 * job + kind, c.IN_TRAINING]:
        end_training_task(w, berth, work_ms)
        return
    place_phase(w, kind, job)
    if w.given[c.FLAPS]:
        estimate_anew(w, kind, job)


def hear_job_end(w: Tables, job: int) -> None:
    """The job has ended; what HFSP goes by at first are the tasks of jobs that have."""
    leave_phases(w, job)
    if w.given[c.ORDER] == c.BY_HFSP:
        for kind in range(2):
            w.sums[c.ENDED_TIME, kind] += w.jobs[job, c.OWN_TIME + kind]
            w.sums[c.ENDED_COUNT, kind] += w.jobs[job, c.OWN_COUNT + kind]


# The queue.


def begin_virtual_walk(w: Tables, kind: int) -> None:
    """Begin at the front."""
    catch_up(w, kind)
    trains = w.sums[c.TRAINING_SLOTS, kind] < w.given[c.TRAINING_SLOTS_MAX]
    w.state[c.WALK_TRAINS] = 1 if trains else 0
    w.state[c.WALK_PART] = c.AMONG_TRAINING if trains else c.AMONG_LATE
    w.state[c.WALK_AT] = 0


def walk_virtually(w: Tables, kind: int) -> int:
    """The next job; none at the end."""
    while w.state[c.WALK_PART] != c.AT_THE_END:
        job = _next_of_part(w, kind)
        if job == c.NONE:
            w.state[c.WALK_PART] += 1
            w.state[c.WALK_AT] = 0
            if w.state[c.WALK_PART] == c.AMONG_OTHERS:
                sort_line(w, kind)
        elif w.state[c.WALK_PART] == c.AMONG_TRAINING or not _was_told(w, kind, job):
            return job
    return c.NONE


def _next_of_part(w: Tables, kind: int) -> int:
    at, part = w.state[c.WALK_AT], w.state[c.WALK_PART]
    w.state[c.WALK_AT] += 1
    if part == c.AMONG_OTHERS:
        return (
            int(w.lists[c.WAITING_LIST + kind, at]) if at < w.sums[c.WAITING_LINE, kind] else c.NONE
        )
    pool = TRAINING_POOL if part == c.AMONG_TRAINING else LATE_POOL
    if at == w.pools[pool, c.QUEUED + kind]:
        return c.NONE
    key = w.queues[kind, w.pools[pool, c.QUEUE_START] + at]
    return int(w.standings[key & ((1 << w.given[c.STANDING_BITS]) - 1)])


def _was_told(w: Tables, kind: int, job: int) -> bool:
    """Whether the job has come already, for its training."""
    return bool(w.state[c.WALK_TRAINS] and w.virtual[2 * job + kind, c.TRAIN_KEY] != c.NONE)
