"""Gittins' index: the job to serve when only the law of sizes is known, and what each job has had.

A job that has had a seconds of service has the index

    G(a) = sup over Δ > 0 of P(X − a ≤ Δ | X > a) / E[min(X − a, Δ) | X > a],

and the greatest is served: of all disciplines that see no size it has the least mean response
(Gittins 1979; for M/G/1 Aalto, Ayesta, Righter 2009).  Where the hazard rate falls it is FB; where
it rises each job goes to its end, first come first served; exponential jobs are all alike.

Here ages are cut into cells.  A job's rank is 1 / G at the age at which its cell begins, where Δ
goes to the end of any cell; it has that rank through the cell, and of equals who came first is
served.  That is a discipline by rank and age, whose mean is exact (`age_cells.mean_by_ranks`).
"""

import numpy as np

from callboard.scheduler.ideal.age_cells import AgeCells, cells_of, mean_by_ranks
from callboard.scheduler.ideal.age_loop import AgeRanks
from callboard.scheduler.ideal.mean_responses import SingleServer
from callboard.scheduler.ideal.panel_grid import GridValues
from callboard.scheduler.ideal.size_laws import SizeLaw

CELL = 0.05
"""How wide a cell is, in the logarithm of the age."""

YOUNG = 1e-3
"""All ages at which less than this share of the work is done are one cell."""

OLD = 1e-9
"""All ages that less than this share of the jobs come to are one cell."""

ALIKE = 1e-9
"""Ranks no further apart than this share of them are one, as an exponential job's all are."""


def gittins_ranks(law: SizeLaw, width: float = CELL) -> AgeRanks:
    """Gittins' ranks, of the dimension of a size: what a job takes, for each one that ends."""
    return _ranked_cells(law, width)[1]


def gittins_mean(server: SingleServer, width: float = CELL) -> float:
    """The mean response under these ranks."""
    cells, ranked = _ranked_cells(server.law, width)
    return mean_by_ranks(server.rate, cells, np.array(ranked.ranks))


def _ranked_cells(law: SizeLaw, width: float) -> tuple[AgeCells, AgeRanks]:
    """Cells of unlike ranks, next to each other at least."""
    cells = _negligible_cells_joined(cells_of(law, width))
    ranks = _gittins_ranks(cells)
    unlike = np.abs(np.diff(ranks)) > ALIKE * ranks[1:]
    first = np.concatenate([[True], unlike])
    cells = cells.coarsened(first)
    return cells, AgeRanks(cells.begin.tolist(), ranks[first].tolist())


def _negligible_cells_joined(cells: AgeCells) -> AgeCells:
    """The ages of hardly any work, and those of hardly any job, each made one cell."""
    before = np.cumsum(cells.served) - cells.served
    first = (before >= YOUNG * cells.served.sum()) & (cells.jobs_reaching() >= OLD)
    first[0] = True
    return cells.coarsened(first)


def _gittins_ranks(cells: AgeCells) -> GridValues:
    """Of the service from a cell's begin to the end of any later one, over the jobs that end in
    between, the least.

    From the last cell back: a cell is joined with the stretch after it while that is no worse,
    since then it is better to go on than to stop before it.
    """
    ranks = np.empty(len(cells.begin))
    stretches: list[tuple[float, float]] = []  # service and ends of each, the nearest last
    for cell in range(len(ranks) - 1, -1, -1):
        served, ending = float(cells.served[cell]), float(cells.ending[cell])
        while stretches and stretches[-1][0] * ending <= served * stretches[-1][1]:
            more, ends = stretches.pop()
            served, ending = served + more, ending + ends
        stretches.append((served, ending))
        ranks[cell] = served / ending
    return ranks
