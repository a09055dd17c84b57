"""The one loop: instant by instant, as the actors' rounds have it.

At an instant first the heartbeats that arrive are heard and answered, node by node; then the jobs
hear of it, and those come that are submitted now or have been initialised; then the master hears of
the jobs, job by job.
"""

from callboard.twin.attempt_lengths import round_of_end, set_reduce_end
from callboard.twin.believed_sizes import learn_length
from callboard.twin.block_lists import allocate_block_room, give_room_back, place_blocks
from callboard.twin.columns import (
    ANY_LEVEL,
    BEGUN,
    BERTH,
    BY_HFSP,
    BY_LAS,
    BY_SRPT,
    BY_VIRTUAL_TIME,
    CLEANUP_MS,
    COMPLETE,
    DONE_TASKS,
    DUE,
    ENDED,
    ESTIMATES_TOP,
    FETCHES_NEXT,
    FETCHING,
    FINISHED,
    GOES_ON,
    HAS,
    HAS_JOINED,
    HEARD,
    HEARD_AT,
    HEARD_FROM,
    HEARD_LIST,
    HELD_TIME,
    IN_LOG,
    IN_SLOT,
    INITIALISED_JOBS,
    IS_STUCK,
    JOBS,
    JOINED,
    KILLED,
    KILLING,
    LAST,
    LATENCY,
    LATER,
    LINKS,
    LOG_TOP,
    MAPPED,
    MAPS_HERE,
    MAPS_OPEN,
    NEWS,
    NO_ROOM,
    NODES,
    NONE,
    NOW,
    NUMBER,
    OF_JOB,
    OF_KIND,
    OF_NODE,
    OF_SETUP,
    OF_STAGE,
    OF_TASKS,
    ORDER,
    OVER,
    OVERFLOW,
    PADDED,
    PENDING,
    PERIOD,
    PREEMPTS,
    READY,
    READY_DUE,
    READY_LIST,
    REDUCES_HERE,
    REDUCES_OPEN,
    REFUSED_MOST,
    REFUSED_TOP,
    RUNNING,
    RUNNING_TASKS,
    SETUP_MS,
    SHUFFLE_TIME,
    SHUFFLED,
    SLOTS,
    SLOWSTART,
    STALL,
    SUBMIT,
    TAKEN,
    TASKS,
    TOO_LARGE,
    TRAINS,
    UNFINISHED,
    UNSEEN,
    UNSEEN_LIST,
    UNTIL,
    UNTIL_REACHED,
    WAIT,
    WAITING_TASKS,
    WASTED_TIME,
    Tables,
)
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
        if now_ms > w.given[UNTIL]:
            w.state[NOW] = w.given[UNTIL]
            return UNTIL_REACHED
        if _is_stuck(w, now_ms):
            return IS_STUCK
        if not _find_room(w, now_ms):
            return NO_ROOM
        w.state[NOW] = now_ms
        w.state[HEARD] = 0
        _hear_heartbeats(w)
        if w.given[PREEMPTS]:
            look_for_starving(w)
        _submit_jobs(w)
        _ready_jobs(w)
        _advance_hearing_jobs(w)
        ask_again(w)
        if w.state[OVERFLOW]:
            return TOO_LARGE
        if w.state[ENDED] == w.given[JOBS]:
            return COMPLETE
    return GOES_ON


def _is_stuck(w: Tables, now_ms: int) -> bool:
    """Whether nothing is at work, nothing is to come, and nothing has happened for long."""
    if now_ms >= LATER:
        return True
    idle = w.minima[1] == LATER and w.state[DUE] == w.given[JOBS]
    idle = idle and w.state[READY_DUE] == w.given[INITIALISED_JOBS]
    return bool(idle and now_ms - w.state[LAST] > w.given[STALL])


def _find_room(w: Tables, now_ms: int) -> bool:
    """Find room for all jobs that come now, before anything of the instant has happened; and for
    what may be launched, if that is kept.
    """
    if len(w.log) and not _has_room_in_log(w):
        return False
    job = w.state[DUE]
    while job < w.given[JOBS] and w.jobs[job, SUBMIT] <= now_ms:
        if w.jobs[job, LINKS] == NONE and not allocate_block_room(w, job):
            return False
        job += 1
    return True


def _has_room_in_log(w: Tables) -> bool:
    """Whether there is room for an instant in which every slot is taken, and every end measures."""
    slots = len(w.berths)
    return bool(
        w.state[LOG_TOP] + slots <= len(w.log)
        and w.state[REFUSED_TOP] + (slots + 1) * REFUSED_MOST <= len(w.refused)
        and w.state[ESTIMATES_TOP] + slots <= len(w.estimates)
    )


# Heartbeats.


def _hear_heartbeats(w: Tables) -> None:
    phase_ms = w.state[NOW] % w.given[PERIOD]
    at = place_of_phase(w, phase_ms)
    while at < w.given[NODES] and w.phases[at] == phase_ms:
        if has_report(w, at):
            if w.nodes[at, HAS_JOINED]:
                _book_reports(w, at)
            else:
                _join_node(w, at)
            if w.given[PREEMPTS]:
                send_kills(w, at)
            plan_next_report(w, at)
            offer_slots(w, at)
        elif is_wanted(w, at):
            offer_slots(w, at)
        at += 1


def _join_node(w: Tables, at: int) -> None:
    """The node's first heartbeat."""
    w.nodes[at, HAS_JOINED] = 1
    w.state[JOINED] += 1
    for kind in range(2):
        slots = w.nodes[at, HAS + kind]
        w.sums[SLOTS, kind] += slots
        if slots:
            change_free_slots(w, at, kind, slots)
    w.state[NEWS] = 1
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        add_joined_slots(w)


def _book_reports(w: Tables, at: int) -> None:
    """Book what the heartbeat tells: the ends that had come when it was sent, one after the other,
    then how far training tasks are that have run for long enough.
    """
    sent_ms = w.state[NOW] - w.given[LATENCY]
    berth = _next_ended(w, at, sent_ms)
    while berth != NONE:
        _book_end(w, at, berth)
        berth = _next_ended(w, at, sent_ms)
    if w.given[ORDER] == BY_HFSP:
        berth = _next_heard(w, at, sent_ms)
        while berth != NONE:
            hear_progress(w, berth, sent_ms)
            berth = _next_heard(w, at, sent_ms)


def _next_ended(w: Tables, at: int, sent_ms: int) -> int:
    """The first that had ended: by instant, by the round of it, and by slot."""
    found, first = NONE, w.nodes[at, BERTH + MAPS_HERE]
    for berth in range(first, first + w.nodes[at, HAS] + w.nodes[at, HAS + 1]):
        if w.berths[berth, OF_JOB] == NONE or w.berths[berth, OVER] >= sent_ms:
            continue
        if found == NONE or _ends_before(w, berth, found):
            found = berth
    return int(found)


def _ends_before(w: Tables, berth: int, other: int) -> bool:
    if w.berths[berth, OVER] != w.berths[other, OVER]:
        return bool(w.berths[berth, OVER] < w.berths[other, OVER])
    its_round, other_round = round_of_end(w, berth), round_of_end(w, other)
    if its_round != other_round:
        return its_round < other_round
    return bool(w.berths[berth, IN_SLOT] < w.berths[other, IN_SLOT])


def _next_heard(w: Tables, at: int, sent_ms: int) -> int:
    """The training task launched first of those that the heartbeat tells more of than before."""
    found, first = NONE, w.nodes[at, BERTH + MAPS_HERE]
    for berth in range(first, first + w.nodes[at, HAS] + w.nodes[at, HAS + 1]):
        if w.berths[berth, OF_JOB] == NONE or w.berths[berth, HEARD_FROM] > sent_ms:
            continue
        if found == NONE or w.berths[berth, IN_LOG] < w.berths[found, IN_LOG]:
            found = berth
    return int(found)


def _book_end(w: Tables, at: int, berth: int) -> None:
    """An attempt has ended: its slot is free, its task is done or lost."""
    job, kind = w.berths[berth, OF_JOB], w.berths[berth, OF_KIND]
    work_ms = _add_up_times(w, berth, kind)
    if len(w.log):
        log_close(w, at, berth)
    w.state[LAST] = w.state[NOW]
    w.sums[RUNNING, kind] -= 1
    w.nodes[at, TAKEN + kind] -= 1
    change_free_slots(w, at, kind, 1)
    if w.berths[berth, KILLING] == KILLED:
        lose_task(w, berth)
    elif w.berths[berth, OF_STAGE] == OF_TASKS:
        _add_hearing_job(w, job)
        _finish_task(w, berth, job, work_ms)
    else:  # there is nothing to wait for any more
        _add_hearing_job(w, job)
        w.jobs[job, SETUP_MS if w.berths[berth, OF_STAGE] == OF_SETUP else CLEANUP_MS] = 0
    w.berths[berth, OF_JOB] = NONE


def _finish_task(w: Tables, berth: int, job: int, work_ms: int) -> None:
    kind = w.berths[berth, OF_KIND]
    w.sums[UNFINISHED, kind] -= 1
    w.jobs[job, RUNNING_TASKS + kind] -= 1
    w.jobs[job, DONE_TASKS + kind] += 1
    if len(w.log):
        log_done_task(w, berth, job)
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        hear_end(w, berth, work_ms)
        return
    if BY_SRPT <= w.given[ORDER] <= BY_LAS:
        learn_length(w, kind, job, work_ms)
    place_job(w, kind, job)


def _add_up_times(w: Tables, berth: int, kind: int) -> int:
    """Add up for how long it held its slot; how long it worked, a reduce's shuffle apart."""
    held_ms = w.berths[berth, OVER] - w.berths[berth, BEGUN]
    w.sums[WASTED_TIME if w.berths[berth, KILLING] == KILLED else HELD_TIME, kind] += held_ms
    if kind == MAPS_HERE or w.berths[berth, OF_STAGE] != OF_TASKS:
        return int(held_ms)
    shuffled_ms = min(w.berths[berth, SHUFFLED], w.berths[berth, OVER]) - w.berths[berth, BEGUN]
    w.state[SHUFFLE_TIME] += shuffled_ms
    return int(held_ms - shuffled_ms)


# Jobs.


def _add_hearing_job(w: Tables, job: int) -> None:
    """The job hears something at this instant: put it among those that do, by number."""
    if w.jobs[job, HEARD_AT] == w.state[NOW]:
        return
    w.jobs[job, HEARD_AT] = w.state[NOW]
    at = w.state[HEARD]
    while at > 0 and w.jobs[w.lists[HEARD_LIST, at - 1], NUMBER] > w.jobs[job, NUMBER]:
        w.lists[HEARD_LIST, at] = w.lists[HEARD_LIST, at - 1]
        at -= 1
    w.lists[HEARD_LIST, at] = job
    w.state[HEARD] += 1


def _submit_jobs(w: Tables) -> None:
    while w.state[DUE] < w.given[JOBS] and w.jobs[w.state[DUE], SUBMIT] <= w.state[NOW]:
        w.state[LAST] = w.state[NOW]
        job = w.state[DUE]
        if w.jobs[job, READY] == w.jobs[job, SUBMIT]:
            _add_hearing_job(w, job)
        w.state[DUE] += 1


def _ready_jobs(w: Tables) -> None:
    """Those come that have been initialised now."""
    while w.state[READY_DUE] < w.given[INITIALISED_JOBS]:
        job = w.lists[READY_LIST, w.state[READY_DUE]]
        if w.jobs[job, READY] > w.state[NOW]:
            return
        w.state[LAST] = w.state[NOW]
        _add_hearing_job(w, job)
        w.state[READY_DUE] += 1


def _advance_hearing_jobs(w: Tables) -> None:
    for at in range(w.state[HEARD]):
        job = w.lists[HEARD_LIST, at]
        if w.jobs[job, SETUP_MS]:
            _queue_setup_or_cleanup(w, job, 0)
            continue
        if not w.jobs[job, MAPS_OPEN]:
            w.jobs[job, MAPS_OPEN] = 1
            place_blocks(w, job)
            _open_tasks(w, job, MAPS_HERE)
        _advance_job(w, job)


def _queue_setup_or_cleanup(w: Tables, job: int, cleanup: int) -> None:
    """The job waits for its setup, or its cleanup, which go before all tasks."""
    w.lists[UNSEEN_LIST, w.state[UNSEEN]] = 2 * job + cleanup
    w.state[UNSEEN] += 1


def _advance_job(w: Tables, job: int) -> None:
    """Let reduces fetch, let them begin, or end the job, as its maps and reduces are done."""
    maps_done, maps = w.jobs[job, DONE_TASKS], w.jobs[job, TASKS]
    if maps_done == maps and w.jobs[job, MAPPED] == NONE:
        w.jobs[job, MAPPED] = w.state[NOW]
        _let_fetch(w, job)
    reduces = w.jobs[job, TASKS + REDUCES_HERE]
    if reduces and not w.jobs[job, REDUCES_OPEN] and maps_done >= w.jobs[job, SLOWSTART]:
        w.jobs[job, REDUCES_OPEN] = 1
        _open_tasks(w, job, REDUCES_HERE)
    if maps_done == maps and w.jobs[job, DONE_TASKS + REDUCES_HERE] == reduces:
        if w.jobs[job, CLEANUP_MS]:
            _queue_setup_or_cleanup(w, job, 1)
        else:
            _end_job(w, job)


def _let_fetch(w: Tables, job: int) -> None:
    """The last map has ended: the ends of the reduces that wait for it are known."""
    berth = w.jobs[job, FETCHING]
    w.jobs[job, FETCHING] = NONE
    while berth != NONE:
        set_reduce_end(w, berth)
        plan_report(w, w.berths[berth, OF_NODE], w.berths[berth, OVER])
        if w.berths[berth, TRAINS]:
            plan_hearing(w, berth)
        berth = w.berths[berth, FETCHES_NEXT]


def _open_tasks(w: Tables, job: int, kind: int) -> None:
    """The job's tasks of the kind may run from now on."""
    tasks = w.jobs[job, TASKS + kind]
    w.jobs[job, WAITING_TASKS + kind] = tasks
    w.sums[PENDING, kind] += tasks
    w.sums[UNFINISHED, kind] += tasks
    if kind == MAPS_HERE:
        _count_padded_tasks(w, job, 1)
        if w.given[PREEMPTS]:
            add_present_job(w, job)
        enter_line(w, job)
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        enter_phase(w, kind, job)
    else:
        place_job(w, kind, job)


def _end_job(w: Tables, job: int) -> None:
    w.jobs[job, FINISHED] = w.state[NOW]
    w.state[ENDED] += 1
    w.state[LAST] = w.state[NOW]
    _count_padded_tasks(w, job, -1)
    if w.given[WAIT] != ANY_LEVEL:
        drop_skipped_job(w, job)
    if w.given[ORDER] >= BY_VIRTUAL_TIME:
        hear_job_end(w, job)
    if w.given[PREEMPTS]:
        drop_present_job(w, job)
    leave_line(w, job)
    give_room_back(w, job)


def _count_padded_tasks(w: Tables, job: int, sign: int) -> None:
    """Count the tasks of a job that has reduces, for the padding of `fifo`."""
    if w.jobs[job, TASKS + REDUCES_HERE]:
        for kind in range(2):
            w.sums[PADDED, kind] += sign * w.jobs[job, TASKS + kind]
