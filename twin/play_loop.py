"""The one loop: instant by instant, as the actors' rounds have it.

At an instant first the heartbeats that arrive are heard and answered, node by node; then the jobs
hear of it, and those come that are submitted now or have been initialised; then the master hears of
the jobs, job by job.
"""

from callboard.twin import columns as c
from callboard.twin.attempt_lengths import round_of_end, set_reduce_end
from callboard.twin.believed_sizes import learn_length
from callboard.twin.block_lists import allocate_block_room, give_room_back, place_blocks
from callboard.twin.columns import Tables
from callboard.twin.job_queue import place_job
from callboard.twin.kept_log import log_close, log_done_task
from callboard.twin.killed_attempts import ask_again, lose_task, send_kills
from callboard.twin.locality_waits import drop_skipped_job
from callboard.twin.next_instants import (
    change_free_slots,
    has_report,
    is_wanted,
    next_instant,
    place_of_phase,
    plan_next_report,
    plan_report,
)
from callboard.twin.offers import offer_slots
from callboard.twin.running_caps import enter_line, leave_line
from callboard.twin.starving_claimants import add_present_job, drop_present_job, look_for_starving
from callboard.twin.trained_phases import hear_progress, plan_hearing
from callboard.twin.virtual_orders import hear_end, hear_job_end
from callboard.twin.virtual_phases import add_joined_slots, enter_phase


def play_instants(w: Tables, instants: int) -> int:
    """Play the next instants, `instants` at most; whether the run goes on, or why not."""
    for _ in range(instants):
        now_ms = next_instant(w)
        if now_ms > w.given[c.UNTIL]:
            w.state[c.NOW] = w.given[c.UNTIL]
            return c.UNTIL_REACHED
        if _is_stuck(w, now_ms):
            return c.IS_STUCK
        if not _find_room(w, now_ms):
            return c.NO_ROOM
        w.state[c.NOW] = now_ms
        w.state[c.HEARD] = 0
        _hear_heartbeats(w)
        if w.given[c.PREEMPTS]:
            look_for_starving(w)
        _submit_jobs(w)
        _ready_jobs(w)
        _advance_hearing_jobs(w)
        ask_again(w)
        if w.state[c.OVERFLOW]:
            return c.TOO_LARGE
        if w.state[c.ENDED] == w.given[c.JOBS]:
            return c.COMPLETE
    return c.GOES_ON


def _is_stuck(w: Tables, now_ms: int) -> bool:
    """Whether nothing is at work, nothing is to come, and nothing has happened for long."""
    if now_ms >= c.LATER:
        return True
    idle = w.minima[1] == c.LATER and w.state[c.DUE] == w.given[c.JOBS]
    idle = idle and w.state[c.READY_DUE] == w.given[c.INITIALISED_JOBS]
    return bool(idle and now_ms - w.state[c.LAST] > w.given[c.STALL])


def _find_room(w: Tables, now_ms: int) -> bool:
    """Find room for all jobs that come now, before anything of the instant has happened; and for
    what may be launched, if that is kept.
    """
    if len(w.log) and not _has_room_in_log(w):
        return False
    job = w.state[c.DUE]
    while job < w.given[c.JOBS] and w.jobs[job, c.SUBMIT] <= now_ms:
        if w.jobs[job, c.LINKS] == c.NONE and not allocate_block_room(w, job):
            return False
        job += 1
    return True


def _has_room_in_log(w: Tables) -> bool:
    """Whether there is room for an instant in which every slot is taken, and every end measures."""
    slots = len(w.berths)
    return bool(
        w.state[c.LOG_TOP] + slots <= len(w.log)
        and w.state[c.REFUSED_TOP] + (slots + 1) * c.REFUSED_MOST <= len(w.refused)
        and w.state[c.ESTIMATES_TOP] + slots <= len(w.estimates)
    )


# Heartbeats.


def _hear_heartbeats(w: Tables) -> None:
    phase_ms = w.state[c.NOW] % w.given[c.PERIOD]
    at = place_of_phase(w, phase_ms)
    while at < w.given[c.NODES] and w.phases[at] == phase_ms:
        if has_report(w, at):
            if w.nodes[at, c.HAS_JOINED]:
                _book_reports(w, at)
            else:
                _join_node(w, at)
            if w.given[c.PREEMPTS]:
                send_kills(w, at)
            plan_next_report(w, at)
            offer_slots(w, at)
        elif is_wanted(w, at):
            offer_slots(w, at)
        at += 1


def _join_node(w: Tables, at: int) -> None:
    """The node's first heartbeat."""
    w.nodes[at, c.HAS_JOINED] = 1
    w.state[c.JOINED] += 1
    for kind in range(2):
        slots = w.nodes[at, c.HAS + kind]
        w.sums[c.SLOTS, kind] += slots
        if slots:
            change_free_slots(w, at, kind, slots)
    w.state[c.NEWS] = 1
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        add_joined_slots(w)


def _book_reports(w: Tables, at: int) -> None:
    """Book what the heartbeat tells: the ends that had come when it was sent, one after the other,
    then how far training tasks are that have run for long enough.
    """
    sent_ms = w.state[c.NOW] - w.given[c.LATENCY]
    berth = _next_ended(w, at, sent_ms)
    while berth != c.NONE:
        _book_end(w, at, berth)
        berth = _next_ended(w, at, sent_ms)
    if w.given[c.ORDER] == c.BY_HFSP:
        berth = _next_heard(w, at, sent_ms)
        while berth != c.NONE:
            hear_progress(w, berth, sent_ms)
            berth = _next_heard(w, at, sent_ms)


def _next_ended(w: Tables, at: int, sent_ms: int) -> int:
    """The first that had ended: by instant, by the round of it, and by slot."""
    found, first = c.NONE, w.nodes[at, c.BERTH + c.MAPS_HERE]
    for berth in range(first, first + w.nodes[at, c.HAS] + w.nodes[at, c.HAS + 1]):
        if w.berths[berth, c.OF_JOB] == c.NONE or w.berths[berth, c.OVER] >= sent_ms:
            continue
        if found == c.NONE or _ends_before(w, berth, found):
            found = berth
    return int(found)


def _ends_before(w: Tables, berth: int, other: int) -> bool:
    if w.berths[berth, c.OVER] != w.berths[other, c.OVER]:
        return bool(w.berths[berth, c.OVER] < w.berths[other, c.OVER])
    its_round, other_round = round_of_end(w, berth), round_of_end(w, other)
    if its_round != other_round:
        return its_round < other_round
    return bool(w.berths[berth, c.IN_SLOT] < w.berths[other, c.IN_SLOT])


def _next_heard(w: Tables, at: int, sent_ms: int) -> int:
    """The training task launched first of those that the heartbeat tells more of than before."""
    found, first = c.NONE, w.nodes[at, c.BERTH + c.MAPS_HERE]
    for berth in range(first, first + w.nodes[at, c.HAS] + w.nodes[at, c.HAS + 1]):
        if w.berths[berth, c.OF_JOB] == c.NONE or w.berths[berth, c.HEARD_FROM] > sent_ms:
            continue
        if found == c.NONE or w.berths[berth, c.IN_LOG] < w.berths[found, c.IN_LOG]:
            found = berth
    return int(found)


def _book_end(w: Tables, at: int, berth: int) -> None:
    """An attempt has ended: its slot is free, its task is done or lost."""
    job, kind = w.berths[berth, c.OF_JOB], w.berths[berth, c.OF_KIND]
    work_ms = _add_up_times(w, berth, kind)
    if len(w.log):
        log_close(w, at, berth)
    w.state[c.LAST] = w.state[c.NOW]
    w.sums[c.RUNNING, kind] -= 1
    w.nodes[at, c.TAKEN + kind] -= 1
    change_free_slots(w, at, kind, 1)
    if w.berths[berth, c.KILLING] == c.KILLED:
        lose_task(w, berth)
    elif w.berths[berth, c.OF_STAGE] == c.OF_TASKS:
        _add_hearing_job(w, job)
        _finish_task(w, berth, job, work_ms)
    else:  # there is nothing to wait for any more
        _add_hearing_job(w, job)
        w.jobs[job, c.SETUP_MS if w.berths[berth, c.OF_STAGE] == c.OF_SETUP else c.CLEANUP_MS] = 0
    w.berths[berth, c.OF_JOB] = c.NONE


def _finish_task(w: Tables, berth: int, job: int, work_ms: int) -> None:
    kind = w.berths[berth, c.OF_KIND]
    w.sums[c.UNFINISHED, kind] -= 1
    w.jobs[job, c.RUNNING_TASKS + kind] -= 1
    w.jobs[job, c.DONE_TASKS + kind] += 1
    if len(w.log):
        log_done_task(w, berth, job)
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        hear_end(w, berth, work_ms)
        return
    if c.BY_SRPT <= w.given[c.ORDER] <= c.BY_LAS:
        learn_length(w, kind, job, work_ms)
    place_job(w, kind, job)


def _add_up_times(w: Tables, berth: int, kind: int) -> int:
    """Add up for how long it held its slot; how long it worked, a reduce's shuffle apart."""
    held_ms = w.berths[berth, c.OVER] - w.berths[berth, c.BEGUN]
    w.sums[c.WASTED_TIME if w.berths[berth, c.KILLING] == c.KILLED else c.HELD_TIME, kind] += (
        held_ms
    )
    if kind == c.MAPS_HERE or w.berths[berth, c.OF_STAGE] != c.OF_TASKS:
        return int(held_ms)
    shuffled_ms = (
        min(w.berths[berth, c.SHUFFLED], w.berths[berth, c.OVER]) - w.berths[berth, c.BEGUN]
    )
    w.state[c.SHUFFLE_TIME] += shuffled_ms
    return int(held_ms - shuffled_ms)


# Jobs.


def _add_hearing_job(w: Tables, job: int) -> None:
    """The job hears something at this instant: put it among those that do, by number."""
    if w.jobs[job, c.HEARD_AT] == w.state[c.NOW]:
        return
    w.jobs[job, c.HEARD_AT] = w.state[c.NOW]
    at = w.state[c.HEARD]
    while at > 0 and w.jobs[w.lists[c.HEARD_LIST, at - 1], c.NUMBER] > w.jobs[job, c.NUMBER]:
        w.lists[c.HEARD_LIST, at] = w.lists[c.HEARD_LIST, at - 1]
        at -= 1
    w.lists[c.HEARD_LIST, at] = job
    w.state[c.HEARD] += 1


def _submit_jobs(w: Tables) -> None:
    while w.state[c.DUE] < w.given[c.JOBS] and w.jobs[w.state[c.DUE], c.SUBMIT] <= w.state[c.NOW]:
        w.state[c.LAST] = w.state[c.NOW]
        job = w.state[c.DUE]
        if w.jobs[job, c.READY] == w.jobs[job, c.SUBMIT]:
            _add_hearing_job(w, job)
        w.state[c.DUE] += 1


def _ready_jobs(w: Tables) -> None:
    """Those come that have been initialised now."""
    while w.state[c.READY_DUE] < w.given[c.INITIALISED_JOBS]:
        job = w.lists[c.READY_LIST, w.state[c.READY_DUE]]
        if w.jobs[job, c.READY] > w.state[c.NOW]:
            return
        w.state[c.LAST] = w.state[c.NOW]
        _add_hearing_job(w, job)
        w.state[c.READY_DUE] += 1


def _advance_hearing_jobs(w: Tables) -> None:
    for at in range(w.state[c.HEARD]):
        job = w.lists[c.HEARD_LIST, at]
        if w.jobs[job, c.SETUP_MS]:
            _queue_setup_or_cleanup(w, job, 0)
            continue
        if not w.jobs[job, c.MAPS_OPEN]:
            w.jobs[job, c.MAPS_OPEN] = 1
            place_blocks(w, job)
            _open_tasks(w, job, c.MAPS_HERE)
        _advance_job(w, job)


def _queue_setup_or_cleanup(w: Tables, job: int, cleanup: int) -> None:
    """The job waits for its setup, or its cleanup, which go before all tasks."""
    w.lists[c.UNSEEN_LIST, w.state[c.UNSEEN]] = 2 * job + cleanup
    w.state[c.UNSEEN] += 1


def _advance_job(w: Tables, job: int) -> None:
    """Let reduces fetch, let them begin, or end the job, as its maps and reduces are done."""
    maps_done, maps = w.jobs[job, c.DONE_TASKS], w.jobs[job, c.TASKS]
    if maps_done == maps and w.jobs[job, c.MAPPED] == c.NONE:
        w.jobs[job, c.MAPPED] = w.state[c.NOW]
        _let_fetch(w, job)
    reduces = w.jobs[job, c.TASKS + c.REDUCES_HERE]
    if reduces and not w.jobs[job, c.REDUCES_OPEN] and maps_done >= w.jobs[job, c.SLOWSTART]:
        w.jobs[job, c.REDUCES_OPEN] = 1
        _open_tasks(w, job, c.REDUCES_HERE)
    if maps_done == maps and w.jobs[job, c.DONE_TASKS + c.REDUCES_HERE] == reduces:
        if w.jobs[job, c.CLEANUP_MS]:
            _queue_setup_or_cleanup(w, job, 1)
        else:
            _end_job(w, job)


def _let_fetch(w: Tables, job: int) -> None:
    """The last map has ended: the ends of the reduces that wait for it are known."""
    berth = w.jobs[job, c.FETCHING]
    w.jobs[job, c.FETCHING] = c.NONE
    while berth != c.NONE:
        set_reduce_end(w, berth)
        plan_report(w, w.berths[berth, c.OF_NODE], w.berths[berth, c.OVER])
        if w.berths[berth, c.TRAINS]:
            plan_hearing(w, berth)
        berth = w.berths[berth, c.FETCHES_NEXT]


def _open_tasks(w: Tables, job: int, kind: int) -> None:
    """The job's tasks of the kind may run from now on."""
    tasks = w.jobs[job, c.TASKS + kind]
    w.jobs[job, c.WAITING_TASKS + kind] = tasks
    w.sums[c.PENDING, kind] += tasks
    w.sums[c.UNFINISHED, kind] += tasks
    if kind == c.MAPS_HERE:
        _count_padded_tasks(w, job, 1)
        if w.given[c.PREEMPTS]:
            add_present_job(w, job)
        enter_line(w, job)
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        enter_phase(w, kind, job)
    else:
        place_job(w, kind, job)


def _end_job(w: Tables, job: int) -> None:
    w.jobs[job, c.FINISHED] = w.state[c.NOW]
    w.state[c.ENDED] += 1
    w.state[c.LAST] = w.state[c.NOW]
    _count_padded_tasks(w, job, -1)
    if w.given[c.WAIT] != c.ANY_LEVEL:
        drop_skipped_job(w, job)
    if w.given[c.ORDER] >= c.BY_VIRTUAL_TIME:
        hear_job_end(w, job)
    if w.given[c.PREEMPTS]:
        drop_present_job(w, job)
    leave_line(w, job)
    give_room_back(w, job)


def _count_padded_tasks(w: Tables, job: int, sign: int) -> None:
    """Count the tasks of a job that has reduces, for the padding of `fifo`."""
    if w.jobs[job, c.TASKS + c.REDUCES_HERE]:
        for kind in range(2):
            w.sums[c.PADDED, kind] += sign * w.jobs[job, c.TASKS + kind]
