"""Why a task is launched, for the log: where its job stood, and who was passed over before it."""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.locality_waits import furthest_level, waited_by_now
from callboard.twin.virtual_rates import level_at, note_left, wide_now

_IN_RACK = 1


def forget_refusals(w: Tables) -> None:
    """The order's first job is looked for anew."""
    w.state[c.RANK] = w.state[c.REFUSED] = 0


def log_refusal(w: Tables, job: int, level: int) -> None:
    """The job must wait for a node with its input: it is passed over."""
    w.state[c.RANK] += 1
    if w.state[c.REFUSED] == c.REFUSED_MOST:
        return
    row = w.state[c.REFUSED_TOP] + w.state[c.REFUSED]
    w.state[c.REFUSED] += 1
    w.refused[row, c.REFUSED_JOB] = w.jobs[job, c.NUMBER]
    w.refused[row, c.REFUSED_LEVEL] = level
    if w.given[c.WAIT] == c.WAIT_BY_COUNT:
        w.refused[row, c.REFUSED_SKIPS] = w.jobs[job, c.SKIPS]
        return
    w.refused[row, c.REFUSED_ALLOWED] = furthest_level(w, job)
    w.refused[row, c.REFUSED_WAITED] = waited_by_now(w, job)
    w.refused[row, c.REFUSED_UNTIL] = _needed_wait_ms(w, job, level)
    w.refused[row, c.REFUSED_SKIPS] = w.jobs[job, c.SKIPS_IN_ALL]


def _needed_wait_ms(w: Tables, job: int, level: int) -> int:
    """How long the job has to have waited to launch at this level."""
    if w.jobs[job, c.LEVEL] == _IN_RACK:
        return int(w.given[c.RACK_WAIT])
    if level == _IN_RACK:
        return int(w.given[c.NODE_WAIT])
    return int(w.given[c.NODE_WAIT] + w.given[c.RACK_WAIT])


def log_reason(w: Tables, row: int, kind: int, job: int) -> None:
    """Why the order put the job first that has the attempt in this row, which is not booked yet;
    and whom it passed over, and what the job itself had put up with.
    """
    waits = kind == c.MAPS_HERE and w.given[c.WAIT] != c.ANY_LEVEL
    w.log[row, c.LOG_RANK] = w.state[c.RANK] + 1 if waits else 1
    w.log[row, c.LOG_REFUSALS] = w.state[c.REFUSED_TOP]
    w.log[row, c.LOG_REFUSED] = w.state[c.REFUSED] if waits else 0
    w.log[row, c.LOG_SKIPS] = w.jobs[job, c.SKIPS_IN_ALL] if waits else 0
    w.log[row, c.LOG_WAITED] = waited_by_now(w, job) if waits else 0
    w.state[c.REFUSED_TOP] += w.log[row, c.LOG_REFUSED]
    w.log[row, c.LOG_PART] = c.NONE
    w.log[row, c.LOG_SCORE_LOW] = 0
    if w.given[c.ORDER] == c.BY_FAIR:
        _log_share(w, row, kind, job)
    elif w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        _log_virtual_place(w, row, kind, job)
    else:
        w.log[row, c.LOG_SCORE] = w.jobs[job, c.KEY + kind] >> w.given[c.STANDING_BITS]


def _log_share(w: Tables, row: int, kind: int, job: int) -> None:
    """What the topmost pool above the job runs, and what it is due if it runs less than that; or
    what the job runs, if it is in no pool.  And the topmost pool that runs less than it is due.
    """
    pool = w.jobs[job, c.POOL]
    w.log[row, c.LOG_SCORE] = w.jobs[job, c.COUNTED_RUNNING + kind]
    while pool != 0:
        running = w.pools[pool, c.POOL_RUNNING + kind]
        due = min(w.pools[pool, c.MIN_SHARE + kind], w.pools[pool, c.POOL_DEMAND + kind])
        w.log[row, c.LOG_SCORE] = running
        w.log[row, c.LOG_SCORE_LOW] = due if running < due else 0
        if running < due:
            w.log[row, c.LOG_PART] = pool
        pool = w.pools[pool, c.PARENT]


def _log_virtual_place(w: Tables, row: int, kind: int, job: int) -> None:
    """Jobs among which it stood: those in training, by size; the late, of which some are too small
    to be trained; or the others, by what is left of them now.
    """
    phase, part = 2 * job + kind, w.state[c.WALK_PART]
    w.log[row, c.LOG_PART] = part
    if part == c.AMONG_TRAINING:
        w.log[row, c.LOG_SCORE] = w.virtual[phase, c.TRAIN_KEY] >> w.given[c.STANDING_BITS]
    elif part == c.AMONG_LATE:
        w.log[row, c.LOG_SCORE] = 0
        w.log[row, c.LOG_SCORE_LOW] = 1 if w.measures[phase] == 0.0 else 0
    else:
        time_high, time_low = wide_now(w)
        level_high, level_low = level_at(w, kind, time_high, time_low)
        note_left(w, phase, time_high, time_low, level_high, level_low)
        w.log[row, c.LOG_SCORE] = w.virtual[phase, c.LEFT_HIGH]
        w.log[row, c.LOG_SCORE_LOW] = w.virtual[phase, c.LEFT_LOW]
