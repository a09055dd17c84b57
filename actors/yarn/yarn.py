"""The architecture of YARN: one resource manager, a node manager a node, a master a job."""

from collections.abc import Iterable, Sequence

import msgspec

from callboard.actors.architecture import Architecture
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.streams import Stream
from callboard.actors.stall_limits import HEARTBEATS_WITHOUT_EVENTS
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.dialogue import Dialogue
from callboard.actors.world import World
from callboard.actors.yarn.application_master import ApplicationMaster
from callboard.actors.yarn.node_manager import NodeManager
from callboard.actors.yarn.resource_manager import ResourceManager, master_address
from callboard.actors.yarn.yarn_messages import (
    RESOURCE_MANAGER,
    NodeHeartbeat,
    NodeHeartbeatDue,
    NodeHeartbeatReply,
)
from callboard.actors.yarn.yarn_params import YarnParams
from callboard.actors.yarn.yarn_queues import QueueTree
from callboard.scheduler.model import JobId, Millis
from callboard.scheduler.policy import PolicySpecError

MASTERS_MAX = 60_000
"""That many masters have addresses."""


class Yarn(Architecture):
    """Containers for the tasks of applications, by queues."""

    name = "yarn"
    summary = "containers for each job's own master, by queues with capacities or shares (YARN)"
    Params = YarnParams
    goes_by_demands = True
    knows = (
        *(faults.PauseNode, faults.ResumeNode, faults.Slow, faults.Drift),
        *(faults.Flaky, faults.Hang, faults.KillJob),
    )

    def __init__(self, params: YarnParams | None = None) -> None:
        self.params: YarnParams = params or YarnParams()
        try:
            self._tree = QueueTree(self.params.queues, open_ended=not self._schedules_by_capacity)
        except ValueError as error:
            raise PolicySpecError(f"`yarn`: {error}") from None
        if self.params.monitor and not self._schedules_by_capacity:
            told = f'not `scheduler = "{self.params.scheduler}"`'
            raise PolicySpecError(f"`yarn`: `monitor` is for the queues of `capacity`, {told}")
        self.manager: ResourceManager
        self.masters: dict[JobId, ApplicationMaster] = {}

    @property
    def _schedules_by_capacity(self) -> bool:
        return self.params.scheduler == "capacity"

    def check(self, jobs: Iterable[JobSpec], script: Iterable[ScheduledFault]) -> None:
        jobs = list(jobs)
        super().check(jobs, script)
        for job in [*jobs, *jobs]:  # a queue that is made on the way may be above an earlier job's
            try:
                self._tree.leaf(job.pool)
            except ValueError as error:
                raise PolicySpecError(f"`yarn`: job {job.name}: {error}") from None
            if job.job >= MASTERS_MAX:
                raise PolicySpecError(f"`yarn` plays at most {MASTERS_MAX:,} jobs")

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        self.manager = ResourceManager(world, self.params)
        self._phases = Stream(world.seed, "phase")
        kernel.admit_actor(self.manager)
        if world.cluster.heartbeat.send == "needed" and not world.script:
            kernel.idle_rounds = IdleHeartbeats(self.manager, world.cluster.latency_ms)
        for spec in world.jobs:
            master = ApplicationMaster(spec.job, world, self.params, self.manager.counted)
            self.masters[spec.job] = master
            kernel.admit_actor(master)

    def schedulers(self) -> Sequence[int]:
        return (RESOURCE_MANAGER, *(each.address for each in self.masters.values()))

    def scheduler_of(self, job: JobId) -> int:
        return master_address(job)

    def dialogue(self, node: NodeFacts, world: World) -> Dialogue:
        """One whose first heartbeat is drawn, on the scenario's grid if it has one."""
        grid_ms = world.cluster.heartbeat.phase_grid_ms
        steps = max(self.params.node_heartbeat_ms // grid_ms, 1)
        first_ms = self._phases.below(steps, node.node) * grid_ms
        return NodeManager(first_ms, world.cluster.latency_ms, self.scheduler_of)

    def longest_wait_ms(self, world: World) -> Millis:
        """Some heartbeats, be it of nodes or of masters, on top of what messages take."""
        slower_ms = max(self.params.node_heartbeat_ms, self.params.am_heartbeat_ms)
        return HEARTBEATS_WITHOUT_EVENTS * (slower_ms + 2 * world.cluster.latency_ms)

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:  # noqa: ARG002
        return ()

    def books_of(self, job: JobId) -> BookedJob | None:
        ledger = self.masters[job].ledger
        return ledger.job(job) if ledger.has_job(job) else None


class IdleHeartbeats:
    """The heartbeats of nodes while no application is there: they bring nothing and get nothing.  A
    history of jobs that are years apart has a hundred million of them.

    A round is from one heartbeat of a node to its next: its interval, and the way there and back.
    """

    def __init__(self, manager: ResourceManager, latency_ms: Millis) -> None:
        self._manager = manager
        self.period_ms = manager.params.node_heartbeat_ms + 2 * latency_ms

    def is_idle(self) -> bool:
        """Without a container nodes have no news, and without an application nobody asks."""
        return self._manager.is_idle

    def belongs(self, message: msgspec.Struct) -> bool:
        match message:
            case NodeHeartbeatDue():
                return True
            case NodeHeartbeat(news=news):
                return not news
            case NodeHeartbeatReply(kills=kills):
                return not kills
        return False
