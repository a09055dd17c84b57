"""Caps on running jobs: which jobs of pools and users may launch tasks.

Jobs are taken in line, by priority and submission; one may launch tasks if its user and each of its
pools still has a place.  All that are there are gone through whenever one comes or goes.
"""

from callboard.twin.columns import (
    HAS_CAPS,
    IN_LINE_LIST,
    JOBS_ADMITTED,
    JOBS_IN_LINE,
    MAX_JOBS,
    NONE,
    PARENT,
    PLACE_IN_LINE,
    POOL,
    RUNNABLE,
    USER,
    Tables,
)
from callboard.twin.job_lists import remove_from_list
from callboard.twin.job_queue import place_job


def enter_line(w: Tables, job: int) -> None:
    """A job has come."""
    if not w.given[HAS_CAPS]:
        return
    at = w.state[JOBS_IN_LINE]
    while at > 0 and _place_of_job(w, at - 1) > w.jobs[job, PLACE_IN_LINE]:
        w.lists[IN_LINE_LIST, at] = w.lists[IN_LINE_LIST, at - 1]
        at -= 1
    w.lists[IN_LINE_LIST, at] = job
    w.state[JOBS_IN_LINE] += 1
    _admit_in_turn(w)


def leave_line(w: Tables, job: int) -> None:
    """A job has gone."""
    if not w.given[HAS_CAPS]:
        return
    remove_from_list(w, IN_LINE_LIST, w.state[JOBS_IN_LINE], job)
    w.state[JOBS_IN_LINE] -= 1
    _admit_in_turn(w)


def _place_of_job(w: Tables, at: int) -> int:
    return int(w.jobs[w.lists[IN_LINE_LIST, at], PLACE_IN_LINE])


def _admit_in_turn(w: Tables) -> None:
    w.pools[:, JOBS_ADMITTED] = 0
    w.users[:, 1] = 0
    for at in range(w.state[JOBS_IN_LINE]):
        job = w.lists[IN_LINE_LIST, at]
        fits = _has_place(w, job)
        if fits:
            _count_in(w, job)
        if fits != (w.jobs[job, RUNNABLE] == 1):
            w.jobs[job, RUNNABLE] = 1 if fits else 0
            for kind in range(2):
                place_job(w, kind, job)


def _has_place(w: Tables, job: int) -> bool:
    user, pool = w.jobs[job, USER], w.jobs[job, POOL]
    if w.users[user, 0] != NONE and w.users[user, 1] >= w.users[user, 0]:
        return False
    while pool != 0:
        cap = w.pools[pool, MAX_JOBS]
        if cap != NONE and w.pools[pool, JOBS_ADMITTED] >= cap:
            return False
        pool = w.pools[pool, PARENT]
    return True


def _count_in(w: Tables, job: int) -> None:
    w.users[w.jobs[job, USER], 1] += 1
    pool = w.jobs[job, POOL]
    while pool != 0:
        w.pools[pool, JOBS_ADMITTED] += 1
        pool = w.pools[pool, PARENT]
