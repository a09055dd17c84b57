"""Slow start, from when jobs' first reduces began.

When it began, enough maps of its job were done; a few heartbeats before, with reduce slots free all
the while, not enough were.  Each job gives two bounds.
"""

import numpy as np

from callboard.experiments.calibration.estimate import Estimate, HistoryFinding, Untold
from callboard.scenarios.formats.attempt_log import SUCCEEDED, UNTOLD, AttemptLog
from callboard.scheduler.model import MAP, REDUCE

NAME, _FIELD = "slow start", "tasks.slowstart"
_BEFORE_PERIODS = 4.0
_FREE_SHARE = 0.5  # of the reduce slots, at least: then a reduce that may start does


def slowstart(log_: AttemptLog, period_ms: float, reduce_slots: float) -> HistoryFinding:
    """Bounds of the share of maps that are done before reduces may start."""
    reduces = (log_.kind == REDUCE) & (log_.begin_ms != UNTOLD)
    lows, highs = [], []
    for job in np.unique(log_.job[reduces]).tolist():
        total = int(log_.maps[job])
        done = _done_ms(log_, job)
        if total == 0 or len(done) < total:
            continue
        first_ms = int(log_.begin_ms[reduces & (log_.job == job)].min())
        highs.append(int((done <= first_ms).sum()) / total)
        before_ms = first_ms - _BEFORE_PERIODS * period_ms
        if _busiest(log_, before_ms, first_ms) <= (1 - _FREE_SHARE) * reduce_slots:
            lows.append(int((done <= before_ms).sum()) / total)
    if not highs:
        return Untold(NAME, "no job tells of all its maps and of a reduce")
    low, high = max(lows, default=0.0), min(highs)
    if low > high:
        why = f"jobs contradict each other: not before {low:.0%} of the maps, and at {high:.0%}"
        return Untold(NAME, f"{why} (each job may have its own, or clocks are apart)")
    of = f"the first reduces of {len(highs):,} jobs, {len(lows):,} of them with slots free"
    return Estimate(NAME, _FIELD, (low + high) / 2, low, high, "", of)


def _done_ms(log_: AttemptLog, job: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """When each of the job's maps was done, by the end of its attempt."""
    mine = (log_.job == job) & (log_.kind == MAP) & (log_.ending == SUCCEEDED)
    mine &= log_.end_ms != UNTOLD
    ends = np.full(int(log_.task[mine].max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(ends, log_.task[mine], log_.end_ms[mine])
    done: np.ndarray[tuple[int], np.dtype[np.int64]] = np.sort(ends[ends < np.iinfo(np.int64).max])
    return done


def _busiest(log_: AttemptLog, from_ms: float, to_ms: float) -> int:
    """The most reduces that ran at once between two moments, at most those that touch them."""
    kept = log_.timed(REDUCE)
    return int(((log_.begin_ms[kept] < to_ms) & (log_.end_ms[kept] > from_ms)).sum())
