"""Where a loop's rows come from: lists for the plain loops, arrays for the compiled ones."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from callboard.scheduler.ideal.fsp import LATE_FIFO, LATE_LAS, LATE_PS, FspMachine
from callboard.scheduler.ideal.heap import NO_JOB, Heap, JobLinks, NumberRow
from callboard.scheduler.ideal.loops import LoopJobs
from callboard.scheduler.ideal.sharing_queues import INF, LasQueue, PsQueue


class RowMaker(Protocol):
    """A maker of rows."""

    def numbers(self, values: Any) -> NumberRow:
        """A row of these numbers, which the loop may change."""

    def same(self, value: Any, n: int) -> NumberRow:
        """A row of `n` times this number."""

    def links(self, n: int, job: int = NO_JOB) -> JobLinks:
        """A row of `n` times this job number."""


class ListRowMaker:
    """Rows as lists; the numbers keep their type, so Fractions stay exact."""

    def numbers(self, values: Any) -> NumberRow:
        """A row of these numbers, which the loop may change."""
        return list(values)

    def same(self, value: Any, n: int) -> NumberRow:
        """A row of `n` times this number."""
        return [value] * n

    def links(self, n: int, job: int = NO_JOB) -> JobLinks:
        """A row of `n` times this job number."""
        return [job] * n


class ArrayRowMaker:
    """Rows as float64 and int64 arrays."""

    def numbers(self, values: Any) -> NumberRow:
        """A row of these numbers, which the loop may change."""
        return np.array(values, dtype=np.float64)

    def same(self, value: Any, n: int) -> NumberRow:
        """A row of `n` times this number."""
        return np.full(n, value, dtype=np.float64)

    def links(self, n: int, job: int = NO_JOB) -> JobLinks:
        """A row of `n` times this job number."""
        return np.full(n, job, dtype=np.int64)


class RunInput(NamedTuple):
    """One run's input in order of (arrival, index), scaled to a machine of speed 1."""

    arrival: Any
    size: Any
    estimate: Any
    weight: Any

    def jobs(self, rows: RowMaker) -> LoopJobs:
        """The rows that a loop reads and fills."""
        n = len(self.arrival)
        return LoopJobs(
            arrival=rows.numbers(self.arrival),
            size=rows.numbers(self.size),
            estimate=rows.numbers(self.estimate),
            left=rows.numbers(self.size),
            done=rows.same(INF, n),
        )


def empty_heap(rows: RowMaker, n: int, tops: int = 1) -> Heap:
    """`tops` empty heaps for `n` jobs."""
    return Heap(rows.same(0, n), rows.links(n), rows.links(n), rows.links(tops))


def empty_ps_queue(rows: RowMaker, n: int, weight: Any = None) -> PsQueue:
    """An empty pool for `n` jobs, of weight 1 each unless weights are given."""
    row = rows.same(1, n) if weight is None else rows.numbers(weight)
    return PsQueue(empty_heap(rows, n), row, rows.same(0, 1), rows.same(0, 2))


def empty_las_queue(rows: RowMaker, n: int) -> LasQueue:
    """Empty levels for `n` jobs."""
    return LasQueue(empty_heap(rows, n, n), empty_heap(rows, n), rows.links(n, 0), rows.links(1))


def empty_fsp_machine(rows: RowMaker, n: int, late: int, weight: Any = None) -> FspMachine:
    """A real machine and its virtual twin, with room for late jobs of the kind `late` only."""
    virtual = empty_ps_queue(rows, n, weight)
    present = Heap(virtual.heap.key, rows.links(n), rows.links(n), rows.links(1))
    shared = PsQueue(
        empty_heap(rows, n if late == LATE_PS else 0),
        virtual.weight,
        rows.same(0, 1),
        rows.same(0, 2),
    )
    queue = rows.links(n if late == LATE_FIFO else 0)
    return FspMachine(
        virtual,
        present,
        shared,
        queue,
        rows.links(2, 0),
        empty_las_queue(rows, n if late == LATE_LAS else 0),
    )
