"""The log of attempts, where one is kept: what a journal of the run is to tell of each.

Rows whose attempts are over may be taken away between two instants (`twin.told_events`), so that a
row's place is no attempt's number.
"""

from callboard.twin import columns as c
from callboard.twin.columns import Tables
from callboard.twin.launch_reasons import log_reason

# Attempts.


def log_launch(w: Tables, at: int, berth: int, job: int, level: int, number: int) -> None:
    """An attempt is launched on the node at that place."""
    row, kind = w.state[c.LOG_TOP], w.berths[berth, c.OF_KIND]
    w.state[c.LOG_TOP] += 1
    w.berths[berth, c.LOG_ROW] = row
    w.log[row, c.LOG_JOB] = job
    w.log[row, c.LOG_KIND] = kind
    w.log[row, c.LOG_TASK] = w.berths[berth, c.OF_TASK]
    w.log[row, c.LOG_NODE] = w.nodes[at, c.NODE]
    w.log[row, c.LOG_SLOT] = w.berths[berth, c.IN_SLOT]
    w.log[row, c.LOG_LEVEL] = level
    w.log[row, c.LOG_LAUNCHED] = w.state[c.NOW]
    w.log[row, c.LOG_SHUFFLED] = c.LATER
    w.log[row, c.LOG_ENDED] = c.LATER
    w.log[row, c.LOG_CLOSED] = c.NONE
    w.log[row, c.LOG_ATTEMPT] = w.state[c.LAUNCHED]
    w.log[row, c.LOG_STAGE] = w.berths[berth, c.OF_STAGE]
    w.log[row, c.LOG_NUMBER] = number
    w.log[row, c.LOG_LAUNCH_TOLD] = next_told(w)
    w.log[row, c.LOG_FREED_BY] = _freed_by(w, at, kind)
    w.log[row, c.LOG_MADE_WAY] = 0
    if w.berths[berth, c.OF_STAGE] == c.OF_TASKS:
        log_reason(w, row, kind, job)


def next_told(w: Tables) -> int:
    """The place of what the master tells now."""
    w.state[c.TOLD] += 1
    return int(w.state[c.TOLD])


def _freed_by(w: Tables, at: int, kind: int) -> int:
    """Whose booked end freed the slot that is taken: the oldest that nothing has taken since."""
    freed = w.nodes[at, c.FREED + kind]
    if freed == 0:
        return c.NONE
    first = w.nodes[at, c.BERTH + kind]
    attempt = w.berths[first, c.FREED_BY]
    for place in range(first + 1, first + freed):
        w.berths[place - 1, c.FREED_BY] = w.berths[place, c.FREED_BY]
    w.nodes[at, c.FREED + kind] = freed - 1
    return int(attempt)


def log_end(w: Tables, berth: int) -> None:
    """It is known when the attempt ends."""
    row = w.berths[berth, c.LOG_ROW]
    w.log[row, c.LOG_SHUFFLED] = w.berths[berth, c.SHUFFLED]
    w.log[row, c.LOG_ENDED] = w.berths[berth, c.OVER]


def log_close(w: Tables, at: int, berth: int) -> None:
    """The attempt's end is booked."""
    row, kind = w.berths[berth, c.LOG_ROW], w.berths[berth, c.OF_KIND]
    w.log[row, c.LOG_CLOSED] = w.state[c.NOW]
    w.log[row, c.LOG_CLOSE_TOLD] = next_told(w)
    place = w.nodes[at, c.BERTH + kind] + w.nodes[at, c.FREED + kind]
    w.berths[place, c.FREED_BY] = w.log[row, c.LOG_ATTEMPT]
    w.nodes[at, c.FREED + kind] += 1


def log_done_task(w: Tables, berth: int, job: int) -> None:
    """The booked end is that of a task, which is done now."""
    row, kind = w.berths[berth, c.LOG_ROW], w.berths[berth, c.OF_KIND]
    maps, reduces = w.jobs[job, c.TASKS], w.jobs[job, c.TASKS + c.REDUCES_HERE]
    done = w.jobs[job, c.DONE_TASKS]
    if kind == c.MAPS_HERE and reduces and done == w.jobs[job, c.SLOWSTART]:
        w.log[row, c.LOG_MADE_WAY] |= c.LETS_REDUCE
    if kind == c.MAPS_HERE and done == maps:
        w.log[row, c.LOG_MADE_WAY] |= c.ENDS_MAPS
    if done == maps and w.jobs[job, c.DONE_TASKS + c.REDUCES_HERE] == reduces:
        w.log[row, c.LOG_MADE_WAY] |= c.ENDS_TASKS


# Sizes.


def log_estimate(w: Tables, kind: int, job: int, left_ms: int, attempt: int) -> None:
    """A phase has been measured, by the end of this attempt or by what a heartbeat tells."""
    row = w.state[c.ESTIMATES_TOP]
    w.state[c.ESTIMATES_TOP] += 1
    w.estimates[row, c.ESTIMATE_MS] = w.state[c.NOW]
    w.estimates[row, c.ESTIMATE_TOLD] = next_told(w)
    w.estimates[row, c.ESTIMATE_JOB] = job
    w.estimates[row, c.ESTIMATE_KIND] = kind
    w.estimates[row, c.ESTIMATE_SIZE] = w.virtual[2 * job + kind, c.ESTIMATED]
    w.estimates[row, c.ESTIMATE_LEFT] = left_ms
    w.estimates[row, c.ESTIMATE_BY] = attempt
