"""Caps on running jobs: which jobs of pools and users may launch tasks.

Jobs are taken in line, by priority and submission; one may launch tasks if its user and each of its
pools still has a place.  All that are there are gone through whenever one comes or goes.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.job_lists import remove_from_list
from callboard.twin.job_queue import place_job


def enter_line(w: Tables, job: int) -> None:
    """A job has come."""
    if not w.given[c.HAS_CAPS]:
        return
    at = w.state[c.JOBS_IN_LINE]
    while at > 0 and _place_of_job(w, at - 1) > w.jobs[job, c.PLACE_IN_LINE]:
        w.lists[c.IN_LINE_LIST, at] = w.lists[c.IN_LINE_LIST, at - 1]
        at -= 1
    w.lists[c.IN_LINE_LIST, at] = job
    w.state[c.JOBS_IN_LINE] += 1
    _admit_in_turn(w)


def leave_line(w: Tables, job: int) -> None:
    """A job has gone."""
    if not w.given[c.HAS_CAPS]:
        return
    remove_from_list(w, c.IN_LINE_LIST, w.state[c.JOBS_IN_LINE], job)
    w.state[c.JOBS_IN_LINE] -= 1
    _admit_in_turn(w)


def _place_of_job(w: Tables, at: int) -> int:
    return int(w.jobs[w.lists[c.IN_LINE_LIST, at], c.PLACE_IN_LINE])


def _admit_in_turn(w: Tables) -> None:
    w.pools[:, c.JOBS_ADMITTED] = 0
    w.users[:, 1] = 0
    for at in range(w.state[c.JOBS_IN_LINE]):
        job = w.lists[c.IN_LINE_LIST, at]
        fits = _has_place(w, job)
        if fits:
            _count_in(w, job)
        if fits != (w.jobs[job, c.RUNNABLE] == 1):
            w.jobs[job, c.RUNNABLE] = 1 if fits else 0
            for kind in range(2):
                place_job(w, kind, job)


def _has_place(w: Tables, job: int) -> bool:
    user, pool = w.jobs[job, c.USER], w.jobs[job, c.POOL]
    if w.users[user, 0] != c.NONE and w.users[user, 1] >= w.users[user, 0]:
        return False
    while pool != 0:
        cap = w.pools[pool, c.MAX_JOBS]
        if cap != c.NONE and w.pools[pool, c.JOBS_ADMITTED] >= cap:
            return False
        pool = w.pools[pool, c.PARENT]
    return True


def _count_in(w: Tables, job: int) -> None:
    w.users[w.jobs[job, c.USER], 1] += 1
    pool = w.jobs[job, c.POOL]
    while pool != 0:
        w.pools[pool, c.JOBS_ADMITTED] += 1
        pool = w.pools[pool, c.PARENT]
