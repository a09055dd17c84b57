"""Where a loop's rows come from: lists for the plain loops, arrays for the compiled ones."""

from typing import Any, NamedTuple, Protocol

import numpy as np

from callboard.scheduler.ideal.fsp import FIRST, LEAST, SHARE, Twin
from callboard.scheduler.ideal.heap import NONE, Heap, Links, Row
from callboard.scheduler.ideal.loops import Jobs
from callboard.scheduler.ideal.pool import INF, Levels, Pool


class Rows(Protocol):
    """A maker of rows."""

    def numbers(self, values: Any) -> Row:
        """A row of these numbers, which the loop may change."""

    def same(self, value: Any, n: int) -> Row:
        """A row of `n` times this number."""

    def links(self, n: int, job: int = NONE) -> Links:
        """A row of `n` times this job number."""


class ListRows:
    """Rows as lists; the numbers keep their type, so Fractions stay exact."""

    def numbers(self, values: Any) -> Row:
        """A row of these numbers, which the loop may change."""
        return list(values)

    def same(self, value: Any, n: int) -> Row:
        """A row of `n` times this number."""
        return [value] * n

    def links(self, n: int, job: int = NONE) -> Links:
        """A row of `n` times this job number."""
        return [job] * n


class ArrayRows:
    """Rows as float64 and int64 arrays."""

    def numbers(self, values: Any) -> Row:
        """A row of these numbers, which the loop may change."""
        return np.array(values, dtype=np.float64)

    def same(self, value: Any, n: int) -> Row:
        """A row of `n` times this number."""
        return np.full(n, value, dtype=np.float64)

    def links(self, n: int, job: int = NONE) -> Links:
        """A row of `n` times this job number."""
        return np.full(n, job, dtype=np.int64)


class Case(NamedTuple):
    """One run's input in order of (arrival, index), scaled to a machine of speed 1."""

    arrival: Any
    size: Any
    estimate: Any
    weight: Any

    def jobs(self, rows: Rows) -> Jobs:
        """The rows that a loop reads and fills."""
        n = len(self.arrival)
        return Jobs(
            arrival=rows.numbers(self.arrival),
            size=rows.numbers(self.size),
            estimate=rows.numbers(self.estimate),
            left=rows.numbers(self.size),
            done=rows.same(INF, n),
        )


def heap(rows: Rows, n: int, tops: int = 1) -> Heap:
    """`tops` empty heaps for `n` jobs."""
    return Heap(rows.same(0, n), rows.links(n), rows.links(n), rows.links(tops))


def pool(rows: Rows, n: int, weight: Any = None) -> Pool:
    """An empty pool for `n` jobs, of weight 1 each unless weights are given."""
    row = rows.same(1, n) if weight is None else rows.numbers(weight)
    return Pool(heap(rows, n), row, rows.same(0, 1), rows.same(0, 2))


def levels(rows: Rows, n: int) -> Levels:
    """Empty levels for `n` jobs."""
    return Levels(heap(rows, n, n), heap(rows, n), rows.links(n, 0), rows.links(1))


def twin(rows: Rows, n: int, late: int, weight: Any = None) -> Twin:
    """A real machine and its virtual twin, with room for late jobs of the kind `late` only."""
    virtual = pool(rows, n, weight)
    present = Heap(virtual.heap.key, rows.links(n), rows.links(n), rows.links(1))
    shared = Pool(
        heap(rows, n if late == SHARE else 0), virtual.weight, rows.same(0, 1), rows.same(0, 2)
    )
    queue = rows.links(n if late == FIRST else 0)
    return Twin(
        virtual, present, shared, queue, rows.links(2, 0), levels(rows, n if late == LEAST else 0)
    )
