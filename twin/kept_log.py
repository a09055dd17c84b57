"""The log of attempts, where one is kept: what a journal of the run is to tell of each.

Rows whose attempts are over may be taken away between two instants (`twin.told_events`), so that a
row's place is no attempt's number.
"""

from callboard.twin.columns import (
    BERTH,
    DONE_TASKS,
    ENDS_MAPS,
    ENDS_TASKS,
    ESTIMATE_BY,
    ESTIMATE_JOB,
    ESTIMATE_KIND,
    ESTIMATE_LEFT,
    ESTIMATE_MS,
    ESTIMATE_SIZE,
    ESTIMATE_TOLD,
    ESTIMATED,
    ESTIMATES_TOP,
    FREED,
    FREED_BY,
    IN_SLOT,
    LATER,
    LAUNCHED,
    LETS_REDUCE,
    LOG_ATTEMPT,
    LOG_CLOSE_TOLD,
    LOG_CLOSED,
    LOG_ENDED,
    LOG_FREED_BY,
    LOG_JOB,
    LOG_KIND,
    LOG_LAUNCH_TOLD,
    LOG_LAUNCHED,
    LOG_LEVEL,
    LOG_MADE_WAY,
    LOG_NODE,
    LOG_NUMBER,
    LOG_ROW,
    LOG_SHUFFLED,
    LOG_SLOT,
    LOG_STAGE,
    LOG_TASK,
    LOG_TOP,
    MAPS_HERE,
    NODE,
    NONE,
    NOW,
    OF_KIND,
    OF_STAGE,
    OF_TASK,
    OF_TASKS,
    OVER,
    REDUCES_HERE,
    SHUFFLED,
    SLOWSTART,
    TASKS,
    TOLD,
    Tables,
)
from callboard.twin.launch_reasons import log_reason

# Attempts.


def log_launch(w: Tables, at: int, berth: int, job: int, level: int, number: int) -> None:
    """An attempt is launched on the node at that place."""
    row, kind = w.state[LOG_TOP], w.berths[berth, OF_KIND]
    w.state[LOG_TOP] += 1
    w.berths[berth, LOG_ROW] = row
    w.log[row, LOG_JOB] = job
    w.log[row, LOG_KIND] = kind
    w.log[row, LOG_TASK] = w.berths[berth, OF_TASK]
    w.log[row, LOG_NODE] = w.nodes[at, NODE]
    w.log[row, LOG_SLOT] = w.berths[berth, IN_SLOT]
    w.log[row, LOG_LEVEL] = level
    w.log[row, LOG_LAUNCHED] = w.state[NOW]
    w.log[row, LOG_SHUFFLED] = LATER
    w.log[row, LOG_ENDED] = LATER
    w.log[row, LOG_CLOSED] = NONE
    w.log[row, LOG_ATTEMPT] = w.state[LAUNCHED]
    w.log[row, LOG_STAGE] = w.berths[berth, OF_STAGE]
    w.log[row, LOG_NUMBER] = number
    w.log[row, LOG_LAUNCH_TOLD] = next_told(w)
    w.log[row, LOG_FREED_BY] = _freed_by(w, at, kind)
    w.log[row, LOG_MADE_WAY] = 0
    if w.berths[berth, OF_STAGE] == OF_TASKS:
        log_reason(w, row, kind, job)


def next_told(w: Tables) -> int:
    """The place of what the master tells now."""
    w.state[TOLD] += 1
    return int(w.state[TOLD])


def _freed_by(w: Tables, at: int, kind: int) -> int:
    """Whose booked end freed the slot that is taken: the oldest that nothing has taken since."""
    freed = w.nodes[at, FREED + kind]
    if freed == 0:
        return NONE
    first = w.nodes[at, BERTH + kind]
    attempt = w.berths[first, FREED_BY]
    for place in range(first + 1, first + freed):
        w.berths[place - 1, FREED_BY] = w.berths[place, FREED_BY]
    w.nodes[at, FREED + kind] = freed - 1
    return int(attempt)


def log_end(w: Tables, berth: int) -> None:
    """It is known when the attempt ends."""
    row = w.berths[berth, LOG_ROW]
    w.log[row, LOG_SHUFFLED] = w.berths[berth, SHUFFLED]
    w.log[row, LOG_ENDED] = w.berths[berth, OVER]


def log_close(w: Tables, at: int, berth: int) -> None:
    """The attempt's end is booked."""
    row, kind = w.berths[berth, LOG_ROW], w.berths[berth, OF_KIND]
    w.log[row, LOG_CLOSED] = w.state[NOW]
    w.log[row, LOG_CLOSE_TOLD] = next_told(w)
    place = w.nodes[at, BERTH + kind] + w.nodes[at, FREED + kind]
    w.berths[place, FREED_BY] = w.log[row, LOG_ATTEMPT]
    w.nodes[at, FREED + kind] += 1


def log_done_task(w: Tables, berth: int, job: int) -> None:
    """The booked end is that of a task, which is done now."""
    row, kind = w.berths[berth, LOG_ROW], w.berths[berth, OF_KIND]
    maps, reduces = w.jobs[job, TASKS], w.jobs[job, TASKS + REDUCES_HERE]
    done = w.jobs[job, DONE_TASKS]
    if kind == MAPS_HERE and reduces and done == w.jobs[job, SLOWSTART]:
        w.log[row, LOG_MADE_WAY] |= LETS_REDUCE
    if kind == MAPS_HERE and done == maps:
        w.log[row, LOG_MADE_WAY] |= ENDS_MAPS
    if done == maps and w.jobs[job, DONE_TASKS + REDUCES_HERE] == reduces:
        w.log[row, LOG_MADE_WAY] |= ENDS_TASKS


# Sizes.


def log_estimate(w: Tables, kind: int, job: int, left_ms: int, attempt: int) -> None:
    """A phase has been measured, by the end of this attempt or by what a heartbeat tells."""
    row = w.state[ESTIMATES_TOP]
    w.state[ESTIMATES_TOP] += 1
    w.estimates[row, ESTIMATE_MS] = w.state[NOW]
    w.estimates[row, ESTIMATE_TOLD] = next_told(w)
    w.estimates[row, ESTIMATE_JOB] = job
    w.estimates[row, ESTIMATE_KIND] = kind
    w.estimates[row, ESTIMATE_SIZE] = w.virtual[2 * job + kind, ESTIMATED]
    w.estimates[row, ESTIMATE_LEFT] = left_ms
    w.estimates[row, ESTIMATE_BY] = attempt
