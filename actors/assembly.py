"""Assembling: a world's actors and an architecture's are brought into a kernel."""

from functools import partial

from callboard.actors.architecture import Architecture
from callboard.actors.client import Client
from callboard.actors.injector import Injector
from callboard.actors.job import Job
from callboard.actors.job_spec import JobSpec
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.stall_limits import set_limits
from callboard.actors.vocabulary.events import AnyEvent, NodeFacts
from callboard.actors.worker.node import Node
from callboard.actors.worker.slot import Slot
from callboard.actors.world import World


def assemble(kernel: Kernel[AnyEvent], world: World, architecture: Architecture) -> None:
    """Bring every actor of a run into the kernel."""
    architecture.admit(kernel, world)
    _admit_nodes(kernel, world, architecture)

    def make_job(spec: JobSpec) -> Job:
        return Job(
            spec,
            architecture.scheduler_of(spec.job),
            placement=world.placement,
            slowstart=world.tasks.slowstart,
            latency_ms=world.cluster.latency_ms,
            hosts_asked=bool(world.script),
            others=architecture.fallback_schedulers(spec.job),
        )

    kernel.admit_actor(Client(world.jobs, make_job))
    if world.script:
        kernel.admit_actor(Injector(world.script, world.nodes, world.blocks, architecture.routes))
    set_limits(kernel, world, architecture)


def _admit_nodes(kernel: Kernel[AnyEvent], world: World, architecture: Architecture) -> None:
    """All nodes; one that crashes at 0 is off.  Their slots come when they are used."""
    latency_ms, absent = world.cluster.latency_ms, world.absent

    def make_slot(facts: NodeFacts, slot: int) -> Slot:
        durations, blocks = world.durations_on(facts), world.blocks
        return Slot(facts, slot, latency_ms=latency_ms, durations=durations, blocks=blocks)

    make_node = partial(
        Node, make_slot=make_slot, latency_ms=latency_ms, keeps_outputs=bool(world.script)
    )
    for facts in world.nodes:
        node = make_node(facts, architecture.dialogue(facts, world))
        if facts.node in absent:
            node.begin_absent()
        kernel.admit_actor(node)
