"""Slow start, from when jobs' first reduces began.

When it began, enough maps of its job were done; a few heartbeats before, with reduce slots free all
the while, not enough were.  Each job gives two bounds.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from callboard.histories.calibration.estimate import Estimate, HistoryFinding, Untold
from callboard.histories.model.attempt_log import SUCCEEDED, UNTOLD, AttemptLog, IntColumn
from callboard.scheduler.model import MAP, REDUCE
from callboard.scheduler.text.quantities import count

NAME, _FIELD = "slow start", "tasks.slowstart"
_BEFORE_PERIODS = 4.0
_FREE_SHARE = 0.5  # of the reduce slots, at least: then a reduce that may start does


def slowstart(log_: AttemptLog, period_ms: float, reduce_slots: float) -> HistoryFinding:
    """Bounds of the share of maps that are done before reduces may start."""
    kept = log_.placed_rows(REDUCE)
    begins, ends = np.sort(log_.begin_ms[kept]), np.sort(log_.end_ms[kept])
    lows, highs = [], []
    for job in _jobs_with_reduces(log_):
        total, done = int(log_.maps[job.number]), job.done_ms
        if total == 0 or len(done) < total:
            continue
        highs.append(int((done <= job.reduce_ms).sum()) / total)
        before_ms = job.reduce_ms - _BEFORE_PERIODS * period_ms
        touching = np.searchsorted(begins, job.reduce_ms) - np.searchsorted(ends, before_ms)
        if touching <= (1 - _FREE_SHARE) * reduce_slots:
            lows.append(int((done <= before_ms).sum()) / total)
    if not highs:
        return Untold(NAME, "no job tells of all its maps and of a reduce")
    low, high = max(lows, default=0.0), min(highs)
    if low > high:
        why = f"jobs contradict each other: not before {low:.0%} of the maps, and at {high:.0%}"
        return Untold(NAME, f"{why} (each job may have its own, or clocks are apart)")
    of = f"the first reduces of {count(len(highs), 'job')}, {len(lows):,} of them with slots free"
    return Estimate(NAME, _FIELD, (low + high) / 2, low, high, "", of)


class _Job(NamedTuple):
    """A job: when its first reduce began, and when each of its maps was done."""

    number: int
    reduce_ms: int
    done_ms: IntColumn


def _jobs_with_reduces(log_: AttemptLog) -> Iterator[_Job]:
    """The jobs of which a reduce tells when it began."""
    order = np.argsort(log_.job, kind="stable")
    edges = np.searchsorted(log_.job[order], np.arange(len(log_.maps) + 1))
    for number, (first, last) in enumerate(pairwise(edges.tolist())):
        rows = order[first:last]
        reduces = rows[(log_.kind[rows] == REDUCE) & (log_.begin_ms[rows] != UNTOLD)]
        maps = rows[(log_.kind[rows] == MAP) & (log_.ending[rows] == SUCCEEDED)]
        maps = maps[log_.end_ms[maps] != UNTOLD]
        if len(reduces):
            ends = log_.end_ms[maps][np.argsort(log_.end_ms[maps], kind="stable")]
            tasks = log_.task[maps][np.argsort(log_.end_ms[maps], kind="stable")]
            _, earliest = np.unique(tasks, return_index=True)
            yield _Job(number, int(log_.begin_ms[reduces].min()), np.sort(ends[earliest]))
