"""Heaps of jobs that can be melded, on plain indexed rows.

A top-down skew heap (Sleator and Tarjan, "Self-adjusting heaps", SIAM J. Computing 1986): push, pop
and meld in amortised O(log n), ordered by (key, job number).  Several heaps may live in the same
rows, each with its own `top`, as long as no job is in two of them.

The rows are lists of any exact number in the plain loops, numpy arrays in the compiled ones.
"""

from typing import Any, NamedTuple, TypeAlias

NumberRow: TypeAlias = Any
"""A row of numbers: a list (of floats or Fractions) or a float64 array."""

JobLinks: TypeAlias = Any
"""A row of job numbers, `NO_JOB` where there is none: a list of ints or an int64 array."""

NO_JOB = -1


class Heap(NamedTuple):
    """Heaps of jobs as rows: `top` has each heap's first job; the others one entry a job."""

    key: NumberRow
    left: JobLinks
    right: JobLinks
    top: JobLinks


def goes_before(heap: Heap, a: int, b: int) -> bool:
    """Whether job `a` goes before job `b`: by key, then by number."""
    return bool(heap.key[a] < heap.key[b] or (heap.key[a] == heap.key[b] and a < b))


def meld(heap: Heap, a: int, b: int) -> int:
    """Join the heaps under `a` and `b` (jobs or `NO_JOB`), top down; return the first job."""
    if a == NO_JOB:
        return b
    if b == NO_JOB:
        return a
    if goes_before(heap, b, a):
        a, b = b, a
    first = a
    while True:
        spine = heap.right[a]
        heap.right[a] = heap.left[a]
        if spine == NO_JOB:
            heap.left[a] = b
            return first
        if goes_before(heap, b, spine):
            spine, b = b, spine
        heap.left[a] = spine
        a = spine


def push(heap: Heap, which: int, job: int, key: Any) -> None:
    """Put `job` under `key` into heap number `which`."""
    heap.key[job] = key
    heap.left[job] = NO_JOB
    heap.right[job] = NO_JOB
    heap.top[which] = meld(heap, heap.top[which], job)


def pop(heap: Heap, which: int) -> int:
    """Take the first job out of heap number `which`, which must hold one."""
    job: int = heap.top[which]
    heap.top[which] = meld(heap, heap.left[job], heap.right[job])
    return job
