"""HFSP's training: the first tasks of a phase measure it, by their ends or by how far they are.

The attempts that are to measure a phase, that many at once, hold training slots; while any is left
the phases in training go before all others, the smallest first.
"""

import numpy as np

from callboard.twin import columns as c
from callboard.twin.believed_sizes import multiple_of_mean
from callboard.twin.columns import Tables
from callboard.twin.kept_log import log_estimate
from callboard.twin.next_instants import plan_report
from callboard.twin.virtual_phases import place_phase, resize_phase, tasks_to_train

_SHUFFLE_SHARE = 1 / 3


# Training tasks, from their launch to their end.


def begin_training_task(w: Tables, berth: int) -> None:
    """The attempt is launched: is it one to learn from, and does it take a training slot?"""
    job, kind = w.berths[berth, c.OF_JOB], w.berths[berth, c.OF_KIND]
    row = 2 * job + kind
    if not w.virtual[row, c.IN_TRAINING]:
        return
    if tasks_to_train(w, row) > 0:
        w.berths[berth, c.TRAINS] = 1
        w.virtual[row, c.TRAINING_RUNS] += 1
        take_training_slot(w, berth)
        plan_hearing(w, berth)
    place_phase(w, kind, job)


def take_training_slot(w: Tables, berth: int) -> None:
    """If one is left."""
    kind = w.berths[berth, c.OF_KIND]
    if w.sums[c.TRAINING_SLOTS, kind] < w.given[c.TRAINING_SLOTS_MAX]:
        w.sums[c.TRAINING_SLOTS, kind] += 1
        w.berths[berth, c.HOLDS_TRAINING] = 1


def leave_training_slot(w: Tables, berth: int) -> None:
    """The attempt has ended, or gives way."""
    if w.berths[berth, c.HOLDS_TRAINING]:
        w.berths[berth, c.HOLDS_TRAINING] = 0
        w.sums[c.TRAINING_SLOTS, w.berths[berth, c.OF_KIND]] -= 1


def end_training_task(w: Tables, berth: int, work_ms: int) -> None:
    """A training task has done its work, which is measured."""
    job, kind = w.berths[berth, c.OF_JOB], w.berths[berth, c.OF_KIND]
    row, sample = 2 * job + kind, w.berths[berth, c.SAMPLE]
    if w.berths[berth, c.TRAINS]:
        w.virtual[row, c.TRAINING_RUNS] -= 1
        if sample != c.NONE:
            w.virtual[row, c.SAMPLES_OF_RUNNING] -= 1
            w.measures[w.virtual[row, c.SAMPLE_START] + sample] = 1.0
        else:
            _add_sample(w, row, work_ms, 1.0)
    place_phase(w, kind, job)
    _finish_training(w, kind, job, w.berths[berth, c.IN_LOG] + 1)


# What it tells before its end.


def plan_hearing(w: Tables, berth: int) -> None:
    """Plan for the first heartbeat that can tell how far a training task is, if it runs so long."""
    begun_ms = _work_began_ms(w, berth)
    if not w.berths[berth, c.TRAINS] or w.berths[berth, c.SAMPLE] != c.NONE or begun_ms == c.LATER:
        return
    heard_ms = begun_ms + max(w.given[c.TRAINING_DELAY], 1)
    if heard_ms <= w.berths[berth, c.OVER]:
        w.berths[berth, c.HEARD_FROM] = heard_ms
        plan_report(w, w.berths[berth, c.OF_NODE], heard_ms - 1)


def hear_progress(w: Tables, berth: int, sent_ms: int) -> None:
    """A heartbeat tells how far a training task is: that measures it."""
    w.berths[berth, c.HEARD_FROM] = c.LATER
    job, kind = w.berths[berth, c.OF_JOB], w.berths[berth, c.OF_KIND]
    worked_ms = sent_ms - _work_began_ms(w, berth)
    length_ms = w.berths[berth, c.OVER] - _work_began_ms(w, berth)
    done = min(worked_ms / length_ms, 1.0)
    if kind != c.MAPS_HERE:  # as its progress tells it, of which the shuffle is a third
        progress = _SHUFFLE_SHARE + (1 - _SHUFFLE_SHARE) * done
        done = (progress - _SHUFFLE_SHARE) / (1 - _SHUFFLE_SHARE)
    row = 2 * job + kind
    w.berths[berth, c.SAMPLE] = w.virtual[row, c.SAMPLES]
    w.virtual[row, c.SAMPLES_OF_RUNNING] += 1
    _add_sample(w, row, int(np.rint(worked_ms / done)), min(done, 1.0))
    _finish_training(w, kind, job, c.NONE)


def _work_began_ms(w: Tables, berth: int) -> int:
    """When the attempt's own work began, its shuffle apart."""
    column = c.BEGUN if w.berths[berth, c.OF_KIND] == c.MAPS_HERE else c.SHUFFLED
    return int(w.berths[berth, column])


# What is learnt.


def _add_sample(w: Tables, row: int, size_ms: int, done: float) -> None:
    w.measures[w.virtual[row, c.SAMPLE_START] + w.virtual[row, c.SAMPLES]] = done
    w.virtual[row, c.SAMPLES] += 1
    w.virtual[row, c.SAMPLES_SUM] += size_ms


def _finish_training(w: Tables, kind: int, job: int, attempt: int) -> None:
    """If all its training tasks are measured, the last by the end of this attempt if there is one:
    their mean, for all tasks that are left.
    """
    row, wanted = 2 * job + kind, w.given[c.TRAINING_TASKS]
    if w.virtual[row, c.SAMPLES] < wanted or not w.virtual[row, c.IS_PHASE]:
        return
    w.virtual[row, c.IN_TRAINING] = 0
    mean_ms = float(w.virtual[row, c.SAMPLES_SUM]) / float(w.virtual[row, c.SAMPLES])
    unfinished, first = 0.0, w.virtual[row, c.SAMPLE_START]
    for at in range(first, first + w.virtual[row, c.SAMPLES]):
        unfinished += 1.0 - w.measures[at]
    w.virtual[row, c.ESTIMATED] = int(np.rint(mean_ms * float(w.jobs[job, c.TASKS + kind])))
    untrained = w.jobs[job, c.TASKS + kind] - wanted
    left_ms = mean_ms * (float(untrained) + unfinished)
    resize_phase(w, kind, job, left_ms)
    if len(w.log):
        log_estimate(w, kind, job, int(np.rint(left_ms)), attempt)


def estimate_anew(w: Tables, kind: int, job: int) -> None:
    """What is left, by all tasks of the phase that have ended."""
    left = w.jobs[job, c.TASKS + kind] - w.jobs[job, c.DONE_TASKS + kind]
    total, count = w.jobs[job, c.OWN_TIME + kind], w.jobs[job, c.OWN_COUNT + kind]
    resize_phase(w, kind, job, float(multiple_of_mean(w, total, count, left)))
