"""Hadoop 1's architecture: one master, to which all nodes send heartbeats, with one policy."""

from collections.abc import Callable, Sequence

from callboard.actors.architecture import CENTRAL, Architecture
from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.central.heartbeat_messages import MASTER
from callboard.actors.central.heartbeat_schedule import HeartbeatSchedule
from callboard.actors.central.heartbeats import NodeHeartbeats, elides_heartbeats
from callboard.actors.central.master import Master
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.streams import Stream
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.world import World
from callboard.scheduler.model import JobId
from callboard.scheduler.policy import Policy

_TOLD = (
    faults.Disturb,
    faults.Drain,
    faults.MasterFault,
    faults.SetPool,
    faults.SetPriority,
    faults.SwitchPolicy,
)


class Central(Architecture):
    """The master under a policy; `make_policy` makes those that a script puts in force."""

    name = CENTRAL
    heartbeats = True
    knows = (faults.NodeFault, faults.JobFault, faults.SwitchPolicy, faults.MasterFault)
    summary = "one master decides by a policy (Hadoop 1)"

    def __init__(self, policy: Policy, make_policy: Callable[[str], Policy]) -> None:
        self.policy: Policy = policy
        self._make_policy = make_policy
        self.master: Master

    def admit(self, kernel: Kernel[AnyEvent], world: World) -> None:
        def informed(policy: Policy) -> Policy:
            if policy.wants_oracle:
                from callboard.actors.workload_oracle import WorkloadOracle

                policy.set_oracle(WorkloadOracle(world.jobs, world.tasks, world.seed))
            return policy

        def make_informed(spelling: str) -> Policy:
            return informed(self._make_policy(spelling))

        policy, nodes = informed(self.policy), len(world.nodes)
        self.master = Master(world.cluster, nodes, policy, world.seed, make_informed)
        self._phases = Stream(world.seed, "phase")
        kernel.admit_actor(self.master)

    def schedulers(self) -> Sequence[int]:
        return (MASTER,)

    def scheduler_of(self, job: JobId) -> int:  # noqa: ARG002
        return MASTER

    def dialogue(self, node: NodeFacts, world: World) -> NodeHeartbeats:
        """One whose first heartbeat is due when the scenario says, or is drawn on the grid."""
        cluster, rules = world.cluster, world.cluster.heartbeat
        first_ms = rules.stated_phase_ms(node.node, cluster.heartbeat_cycle_ms())
        if first_ms is None:
            steps = max(rules.period_ms(len(world.nodes)) // rules.phase_grid_ms, 1)
            first_ms = self._phases.below(steps, node.node) * rules.phase_grid_ms
        schedule = HeartbeatSchedule(
            first_ms,
            cluster.latency_ms,
            out_of_band=rules.out_of_band,
            elides=elides_heartbeats(cluster),
        )
        latency_ms, retry_ms = cluster.latency_ms, cluster.longest_heartbeat_cycle_ms()
        return NodeHeartbeats(schedule, latency_ms=latency_ms, retry_ms=retry_ms, seed=world.seed)

    def routes(self, fault: faults.AnyFault) -> Sequence[int]:
        return (MASTER,) if isinstance(fault, _TOLD) else ()

    @property
    def view(self) -> Ledger:
        return self.master.ledger

    def books_of(self, job: JobId) -> BookedJob | None:
        ledger = self.master.ledger
        return ledger.job(job) if ledger.has_job(job) else None
