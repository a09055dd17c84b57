"""Hawk (Delgado, Dinu, Kermarrec, Zwaenepoel, ATC 2015) and Eagle (Delgado, Didona, Dinu,
Zwaenepoel, SoCC 2016): many schedulers for short jobs, one for long ones.
"""

from collections.abc import Sequence
from typing import ClassVar

from callboard.actors.architecture import Architecture
from callboard.actors.books.frontend import Frontend
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.hawk.hawk_params import EagleParams, HawkParams
from callboard.actors.hawk.long_scheduler import LongScheduler
from callboard.actors.hawk.mixed_queues import MixedQueues
from callboard.actors.hawk.probe_draws import ProbeDraws
from callboard.actors.hawk.short_partition import ShortPartition
from callboard.actors.hawk.short_scheduler import ShortScheduler
from callboard.actors.hawk.task_estimates import TaskEstimates
from callboard.actors.hawk.thief import Thief
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import KINDS, JobId


class Hawk(Architecture):
    """Short jobs are probed for, long ones placed; idle nodes steal."""

    name = "hawk"
    summary = "probes for short jobs, one scheduler for long ones, stealing (Hawk)"
    Params: ClassVar[type[HawkParams]] = HawkParams
    knows = (
        *(faults.PauseNode, faults.ResumeNode, faults.Slow, faults.Drift),
        *(faults.Flaky, faults.Hang, faults.KillJob),
    )

    def __init__(self, params: HawkParams | None = None) -> None:
        self.params = params or self.Params()
        self.frontends: list[Frontend] = []
        """Those of short jobs, then, if there is one, that of long ones."""

    def draws(self, world: World) -> ProbeDraws:
        """Which nodes are probed, and asked for work."""
        return ProbeDraws(world.seed)

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        params, self._draws = self.params, self.draws(world)
        self._partition = ShortPartition(world.nodes, params.short)
        self._estimates = TaskEstimates(world.jobs, params.cutoff)
        numbers = range(1, params.schedulers + 1)
        self.frontends += [self._short(number, world) for number in numbers]
        if params.central:
            self.frontends.append(self._long(params.schedulers + 1, world))
        for each in self.frontends:
            kernel.admit(each)

    def _short(self, number: int, world: World) -> ShortScheduler:
        return ShortScheduler(
            number,
            world,
            self._draws,
            name=self.name,
            params=self.params,
            partition=self._partition,
            estimates=self._estimates,
        )

    def _long(self, number: int, world: World) -> LongScheduler:
        partition, estimates = self._partition, self._estimates
        return LongScheduler(
            number, world, name=self.name, partition=partition, estimates=estimates
        )

    def schedulers(self) -> Sequence[int]:
        return [each.address for each in self.frontends]

    def scheduler_of(self, job: JobId) -> int:
        return scheduler_address(self._number_of(job))

    def _number_of(self, job: JobId) -> int:
        """Of the scheduler that a job is sent to, by its estimate."""
        schedulers = self.params.schedulers
        if self.params.central and self._estimates.is_long(job):
            return schedulers + 1
        return 1 + job % schedulers

    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:
        latency_ms, params = world.cluster.latency_ms, self.params
        thief = self._thief(node) if params.attempts else None
        return MixedQueues(node, latency_ms, self.scheduler_of, params, thief)

    def _thief(self, node: NodeFacts) -> Thief:
        others = [
            [each for each in self._partition.open(kind) if each != node.node] for kind in KINDS
        ]
        return Thief(node.node, others, self.params.attempts, self._draws)

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:  # noqa: ARG002
        return ()

    def books_of(self, job: JobId) -> BookedJob | None:
        ledger = self.frontends[self._number_of(job) - 1].ledger
        return ledger.job(job) if ledger.here(job) else None


class Eagle(Hawk):
    """Nodes say where long work is, and serve what has least left; none steals."""

    name = "eagle"
    summary = "Hawk's probes, kept away from long tasks; sticky, shortest first (Eagle)"
    Params = EagleParams
