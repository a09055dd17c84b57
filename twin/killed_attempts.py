"""Attempts that are killed, and their tasks, which run again.

An order to kill goes to its node with the answer to the node's next heartbeat; what has ended by
then has not been killed.  A task that is to run again goes before its job's others, the most often
killed first, and counts as local everywhere.
"""

from callboard.twin.attempt_lengths import round_of_end, set_attempt_end
from callboard.twin.block_lists import place_of_mark
from callboard.twin.columns import (
    AGAIN,
    BERTH,
    FETCHES_NEXT,
    FETCHING,
    HAS,
    KILL_IN_VAIN,
    KILL_ORDERED,
    KILLED,
    KILLED_COUNT,
    KILLING,
    LATENCY,
    LATER,
    LOST,
    MAPPED,
    MAPS_HERE,
    NONE,
    NOW,
    OF_JOB,
    OF_KIND,
    OF_TASK,
    OVER,
    PENDING,
    RUNNING_TASKS,
    SHUFFLED,
    TASKS,
    WAITING_TASKS,
    Tables,
)
from callboard.twin.job_queue import place_job

_TAKEN, _WAITS, _TIMES = 1, 2, 4
"""What a mark says of a task: that it was launched, that it waits to run again, and how often it
has been killed.
"""


# Orders.


def send_kills(w: Tables, at: int) -> None:
    """The answer to the node's heartbeat brings the orders that wait for it."""
    first = w.nodes[at, BERTH + MAPS_HERE]
    for berth in range(first, first + w.nodes[at, HAS] + w.nodes[at, HAS + 1]):
        if w.berths[berth, OF_JOB] != NONE and w.berths[berth, KILLING] == KILL_ORDERED:
            _kill_attempt(w, berth, w.state[NOW] + w.given[LATENCY])


def _kill_attempt(w: Tables, berth: int, killed_ms: int) -> None:
    """The order reaches the attempt then, if it still runs; it comes before what ends in a later
    round of that instant.
    """
    over_ms = w.berths[berth, OVER]
    is_last = over_ms == killed_ms and round_of_end(w, berth) > 0
    if over_ms < killed_ms or (over_ms == killed_ms and not is_last):
        w.berths[berth, KILLING] = KILL_IN_VAIN
        return
    w.berths[berth, KILLING] = KILLED
    if w.berths[berth, OF_KIND] != MAPS_HERE and w.berths[berth, SHUFFLED] > killed_ms:
        w.berths[berth, SHUFFLED] = LATER
        if w.jobs[w.berths[berth, OF_JOB], MAPPED] == NONE:
            _stop_fetching(w, berth)
    set_attempt_end(w, berth, killed_ms)


def _stop_fetching(w: Tables, berth: int) -> None:
    """The reduce no longer waits for its job's last map."""
    job, following = w.berths[berth, OF_JOB], w.berths[berth, FETCHES_NEXT]
    other = w.jobs[job, FETCHING]
    if other == berth:
        w.jobs[job, FETCHING] = following
        return
    while w.berths[other, FETCHES_NEXT] != berth:
        other = w.berths[other, FETCHES_NEXT]
    w.berths[other, FETCHES_NEXT] = following


# Tasks that run again.


def lose_task(w: Tables, berth: int) -> None:
    """The attempt was killed: its task is nobody's until its job asks for it again."""
    job, kind = w.berths[berth, OF_JOB], w.berths[berth, OF_KIND]
    w.jobs[job, RUNNING_TASKS + kind] -= 1
    w.state[KILLED_COUNT] += 1
    at = w.state[LOST]
    w.lost[at, 0], w.lost[at, 1], w.lost[at, 2] = job, kind, w.berths[berth, OF_TASK]
    w.state[LOST] += 1
    place_job(w, kind, job)


def ask_again(w: Tables) -> None:
    """Jobs ask again for the tasks that they have heard to be lost."""
    for at in range(w.state[LOST]):
        job, kind, task = w.lost[at, 0], w.lost[at, 1], w.lost[at, 2]
        mark = place_of_mark(w, job, kind, task)
        w.links[mark] = (w.links[mark] | _WAITS) + _TIMES
        w.jobs[job, AGAIN + kind] += 1
        w.jobs[job, WAITING_TASKS + kind] += 1
        w.sums[PENDING, kind] += 1
        place_job(w, kind, job)
    w.state[LOST] = 0


def take_again(w: Tables, job: int, kind: int) -> int:
    """The job's task that runs again first: the most often killed, then the lowest."""
    found, most = 0, 0
    for task in range(w.jobs[job, TASKS + kind]):
        mark = w.links[place_of_mark(w, job, kind, task)]
        if mark & _WAITS and mark > most:
            found, most = task, mark
    w.links[place_of_mark(w, job, kind, found)] = most - _WAITS
    w.jobs[job, AGAIN + kind] -= 1
    return found


def times_killed(w: Tables, job: int, kind: int, task: int) -> int:
    """How many attempts of the task were killed."""
    return int(w.links[place_of_mark(w, job, kind, task)] // _TIMES)
