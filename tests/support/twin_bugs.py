"""Bugs for the twin, and a drawn world that shows each."""

from typing import NamedTuple

from tests.support.twin_worlds import INITIALISED_FROM
from trials.swarm.bug_planter import PlantedBug

_CLUSTER = "twin/virtual_cluster.py"
_LINE = "twin/virtual_line.py"
_RATES = "twin/virtual_rates.py"
_PHASES = "twin/virtual_phases.py"
_ORDERS = "twin/virtual_orders.py"
_TRAINED = "twin/trained_phases.py"
_KILLED = "twin/killed_attempts.py"
_STARVING = "twin/starving_claimants.py"
_LOOP = "twin/play_loop.py"
_INSTANTS = "twin/next_instants.py"


class TwinBug(NamedTuple):
    """A bug, and the seed of a world in which the twin and the actors differ by it."""

    bug: PlantedBug
    seed: int


def twin_bug(seed: int, file: str, what: str, old: str, new: str) -> TwinBug:
    return TwinBug(PlantedBug(what, file, old, new), seed)


TWIN_BUGS: tuple[TwinBug, ...] = (
    twin_bug(
        0,
        _CLUSTER,
        "nobody's cap is ever met",
        "elif met < w.sums[c.MEMBERS, kind] and not _could_use_more(w, kind, met):",
        "elif met < 0:",
    ),
    twin_bug(
        17,
        _CLUSTER,
        "whose cap is met stays so",
        "if met > 0 and _could_use_more(w, kind, met - 1):",
        "if met > w.sums[c.MEMBERS, kind]:",
    ),
    twin_bug(
        4,
        _CLUSTER,
        "who changes sides is given again what it had",
        "    high, low = left_at_change(w, kind, row)\n    _count_on_side(w, kind, row, side)",
        "    high, low = w.virtual[row, c.PHASE_KEY_HIGH], 0\n"
        "    _count_on_side(w, kind, row, side)",
    ),
    twin_bug(
        4,
        _RATES,
        "the level stands still",
        "    return wide_sum(level_high, level_low, high, low)",
        "    return wide_sum(level_high, level_low, 0, 0)",
    ),
    twin_bug(
        20,
        _LINE,
        "the order of the queue is never looked at again",
        "    if w.state[c.NOW] <= w.sums[c.SORTED_UNTIL, kind]:",
        "    if w.sums[c.SORTED_UNTIL, kind] > 0:",
    ),
    twin_bug(
        167,
        _LINE,
        "an order is taken to last for ever",
        "    return int(w.state[c.NOW]) + max(int(ahead / nearing) - 1, 0)",
        "    return c.LATER",
    ),
    twin_bug(
        4,
        _LINE,
        "virtual sizes and virtual ends are mistaken for each other",
        "if w.given[c.ORDER] == c.BY_HFSP else (c.END_HIGH, c.LEFT_HIGH)",
        "if w.given[c.ORDER] != c.BY_HFSP else (c.END_HIGH, c.LEFT_HIGH)",
    ),
    twin_bug(
        54,
        _PHASES,
        "a job keeps being late when it is given a size",
        "    if w.virtual[row, c.SIDE] != c.AWAY:\n        w.virtual[row, c.LATE_SINCE] = c.NONE",
        "    if w.virtual[row, c.SIDE] != c.AWAY:\n        pass",
    ),
    twin_bug(
        294,
        _PHASES,
        "the age is not kept when a size is corrected",
        "    left_ms = max(w.measures[row] - age_ms, 0.0)",
        "    left_ms = w.measures[row]",
    ),
    twin_bug(
        92,
        _PHASES,
        "late jobs under psbs go without weights",
        "        share = running * (_WEIGHT_MAX // w.virtual[row, c.PHASE_WEIGHT])",
        "        share = running",
    ),
    twin_bug(
        4,
        _PHASES,
        "a node's slots are not added to the virtual ones",
        "        w.sums[c.SPARE, kind] += w.sums[c.SLOTS, kind] - w.sums[c.SEEN_SLOTS, kind]",
        "        w.sums[c.SPARE, kind] += 1",
    ),
    twin_bug(
        0,
        _ORDERS,
        "who trains and who is late are mistaken for each other",
        "    pool = TRAINING_POOL if part == c.AMONG_TRAINING else LATE_POOL",
        "    pool = LATE_POOL if part == c.AMONG_TRAINING else TRAINING_POOL",
    ),
    twin_bug(
        20,
        _ORDERS,
        "jobs that are here count for a new one's size",
        "    learn_length_of_its_job(w, kind, job, work_ms)",
        "    learn_length(w, kind, job, work_ms)",
    ),
    twin_bug(
        8,
        _ORDERS,
        "training goes on without slots for it",
        "    trains = w.sums[c.TRAINING_SLOTS, kind] < w.given[c.TRAINING_SLOTS_MAX]",
        "    trains = True",
    ),
    twin_bug(
        8,
        _TRAINED,
        "a training slot is never given back",
        "        w.sums[c.TRAINING_SLOTS, w.berths[berth, c.OF_KIND]] -= 1",
        "        pass",
    ),
    twin_bug(
        4,
        _TRAINED,
        "training tasks tell a heartbeat late how far they are",
        "    heard_ms = begun_ms + max(w.given[c.TRAINING_DELAY], 1)",
        "    heard_ms = begun_ms + max(w.given[c.TRAINING_DELAY], 1) + 3000",
    ),
    twin_bug(
        4,
        _TRAINED,
        "a reduce's shuffle counts as its work",
        "    column = c.BEGUN if w.berths[berth, c.OF_KIND] == c.MAPS_HERE else c.SHUFFLED",
        "    column = c.BEGUN",
    ),
    twin_bug(
        754,
        _TRAINED,
        "what runs is taken to be done when training ends",
        "        unfinished += 1.0 - w.measures[at]",
        "        unfinished += 0.0",
    ),
    twin_bug(
        4,
        _TRAINED,
        "the training tasks are counted among those that are left",
        "    untrained = w.jobs[job, c.TASKS + kind] - wanted",
        "    untrained = w.jobs[job, c.TASKS + kind]",
    ),
    twin_bug(
        19,
        _KILLED,
        "an order to kill takes no time",
        "            _kill_attempt(w, berth, w.state[c.NOW] + w.given[c.LATENCY])",
        "            _kill_attempt(w, berth, w.state[c.NOW])",
    ),
    twin_bug(
        19,
        _STARVING,
        "the oldest are killed",
        "        _add_newest(w, int(w.berths[berth, c.IN_LOG]) * len(w.berths) + berth)",
        "        _add_newest(w, (9999 - int(w.berths[berth, c.IN_LOG])) * len(w.berths) + berth)",
    ),
    twin_bug(
        21,
        _STARVING,
        "those below their share are killed too",
        "        if row != c.NONE and w.claims[row, c.ABOVE_SHARE + kind] > 0:",
        "        if row != c.NONE:",
    ),
    twin_bug(
        INITIALISED_FROM,
        _LOOP,
        "jobs run tasks before they have been initialised",
        "        if w.jobs[job, c.READY] == w.jobs[job, c.SUBMIT]:",
        "        if w.jobs[job, c.READY] >= w.jobs[job, c.SUBMIT]:",
    ),
    twin_bug(
        INITIALISED_FROM + 1,
        _INSTANTS,
        "an initialisation is over at the next heartbeat",
        "    if ready < w.given[c.INITIALISED_JOBS]:",
        "    if ready < 0:",
    ),
)
