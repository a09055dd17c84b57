"""Sparrow as an architecture: schedulers that share nothing, each with jobs of its own."""

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from callboard.actors.architecture import Architecture
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.sparrow.frontend import Frontend
from callboard.actors.sparrow.reservations import Reservations
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.world import World
from callboard.scheduler.model import JobId
from callboard.scheduler.part_params import PartParams


class SparrowParams(PartParams, frozen=True):
    """How many nodes are asked, and by whom."""

    probes: Annotated[float, Meta(ge=1, le=1000)] = 2.0
    """Reservations sent for each task, rounded up for all of a stage (the probe ratio d)."""
    schedulers: Annotated[int, Meta(ge=1, le=1000)] = 10
    """How many there are; jobs go to them in turn."""
    cancellation: bool = True
    """Whether reservations are taken back once a stage has no task left."""


class Sparrow(Architecture):
    """Jobs are scheduled by random probes and late binding."""

    name = "sparrow"
    summary = "many schedulers; nodes with reservations ask for tasks (Sparrow)"
    Params = SparrowParams
    knows = (
        *(faults.PauseNode, faults.ResumeNode, faults.Slow, faults.Drift),
        *(faults.Flaky, faults.Hang, faults.KillJob),
    )

    def __init__(self, params: SparrowParams | None = None) -> None:
        self.params = params or SparrowParams()
        self.frontends: list[Frontend] = []

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        params = self.params
        for number in range(1, params.schedulers + 1):
            frontend = Frontend(
                number, world, probes=params.probes, cancellation=params.cancellation
            )
            self.frontends.append(frontend)
            kernel.admit(frontend)

    def schedulers(self) -> Sequence[int]:
        return [each.address for each in self.frontends]

    def scheduler_of(self, job: JobId) -> int:
        return scheduler_address(1 + job % self.params.schedulers)

    def dialogue(self, node: NodeFacts, world: World) -> Reservations:
        latency_ms = world.cluster.latency_ms
        return Reservations(node, latency_ms, scheduler_address, self.scheduler_of)

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:  # noqa: ARG002
        return ()

    def books_of(self, job: JobId) -> BookedJob | None:
        ledger = self.frontends[job % self.params.schedulers].ledger
        return ledger.job(job) if ledger.here(job) else None
