"""Attempts that are killed, and their tasks, which run again.

An order to kill goes to its node with the answer to the node's next heartbeat; what has ended by
then has not been killed.  A task that is to run again goes before its job's others, the most often
killed first, and counts as local everywhere.
"""

from callboard.twin import columns as c
from callboard.twin.attempt_lengths import round_of_end, set_attempt_end
from callboard.twin.block_lists import place_of_mark
from callboard.twin.columns import Tables
from callboard.twin.job_queue import place_job

_TAKEN, _WAITS, _TIMES = 1, 2, 4
"""What a mark says of a task: that it was launched, that it waits to run again, and how often it
has been killed.
"""


# Orders.


def send_kills(w: Tables, at: int) -> None:
    """The answer to the node's heartbeat brings the orders that wait for it."""
    first = w.nodes[at, c.BERTH + c.MAPS_HERE]
    for berth in range(first, first + w.nodes[at, c.HAS] + w.nodes[at, c.HAS + 1]):
        if w.berths[berth, c.OF_JOB] != c.NONE and w.berths[berth, c.KILLING] == c.KILL_ORDERED:
            _kill_attempt(w, berth, w.state[c.NOW] + w.given[c.LATENCY])


def _kill_attempt(w: Tables, berth: int, killed_ms: int) -> None:
    """The order reaches the attempt then, if it still runs; it comes before what ends in a later
    round of that instant.
    """
    over_ms = w.berths[berth, c.OVER]
    is_last = over_ms == killed_ms and round_of_end(w, berth) > 0
    if over_ms < killed_ms or (over_ms == killed_ms and not is_last):
        w.berths[berth, c.KILLING] = c.KILL_IN_VAIN
        return
    w.berths[berth, c.KILLING] = c.KILLED
    if w.berths[berth, c.OF_KIND] != c.MAPS_HERE and w.berths[berth, c.SHUFFLED] > killed_ms:
        w.berths[berth, c.SHUFFLED] = c.LATER
        if w.jobs[w.berths[berth, c.OF_JOB], c.MAPPED] == c.NONE:
            _stop_fetching(w, berth)
    set_attempt_end(w, berth, killed_ms)


def _stop_fetching(w: Tables, berth: int) -> None:
    """The reduce no longer waits for its job's last map."""
    job, following = w.berths[berth, c.OF_JOB], w.berths[berth, c.FETCHES_NEXT]
    other = w.jobs[job, c.FETCHING]
    if other == berth:
        w.jobs[job, c.FETCHING] = following
        return
    while w.berths[other, c.FETCHES_NEXT] != berth:
        other = w.berths[other, c.FETCHES_NEXT]
    w.berths[other, c.FETCHES_NEXT] = following


# Tasks that run again.


def lose_task(w: Tables, berth: int) -> None:
    """The attempt was killed: its task is nobody's until its job asks for it again."""
    job, kind = w.berths[berth, c.OF_JOB], w.berths[berth, c.OF_KIND]
    w.jobs[job, c.RUNNING_TASKS + kind] -= 1
    w.state[c.KILLED_COUNT] += 1
    at = w.state[c.LOST]
    w.lost[at, 0], w.lost[at, 1], w.lost[at, 2] = job, kind, w.berths[berth, c.OF_TASK]
    w.state[c.LOST] += 1
    place_job(w, kind, job)


def ask_again(w: Tables) -> None:
    """Jobs ask again for the tasks that they have heard to be lost."""
    for at in range(w.state[c.LOST]):
        job, kind, task = w.lost[at, 0], w.lost[at, 1], w.lost[at, 2]
        mark = place_of_mark(w, job, kind, task)
        w.links[mark] = (w.links[mark] | _WAITS) + _TIMES
        w.jobs[job, c.AGAIN + kind] += 1
        w.jobs[job, c.WAITING_TASKS + kind] += 1
        w.sums[c.PENDING, kind] += 1
        place_job(w, kind, job)
    w.state[c.LOST] = 0


def take_again(w: Tables, job: int, kind: int) -> int:
    """The job's task that runs again first: the most often killed, then the lowest."""
    found, most = 0, 0
    for task in range(w.jobs[job, c.TASKS + kind]):
        mark = w.links[place_of_mark(w, job, kind, task)]
        if mark & _WAITS and mark > most:
            found, most = task, mark
    w.links[place_of_mark(w, job, kind, found)] = most - _WAITS
    w.jobs[job, c.AGAIN + kind] -= 1
    return found


def times_killed(w: Tables, job: int, kind: int, task: int) -> int:
    """How many attempts of the task were killed."""
    return int(w.links[place_of_mark(w, job, kind, task)] // _TIMES)
