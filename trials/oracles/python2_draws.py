"""The draws of a program in Python 2: jobs as they come, and workers in random order."""

from collections import deque
from random import Random
from typing import Literal, NamedTuple

from callboard.scheduler.model import NodeId

WhenShuffled = Literal["never", "as a job comes", "as its probes come"]


class DrawnJobs(NamedTuple):
    """Times in its milliseconds; the workers of each job, in the order in which they are asked."""

    lengths_ms: list[float]
    arrivals_ms: list[float]
    orders: list[list[NodeId]]


class JobDraws(NamedTuple):
    """How a program draws.  It has one generator, so it matters what is drawn when: as a job comes
    perhaps the number of its scheduler, the length of its tasks, perhaps the order of the workers,
    and the time to the next job.
    """

    seed: int
    workers: int
    asked: int
    """How many workers a job asks."""
    mean_task_ms: float
    mean_gap_ms: float
    constant: bool = False
    """Whether all tasks take the mean, undrawn."""
    scheduler: bool = False
    """Whether a scheduler is drawn for each job."""
    shuffled: WhenShuffled = "never"
    probe_ms: float = 0.5
    """How long probes are under way."""

    def jobs(self, count: int) -> DrawnJobs:
        """The first ones.  The program goes on, so what comes within `probe_ms` of the last one's
        arrival is drawn otherwise here.
        """
        generator, workers = Random(self.seed), list(range(self.workers))
        drawn, at_ms = DrawnJobs([], [], []), 0.0
        due_ms: deque[float] = deque()
        for _ in range(count):
            while due_ms and due_ms[0] <= at_ms:
                due_ms.popleft()
                drawn.orders.append(self._asked_of(workers, generator))
            drawn.arrivals_ms.append(at_ms)
            if self.scheduler:
                generator.random()
            drawn.lengths_ms.append(self._length_ms(generator))
            if self.shuffled == "as a job comes":
                drawn.orders.append(self._asked_of(workers, generator))
            elif self.shuffled == "as its probes come":
                due_ms.append(at_ms + self.probe_ms)
            at_ms += generator.expovariate(1 / self.mean_gap_ms)
        drawn.orders.extend(self._asked_of(workers, generator) for _ in due_ms)
        return drawn

    def _length_ms(self, generator: Random) -> float:
        return self.mean_task_ms if self.constant else generator.expovariate(1 / self.mean_task_ms)

    def _asked_of(self, workers: list[NodeId], generator: Random) -> list[NodeId]:
        shuffle(workers, generator)
        return workers[: self.asked]


def shuffle(items: list[NodeId], generator: Random) -> None:
    """As Python 2 shuffles."""
    for place in range(len(items) - 1, 0, -1):
        other = int(generator.random() * (place + 1))
        items[place], items[other] = items[other], items[place]
