"""Means over windows of virtual time, and how an axis of time is written."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.journal.figures.steps import Steps
from callboard.journal.figures.tables import Ints
from callboard.scheduler.model import Millis

_Floats = NDArray[np.float64]


class TimeUnit(NamedTuple):
    """A unit for an axis of time, and how many ms it has."""

    name: str
    ms: int


_UNITS = (
    (600_000, TimeUnit("s", 1000)),
    (5 * 3_600_000, TimeUnit("min", 60_000)),
    (4 * 86_400_000, TimeUnit("h", 3_600_000)),
)
_DAYS = TimeUnit("d", 86_400_000)


def time_unit(until_ms: Millis) -> TimeUnit:
    """The unit in which a run of this length has neither tiny nor huge numbers."""
    return next((unit for most_ms, unit in _UNITS if until_ms <= most_ms), _DAYS)


def set_time_axis(axes: Any, until_ms: Millis) -> TimeUnit:
    """Let the x axis run from 0 to `until_ms`; the unit in which it is to be drawn on.  Of panels
    above each other the last one names it.
    """
    unit = time_unit(until_ms)
    axes.set_xlim(0, max(until_ms, 1) / unit.ms)
    if axes.get_subplotspec().is_last_row():
        axes.set_xlabel(f"virtual time ({unit.name})")
    return unit


def window_edges(until_ms: Millis, windows: int) -> _Floats:
    """The edges of equal windows from 0 to the end; 0 alone for no windows."""
    return np.linspace(0.0, max(until_ms, 1), windows + 1)


def window_means(steps: Steps, edges: _Floats) -> _Floats:
    """The mean count in each window, exactly; nan in those that begin after the steps' end."""
    times = np.append(steps.times, max(steps.until_ms, int(steps.times[-1]))).astype(np.float64)
    areas = np.concatenate(((0.0,), np.cumsum(np.diff(times) * steps.counts)))
    spans = np.minimum(edges[1:], steps.until_ms) - edges[:-1]
    spans[spans <= 0] = np.nan
    means: _Floats = np.diff(np.interp(edges, times, areas)) / spans
    return means


def busy_in_windows(
    rows: Ints, began_ms: Ints, ended_ms: Ints, shape: tuple[int, int], until_ms: Millis
) -> _Floats:
    """For each row and window (`shape`), how many of the row's intervals cover it on average."""
    height, windows = shape
    width = max(until_ms, 1) / windows
    covered = np.zeros((height, windows + 1))
    for at_ms, sign in ((began_ms, 1.0), (ended_ms, -1.0)):
        place = np.minimum((at_ms / width).astype(np.int64), windows - 1)
        first = (place + 1) - at_ms / width  # the part of the first window after `at_ms`
        np.add.at(covered, (rows, place), sign * first)
        np.add.at(covered, (rows, place + 1), sign * (1.0 - first))
    return np.cumsum(covered, axis=1)[:, :windows]
