"""Hawk (Delgado, Dinu, Kermarrec, Zwaenepoel, ATC 2015) and Eagle (Delgado, Didona, Dinu,
Zwaenepoel, SoCC 2016): many schedulers for short jobs, one for long ones.
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from callboard.actors.contact import MAY_SILENCE
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
from callboard.actors.several_schedulers import SeveralSchedulers
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import KINDS, JobId, Millis

_PATIENCE_MS: Millis = 1000
"""So long beyond a round trip a thief waits for an answer where nodes may be silent."""


class Hawk(SeveralSchedulers):
    """Short jobs are probed for, long ones placed, by the last scheduler if there is one for them;
    idle nodes steal.
    """

    name = "hawk"
    summary = "probes for short jobs, one scheduler for long ones, stealing (Hawk)"
    Params: ClassVar[type[HawkParams]] = HawkParams
    params: HawkParams

    @property
    def count(self) -> int:
        return self.params.schedulers + self.params.central

    @classmethod
    def unused_params(cls, params: HawkParams) -> Mapping[str, str]:
        found = {} if params.attempts else {"limit": "nothing is stolen with attempts=0"}
        return found if params.srpt else {**found, "cap": "no queue is ordered with srpt=false"}

    def why_not_crash(self, scheduler: int, *, for_ever: bool) -> str | None:
        short = self.params.schedulers
        if scheduler > self.count:
            return f"there is no scheduler {scheduler}; short jobs have {short}"
        if scheduler > short and for_ever:
            told = "no other places long jobs; say when it is back (for_s)"
            return f"scheduler {scheduler} cannot be gone for ever: {told}"
        return None

    def draws(self, world: World) -> ProbeDraws:
        """Which nodes are probed, and asked for work."""
        return ProbeDraws(world.seed)

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        params, self._draws = self.params, self.draws(world)
        self._partition = ShortPartition(world.nodes, params.short)
        self._estimates = TaskEstimates(world.jobs, params.cutoff)
        numbers = range(1, params.schedulers + 1)
        self.frontends += [self._short_scheduler(number, world) for number in numbers]
        if params.central:
            self.frontends.append(self._long_scheduler(self.count, world))
        for each in self.frontends:
            kernel.admit_actor(each)

    def _short_scheduler(self, number: int, world: World) -> ShortScheduler:
        return ShortScheduler(
            number,
            world,
            self._draws,
            name=self.name,
            params=self.params,
            partition=self._partition,
            estimates=self._estimates,
        )

    def _long_scheduler(self, number: int, world: World) -> LongScheduler:
        partition, estimates = self._partition, self._estimates
        return LongScheduler(
            number, world, name=self.name, partition=partition, estimates=estimates
        )

    def scheduler_of(self, job: JobId) -> int:
        return scheduler_address(self._scheduler_number(job))

    def _scheduler_number(self, job: JobId) -> int:
        """Of the scheduler that a job is sent to, by its estimate."""
        schedulers = self.params.schedulers
        if self.params.central and self._estimates.is_long(job):
            return schedulers + 1
        return 1 + job % schedulers

    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:
        latency_ms, params = world.cluster.latency_ms, self.params
        thief = self._thief_of_node(node) if params.attempts else None
        silence = any(isinstance(each.fault, MAY_SILENCE) for each in world.script)
        patience_ms = _PATIENCE_MS + 2 * latency_ms if silence else None
        return MixedQueues(
            node, latency_ms, self.scheduler_of, params, thief, patience_ms, world.seed
        )

    def _thief_of_node(self, node: NodeFacts) -> Thief:
        victims = [self._partition.nodes_open_to_long(kind) for kind in KINDS]
        return Thief(node.node, victims, self.params.attempts, self._draws)

    def fallback_schedulers(self, job: JobId) -> Sequence[int]:
        own, schedulers = self._scheduler_number(job), self.params.schedulers
        if own > schedulers:
            return ()
        return [
            scheduler_address(1 + each % schedulers) for each in range(own, own + schedulers - 1)
        ]


class Eagle(Hawk):
    """Nodes say where long work is, and serve what has least left; none steals."""

    name = "eagle"
    summary = "Hawk's probes, kept away from long tasks; sticky, shortest first (Eagle)"
    Params = EagleParams
