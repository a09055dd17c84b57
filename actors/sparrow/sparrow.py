"""Sparrow as an architecture: schedulers that share nothing, each with jobs of its own."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from msgspec import Meta

from callboard.actors.books.frontend import Frontend
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.several_schedulers import SeveralSchedulers
from callboard.actors.sparrow.draws import Draws, ProbeRatios
from callboard.actors.sparrow.global_queue import GlobalQueue
from callboard.actors.sparrow.late_binding import LateBinding
from callboard.actors.sparrow.reservations import Reservations
from callboard.actors.sparrow.sampling import AtRandom, Sampling, batch_sample, per_task
from callboard.actors.sparrow.task_queue import TaskQueue
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.scheduler.model import JobId
from callboard.scheduler.part_params import PartParams
from callboard.scheduler.policy import PolicySpecError

PlacementName = Literal["late", "batch", "per-task", "random", "central"]

_SCHEDULERS = 10


class SparrowParams(PartParams, frozen=True):
    """How tasks find nodes, and who looks for them."""

    placement: PlacementName = "late"
    """Late binding; batch or per-task sampling; a random node for each task; or, to compare with,
    one queue that knows all slots."""
    probes: Annotated[float, Meta(ge=1, le=1000)] = 2.0
    """How many nodes are asked for each task (the probe ratio d), rounded up for all of a stage, or
    for each task in per-task sampling."""
    constrained: Annotated[float, Meta(ge=1, le=1000)] | None = None
    """The same for the tasks of jobs that may not run anywhere (`only_on`). Unset: as `probes`.
    Sparrow's daemon takes 1.05 for others, and 2 for these."""
    schedulers: Annotated[int, Meta(ge=1, le=1000)] | None = None
    """How many there are; jobs go to them in turn. Unset: 10, or 1 that is central."""
    cancellation: bool = True
    """Whether reservations (of late binding) are taken back once a stage has no task left."""


class Sparrow(SeveralSchedulers):
    """Jobs are scheduled by random probes, with late binding or without."""

    name = "sparrow"
    summary = "many schedulers; nodes with reservations ask for tasks (Sparrow)"
    Params = SparrowParams
    params: SparrowParams
    knows_constraints = True

    def __init__(self, params: SparrowParams | None = None) -> None:
        super().__init__(params)
        central = self.params.placement == "central"
        self._schedulers = self.params.schedulers or (1 if central else _SCHEDULERS)
        if central and self._schedulers > 1:
            raise PolicySpecError(
                '`sparrow(placement="central")` has one scheduler; leave `schedulers` out'
            )

    @property
    def count(self) -> int:
        return self._schedulers

    @classmethod
    def unused_params(cls, params: SparrowParams) -> Mapping[str, str]:
        found = dict[str, str]()
        placement = f'with placement="{params.placement}"'
        if params.placement in ("random", "central"):
            found |= dict.fromkeys(("probes", "constrained"), f"no node is probed {placement}")
        if params.placement != "late":
            found["cancellation"] = f"there are no reservations {placement}"
        return found

    def why_not_crash(self, scheduler: int, *, for_ever: bool) -> str | None:
        if self.params.placement == "central":
            told = "of one queue that knows all slots no other scheduler could know them"
            return f"scheduler {scheduler} cannot crash: {told}"
        return super().why_not_crash(scheduler, for_ever=for_ever)

    def draws(self, world: World) -> Draws:
        """Which nodes the schedulers ask."""
        return Draws(world.nodes, world.seed)

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        draws = self.draws(world)
        for number in range(1, self._schedulers + 1):
            frontend = self.frontend(number, world, draws)
            self.frontends.append(frontend)
            kernel.admit_actor(frontend)

    def frontend(self, number: int, world: World, draws: Draws) -> Frontend:
        """A scheduler, not admitted yet."""
        params = self.params
        ratios = ProbeRatios(params.probes, params.constrained)
        match params.placement:
            case "late":
                cancels = params.cancellation
                return LateBinding(number, world, draws, ratios=ratios, cancellation=cancels)
            case "batch":
                return Sampling(number, world, draws, batch_sample, ratios)
            case "per-task":
                return Sampling(number, world, draws, per_task, ratios)
            case "random":
                return AtRandom(number, world, draws)
            case "central":
                return GlobalQueue(number, world)

    def scheduler_of(self, job: JobId) -> int:
        return scheduler_address(1 + job % self._schedulers)

    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:
        latency_ms = world.cluster.latency_ms
        side = Reservations if self.params.placement == "late" else TaskQueue
        return side(node, latency_ms, self.scheduler_of, world.seed)

    def fallback_schedulers(self, job: JobId) -> Sequence[int]:
        own = job % self._schedulers
        turns = range(own + 1, own + self._schedulers)
        return [scheduler_address(1 + each % self._schedulers) for each in turns]
