"""The heartbeat interval, from the grid of starts.

A node is given tasks only by heartbeats, so that from one start on it to the next whole periods go
by.  For each candidate period the gaps are points on a circle, of which the mean's length is 1 if
all are multiples, and near 0 if they are anything.  All multiples of a period are multiples of its
half: of the periods that fit, the longest is meant.  The best candidate is made exact by longer and
longer gaps, as far as their periods can be counted.
"""

from math import log, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from callboard.histories.calibration.estimate import Estimate, HistoryFinding, Untold
from callboard.histories.model.attempt_log import UNTOLD, AttemptLog
from callboard.histories.quantiles import student_bound
from callboard.scheduler.text.quantities import only_few

NAME = "heartbeat period"
_FIELD = "cluster.heartbeat.interval_ms"
_SHORTEST_MS, _LONGEST_MS = 200.0, 60_000.0
_WITHIN_MS = 120_000  # gaps for the first look
_GAPS_MAX = 20_000
_FEWEST = 40  # gaps: of the many candidates some fits fewer by chance
_FITS = 0.5  # the mean's length: with a normal scatter, of a fifth of a period
_AS_GOOD = 0.9
_ROUNDED_MS = 0.5
_COUNTS_LEAST, _COUNTS_SAME = 3, 0.8  # gaps must be of several numbers of periods

_Floats = NDArray[np.float64]


def heartbeat_period(log_: AttemptLog, confidence: float) -> HistoryFinding:
    """The period from heartbeat to heartbeat: the interval, and a message's way there and back."""
    gaps = start_gaps(log_)
    near = gaps[gaps <= _WITHIN_MS][:_GAPS_MAX]
    if len(near) < _FEWEST:
        few = only_few(len(near), "task")
        return Untold(NAME, f"{few} started soon after another on the same node")
    candidates = 1 / np.linspace(1 / _LONGEST_MS, 1 / _SHORTEST_MS, _candidate_count())
    fits = np.array([_grid_fit(near, each) for each in candidates])
    best = float(fits.max())
    chance = sqrt(log(len(candidates) / 0.001) / len(near))
    if best < max(_FITS, chance):
        why = f"starts come at no regular interval: the best fits by {best:.2f}, where 1 is exact"
        return Untold(NAME, f"{why} (out-of-band heartbeats, or starts told late)")
    first = float(candidates[fits >= _AS_GOOD * best].max())
    return _refined_period(gaps, first, confidence)


def _candidate_count() -> int:
    """Candidates so near to each other that the longest gaps of the first look tell them apart."""
    return int(4 * _WITHIN_MS * (1 / _SHORTEST_MS - 1 / _LONGEST_MS))


def start_gaps(log_: AttemptLog) -> _Floats:
    """Times from each start of a node to its next, those of one heartbeat left out."""
    known = (log_.begin_ms != UNTOLD) & (log_.host >= 0)
    hosts, starts = log_.host[known], log_.begin_ms[known]
    order = np.lexsort((starts, hosts))
    gaps = np.diff(starts[order])
    kept = (np.diff(hosts[order]) == 0) & (gaps >= _SHORTEST_MS / 2)
    found: _Floats = gaps[kept].astype(np.float64)
    return found


def _grid_fit(gaps: _Floats, period: float) -> float:
    """How far the mean of the gaps' points on the circle lies towards whole periods; a gap of less
    than half a period is none, and speaks against it.
    """
    towards = np.where(gaps < period / 2, -1.0, np.cos(2 * pi / period * gaps))
    return float(towards.mean())


def _refined_period(gaps: _Floats, period: float, confidence: float) -> HistoryFinding:
    """Fit the period to gaps of more and more periods, as long as these can be counted."""
    spread, reach = 0.25 * period, 2.0
    used, counts = gaps, np.ones(len(gaps))
    while True:
        used = gaps[gaps <= (reach + 0.5) * period]
        counts = np.maximum(np.round(used / period), 1)
        period = float((counts * used).sum() / (counts**2).sum())
        left = used - counts * period
        spread = float(np.median(np.abs(left))) * 1.4826
        if len(used) == len(gaps) or reach > 1e6:
            break
        reach *= 2
        error = spread / sqrt(float((counts**2).sum()))
        if reach * error > 0.1 * period:
            break
    inside = np.abs(left) <= max(5 * spread, 2 * _ROUNDED_MS)
    used, counts = used[inside], counts[inside]
    _, often = np.unique(counts, return_counts=True)
    if len(often) < _COUNTS_LEAST or often.max() > _COUNTS_SAME * len(counts):
        why = f"gaps between starts are all of {period / 1000:,.1f} s or its like: a task's length?"
        return Untold(NAME, why)
    return _period_estimate(used, counts, len(gaps), confidence)


def _period_estimate(used: _Floats, counts: _Floats, gaps: int, confidence: float) -> Estimate:
    squares = float((counts**2).sum())
    period = float((counts * used).sum()) / squares
    freedom = max(len(used) - 1, 1)
    scatter = sqrt(float(((used - counts * period) ** 2).sum()) / freedom)
    half = student_bound(freedom, confidence) * scatter / sqrt(squares)
    half += _ROUNDED_MS / float(counts.max())
    of = f"{len(used):,} of {gaps:,} gaps between starts on one node"
    return Estimate(NAME, _FIELD, period, period - half, period + half, "ms", of)
