"""How long attempts take, and when they end."""

import numpy as np

from callboard.twin.addressed_draws import lognormal_of, uniform_of
from callboard.twin.columns import (
    BEGUN,
    BERTH,
    BUSY,
    CLEANUP_MS,
    DURATION,
    ESTIMATE,
    IN_SLOT,
    LATENCY,
    LENGTHS,
    LEVEL_FACTOR,
    MAP_MS,
    MAPPED,
    MAPS_HERE,
    NODE_TYPE,
    NONE,
    NUMBER,
    OF_JOB,
    OF_KIND,
    OF_NODE,
    OF_SETUP,
    OF_STAGE,
    OF_TASKS,
    OVER,
    REDUCE_MS,
    SETUP_MS,
    SHUFFLE_MS,
    SHUFFLED,
    SIGMA,
    SIZE_ERROR,
    SKEWED,
    STRAGGLER,
    STRAGGLERS,
    STRAGGLING,
    TASKS,
    TIMES,
    Tables,
)
from callboard.twin.kept_log import log_end

_ATTEMPTS = 1 << 20  # of a task, in the addresses of draws


def map_length(w: Tables, job: int, task: int, number: int, level: int, at: int) -> int:
    """How long the map takes on the node at that place, with its input at this level, after
    `number` attempts.
    """
    factor = w.reals[LEVEL_FACTOR + level] * _slowness(w, job, 2 * task, number, at)
    lengths = w.jobs[job, LENGTHS]
    ms = float(w.jobs[job, MAP_MS]) if lengths == NONE else w.lengths[lengths + task]
    return _rounded(ms * factor * _noise(w, job, 2 * task))


def time_reduce(w: Tables, berth: int, job: int, task: int, number: int, at: int) -> None:
    """Note how long the reduce's whole shuffle takes, the last map's part of it, and the rest."""
    noise, lengths = _noise(w, job, 2 * task + 1), w.jobs[job, LENGTHS]
    slowness = _slowness(w, job, 2 * task + 1, number, at)
    if lengths == NONE:
        whole_ms, rest_ms = w.jobs[job, SHUFFLE_MS], float(w.jobs[job, REDUCE_MS])
        tail_ms = float(whole_ms // max(w.jobs[job, TASKS + MAPS_HERE], 1))
        shuffle_ms = float(whole_ms)
    else:
        first = lengths + w.jobs[job, TASKS + MAPS_HERE] + 3 * task
        shuffle_ms, tail_ms, rest_ms = (
            w.lengths[first],
            w.lengths[first + 1],
            w.lengths[first + 2],
        )
    w.berths[berth, TIMES] = _rounded(shuffle_ms * noise)
    w.berths[berth, TIMES + 1] = _rounded(tail_ms * noise)
    w.berths[berth, TIMES + 2] = _rounded(rest_ms * slowness * noise)


def set_reduce_end(w: Tables, berth: int) -> None:
    """All the job's maps are known to have ended: so the reduce's own end is known too.  Its
    request comes to the job a latency after its start, and the answer takes another.
    """
    latency_ms, begun_ms = w.given[LATENCY], w.berths[berth, BEGUN]
    mapped_ms = w.jobs[w.berths[berth, OF_JOB], MAPPED]
    ready_ms = max(begun_ms + latency_ms, mapped_ms) + latency_ms
    left_ms = w.berths[berth, TIMES] - (ready_ms - begun_ms)
    shuffled_ms = ready_ms + max(left_ms, w.berths[berth, TIMES + 1], 2 * latency_ms + 1)
    w.berths[berth, SHUFFLED] = shuffled_ms
    set_attempt_end(w, berth, shuffled_ms + w.berths[berth, TIMES + 2])


def set_attempt_end(w: Tables, berth: int, over_ms: int) -> None:
    """Note when the attempt ends."""
    w.berths[berth, OVER] = over_ms
    first = w.nodes[w.berths[berth, OF_NODE], BERTH + MAPS_HERE]
    w.berths[first + w.berths[berth, IN_SLOT], BUSY] = over_ms
    if len(w.log):
        log_end(w, berth)


def round_of_end(w: Tables, berth: int) -> int:
    """In which round of its instant the attempt ends: 0 if what it does last takes any time; else a
    reduce a round after its shuffle, and what begins in round 1 a round after that.
    """
    if w.berths[berth, OF_KIND] == MAPS_HERE or w.berths[berth, OF_STAGE] != OF_TASKS:
        return 2 if w.berths[berth, OVER] == w.berths[berth, BEGUN] else 0
    return 1 if w.berths[berth, OVER] == w.berths[berth, SHUFFLED] else 0


def _slowness(w: Tables, job: int, column: int, number: int, at: int) -> float:
    """The job's factor on the node's type over the speed at which the attempt works."""
    speed = w.speeds[at]
    if w.reals[STRAGGLERS] > 0.0:
        luck = uniform_of(w.keys[STRAGGLER], w.jobs[job, NUMBER], column * _ATTEMPTS + number)
        if luck < w.reals[STRAGGLERS]:
            speed = speed / w.reals[STRAGGLING]
    slowness = w.factors[job, w.nodes[at, NODE_TYPE]] / speed
    return float(slowness * skew_of(w, job, column))


def skew_of(w: Tables, job: int, column: int) -> float:
    """How many times as long the task is as its job's others."""
    marks = w.jobs[job, SKEWED]
    if marks == NONE:
        return 1.0
    task = (column >> 1) + (column & 1) * w.jobs[job, TASKS + MAPS_HERE]
    return float(w.factors[job, w.factors.shape[1] - 1]) if w.skewed[marks + task] else 1.0


def true_size(w: Tables, kind: int, job: int) -> int:
    """What the phase's tasks take at speed 1 with local input, a reduce's shuffle apart."""
    lengths, maps = w.jobs[job, LENGTHS], w.jobs[job, TASKS + MAPS_HERE]
    size_ms = 0
    for task in range(w.jobs[job, TASKS + kind]):
        if lengths == NONE:
            ms = float(w.jobs[job, MAP_MS] if kind == MAPS_HERE else w.jobs[job, REDUCE_MS])
        else:
            ms = w.lengths[lengths + task if kind == MAPS_HERE else lengths + maps + 3 * task + 2]
        ms *= skew_of(w, job, 2 * task + kind)
        size_ms += _rounded(ms * _noise(w, job, 2 * task + kind))
    return size_ms


def size_error(w: Tables, kind: int, job: int) -> float:
    """By what factor the size is taken for larger than it is."""
    if w.reals[SIZE_ERROR] == 0.0:
        return 1.0
    return lognormal_of(w.keys[ESTIMATE], w.reals[SIZE_ERROR], w.jobs[job, NUMBER], kind)


def setup_or_cleanup_length(w: Tables, job: int, stage: int, at: int) -> int:
    """How long the job's setup or cleanup takes."""
    ms = w.jobs[job, SETUP_MS if stage == OF_SETUP else CLEANUP_MS]
    return _rounded(ms / w.speeds[at])


def _noise(w: Tables, job: int, column: int) -> float:
    if w.reals[SIGMA] == 0.0:
        return 1.0
    return lognormal_of(w.keys[DURATION], w.reals[SIGMA], w.jobs[job, NUMBER], column)


def _rounded(ms: float) -> int:
    """Half to even, as Python does it."""
    return int(np.rint(ms))
