"""The Mesos part of Omega's released simulator, with what the product does not copy of it.

A framework there puts all jobs that an offer did not suffice for back at one instant, and the order
in which they come is that of its agenda, a heap that does not keep the order of what is due at
once.  So that heap goes along here: what is put into its agenda there is put into `Agenda`, at the
same times, and says which of the jobs comes first.
"""

from collections.abc import Sequence
from typing import NamedTuple

from callboard.actors.omega.allocator import Allocator
from callboard.actors.omega.cell_messages import (
    AllocationDue,
    OfferDue,
    OfferThoughtOver,
    QueueAgain,
    ResourceOffer,
)
from callboard.actors.omega.first_fit import CandidateDraws
from callboard.actors.omega.framework import Framework
from callboard.actors.omega.shared_cell import Mesos
from callboard.actors.omega.think_params import MesosParams
from callboard.actors.omega.thinking import UnplacedStage
from callboard.actors.vocabulary import messages as msg
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis, Stage
from callboard.scheduler.resources import Vector

_CPUS, _MEMORY = 2, 3
"""Their places in vectors, behind both kinds of slot."""


class Due(NamedTuple):
    """Something in the agenda; `again` is what comes back to a queue then, if anything does."""

    at_ms: Millis
    again: QueueAgain | None = None


class Agenda:
    """A binary heap as Scala's PriorityQueue has it, by time alone."""

    def __init__(self) -> None:
        self._heap: list[Due] = []
        self._is_gathering = False

    @property
    def last_ms(self) -> Millis:
        """When the last of what is left is due."""
        return max((each.at_ms for each in self._heap), default=0)

    def push(self, due: Due) -> None:
        heap, place = self._heap, len(self._heap)
        heap.append(due)
        while place and heap[(place - 1) // 2].at_ms > heap[place].at_ms:
            above = (place - 1) // 2
            heap[above], heap[place] = heap[place], heap[above]
            place = above

    def pop(self, now_ms: Millis) -> Due:
        """What comes first, which is due now."""
        heap = self._heap
        heap[0], heap[-1] = heap[-1], heap[0]
        due, place = heap.pop(), 0
        assert due.at_ms == now_ms, f"due at {due.at_ms}, not at {now_ms}"
        while 2 * place + 1 < len(heap):
            below = 2 * place + 1
            if below + 1 < len(heap) and heap[below].at_ms > heap[below + 1].at_ms:
                below += 1
            if heap[place].at_ms <= heap[below].at_ms:
                break
            heap[place], heap[below] = heap[below], heap[place]
            place = below
        return due

    def gather(self, at_ms: Millis) -> None:
        """The allocator is to look then, unless it is to look already."""
        if not self._is_gathering:
            self._is_gathering = True
            self.push(Due(at_ms))

    def end_gathering(self) -> None:
        self._is_gathering = False


class ReleasedAllocator(Allocator):
    """Makes offers of at least one cpu.  Of frameworks with equal shares it takes the Service one,
    as the order of its set there happens to be.
    """

    def __init__(
        self,
        world: World,
        schedulers: Sequence[int],
        params: MesosParams,
        agenda: Agenda,
        cpu: int,
    ) -> None:
        super().__init__(world, schedulers, params)
        self._agenda = agenda
        self._cpu = cpu
        self._allocation_ms = round(1000 * params.allocation)

    def is_worth_an_offer(self, free: Vector) -> bool:
        return free[_CPUS] >= self._cpu

    def framework_of_least_share(self, frameworks: Sequence[int]) -> int:
        return min(frameworks, key=lambda each: (self.dominant_share(each), -each))

    def on_allocation_due(self, due: AllocationDue) -> None:
        self._agenda.pop(self.now_ms)
        before = len(self.offers)
        super().on_allocation_due(due)
        if len(self.offers) > before:
            self._agenda.push(Due(self.now_ms + self._allocation_ms))
        self._agenda.end_gathering()

    def on_offer_due(self, due: OfferDue) -> None:
        self._agenda.pop(self.now_ms)
        super().on_offer_due(due)


class ReleasedFramework(Framework):
    """Places a job only if more than one of its tasks needs is free in all, and compares the memory
    with the cpus.
    """

    def __init__(
        self,
        number: int,
        world: World,
        params: MesosParams,
        draws: CandidateDraws,
        agenda: Agenda,
    ) -> None:
        super().__init__(number, world, params, draws)
        self._agenda = agenda
        self.first_wait_ms: dict[JobId, Millis] = {}
        """How long each job waited for its first thought: of several at a time the first to begin
        need not be the first to end.
        """
        self._length_ms = {job.job: job.map_ms for job in world.jobs}
        self._gather_ms = round(1000 * params.gather)

    def could_fit(self, demand: Vector, free: Vector) -> bool:
        return free[_CPUS] > demand[_CPUS] and free[_MEMORY] > demand[_CPUS]

    def place_tasks(self, job: JobId, stage: Stage, tasks: int, cause: int) -> None:
        self._agenda.pop(self.now_ms)
        super().place_tasks(job, stage, tasks, cause)
        self._agenda.gather(self.now_ms + self._gather_ms)

    def pause_stage(self, stage: UnplacedStage, cause: int) -> None:
        super().pause_stage(stage, cause)
        again = QueueAgain(stage.job, stage.stage)
        self._agenda.push(Due(self.now_ms + self.params.retry_ms, again))

    def on_queue_again(self, again: QueueAgain) -> None:
        """Let the one come back that comes first there."""
        super().on_queue_again(self._agenda.pop(self.now_ms).again or again)
        self._agenda.gather(self.now_ms + self._gather_ms)

    def place_on(self, offer: ResourceOffer) -> Millis:
        length_ms = super().place_on(offer)
        for thought, _ in self.placed[offer.offer]:
            self.first_wait_ms.setdefault(thought.of.job, thought.queued_ms)
        self._agenda.push(Due(self.now_ms + length_ms))
        return length_ms

    def on_offer_thought_over(self, over: OfferThoughtOver) -> None:
        self._agenda.pop(self.now_ms)
        for thought, nodes in self.placed[over.offer]:
            for _ in nodes:
                self._agenda.push(Due(self.now_ms + self._length_ms[thought.of.job]))
        self._agenda.gather(self.now_ms + self._gather_ms)
        super().on_offer_thought_over(over)

    def on_report(self, report: msg.EndReport | msg.FetchFailure) -> None:
        self._agenda.pop(self.now_ms)
        super().on_report(report)
        self._agenda.gather(self.now_ms + self._gather_ms)


class ReleasedMesos(Mesos):
    """Both, with these draws; `cpu` is how much of a vector's amounts one is."""

    def __init__(self, params: MesosParams, draws: CandidateDraws, cpu: int) -> None:
        super().__init__(params)
        self.agenda = Agenda()
        self._draws = draws
        self._cpu = cpu

    def first_waits_ms(self) -> dict[JobId, Millis]:
        """How long each job waited for its first thought."""
        frameworks = [each for each in self.frontends if isinstance(each, ReleasedFramework)]
        return {job: ms for each in frameworks for job, ms in each.first_wait_ms.items()}

    def draws(self, world: World) -> CandidateDraws:
        """All submissions are in the agenda from the start, those of Batch jobs first, and then the
        start itself, which is over at once.
        """
        jobs = sorted(world.jobs, key=lambda job: job.pool == self.params.service)
        for at_ms in (*(job.submit_ms for job in jobs), 0):
            self.agenda.push(Due(at_ms))
        self.agenda.pop(0)
        return self._draws

    def make_allocator(self, world: World) -> Allocator:
        return ReleasedAllocator(world, self.schedulers(), self.params, self.agenda, self._cpu)

    def make_framework(self, number: int, world: World, draws: CandidateDraws) -> Framework:
        return ReleasedFramework(number, world, self.params, draws, self.agenda)
