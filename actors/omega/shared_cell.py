"""Three architectures of a cell whose schedulers think: monolithic, Mesos, Omega.

Where there are several, `schedulers` is how many there are for Batch jobs; those of the pool
`service` have one more, the last.
"""

from collections.abc import Sequence
from functools import cache

from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.omega.allocator import Allocator
from callboard.actors.omega.cell_holder import CELL_HOLDER, CellKeeper
from callboard.actors.omega.cell_state import CellState
from callboard.actors.omega.executor import DemandOf, Executor
from callboard.actors.omega.first_fit import CandidateDraws
from callboard.actors.omega.framework import Framework
from callboard.actors.omega.monolithic_scheduler import MonolithicScheduler
from callboard.actors.omega.omega_scheduler import OmegaScheduler
from callboard.actors.omega.think_params import (
    MesosParams,
    MonolithicParams,
    OmegaParams,
    ThinkParams,
)
from callboard.actors.omega.thinking import THOUGHTS_MAX
from callboard.actors.several_schedulers import SeveralSchedulers
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import JobId, Millis, Stage, slot_kind
from callboard.scheduler.resources import Vector


class SharedCell(SeveralSchedulers):
    """Schedulers, numbered from 1, and the state of the cell in which all nodes are."""

    goes_by_demands = True
    params: ThinkParams
    cell: CellState
    """What is free."""

    @property
    def batch_schedulers(self) -> int:
        """How many share the Batch jobs; those of Service have the next one."""
        return 1

    @property
    def count(self) -> int:
        return self.batch_schedulers + 1

    @property
    def ms_before_thought(self) -> Millis:
        """How long a scheduler waits for what it thinks about."""
        return 0

    def draws(self, world: World) -> CandidateDraws:
        """Which nodes the schedulers look at."""
        return CandidateDraws(world.seed)

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self._numbers = self._scheduler_by_job(world)
        self._demand_of = _demand_lookup(world)
        for each in self.frontends:
            kernel.admit_actor(each)

    def _scheduler_by_job(self, world: World) -> dict[JobId, int]:
        """The scheduler of each job: those of Batch jobs in turn, from the second on as in the
        released simulator.
        """
        numbers, batch = {}, 0
        for job in sorted(world.jobs, key=lambda each: each.job):
            is_service = job.pool == self.params.service
            batch += not is_service
            numbers[job.job] = self.count if is_service else batch % self.batch_schedulers + 1
        return numbers

    def scheduler_of(self, job: JobId) -> int:
        return scheduler_address(self._numbers[job])

    def fallback_schedulers(self, job: JobId) -> Sequence[int]:
        """Those of Batch jobs in turn, behind its own, then that of Service jobs."""
        batch, own = self.batch_schedulers, self._numbers[job]
        turns = [1 + each % batch for each in range(own, own + batch)]
        return [scheduler_address(each) for each in (*turns, batch + 1) if each != own]

    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:
        room, latency_ms = world.resources[1][node.node], world.cluster.latency_ms
        return Executor(latency_ms, self.scheduler_of, room, self._demand_of, world.seed)

    def longest_wait_ms(self, world: World) -> Millis:
        """Until a stage for the rest of which there is no room has been given up, where it waits
        each time for a thought about every other, and for an offer if it needs one.
        """
        params, latency_ms = self.params, world.cluster.latency_ms
        stages = [
            params.think_ms(tasks, service=job.pool == params.service)
            + self.ms_before_thought
            + 4 * latency_ms
            for job in world.jobs
            for tasks in (job.maps, job.reduces, 1, 1)  # with its setup and its cleanup
        ]
        return (THOUGHTS_MAX + 1) * (sum(stages) + params.retry_ms)

    def watchers(self) -> Sequence[int]:
        return [*self.schedulers(), CELL_HOLDER]


class Omega(SharedCell):
    """Schedulers think about copies of the cell and commit what does not conflict."""

    name = "omega"
    summary = (
        "schedulers that think share a cell's state, and commit what does not conflict (Omega)"
    )
    Params = OmegaParams
    params: OmegaParams

    @property
    def batch_schedulers(self) -> int:
        return self.params.schedulers

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        params = self.params
        keeper = CellKeeper(world, self.schedulers(), params.conflicts, params.commit)
        self.cell = keeper.cell
        kernel.admit_actor(keeper)
        draws = self.draws(world)
        numbers = range(1, self.count + 1)
        self.frontends = [OmegaScheduler(each, world, self.params, draws) for each in numbers]
        super().admit(kernel, world)


class Monolithic(SharedCell):
    """One scheduler for all jobs."""

    name = "monolithic"
    summary = "one scheduler that thinks about one job at a time"
    Params = MonolithicParams
    params: MonolithicParams

    @property
    def count(self) -> int:
        return 1

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        scheduler = MonolithicScheduler(1, world, self.params, self.draws(world))
        self.cell = scheduler.cell
        self.frontends = [scheduler]
        super().admit(kernel, world)

    def _scheduler_by_job(self, world: World) -> dict[JobId, int]:
        return dict.fromkeys((each.job for each in world.jobs), 1)

    def why_not_crash(self, scheduler: int, *, for_ever: bool) -> str | None:  # noqa: ARG002
        if scheduler > 1:
            return f"there is no scheduler {scheduler}; there is one"
        return "scheduler 1 is the only one, and cannot crash: nobody could take its jobs"

    def fallback_schedulers(self, job: JobId) -> Sequence[int]:  # noqa: ARG002
        return ()

    def watchers(self) -> Sequence[int]:
        return self.schedulers()


class Mesos(SharedCell):
    """Frameworks think about what an allocator offers them, which nobody else gets meanwhile."""

    name = "mesos"
    summary = "schedulers that think are offered what is free, in turn by dominant shares (Mesos)"
    Params = MesosParams
    params: MesosParams
    allocator: Allocator

    @property
    def batch_schedulers(self) -> int:
        return self.params.schedulers

    @property
    def ms_before_thought(self) -> Millis:
        return round(1000 * (self.params.gather + self.params.allocation))

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self.allocator = self.make_allocator(world)
        self.cell = self.allocator.cell
        kernel.admit_actor(self.allocator)
        draws = self.draws(world)
        numbers = range(1, self.count + 1)
        self.frontends = [self.make_framework(number, world, draws) for number in numbers]
        super().admit(kernel, world)

    def make_allocator(self, world: World) -> Allocator:
        """Who makes the offers."""
        return Allocator(world, self.schedulers(), self.params)

    def make_framework(self, number: int, world: World, draws: CandidateDraws) -> Framework:
        """Who gets them."""
        return Framework(number, world, self.params, draws)


def _demand_lookup(world: World) -> DemandOf:
    """What tasks take of nodes, as their jobs say."""
    dimensions, specs = world.resources[0], {each.job: each for each in world.jobs}

    @cache
    def demand_of(job: JobId, stage: Stage) -> Vector:
        demands = specs[job].demands
        named = demands[stage] if stage < len(demands) else ()
        return dimensions.of_task(slot_kind(stage), dict(named))

    return demand_of
