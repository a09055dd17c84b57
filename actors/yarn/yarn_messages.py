"""What a resource manager, application masters and node managers say to each other."""

from typing import Final

from callboard.actors.kernel.address import scheduler_address
from callboard.actors.kernel.message import Message
from callboard.actors.vocabulary.messages import LaunchTask
from callboard.scheduler.model import AttemptId, JobId, Millis, NodeId, Stage
from callboard.scheduler.queues.preemption_victims import ContainerNumber
from callboard.scheduler.reasons import Why
from callboard.scheduler.resources import Vector

RESOURCE_MANAGER: Final = scheduler_address(0)

# Applications.


class SubmitApplication(Message, frozen=True):
    """Application to resource manager: I want a container for my master, which takes `demand`."""

    job: JobId
    user: str
    queue: str
    demand: Vector


class ContainerAsk(Message, frozen=True):
    """How many containers of a priority (lower is first) are asked for from now on: `anywhere` in
    all, and how many of them would do on each of these nodes and in each of these racks.  Places
    that are not named stay as they were.
    """

    priority: int
    stage: Stage
    demand: Vector
    anywhere: int
    nodes: tuple[tuple[NodeId, int], ...] = ()
    racks: tuple[tuple[int, int], ...] = ()


class Allocate(Message, frozen=True):
    """Master to resource manager, its heartbeat: what it asks for otherwise than before, what it
    does not need, where it wants nothing.
    """

    job: JobId
    asks: tuple[ContainerAsk, ...] = ()
    released: tuple[ContainerNumber, ...] = ()
    shunned: tuple[NodeId, ...] = ()


class GrantedContainer(Message, frozen=True):
    """A container: a right to what it takes of a node, `why` it was given, by which event."""

    container: ContainerNumber
    node: NodeId
    priority: int
    why: Why
    cause: int


class AllocateReply(Message, frozen=True):
    """Resource manager to master: containers that are yours since you last asked, and how much more
    you might get (`headroom`, in the amounts that queues count).
    """

    granted: tuple[GrantedContainer, ...]
    headroom: Vector


class FinishApplication(Message, frozen=True):
    """Master to resource manager: I have ended; these containers of mine were never started."""

    job: JobId
    unstarted: tuple[ContainerNumber, ...] = ()


class AllocateDue(Message, frozen=True):
    """Master to itself: time for a heartbeat."""


# Nodes.


class StartMaster(Message, frozen=True):
    """Resource manager to node manager: run this application's master."""

    job: JobId
    container: ContainerNumber


class MasterStarted(Message, frozen=True):
    """Node manager to an application: your master runs here."""

    node: NodeId


class StopMaster(Message, frozen=True):
    """Master to its node manager: I have ended."""

    job: JobId


class StartContainer(Message, frozen=True):
    """Master to node manager: run this attempt in this container of mine."""

    container: ContainerNumber
    launch: LaunchTask


class ContainerNews(Message, frozen=True):
    """What a node manager tells of a container: the attempt that it runs (0 for a master), and by
    which event it has ended, if it has.
    """

    container: ContainerNumber
    attempt: AttemptId
    ended: bool = False
    cause: int = -1


class NodeHeartbeat(Message, frozen=True):
    """Node manager to resource manager: what has begun and ended since the last one."""

    node: NodeId
    news: tuple[ContainerNews, ...]


class NodeHeartbeatReply(Message, frozen=True):
    """Resource manager to node manager: stop what still runs of these, which have to make room."""

    kills: tuple[AttemptId, ...]
    interval_ms: Millis


class NodeHeartbeatDue(Message, frozen=True):
    """Node manager to itself: time for a heartbeat."""


class PreemptionRoundDue(Message, frozen=True):
    """Resource manager to itself: time for the preemption monitor."""
