"""Orders by virtual time: what is kept of each phase of the jobs that are there.

Who has virtually ended but not really is late, and goes before all others; these go by virtual end
or by virtual size (`virtual_line`).
"""

import numpy as np

from callboard.twin import columns as c
from callboard.twin.believed_sizes import believed_size, multiple_of_mean
from callboard.twin.columns import Tables
from callboard.twin.sorted_keys import key_with, move_key, paired_score
from callboard.twin.virtual_cluster import (
    balance,
    end_served,
    join_cluster,
    part_from_cluster,
    step_to,
)
from callboard.twin.virtual_line import line_up_if_waiting
from callboard.twin.virtual_rates import level_at, note_left, wide_now
from callboard.twin.wide_numbers import HIGH_LIMIT, wide_float, wide_of_float

LATE_POOL, TRAINING_POOL = 0, 1
"""In which of the sorted arrays the late stand, and who has training tasks to launch."""
_WEIGHT_MAX = 16


# When a phase comes, changes and goes.


def enter_phase(w: Tables, kind: int, job: int) -> None:
    """The phase's tasks may run from now on."""
    tasks = w.jobs[job, c.TASKS + kind]
    if tasks == 0:
        return
    row = 2 * job + kind
    w.virtual[row, c.IS_PHASE] = 1
    w.virtual[row, c.LATE_SINCE] = c.NONE
    w.measures[row] = _first_size(w, kind, job)
    set_virtual_size(w, kind, job, w.measures[row], tasks)


def _first_size(w: Tables, kind: int, job: int) -> float:
    """With which size the phase enters; 0 if it is too small to be trained."""
    if w.given[c.SIZE_SOURCE] != c.SIZE_TRAINED:
        return float(believed_size(w, kind, job, left=False))
    tasks = w.jobs[job, c.TASKS + kind]
    if tasks < w.given[c.TRAINING_TASKS]:
        return 0.0
    w.virtual[2 * job + kind, c.IN_TRAINING] = 1
    total, count = w.sums[c.ENDED_TIME, kind], w.sums[c.ENDED_COUNT, kind]
    if count == 0:
        return float(w.reals[c.FIRST_SIZE])
    return float(multiple_of_mean(w, total, count, tasks)) * float(w.reals[c.FIRST_SIZE_FACTOR])


def set_virtual_size(w: Tables, kind: int, job: int, size_ms: float, tasks: int) -> None:
    """So much is left of the phase virtually from now on."""
    row = 2 * job + kind
    _rejoin_cluster(w, kind, job, size_ms, tasks)
    if w.virtual[row, c.SIDE] != c.AWAY:
        w.virtual[row, c.LATE_SINCE] = c.NONE
    elif w.virtual[row, c.LATE_SINCE] == c.NONE:
        w.virtual[row, c.LATE_SINCE] = w.state[c.NOW]
    place_phase(w, kind, job)


def _rejoin_cluster(w: Tables, kind: int, job: int, size_ms: float, tasks: int) -> None:
    catch_up(w, kind)
    if size_ms >= HIGH_LIMIT:
        w.state[c.OVERFLOW] = 1
        return
    high, low = wide_now(w)
    step_to(w, kind, high, low)
    if w.virtual[2 * job + kind, c.SIDE] != c.AWAY:
        part_from_cluster(w, kind, job)
    high, low = wide_of_float(size_ms)
    join_cluster(w, kind, job, tasks, high, low)
    balance(w, kind)


def virtual_size(w: Tables, kind: int, job: int) -> float:
    """What is left of the phase virtually, in slot-ms."""
    catch_up(w, kind)
    row = 2 * job + kind
    if w.virtual[row, c.SIDE] == c.AWAY:
        return 0.0
    high, low = wide_now(w)
    level_high, level_low = level_at(w, kind, high, low)
    note_left(w, row, high, low, level_high, level_low)
    return wide_float(w.virtual[row, c.LEFT_HIGH], w.virtual[row, c.LEFT_LOW])


def correct_once(w: Tables, kind: int, job: int) -> None:
    """The first task of a phase has ended, which says what its tasks are like; its age is kept."""
    row = 2 * job + kind
    age_ms = w.measures[row] - virtual_size(w, kind, job)
    w.measures[row] = float(believed_size(w, kind, job, left=False))
    left_ms = max(w.measures[row] - age_ms, 0.0)
    set_virtual_size(w, kind, job, left_ms, w.jobs[job, c.TASKS + kind])


def resize_phase(w: Tables, kind: int, job: int, size_ms: float) -> None:
    """The phase has been measured: so much is left of it."""
    w.measures[2 * job + kind] = size_ms
    left = w.jobs[job, c.TASKS + kind] - w.jobs[job, c.DONE_TASKS + kind]
    set_virtual_size(w, kind, job, size_ms, left)


def leave_phases(w: Tables, job: int) -> None:
    """The job has really ended; what it had still to get virtually it gets."""
    for kind in range(2):
        row = 2 * job + kind
        w.virtual[row, c.IS_PHASE] = 0
        w.virtual[row, c.IN_TRAINING] = 0
        _move_phase_key(w, kind, LATE_POOL, job, c.NONE)
        _move_phase_key(w, kind, TRAINING_POOL, job, c.NONE)


# Time and slots.


def catch_up(w: Tables, kind: int) -> None:
    """Let virtual time come to now; when or how often makes no difference."""
    while w.sums[c.NEXT_MS, kind] <= w.state[c.NOW]:
        before = w.sums[c.MEMBERS, kind]
        end_served(w, kind)
        for at in range(w.sums[c.MEMBERS, kind], before):
            place_phase(w, kind, w.lists[c.MEMBERS_LIST + kind, at])


def add_joined_slots(w: Tables) -> None:
    """A node has joined."""
    for kind in range(2):
        catch_up(w, kind)
        high, low = wide_now(w)
        step_to(w, kind, high, low)
        w.sums[c.SPARE, kind] += w.sums[c.SLOTS, kind] - w.sums[c.SEEN_SLOTS, kind]
        w.sums[c.SEEN_SLOTS, kind] = w.sums[c.SLOTS, kind]
        balance(w, kind)


# Where a phase stands.


def place_phase(w: Tables, kind: int, job: int) -> None:
    """The phase's facts have changed: put it where it belongs."""
    row, standing = 2 * job + kind, w.jobs[job, c.STANDING]
    if not w.virtual[row, c.IS_PHASE]:
        return
    waits = w.jobs[job, c.WAITING_TASKS + kind] > 0
    line_up_if_waiting(w, kind, job)
    late, training = c.NONE, c.NONE
    if waits and w.virtual[row, c.LATE_SINCE] != c.NONE:
        late = key_with(w, _late_score(w, kind, job), standing)
    if waits and w.virtual[row, c.IN_TRAINING] and tasks_to_train(w, row) > 0:
        training = key_with(w, int(np.rint(w.measures[row])), standing)
    _move_phase_key(w, kind, LATE_POOL, job, late)
    _move_phase_key(w, kind, TRAINING_POOL, job, training)


def _move_phase_key(w: Tables, kind: int, pool: int, job: int, key: int) -> None:
    row = 2 * job + kind
    if pool == LATE_POOL:
        move_key(w, kind, pool, w.jobs[job, c.KEY + kind], key)
        w.jobs[job, c.KEY + kind] = key
    else:
        move_key(w, kind, pool, w.virtual[row, c.TRAIN_KEY], key)
        w.virtual[row, c.TRAIN_KEY] = key


def _late_score(w: Tables, kind: int, job: int) -> int:
    """By when they became late, or in turn, by weight under `psbs`."""
    row, running = 2 * job + kind, w.jobs[job, c.RUNNING_TASKS + kind]
    if w.given[c.ORDER] == c.BY_FSP_PS:
        return paired_score(w, running, w.jobs[job, c.SERVED + kind])
    if w.given[c.ORDER] == c.BY_PSBS:
        share = running * (_WEIGHT_MAX // w.virtual[row, c.PHASE_WEIGHT])
        return paired_score(w, share, w.jobs[job, c.SERVED + kind])
    return int(w.virtual[row, c.LATE_SINCE])


def tasks_to_train(w: Tables, row: int) -> int:
    """How many training tasks have still to be launched."""
    measured = w.virtual[row, c.SAMPLES] - w.virtual[row, c.SAMPLES_OF_RUNNING]
    return int(w.given[c.TRAINING_TASKS] - w.virtual[row, c.TRAINING_RUNS] - measured)
