"""Three architectures of a cell whose schedulers think: monolithic, Mesos, Omega."""

from abc import abstractmethod
from collections.abc import Sequence

from callboard.actors.architecture import Architecture
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.omega.allocator import Allocator
from callboard.actors.omega.cell_keeper import CellKeeper
from callboard.actors.omega.cell_state import CellState
from callboard.actors.omega.executor import Executor
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
from callboard.actors.omega.thinking import ThinkingScheduler
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import JobId


class SharedCell(Architecture):
    """Schedulers, numbered from 1, and the state of the cell in which all nodes are."""

    knows = (
        *(faults.PauseNode, faults.ResumeNode, faults.Slow, faults.Drift),
        *(faults.Flaky, faults.Hang, faults.KillJob),
    )
    params: ThinkParams

    def __init__(self) -> None:
        self.frontends: list[ThinkingScheduler] = []
        self._numbers: dict[JobId, int] = {}

    @property
    @abstractmethod
    def cell(self) -> CellState:
        """What is free."""

    @property
    def batch_schedulers(self) -> int:
        """How many share the Batch jobs; those of Service have the next one."""
        return 1

    def draws(self, world: World) -> CandidateDraws:
        """Which nodes the schedulers look at."""
        return CandidateDraws(world.seed)

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self._numbers = self._shared_out(world)
        for each in self.frontends:
            kernel.admit(each)

    def _shared_out(self, world: World) -> dict[JobId, int]:
        """The scheduler of each job: those of Batch jobs in turn, from the second on as in the
        released simulator.
        """
        numbers, batch = {}, 0
        for job in sorted(world.jobs, key=lambda each: each.job):
            is_service = job.pool == self.params.service
            batch += not is_service
            service = self.batch_schedulers + 1
            numbers[job.job] = service if is_service else batch % self.batch_schedulers + 1
        return numbers

    def schedulers(self) -> Sequence[int]:
        return [each.address for each in self.frontends]

    def scheduler_of(self, job: JobId) -> int:
        return scheduler_address(self._numbers[job])

    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:  # noqa: ARG002
        return Executor(world.cluster.latency_ms, self.scheduler_of)

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:  # noqa: ARG002
        return ()

    def books_of(self, job: JobId) -> BookedJob | None:
        ledger = self.frontends[self._numbers[job] - 1].ledger
        return ledger.job(job) if ledger.here(job) else None


class Omega(SharedCell):
    """Schedulers think about copies of the cell and commit what does not conflict."""

    name = "omega"
    summary = (
        "schedulers that think share a cell's state, and commit what does not conflict (Omega)"
    )
    Params = OmegaParams

    def __init__(self, params: OmegaParams | None = None) -> None:
        super().__init__()
        self.params: OmegaParams = params or OmegaParams()
        self.state: CellKeeper

    @property
    def batch_schedulers(self) -> int:
        return self.params.schedulers

    @property
    def cell(self) -> CellState:
        return self.state.cell

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self.state = CellKeeper(world, self.params.conflicts, self.params.commit)
        kernel.admit(self.state)
        draws = self.draws(world)
        self.frontends = [
            OmegaScheduler(number, world, self.params, draws)
            for number in range(1, self.batch_schedulers + 2)
        ]
        super().admit(kernel, world)


class Monolithic(SharedCell):
    """One scheduler for all jobs."""

    name = "monolithic"
    summary = "one scheduler that thinks about one job at a time"
    Params = MonolithicParams

    def __init__(self, params: MonolithicParams | None = None) -> None:
        super().__init__()
        self.params: MonolithicParams = params or MonolithicParams()
        self.scheduler: MonolithicScheduler

    @property
    def cell(self) -> CellState:
        return self.scheduler.cell

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self.scheduler = MonolithicScheduler(1, world, self.params, self.draws(world))
        self.frontends = [self.scheduler]
        super().admit(kernel, world)

    def _shared_out(self, world: World) -> dict[JobId, int]:
        return dict.fromkeys((each.job for each in world.jobs), 1)


class Mesos(SharedCell):
    """Frameworks think about what an allocator offers them, which nobody else gets meanwhile."""

    name = "mesos"
    summary = "schedulers that think are offered what is free, in turn by dominant shares (Mesos)"
    Params = MesosParams

    def __init__(self, params: MesosParams | None = None) -> None:
        super().__init__()
        self.params: MesosParams = params or MesosParams()
        self.allocator: Allocator

    @property
    def batch_schedulers(self) -> int:
        return self.params.schedulers

    @property
    def cell(self) -> CellState:
        return self.allocator.cell

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self.allocator = self.make_allocator(world)
        kernel.admit(self.allocator)
        draws = self.draws(world)
        numbers = range(1, self.batch_schedulers + 2)
        self.frontends = [self.make_framework(number, world, draws) for number in numbers]
        super().admit(kernel, world)

    def make_allocator(self, world: World) -> Allocator:
        """Who makes the offers."""
        return Allocator(world, self.params)

    def make_framework(self, number: int, world: World, draws: CandidateDraws) -> Framework:
        """Who gets them."""
        return Framework(number, world, self.params, draws)
