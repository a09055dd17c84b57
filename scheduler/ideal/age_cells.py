"""Ages cut into cells: what a law does in each, and the mean response where ranks go by the age."""

from math import log
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from callboard.scheduler.ideal.panel_grid import GridValues, PanelGrid
from callboard.scheduler.ideal.size_laws import SizeLaw


class AgeCells(NamedTuple):
    """Ages from 0 on, without gaps: one entry a cell, of means over all jobs, whether they become
    so old or not.
    """

    begin: GridValues
    """The age at which it begins."""
    ending: GridValues
    """How many jobs end in it."""
    into: GridValues
    """How far into it those are then."""
    served: GridValues
    """The service that a job gets in it."""
    squared: GridValues
    """The same, squared."""

    def jobs_reaching(self) -> GridValues:
        """How many jobs get to each cell."""
        return np.asarray(np.cumsum(self.ending[::-1])[::-1])

    def coarsened(self, first: NDArray[np.bool_]) -> "AgeCells":
        """Fewer cells: those that are not marked are part of the one before."""
        starts = np.flatnonzero(first)
        begin = self.begin[starts]
        after = self.begin - np.repeat(begin, np.diff(starts, append=len(self.begin)))
        rows = (
            self.ending,
            self.into + after * self.ending,
            self.served,
            self.squared + 2 * after * self.served,
        )
        return AgeCells(begin, *(np.add.reduceat(row, starts) for row in rows))


def cells_of(law: SizeLaw, width: float) -> AgeCells:
    """Cells of a width in the logarithm of the age, and one before them, of ages below any size."""
    grid = PanelGrid(log(law.lowest), log(law.highest), width)
    x: GridValues = np.exp(grid.points)
    jobs, edges = x * law.density(x), np.exp(grid.edges)
    over = x - edges[:-1, None]
    ending, into, squared = (
        np.concatenate([[0.0], (over**power * jobs) @ grid.weights]) for power in range(3)
    )
    beyond = np.concatenate([np.cumsum(ending[:0:-1])[::-1], [0.0]])
    widths = np.diff(edges, prepend=0.0)
    begin = np.concatenate([[0.0], edges[:-1]])
    served = widths * beyond + into
    return AgeCells(begin, ending, into, served, widths**2 * beyond + squared)


def mean_by_ranks(rate: float, cells: AgeCells, ranks: GridValues) -> float:
    """The mean response of jobs that come at this rate, where the least rank is served, of equal
    ones the job that came first, and a job has the rank of the cell that its age is in.

    By SOAP (Scully, Harchol-Balter, Scheller-Wolf 2018, theorem 5.5).  A job of size x has the
    worst rank r up to its end.  It waits for others while their ranks are r or less,

        λ Σᵢ E[Xᵢ(r)²] / 2(1 − λE[X₀(r)])(1 − λE[X₋(r)]),

    X₀ from a job's arrival until it has a worse rank for the first time, X₁, X₂, … each later
    spell, X₋ until its rank is not better than r.  From age a on it is held up by newcomers while
    these are better than the worst rank that it will still have, w: ∫₀ˣ da / (1 − λE[X₋(w)]).
    """
    worst = np.maximum.accumulate(ranks)
    waits = {rank: _waiting_at_rank(rate, cells, ranks, rank) for rank in np.unique(worst)}
    free = {
        rank: 1 - rate * _service_until_stop(cells.served, ranks >= rank)
        for rank in np.unique(ranks)
    }
    widths = np.diff(cells.begin)
    total, ahead = 0.0, list[tuple[float, float]]()  # the worst rank still to come, and how long
    for cell, rank in enumerate(ranks):
        base = 0.0
        while ahead and ahead[-1][0] <= rank:
            base += ahead.pop()[1]
        ahead.append((rank, base))
        passed = sum(length / free[each] for each, length in ahead)
        total += cells.ending[cell] * (waits[worst[cell]] + passed)
        total += cells.into[cell] / free[rank]
        if cell < len(widths):
            ahead[-1] = (rank, base + widths[cell])
    return float(total)


def _waiting_at_rank(rate: float, cells: AgeCells, ranks: GridValues, rank: float) -> float:
    """What a job waits for others whose worst rank up to its end is this one."""
    before = np.concatenate([[False], ranks <= rank, [False]])
    turns = np.flatnonzero(np.diff(before.astype(np.int8)))
    squares = 0.0
    for first, end in zip(turns[::2], turns[1::2], strict=True):
        after = cells.begin[first:end] - cells.begin[first]
        squares += float((cells.squared[first:end] + 2 * after * cells.served[first:end]).sum())
    older = 1 - rate * _service_until_stop(cells.served, ranks > rank)
    newer = 1 - rate * _service_until_stop(cells.served, ranks >= rank)
    return rate * squares / (2 * older * newer)


def _service_until_stop(served: GridValues, stops: NDArray[np.bool_]) -> float:
    """The service that a job gets before the first cell in which it stops."""
    end = int(stops.argmax()) if stops.any() else len(served)
    return float(served[:end].sum())
