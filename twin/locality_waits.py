"""Delay scheduling: which jobs wait for a node with their input, and how long they have.

A *map decision* is an offer in which a map was launched or a job was passed over for one.  Who was
passed over, and got no map in the same offer, is credited with the time up to the next decision.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.job_lists import remove_from_list

_ON_NODE, _IN_RACK, _OFF_RACK = range(3)


def may_launch_at(w: Tables, job: int, level: int) -> bool:
    """Whether the job has waited long enough for a map at this level."""
    return bool(level == _ON_NODE or level <= furthest_level(w, job))


def furthest_level(w: Tables, job: int) -> int:
    """The furthest level at which the job may launch a map now."""
    if w.given[c.WAIT] == c.WAIT_BY_COUNT:
        return _OFF_RACK if w.jobs[job, c.SKIPS] >= w.given[c.SKIPS_MAX] else _ON_NODE
    level = w.jobs[job, c.LEVEL]
    if level == _OFF_RACK:
        return _OFF_RACK
    waited_ms = waited_by_now(w, job)
    if level == _IN_RACK:
        return _OFF_RACK if waited_ms >= w.given[c.RACK_WAIT] else _IN_RACK
    if waited_ms >= w.given[c.NODE_WAIT] + w.given[c.RACK_WAIT]:
        return _OFF_RACK
    return _IN_RACK if waited_ms >= w.given[c.NODE_WAIT] else _ON_NODE


def waited_by_now(w: Tables, job: int) -> int:
    """How long the job has waited since its last map was launched, as far as that is credited."""
    waited_ms = w.jobs[job, c.WAITED]
    if w.jobs[job, c.IS_SKIPPED]:
        waited_ms += w.state[c.NOW] - w.state[c.DECIDED]
    return int(waited_ms)


def pass_over(w: Tables, job: int) -> None:
    """The offer comes by the job and gives it nothing."""
    if w.jobs[job, c.PASSED_IN] != w.state[c.OFFERS]:
        w.jobs[job, c.PASSED_IN] = w.state[c.OFFERS]
        w.lists[c.PASSED_LIST, w.state[c.PASSED]] = job
        w.state[c.PASSED] += 1


def end_wait(w: Tables, job: int, level: int) -> None:
    """A map of the job is launched at this level."""
    w.jobs[job, c.LEVEL] = level
    w.jobs[job, c.WAITED] = w.jobs[job, c.SKIPS_IN_ALL] = 0
    if level == _ON_NODE:
        w.jobs[job, c.SKIPS] = 0
    w.jobs[job, c.SERVED_IN] = w.state[c.OFFERS]
    w.state[c.MAP_GIVEN] = 1
    drop_skipped_job(w, job)


def drop_skipped_job(w: Tables, job: int) -> None:
    """The job is no longer one that the last decision passed over."""
    if not w.jobs[job, c.IS_SKIPPED]:
        return
    w.jobs[job, c.IS_SKIPPED] = 0
    remove_from_list(w, c.SKIPPED_LIST, w.state[c.SKIPPED], job)
    w.state[c.SKIPPED] -= 1


def credit_passed_over_jobs(w: Tables) -> None:
    """The offer is over: credit the jobs that the last decision passed over, and note these."""
    passed = _drop_served_jobs(w)
    if passed == 0 and not w.state[c.MAP_GIVEN]:
        return
    w.state[c.MAP_GIVEN] = 0
    since_ms = w.state[c.NOW] - w.state[c.DECIDED]
    if since_ms:
        for at in range(w.state[c.SKIPPED]):
            job = w.lists[c.SKIPPED_LIST, at]
            w.jobs[job, c.WAITED] += since_ms
            w.jobs[job, c.IS_SKIPPED] = 0
        w.state[c.SKIPPED] = 0
        w.state[c.DECIDED] = w.state[c.NOW]
    for at in range(passed):
        job = w.lists[c.PASSED_LIST, at]
        w.jobs[job, c.SKIPS] += 1
        w.jobs[job, c.SKIPS_IN_ALL] += 1
        if not w.jobs[job, c.IS_SKIPPED]:
            w.jobs[job, c.IS_SKIPPED] = 1
            w.lists[c.SKIPPED_LIST, w.state[c.SKIPPED]] = job
            w.state[c.SKIPPED] += 1


def _drop_served_jobs(w: Tables) -> int:
    """Leave on the list only those that got no map in this offer; how many they are."""
    kept = 0
    for at in range(w.state[c.PASSED]):
        job = w.lists[c.PASSED_LIST, at]
        if w.jobs[job, c.SERVED_IN] != w.state[c.OFFERS]:
            w.lists[c.PASSED_LIST, kept] = job
            kept += 1
    w.state[c.PASSED] = 0
    return kept
