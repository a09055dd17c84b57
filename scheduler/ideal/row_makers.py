"""Where a loop's rows come from: lists for the plain loops, arrays for the compiled ones."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from callboard.scheduler.ideal.age_loop import RankedAges
from callboard.scheduler.ideal.fsp import LATE_FIFO, LATE_LAS, LATE_PS, FspMachine
from callboard.scheduler.ideal.heap import NO_JOB, Heap, JobLinks, NumberRow
from callboard.scheduler.ideal.loops import LoopJobs
from callboard.scheduler.ideal.sharing_queues import INF, LasQueue, PsQueue


class RowMaker(NamedTuple):
    """How a loop's rows are made."""

    numbers: Callable[[Any], NumberRow]
    """A row of these numbers, which the loop may change."""
    same: Callable[[Any, int], NumberRow]
    """A row of n times this number."""
    links: Callable[[int, int], JobLinks]
    """A row of n times this job number."""


LISTS = RowMaker(list, lambda value, n: [value] * n, lambda job, n: [job] * n)
"""The numbers keep their type, so Fractions stay exact."""

ARRAYS = RowMaker(
    lambda values: np.array(values, dtype=np.float64),
    lambda value, n: np.full(n, value, dtype=np.float64),
    lambda job, n: np.full(n, job, dtype=np.int64),
)


class RunInput(NamedTuple):
    """One run's input in order of (arrival, index), scaled to a machine of speed 1."""

    arrival: Any
    size: Any
    estimate: Any
    weight: Any

    @property
    def n(self) -> int:
        return len(self.arrival)

    def loop_jobs(self, rows: RowMaker) -> LoopJobs:
        return LoopJobs(
            arrival=rows.numbers(self.arrival),
            size=rows.numbers(self.size),
            estimate=rows.numbers(self.estimate),
            left=rows.numbers(self.size),
            done=rows.same(INF, self.n),
        )


def empty_heap(rows: RowMaker, n: int, tops: int = 1) -> Heap:
    """`tops` empty heaps for `n` jobs."""
    return Heap(
        rows.same(0, n), rows.links(NO_JOB, n), rows.links(NO_JOB, n), rows.links(NO_JOB, tops)
    )


def empty_ps_queue(rows: RowMaker, n: int, weight: Any = None) -> PsQueue:
    """An empty pool for `n` jobs, of weight 1 each unless weights are given."""
    row = rows.same(1, n) if weight is None else rows.numbers(weight)
    return PsQueue(empty_heap(rows, n), row, rows.same(0, 1), rows.same(0, 2))


def empty_las_queue(rows: RowMaker, n: int) -> LasQueue:
    """Empty levels for `n` jobs."""
    groups = empty_heap(rows, n)
    return LasQueue(empty_heap(rows, n, n), groups, rows.links(0, n), rows.links(NO_JOB, 1))


def ranked_ages(rows: RowMaker, n: int, ages: Any, ranks: Any) -> RankedAges:
    """Ranks by age for `n` jobs, which are not there yet."""
    return RankedAges(rows.numbers(ages), rows.numbers(ranks), rows.links(0, n), rows.same(0, n))


def empty_fsp_machine(rows: RowMaker, n: int, late: int, weight: Any = None) -> FspMachine:
    """A real machine and its virtual twin, with room for late jobs of the kind `late` only."""
    virtual = empty_ps_queue(rows, n, weight)
    shared = empty_heap(rows, n if late == LATE_PS else 0)
    return FspMachine(
        virtual=virtual,
        present=empty_heap(rows, n)._replace(key=virtual.heap.key),
        shared=PsQueue(shared, virtual.weight, rows.same(0, 1), rows.same(0, 2)),
        queue=rows.links(NO_JOB, n if late == LATE_FIFO else 0),
        ends=rows.links(0, 2),
        levels=empty_las_queue(rows, n if late == LATE_LAS else 0),
    )
