"""The world that is played: the cluster and its machines, the jobs, what strikes them, and how long
everything takes.  One value, assembled from a scenario; an architecture's schedulers get to see of
it what their kind would know.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property

from callboard.actors.blocks import Blocks
from callboard.actors.config import Cluster, Tasks, node_facts, vectors_of_nodes
from callboard.actors.injector import ScheduledFault
from callboard.actors.job_spec import JobSpec
from callboard.actors.placement import Placement
from callboard.actors.recorded_tasks import RecordedTasks
from callboard.actors.vocabulary import faults
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.worker.durations import Durations
from callboard.scheduler.model import JobId, NodeId
from callboard.scheduler.resources import Dimensions, Vector


class World:
    """A cluster on which `jobs` run, and which `script` strikes; `seed` decides all draws."""

    def __init__(
        self,
        cluster: Cluster,
        tasks: Tasks,
        jobs: Sequence[JobSpec],
        seed: int,
        script: Sequence[ScheduledFault] = (),
    ) -> None:
        self.cluster = cluster
        self.tasks = tasks
        self.jobs = jobs
        self.seed = seed
        self.script = script
        self.nodes = node_facts(cluster)
        self.placement = Placement(
            seed,
            nodes=len(self.nodes),
            topology=cluster.topology(),
            replication=cluster.replication,
            recorded=self.recorded,
        )
        self.blocks = Blocks(self.placement)
        self._durations: dict[tuple[float, str], Durations] = {}

    @cached_property
    def recorded(self) -> Mapping[JobId, RecordedTasks]:
        """The tasks of jobs that were recorded, which take what they took then."""
        return {job.job: job.recorded for job in self.jobs if job.recorded is not None}

    def durations_on(self, facts: NodeFacts) -> Durations:
        """How long attempts take on a node: one object for all that are alike."""
        alike = (facts.speed, facts.node_type)
        if alike not in self._durations:
            self._durations[alike] = Durations(facts, self.tasks, self.seed, self.recorded)
        return self._durations[alike]

    @cached_property
    def resources(self) -> tuple[Dimensions, tuple[Vector, ...]]:
        """What there is of resources, and what each node has of them."""
        return vectors_of_nodes(self.cluster, self.nodes)

    @property
    def absent(self) -> set[NodeId]:
        """The nodes that are off from the start: those that crash at 0."""
        first = [each.fault for each in self.script if each.at_ms == 0]
        return {fault.node for fault in first if isinstance(fault, faults.Crash)}
