"""What can happen to the world, as data that the journal keeps so that runs can be replayed."""

from typing import TypeAlias

import msgspec

from callboard.actors.network import LinkConditions
from callboard.scheduler.model import JobId, NodeId, Priority


class Fault(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """Something that happens to the world."""


class NodeFault(Fault, frozen=True):
    """Something that happens to a node."""

    node: NodeId


class Crash(NodeFault, frozen=True):
    """The node stops dead.  What ran on it is gone, and so is what it had stored."""


class Restart(NodeFault, frozen=True):
    """A crashed node starts again, empty, and joins at once."""


class PauseNode(NodeFault, frozen=True):
    """The node stands still, as in a long garbage collection: nothing is lost, all is late."""


class ResumeNode(NodeFault, frozen=True):
    """A paused node goes on where it stood."""


class Slow(NodeFault, frozen=True):
    """Whatever runs on the node takes `factor` times as long from now on; 1 is its own speed."""

    factor: float


class Disturb(NodeFault, frozen=True):
    """The link between the master and the node is like this from now on; `up` is to the master."""

    up: LinkConditions
    down: LinkConditions


class Partition(NodeFault, frozen=True):
    """The node and these others cannot fetch from each other from now on; none ends it."""

    others: tuple[NodeId, ...]


class Flaky(NodeFault, frozen=True):
    """This share of the attempts that start on the node now fails, at this or a drawn progress."""

    share: float
    progress: float | None = None


class Hang(NodeFault, frozen=True):
    """This share of the attempts that start on the node now hangs, at this or a drawn progress."""

    share: float
    progress: float | None = None


class StickLaunches(NodeFault, frozen=True):
    """Of the attempts that are launched on the node from now on, this share never begins."""

    share: float


class Drift(NodeFault, frozen=True):
    """The node's clock goes `rate` times as fast from now on; 1 is right."""

    rate: float


class Drain(NodeFault, frozen=True):
    """The operator takes a node out of service, or back; what runs on it goes on."""

    out: bool


class JobFault(Fault, frozen=True):
    """Something that happens to a job, if it is there."""

    job: JobId


class KillJob(JobFault, frozen=True):
    """Its user kills a job."""


class SetPriority(JobFault, frozen=True):
    """A job has another priority from now on."""

    priority: Priority


class SetPool(JobFault, frozen=True):
    """A job is in another pool from now on."""

    pool: str


class SwitchPolicy(Fault, frozen=True):
    """The cluster's operator puts another policy in force; `policy` is its spelling."""

    policy: str


class MasterFault(Fault, frozen=True):
    """Something that happens to the master, and that all nodes will notice."""


class PauseMaster(MasterFault, frozen=True):
    """The master stands still; what comes meanwhile waits."""


class ResumeMaster(MasterFault, frozen=True):
    """A paused master goes on."""


class RestartMaster(MasterFault, frozen=True):
    """The master starts anew; jobs are submitted again with `recover`, else lost as in Hadoop."""

    recover: bool = False


class SchedulerFault(Fault, frozen=True):
    """Something that happens to one scheduler of several, by its number from 1."""

    scheduler: int


class CrashScheduler(SchedulerFault, frozen=True):
    """The scheduler's process ends: what it knew is gone, and actors connected with it are told
    so by the machine.
    """


class RestartScheduler(SchedulerFault, frozen=True):
    """It is there again, and knows nothing."""


_OfAMachine: TypeAlias = Crash | Restart | PauseNode | ResumeNode | Slow | Drift
_OfALink: TypeAlias = Disturb | Partition
_OfAttempts: TypeAlias = Flaky | Hang | StickLaunches
_OfAJob: TypeAlias = KillJob | SetPriority | SetPool
_OfAScheduler: TypeAlias = CrashScheduler | RestartScheduler
_OfTheMaster: TypeAlias = Drain | SwitchPolicy | PauseMaster | ResumeMaster | RestartMaster

_OfSchedulers: TypeAlias = _OfAScheduler | _OfTheMaster

AnyFault: TypeAlias = _OfAMachine | _OfALink | _OfAttempts | _OfAJob | _OfSchedulers
"""Anything that the injector can make happen."""
