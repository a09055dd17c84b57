"""Hawk (Delgado, Dinu, Kermarrec, Zwaenepoel, ATC 2015) and Eagle (Delgado, Didona, Dinu,
Zwaenepoel, SoCC 2016): many schedulers for short jobs, one for long ones.
"""

from collections.abc import Container, Iterable, Mapping, Sequence
from functools import partial
from typing import ClassVar

from callboard.actors.architecture import Architecture
from callboard.actors.books.frontend import Frontend
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.contact import MAY_SILENCE
from callboard.actors.hawk.hawk_params import EagleParams, HawkParams
from callboard.actors.hawk.long_scheduler import LongScheduler
from callboard.actors.hawk.mixed_queues import MixedQueues
from callboard.actors.hawk.probe_draws import ProbeDraws
from callboard.actors.hawk.short_partition import ShortPartition
from callboard.actors.hawk.short_scheduler import ShortScheduler
from callboard.actors.hawk.task_estimates import TaskEstimates
from callboard.actors.hawk.thief import Thief
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import KINDS, JobId, Millis

_PATIENCE_MS: Millis = 1000
"""So long beyond a round trip a thief waits for an answer where nodes may be silent."""


class Hawk(Architecture):
    """Short jobs are probed for, long ones placed; idle nodes steal."""

    name = "hawk"
    summary = "probes for short jobs, one scheduler for long ones, stealing (Hawk)"
    Params: ClassVar[type[HawkParams]] = HawkParams
    knows = (
        *(faults.PauseNode, faults.ResumeNode, faults.Slow, faults.Drift),
        *(faults.Flaky, faults.Hang, faults.KillJob),
        *(faults.CrashScheduler, faults.RestartScheduler),
        *(faults.Crash, faults.Restart, faults.Disturb, faults.Partition),
    )

    def __init__(self, params: HawkParams | None = None) -> None:
        self.params = params or self.Params()
        self.frontends: list[Frontend] = []
        """Those of short jobs, then, if there is one, that of long ones."""

    @classmethod
    def unused(cls, params: HawkParams) -> Mapping[str, str]:
        found = {} if params.attempts else {"limit": "nothing is stolen with attempts=0"}
        return found if params.srpt else {**found, "cap": "no queue is ordered with srpt=false"}

    def check(self, jobs: Iterable[JobSpec], script: Iterable[ScheduledFault]) -> None:
        script = list(script)
        super().check(jobs, script)
        last = {
            each.fault.scheduler: each.fault
            for each in sorted(script, key=lambda each: each.at_ms)
            if isinstance(each.fault, faults.SchedulerFault)
        }
        gone = {each for each, fault in last.items() if isinstance(fault, faults.CrashScheduler)}
        self.check_schedulers(script, partial(self._why_not_crash, gone))

    def _why_not_crash(self, gone: Container[int], scheduler: int) -> str | None:
        """Why it cannot crash, where these have `gone` for ever."""
        params = self.params
        if params.central and scheduler == params.schedulers + 1:
            if scheduler not in gone:
                return None
            told = "no other places long jobs; say when it is back (for_s)"
            return f"scheduler {scheduler} cannot be gone for ever: {told}"
        if scheduler > params.schedulers:
            return f"there is no scheduler {scheduler}; short jobs have {params.schedulers}"
        return None

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
        silence = any(isinstance(each.fault, MAY_SILENCE) for each in world.script)
        patience_ms = _PATIENCE_MS + 2 * latency_ms if silence else None
        return MixedQueues(
            node, latency_ms, self.scheduler_of, params, thief, patience_ms, world.seed
        )

    def _thief(self, node: NodeFacts) -> Thief:
        others = [
            [each for each in self._partition.open(kind) if each != node.node] for kind in KINDS
        ]
        return Thief(node.node, others, self.params.attempts, self._draws)

    def others_for(self, job: JobId) -> Sequence[int]:
        own, schedulers = self._number_of(job), self.params.schedulers
        if own > schedulers:
            return ()
        return [
            scheduler_address(1 + each % schedulers) for each in range(own, own + schedulers - 1)
        ]

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:
        if isinstance(fault, faults.SchedulerFault):
            return [scheduler_address(fault.scheduler)]
        return self.schedulers() if isinstance(fault, MAY_SILENCE) else ()

    def books_of(self, job: JobId) -> BookedJob | None:
        books = (each.ledger for each in self.frontends)
        return next((each.job(job) for each in books if each.here(job)), None)


class Eagle(Hawk):
    """Nodes say where long work is, and serve what has least left; none steals."""

    name = "eagle"
    summary = "Hawk's probes, kept away from long tasks; sticky, shortest first (Eagle)"
    Params = EagleParams
