"""How long attempts take, and when they end."""

import numpy as np

from callboard.twin import columns as c
from callboard.twin.addressed_draws import lognormal_of, uniform_of
from callboard.twin.columns import Tables
from callboard.twin.kept_log import log_end

_ATTEMPTS = 1 << 20  # of a task, in the addresses of draws


def map_length(w: Tables, job: int, task: int, number: int, level: int, at: int) -> int:
    """How long the map takes on the node at that place, with its input at this level, after
    `number` attempts.
    """
    factor = w.reals[c.LEVEL_FACTOR + level] * _slowness(w, job, 2 * task, number, at)
    lengths = w.jobs[job, c.LENGTHS]
    ms = float(w.jobs[job, c.MAP_MS]) if lengths == c.NONE else w.lengths[lengths + task]
    return _rounded(ms * factor * _noise(w, job, 2 * task))


def time_reduce(w: Tables, berth: int, job: int, task: int, number: int, at: int) -> None:
    """Note how long the reduce's whole shuffle takes, the last map's part of it, and the rest."""
    noise, lengths = _noise(w, job, 2 * task + 1), w.jobs[job, c.LENGTHS]
    slowness = _slowness(w, job, 2 * task + 1, number, at)
    if lengths == c.NONE:
        whole_ms, rest_ms = w.jobs[job, c.SHUFFLE_MS], float(w.jobs[job, c.REDUCE_MS])
        tail_ms = float(whole_ms // max(w.jobs[job, c.TASKS + c.MAPS_HERE], 1))
        shuffle_ms = float(whole_ms)
    else:
        first = lengths + w.jobs[job, c.TASKS + c.MAPS_HERE] + 3 * task
        shuffle_ms, tail_ms, rest_ms = (
            w.lengths[first],
            w.lengths[first + 1],
            w.lengths[first + 2],
        )
    w.berths[berth, c.TIMES] = _rounded(shuffle_ms * noise)
    w.berths[berth, c.TIMES + 1] = _rounded(tail_ms * noise)
    w.berths[berth, c.TIMES + 2] = _rounded(rest_ms * slowness * noise)


def set_reduce_end(w: Tables, berth: int) -> None:
    """All the job's maps are known to have ended: so the reduce's own end is known too.  Its
    request comes to the job a latency after its start, and the answer takes another.
    """
    latency_ms, begun_ms = w.given[c.LATENCY], w.berths[berth, c.BEGUN]
    mapped_ms = w.jobs[w.berths[berth, c.OF_JOB], c.MAPPED]
    ready_ms = max(begun_ms + latency_ms, mapped_ms) + latency_ms
    left_ms = w.berths[berth, c.TIMES] - (ready_ms - begun_ms)
    shuffled_ms = ready_ms + max(left_ms, w.berths[berth, c.TIMES + 1], 2 * latency_ms + 1)
    w.berths[berth, c.SHUFFLED] = shuffled_ms
    set_attempt_end(w, berth, shuffled_ms + w.berths[berth, c.TIMES + 2])


def set_attempt_end(w: Tables, berth: int, over_ms: int) -> None:
    """Note when the attempt ends."""
    w.berths[berth, c.OVER] = over_ms
    first = w.nodes[w.berths[berth, c.OF_NODE], c.BERTH + c.MAPS_HERE]
    w.berths[first + w.berths[berth, c.IN_SLOT], c.BUSY] = over_ms
    if len(w.log):
        log_end(w, berth)


def round_of_end(w: Tables, berth: int) -> int:
    """In which round of its instant the attempt ends: 0 if what it does last takes any time; else a
    reduce a round after its shuffle, and what begins in round 1 a round after that.
    """
    if w.berths[berth, c.OF_KIND] == c.MAPS_HERE or w.berths[berth, c.OF_STAGE] != c.OF_TASKS:
        return 2 if w.berths[berth, c.OVER] == w.berths[berth, c.BEGUN] else 0
    return 1 if w.berths[berth, c.OVER] == w.berths[berth, c.SHUFFLED] else 0


def _slowness(w: Tables, job: int, column: int, number: int, at: int) -> float:
    """The job's factor on the node's type over the speed at which the attempt works."""
    speed = w.speeds[at]
    if w.reals[c.STRAGGLERS] > 0.0:
        luck = uniform_of(w.keys[c.STRAGGLER], w.jobs[job, c.NUMBER], column * _ATTEMPTS + number)
        if luck < w.reals[c.STRAGGLERS]:
            speed = speed / w.reals[c.STRAGGLING]
    slowness = w.factors[job, w.nodes[at, c.NODE_TYPE]] / speed
    return float(slowness * skew_of(w, job, column))


def skew_of(w: Tables, job: int, column: int) -> float:
    """How many times as long the task is as its job's others."""
    marks = w.jobs[job, c.SKEWED]
    if marks == c.NONE:
        return 1.0
    task = (column >> 1) + (column & 1) * w.jobs[job, c.TASKS + c.MAPS_HERE]
    return float(w.factors[job, w.factors.shape[1] - 1]) if w.skewed[marks + task] else 1.0


def true_size(w: Tables, kind: int, job: int) -> int:
    """What the phase's tasks take at speed 1 with local input, a reduce's shuffle apart."""
    lengths, maps = w.jobs[job, c.LENGTHS], w.jobs[job, c.TASKS + c.MAPS_HERE]
    size_ms = 0
    for task in range(w.jobs[job, c.TASKS + kind]):
        if lengths == c.NONE:
            ms = float(w.jobs[job, c.MAP_MS] if kind == c.MAPS_HERE else w.jobs[job, c.REDUCE_MS])
        else:
            ms = w.lengths[lengths + task if kind == c.MAPS_HERE else lengths + maps + 3 * task + 2]
        ms *= skew_of(w, job, 2 * task + kind)
        size_ms += _rounded(ms * _noise(w, job, 2 * task + kind))
    return size_ms


def size_error(w: Tables, kind: int, job: int) -> float:
    """By what factor the size is taken for larger than it is."""
    if w.reals[c.SIZE_ERROR] == 0.0:
        return 1.0
    return lognormal_of(w.keys[c.ESTIMATE], w.reals[c.SIZE_ERROR], w.jobs[job, c.NUMBER], kind)


def setup_or_cleanup_length(w: Tables, job: int, stage: int, at: int) -> int:
    """How long the job's setup or cleanup takes."""
    ms = w.jobs[job, c.SETUP_MS if stage == c.OF_SETUP else c.CLEANUP_MS]
    return _rounded(ms / w.speeds[at])


def _noise(w: Tables, job: int, column: int) -> float:
    if w.reals[c.SIGMA] == 0.0:
        return 1.0
    return lognormal_of(w.keys[c.DURATION], w.reals[c.SIGMA], w.jobs[job, c.NUMBER], column)


def _rounded(ms: float) -> int:
    """Half to even, as Python does it."""
    return int(np.rint(ms))
