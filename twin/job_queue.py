"""The jobs with pending tasks of a kind, by keys that change with their own facts.

A key is one number: what the order goes by, then the job's standing (by submission and number; for
`fifo` by priority before), so that no two are equal.  Queues are sorted arrays: a key moves a
little at a time, and all are walked far more often than that.
"""

import numpy as np

from callboard.twin.attempt_lengths import size_error, true_size
from callboard.twin.columns import (
    AT_STANDING,
    BY_FAIR,
    BY_FIFO,
    BY_LAS,
    BY_PS,
    BY_SRPT,
    DONE_TASKS,
    ENDED_COUNT,
    ENDED_TIME,
    GUESS,
    INVERSE_WEIGHT,
    KEY,
    MIDDLE_BITS,
    NONE,
    ORDER,
    OVERFLOW,
    OWN_COUNT,
    OWN_TIME,
    QUEUED,
    REQUESTED,
    RUNNING_TASKS,
    SERVED,
    SIZE_ERROR,
    SIZE_REQUESTED,
    SIZE_SOURCE,
    SIZE_TRUE,
    STANDING,
    STANDING_BITS,
    TASKS,
    TRUE_SIZE,
    WAITING_TASKS,
    Tables,
)

_KEY_BITS = 62


def queued_job(w: Tables, kind: int, place: int) -> int:
    """The job at a place of the queue."""
    standing = w.queues[kind, place] & ((1 << w.given[STANDING_BITS]) - 1)
    return int(w.jobs[standing, AT_STANDING])


def place_job(w: Tables, kind: int, job: int) -> None:
    """The job's own facts have changed: put it where it belongs, or take it out."""
    old = w.jobs[job, KEY + kind]
    new = job_key(w, kind, job) if w.jobs[job, WAITING_TASKS + kind] else NONE
    if new == old:
        return
    count = w.sums[QUEUED, kind]
    if old == NONE:
        w.sums[QUEUED, kind] = count + 1
        at = count
    else:
        at = _place_of(w, kind, old)
    if new == NONE:
        w.sums[QUEUED, kind] = count - 1
    if new == NONE or (old != NONE and new > old):
        while at + 1 < count and (new == NONE or w.queues[kind, at + 1] < new):
            w.queues[kind, at] = w.queues[kind, at + 1]
            at += 1
    else:
        while at > 0 and w.queues[kind, at - 1] > new:
            w.queues[kind, at] = w.queues[kind, at - 1]
            at -= 1
    if new != NONE:
        w.queues[kind, at] = new
    w.jobs[job, KEY + kind] = new


def _place_of(w: Tables, kind: int, key: int) -> int:
    """Where a key stands that is in the queue."""
    low, high = 0, w.sums[QUEUED, kind]
    while low < high:
        middle = (low + high) >> 1
        if w.queues[kind, middle] < key:
            low = middle + 1
        else:
            high = middle
    return int(low)


def job_key(w: Tables, kind: int, job: int) -> int:
    """The job's place in the order, as a number."""
    score = order_score(w, kind, job)
    bits = w.given[STANDING_BITS]
    if score >> (_KEY_BITS - bits):
        w.state[OVERFLOW] = 1
        score = 0
    return int((score << bits) | w.jobs[job, STANDING])


def order_score(w: Tables, kind: int, job: int) -> int:
    """What the order goes by; the least is first."""
    order, running = w.given[ORDER], w.jobs[job, RUNNING_TASKS + kind]
    if order == BY_FIFO:
        return 0
    if order == BY_FAIR:
        return int(running * w.jobs[job, INVERSE_WEIGHT])
    if order == BY_PS:
        return _joined(w, running, w.jobs[job, SERVED + kind])
    if order == BY_LAS:
        going_ms = believed_time(w, kind, job, running, 0)
        return _joined(w, w.jobs[job, OWN_TIME + kind] + going_ms, running)
    return believed_size(w, kind, job, left=order == BY_SRPT)


def believed_size(w: Tables, kind: int, job: int, left: bool) -> int:
    """How large the phase is, or what is left of it, for all that is known."""
    if w.given[SIZE_SOURCE] == SIZE_TRUE:
        if w.jobs[job, TRUE_SIZE + kind] == NONE:
            true_ms = true_size(w, kind, job)
            if w.reals[SIZE_ERROR] != 0.0:
                true_ms = int(np.rint(true_ms * size_error(w, kind, job)))
            w.jobs[job, TRUE_SIZE + kind] = true_ms
        size_ms = w.jobs[job, TRUE_SIZE + kind]
        return int(max(size_ms - w.jobs[job, OWN_TIME + kind], 0) if left else size_ms)
    tasks = w.jobs[job, TASKS + kind] - (w.jobs[job, DONE_TASKS + kind] if left else 0)
    if w.given[SIZE_SOURCE] == SIZE_REQUESTED and w.jobs[job, REQUESTED] != NONE:
        return int(tasks * w.jobs[job, REQUESTED])
    return believed_time(w, kind, job, tasks, w.given[GUESS])


def _joined(w: Tables, first: int, second: int) -> int:
    """Two numbers as one that compares like both, one after the other."""
    bits = w.given[MIDDLE_BITS]
    if first >> (_KEY_BITS - bits) or second >> bits:
        w.state[OVERFLOW] = 1
        return 0
    return int((first << bits) | second)


def believed_time(w: Tables, kind: int, job: int, tasks: int, guess_ms: int) -> int:
    """So many tasks of the mean length: of the job's own ended ones, else of all, else a guess."""
    total, count = w.jobs[job, OWN_TIME + kind], w.jobs[job, OWN_COUNT + kind]
    if count == 0:
        total, count = w.sums[ENDED_TIME, kind], w.sums[ENDED_COUNT, kind]
    if count == 0:
        return int(tasks * guess_ms)
    if tasks and total > (1 << _KEY_BITS) // tasks:
        w.state[OVERFLOW] = 1
        return 0
    return rounded_quotient(tasks * total, count)


def rounded_quotient(dividend: int, divisor: int) -> int:
    """What Python makes of `round(dividend / divisor)`: the quotient as a float, of which there is
    one for every whole and half below 2**52, and that half to even.
    """
    whole = dividend // divisor
    from_half = 2 * (dividend - whole * divisor) - divisor
    spacing = 2.0**-52
    while spacing * (1 << 52) * 2.0 <= float(whole):
        spacing *= 2.0
    if abs(from_half) <= spacing * float(divisor):
        return int(whole + (whole & 1))
    return int(whole + (from_half > 0))


def learn_length(w: Tables, kind: int, job: int, work_ms: int) -> None:
    """An attempt of the job has ended that worked so long."""
    w.jobs[job, OWN_TIME + kind] += work_ms
    w.jobs[job, OWN_COUNT + kind] += 1
    w.sums[ENDED_TIME, kind] += work_ms
    w.sums[ENDED_COUNT, kind] += 1
