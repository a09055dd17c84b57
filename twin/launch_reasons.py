"""Why a task is launched, for the log: where its job stood, and who was passed over before it."""

from callboard.twin.columns import (
    AMONG_LATE,
    AMONG_TRAINING,
    ANY_LEVEL,
    BY_FAIR,
    BY_VIRTUAL_TIME,
    COUNTED_RUNNING,
    KEY,
    LEFT_HIGH,
    LEFT_LOW,
    LEVEL,
    LOG_PART,
    LOG_RANK,
    LOG_REFUSALS,
    LOG_REFUSED,
    LOG_SCORE,
    LOG_SCORE_LOW,
    LOG_SKIPS,
    LOG_WAITED,
    MAPS_HERE,
    MIN_SHARE,
    NODE_WAIT,
    NONE,
    NUMBER,
    ORDER,
    PARENT,
    POOL,
    POOL_DEMAND,
    POOL_RUNNING,
    RACK_WAIT,
    RANK,
    REFUSED,
    REFUSED_ALLOWED,
    REFUSED_JOB,
    REFUSED_LEVEL,
    REFUSED_MOST,
    REFUSED_SKIPS,
    REFUSED_TOP,
    REFUSED_UNTIL,
    REFUSED_WAITED,
    SKIPS,
    SKIPS_IN_ALL,
    STANDING_BITS,
    TRAIN_KEY,
    WAIT,
    WAIT_BY_COUNT,
    WALK_PART,
    Tables,
)
from callboard.twin.locality_waits import furthest_level, waited_by_now
from callboard.twin.virtual_rates import level_at, note_left, wide_now

_IN_RACK = 1


def forget_refusals(w: Tables) -> None:
    """The order's first job is looked for anew."""
    w.state[RANK] = w.state[REFUSED] = 0


def log_refusal(w: Tables, job: int, level: int) -> None:
    """The job must wait for a node with its input: it is passed over."""
    w.state[RANK] += 1
    if w.state[REFUSED] == REFUSED_MOST:
        return
    row = w.state[REFUSED_TOP] + w.state[REFUSED]
    w.state[REFUSED] += 1
    w.refused[row, REFUSED_JOB] = w.jobs[job, NUMBER]
    w.refused[row, REFUSED_LEVEL] = level
    if w.given[WAIT] == WAIT_BY_COUNT:
        w.refused[row, REFUSED_SKIPS] = w.jobs[job, SKIPS]
        return
    w.refused[row, REFUSED_ALLOWED] = furthest_level(w, job)
    w.refused[row, REFUSED_WAITED] = waited_by_now(w, job)
    w.refused[row, REFUSED_UNTIL] = _needed_wait_ms(w, job, level)
    w.refused[row, REFUSED_SKIPS] = w.jobs[job, SKIPS_IN_ALL]


def _needed_wait_ms(w: Tables, job: int, level: int) -> int:
    """How long the job has to have waited to launch at this level."""
    if w.jobs[job, LEVEL] == _IN_RACK:
        return int(w.given[RACK_WAIT])
    if level == _IN_RACK:
        return int(w.given[NODE_WAIT])
    return int(w.given[NODE_WAIT] + w.given[RACK_WAIT])


def log_reason(w: Tables, row: int, kind: int, job: int) -> None:
    """Why the order put the job first that has the attempt in this row, which is not booked yet;
    and whom it passed over, and what the job itself had put up with.
    """
    waits = kind == MAPS_HERE and w.given[WAIT] != ANY_LEVEL
    w.log[row, LOG_RANK] = w.state[RANK] + 1 if waits else 1
    w.log[row, LOG_REFUSALS] = w.state[REFUSED_TOP]
    w.log[row, LOG_REFUSED] = w.state[REFUSED] if waits else 0
    w.log[row, LOG_SKIPS] = w.jobs[job, SKIPS_IN_ALL] if waits else 0
    w.log[row, LOG_WAITED] = waited_by_now(w, job) if waits else 0
    w.state[REFUSED_TOP] += w.log[row, LOG_REFUSED]
    w.log[row, LOG_PART] = NONE
    w.log[row, LOG_SCORE_LOW] = 0
    if w.given[ORDER] == BY_FAIR:
        _log_share(w, row, kind, job)
    elif w.given[ORDER] >= BY_VIRTUAL_TIME:
        _log_virtual_place(w, row, kind, job)
    else:
        w.log[row, LOG_SCORE] = w.jobs[job, KEY + kind] >> w.given[STANDING_BITS]


def _log_share(w: Tables, row: int, kind: int, job: int) -> None:
    """What the topmost pool above the job runs, and what it is due if it runs less than that; or
    what the job runs, if it is in no pool.  And the topmost pool that runs less than it is due.
    """
    pool = w.jobs[job, POOL]
    w.log[row, LOG_SCORE] = w.jobs[job, COUNTED_RUNNING + kind]
    while pool != 0:
        running = w.pools[pool, POOL_RUNNING + kind]
        due = min(w.pools[pool, MIN_SHARE + kind], w.pools[pool, POOL_DEMAND + kind])
        w.log[row, LOG_SCORE] = running
        w.log[row, LOG_SCORE_LOW] = due if running < due else 0
        if running < due:
            w.log[row, LOG_PART] = pool
        pool = w.pools[pool, PARENT]


def _log_virtual_place(w: Tables, row: int, kind: int, job: int) -> None:
    """Jobs among which it stood: those in training, by size; the late, of which some are too small
    to be trained; or the others, by what is left of them now.
    """
    phase, part = 2 * job + kind, w.state[WALK_PART]
    w.log[row, LOG_PART] = part
    if part == AMONG_TRAINING:
        w.log[row, LOG_SCORE] = w.virtual[phase, TRAIN_KEY] >> w.given[STANDING_BITS]
    elif part == AMONG_LATE:
        w.log[row, LOG_SCORE] = 0
        w.log[row, LOG_SCORE_LOW] = 1 if w.measures[phase] == 0.0 else 0
    else:
        time_high, time_low = wide_now(w)
        level_high, level_low = level_at(w, kind, time_high, time_low)
        note_left(w, phase, time_high, time_low, level_high, level_low)
        w.log[row, LOG_SCORE] = w.virtual[phase, LEFT_HIGH]
        w.log[row, LOG_SCORE_LOW] = w.virtual[phase, LEFT_LOW]
