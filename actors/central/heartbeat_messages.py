"""What the central master, its nodes and it itself say to each other, beside what all schedulers do
(`actors.vocabulary.messages`).
"""

from typing import Final

from callboard.actors.kernel.message import Message
from callboard.actors.vocabulary.events import NodeFacts
from callboard.actors.vocabulary.messages import (
    AnyReport,
    AttemptProgress,
    KillTask,
    LaunchTask,
    ResumeTask,
    SuspendTask,
)
from callboard.scheduler import model

MASTER: Final = 2
"""The central master's address; only this room knows it."""

# Heartbeats.


class HeartbeatDue(Message, frozen=True):
    """Node to itself: send a heartbeat now, unless a later plan has replaced number `plan`."""

    plan: int


class ElidedReplyDue(Message, frozen=True):
    """Node to itself: the reply to a heartbeat that was left out would come now."""


class RetryHeartbeat(Message, frozen=True):
    """Node to itself: send this heartbeat again if it has no answer yet (rule H5)."""

    heartbeat: int


class HeartbeatsResumed(Message, frozen=True):
    """Node to master: I send all heartbeats now; the last left out was due at `left_out_ms`."""

    node: model.NodeId
    left_out_ms: model.Millis = -1


class ExpiryCheck(Message, frozen=True):
    """Master to itself: look which nodes have not been heard of for too long (rule T1)."""


class BlacklistReview(Message, frozen=True):
    """Master to itself: the faults of a blacklisted node may be long enough ago."""

    node: model.NodeId


class Heartbeat(Message, frozen=True):
    """Node to master: this is what has happened since my last heartbeat.

    `response` is the number of the last reply that reached the node (rule H5).  `joins` is set in
    the first heartbeat of each `life`, counted from 0.  `progress` is of tracked attempts.
    """

    node: model.NodeId
    response: int
    reports: tuple[AnyReport, ...]
    joins: NodeFacts | None = None
    life: int = 0
    progress: tuple[AttemptProgress, ...] = ()


class HeartbeatThoughtOver(Message, frozen=True):
    """Master to itself: it has thought about the heartbeat that came first (`heartbeat_queue`)."""


class HeartbeatReply(Message, frozen=True):
    """Master to node: what to start, stop and track, and when the next heartbeat is due."""

    response: int
    interval_ms: model.Millis
    launches: tuple[LaunchTask | ResumeTask, ...] = ()
    kills: tuple[KillTask, ...] = ()
    suspends: tuple[SuspendTask, ...] = ()
    tracks: tuple[model.AttemptId, ...] = ()
    life: int = 0


class Reinitialize(Message, frozen=True):
    """Master to node: you were given up for lost; drop everything and join again (rule T4)."""

    life: int


class ElidedHeartbeat(Message, frozen=True):
    """Master to itself: a heartbeat that `node` leaves out would arrive now."""

    node: model.NodeId


class PreemptionDue(Message, frozen=True):
    """Master to itself: time for victims; `policy` counts the policies that have been in force."""

    policy: int


class Preempt(Message, frozen=True):
    """Master to itself: ask the policy for victims now."""

    policy: int
