"""Classes of jobs: those whose mean task times are the same on each node type (COSHH).

"We define the class of jobs to be the set of jobs whose mean execution times (on each resource) are
the same" (the hybrid paper, II-A), found by k-means.  Measured times are never quite the same, so
they are put on a logarithmic grid with cells `alike` wide; jobs of one cell are one class.  Only
when there are more cells than `most` classes, k-means joins neighbours, on the logarithms of their
times; further cells join the nearest class, until half as many have come as were joined, and all
are joined anew.

Nothing is drawn: the first centre is the oldest cell, each further one the cell farthest from all
centres so far.  A class has the number of its oldest cell and keeps it when others come.
"""

from collections.abc import Sequence
from math import log

import numpy as np
from numpy.typing import NDArray

from callboard.scheduler.left_to_right_sum import left_to_right_sum
from callboard.scheduler.orders.coshh.linear_program import TASK_MS_MIN, scipy_module

GridCell = int
"""A cell's number: how many were there before it."""

GridPoint = tuple[int, ...]
"""A cell's coordinates on the grid."""

TaskTimeVector = tuple[float, ...]
"""Mean task times in ms, one for each node type."""


class JobClasses:
    """The cells that jobs hold, and the classes that they make."""

    def __init__(self, most: int, alike: float) -> None:
        self._most = most
        self._step = log(1 + alike)
        self._last: GridCell = -1
        self._cells: dict[GridPoint, GridCell] = {}
        self._times: dict[GridCell, TaskTimeVector] = {}
        self._held: dict[GridCell, int] = {}
        self._class_of: dict[GridCell, int] = {}
        self._class_times: dict[int, TaskTimeVector] = {}
        self._joined = 0  # cells since the last grouping, and how many there were then
        self._grouped = 0
        self.groupings = 0
        """How often cells were joined anew, so that `class_of` may have changed for any."""

    def grid_point(self, times_ms: Sequence[float]) -> GridPoint:
        return tuple(round(log(max(each, TASK_MS_MIN)) / self._step) for each in times_ms)

    def hold_cell(self, times_ms: Sequence[float], jobs: int = 1) -> GridCell:
        """The cell of these jobs; it is kept as long as one of them holds it."""
        place = self.grid_point(times_ms)
        cell = self._cells.get(place)
        if cell is not None:
            self._held[cell] += jobs
            return cell
        self._last = cell = self._cells[place] = self._last + 1
        self._times[cell] = tuple(max(each, TASK_MS_MIN) for each in times_ms)
        self._held[cell] = jobs
        self._joined += 1
        if len(self._cells) <= self._most:
            self._class_of[cell] = cell
            self._class_times[cell] = self._times[cell]
        elif 2 * self._joined > self._grouped:
            self._regroup_cells()
        else:
            self._class_of[cell] = self._nearest_class(cell)
        return cell

    def release_cell(self, cell: GridCell, jobs: int = 1) -> None:
        """They hold it no longer.  With the last it goes, when cells are joined anew."""
        self._held[cell] -= jobs

    def class_of(self, cell: GridCell) -> int:
        return self._class_of[cell]

    def times_ms(self, number: int) -> TaskTimeVector:
        """A class's mean task times, over its cells, each as its first job was."""
        return self._class_times[number]

    def _nearest_class(self, cell: GridCell) -> int:
        classes = sorted(self._class_times)
        centres = np.log(np.array([self._class_times[number] for number in classes]))
        return classes[int(np.argmin(_squared_distances(np.log([self._times[cell]]), centres)))]

    def _regroup_cells(self) -> None:
        """Drop cells that no job holds; join the rest by k-means if there are too many."""
        self._cells = {place: cell for place, cell in self._cells.items() if self._held[cell]}
        cells = list(self._cells.values())
        self._times = {cell: self._times[cell] for cell in cells}
        self._held = {cell: self._held[cell] for cell in cells}
        self._class_of = dict(zip(cells, cells, strict=True))
        self._joined, self._grouped = 0, len(cells)
        self.groupings += 1
        if len(cells) > self._most:
            points = np.log(np.array([self._times[cell] for cell in cells]))
            first = points[_points_far_apart(points, self._most)]
            # A single centre would be taken for a number of centres, and has no choice anyway.
            centres = first if len(first) == 1 else scipy_module("vq").kmeans(points, first)[0]
            oldest: dict[int, GridCell] = {}
            nearest = np.argmin(_squared_distances(points, centres), axis=1).tolist()
            for cell, centre in zip(cells, nearest, strict=True):
                self._class_of[cell] = oldest.setdefault(centre, cell)
        members: dict[int, list[TaskTimeVector]] = {}
        for cell, number in self._class_of.items():
            members.setdefault(number, []).append(self._times[cell])
        self._class_times = {
            number: tuple(
                left_to_right_sum(column) / len(each) for column in zip(*each, strict=True)
            )
            for number, each in members.items()
        }


def _points_far_apart(points: NDArray[np.float64], count: int) -> list[int]:
    """That many points: the first, then each time the one farthest from those; the older of two."""
    chosen = [0]
    while len(chosen) < count:
        gaps = _squared_distances(points, points[chosen]).min(axis=1)
        chosen.append(int(np.argmax(gaps)))
    return chosen


def _squared_distances(
    points: NDArray[np.float64], centres: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The square of each point's distance from each centre, rounded alike on every machine."""
    squares = ((points[:, None, :] - centres[None, :, :]) ** 2).sum(axis=2)
    return np.asarray(np.round(squares, 9), dtype=float)
