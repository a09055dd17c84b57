"""The least time in which slots can do tasks that are not interrupted, on unlike nodes too.

Finding the best schedule is hard; what is found here is a lower bound of it, exact for tasks of
one length.  A time is too short if in it the slots, all busy, cannot do the tasks' work; or if for
some n they cannot end n tasks as long as the n longest, since of two tasks that do not fit into
that time one after the other a slot can do one.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from callboard.scheduler.model import Millis

Lengths = NDArray[np.int64]
"""The ms of each task (a row) on each type of node (a column)."""


def least_makespan(lengths: Lengths, slots: Sequence[int]) -> Millis:
    """The time before which no schedule of these tasks on these slots ends; 0 without tasks."""
    columns = np.flatnonzero(np.asarray(slots) > 0)
    there = lengths[:, columns]
    there = there[(there > 0).all(axis=1)]  # a task of no length delays nothing
    if not len(there):
        return 0
    ordered = _least_of_longest(there)
    counts = np.asarray(slots, np.int64)[columns]
    low = max(int(ordered[0].min()), _least_time_by_work(ordered, counts))
    if _tasks_fit_within(ordered, counts, low):
        return low
    high = int(-(-len(ordered) // counts.sum()) * ordered.max())
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (low, middle) if _tasks_fit_within(ordered, counts, middle) else (middle, high)
    return high


def _least_of_longest(lengths: Lengths) -> Lengths:
    """In row n the least that any of the n longest tasks takes, type by type."""
    order = np.argsort(-lengths.min(axis=1), kind="stable")
    shortest: Lengths = np.minimum.accumulate(lengths[order], axis=0)
    return shortest


def _least_time_by_work(ordered: Lengths, counts: Lengths) -> Millis:
    """The time in which all slots together have done the work."""
    work = ordered.min(axis=1)
    rate = float((counts * (work[:, None] / ordered).max(axis=0)).sum())
    return int(work.sum() / rate)


def _tasks_fit_within(ordered: Lengths, counts: Lengths, within: Millis) -> bool:
    """Whether for every n the slots could end n tasks as long as the n longest in that time."""
    ended = (within // ordered * counts).sum(axis=1)
    return bool((ended >= np.arange(1, len(ordered) + 1)).all())
