"""How large a phase is taken for, by what is known: its true size, what was requested, or what its
ended tasks, or all ended ones, took.
"""

import numpy as np

from callboard.twin import columns as c
from callboard.twin.attempt_lengths import size_error, true_size
from callboard.twin.columns import Tables

_LARGEST = 1 << 62


def believed_size(w: Tables, kind: int, job: int, left: bool) -> int:
    """How large the phase is, or what is left of it, for all that is known."""
    if w.given[c.SIZE_SOURCE] == c.SIZE_TRUE:
        if w.jobs[job, c.TRUE_SIZE + kind] == c.NONE:
            true_ms = true_size(w, kind, job)
            if w.reals[c.SIZE_ERROR] != 0.0:
                true_ms = int(np.rint(true_ms * size_error(w, kind, job)))
            w.jobs[job, c.TRUE_SIZE + kind] = true_ms
        size_ms = w.jobs[job, c.TRUE_SIZE + kind]
        return int(max(size_ms - w.jobs[job, c.OWN_TIME + kind], 0) if left else size_ms)
    tasks = w.jobs[job, c.TASKS + kind] - (w.jobs[job, c.DONE_TASKS + kind] if left else 0)
    if w.given[c.SIZE_SOURCE] == c.SIZE_REQUESTED and w.jobs[job, c.REQUESTED] != c.NONE:
        return int(tasks * w.jobs[job, c.REQUESTED])
    return believed_time_of_tasks(w, kind, job, tasks, w.given[c.GUESS])


def believed_time_of_tasks(w: Tables, kind: int, job: int, tasks: int, guess_ms: int) -> int:
    """That many tasks of the mean length: of the job's that ended, else of all, else a guess."""
    total, count = w.jobs[job, c.OWN_TIME + kind], w.jobs[job, c.OWN_COUNT + kind]
    if count == 0:
        total, count = w.sums[c.ENDED_TIME, kind], w.sums[c.ENDED_COUNT, kind]
    if count == 0:
        return int(tasks * guess_ms)
    return multiple_of_mean(w, total, count, tasks)


def multiple_of_mean(w: Tables, total: int, count: int, tasks: int) -> int:
    """That many times the mean of that many numbers that add up to the total, rounded."""
    if tasks and total > _LARGEST // tasks:
        w.state[c.OVERFLOW] = 1
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
    learn_length_of_its_job(w, kind, job, work_ms)
    w.sums[c.ENDED_TIME, kind] += work_ms
    w.sums[c.ENDED_COUNT, kind] += 1


def learn_length_of_its_job(w: Tables, kind: int, job: int, work_ms: int) -> None:
    """The same, to be kept from other jobs."""
    w.jobs[job, c.OWN_TIME + kind] += work_ms
    w.jobs[job, c.OWN_COUNT + kind] += 1
