"""Sparrow's placements as one plain loop over a heap, with times as floats: what the released
simulator counts, and what the actors are held to.
"""

import heapq
from collections import deque
from collections.abc import Callable

from trials.oracles.python2_draws import DrawnJobs
from trials.oracles.sparrow_clusters import SLOTS, TASKS_A_JOB, ClusterCase

DELAY_MS = 0.5
"""Of a message."""


class PlainSparrow:
    """A run of the jobs of a case, until that many as it counts have all of their tasks begun."""

    def __init__(self, case: ClusterCase, drawn: DrawnJobs) -> None:
        self._case, self._drawn = case, drawn
        self._free = [SLOTS] * case.workers
        self._queues: list[deque[int]] = [deque() for _ in range(case.workers)]
        self._left = [TASKS_A_JOB] * len(drawn.lengths_ms)
        """Tasks of a job that have not begun."""
        self._ends_ms = [0.0] * len(drawn.lengths_ms)
        self._open: dict[int, dict[int, None]] = {}
        """Workers that a job has asked to ask, and that have not."""
        self._placed: list[int] = []
        self._agenda: list[tuple[float, int, Callable[..., None], tuple[int, ...]]] = []
        self._count = 0
        self._waiting: deque[int] = deque()
        self._all_free = SLOTS * case.workers
        self._now_ms = 0.0

    def responses_ms(self) -> list[float]:
        """Those that count."""
        comes = self._comes_to_all if self._case.which == "central" else self._comes
        for job, at_ms in enumerate(self._drawn.arrivals_ms):
            self._at(at_ms, comes, job)
        while len(self._placed) < self._case.jobs:
            self._now_ms, _, happen, what = heapq.heappop(self._agenda)
            happen(*what)
        arrivals_ms = self._drawn.arrivals_ms
        counted = (job for job in self._placed if arrivals_ms[job] > self._case.warm_up_ms)
        return [self._ends_ms[job] - arrivals_ms[job] for job in counted]

    def _at(self, at_ms: float, happen: Callable[..., None], *what: int) -> None:
        self._count += 1
        heapq.heappush(self._agenda, (at_ms, self._count, happen, what))

    def _comes(self, job: int) -> None:
        if self._case.which in ("batch", "per_task"):
            self._at(self._now_ms + DELAY_MS, self._sample, job)
            return
        asked = self._drawn.orders[job]
        if self._case.which == "random":
            asked = asked[:TASKS_A_JOB]
        self._open[job] = dict.fromkeys(asked)
        for worker in asked:
            self._at(self._now_ms + DELAY_MS, self._waits, worker, job)

    def _sample(self, job: int) -> None:
        asked, most = self._drawn.orders[job], 2 if self._case.which == "per_task" else TASKS_A_JOB
        if self._case.which == "batch":
            chosen = sorted(asked, key=self._load)[:most]
        else:
            pairs = (asked[place : place + most] for place in range(0, len(asked), most))
            chosen = [min(pair, key=self._load) for pair in pairs]
        for worker in chosen:
            self._at(self._now_ms + 2 * DELAY_MS, self._waits, worker, job)

    def _load(self, worker: int) -> int:
        return -self._free[worker] if self._free[worker] else len(self._queues[worker])

    def _waits(self, worker: int, job: int) -> None:
        self._queues[worker].append(job)
        self._serve(worker)

    def _frees(self, worker: int) -> None:
        self._free[worker] += 1
        self._serve(worker)

    def _serve(self, worker: int) -> None:
        if not self._queues[worker] or not self._free[worker]:
            return
        self._free[worker] -= 1
        job, asks_ms = self._queues[worker].popleft(), 0.0
        if self._case.which in ("late", "cancel"):
            asks_ms = 2 * DELAY_MS
            del self._open[job][worker]
        if self._left[job]:
            self._at(self._begin(job, self._now_ms + asks_ms), self._frees, worker)
            if self._case.which == "cancel" and not self._left[job]:
                for other in self._open[job]:
                    self._at(self._now_ms + asks_ms, self._forget, other, job)
        else:
            self._at(self._now_ms + asks_ms, self._frees, worker)

    def _forget(self, worker: int, job: int) -> None:
        if job in self._queues[worker]:
            self._queues[worker].remove(job)

    def _begin(self, job: int, at_ms: float) -> float:
        """A task begins; its end."""
        self._left[job] -= 1
        if not self._left[job]:
            self._placed.append(job)
        end_ms = at_ms + self._drawn.lengths_ms[job]
        self._ends_ms[job] = max(self._ends_ms[job], end_ms)
        return end_ms

    # One queue for all.

    def _comes_to_all(self, job: int) -> None:
        self._waiting.append(job)
        self._serve_all()

    def _frees_one(self) -> None:
        self._all_free += 1
        self._serve_all()

    def _serve_all(self) -> None:
        while self._waiting and self._all_free:
            self._all_free -= 1
            job = self._waiting[0]
            self._at(self._begin(job, self._now_ms + DELAY_MS) + DELAY_MS, self._frees_one)
            if not self._left[job]:
                self._waiting.popleft()
