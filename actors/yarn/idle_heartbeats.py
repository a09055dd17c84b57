"""The heartbeats of nodes while no application is there: they bring nothing and get nothing.

A history of jobs that are years apart has a hundred million of them.
"""

import msgspec

from callboard.actors.yarn.resource_manager import ResourceManager
from callboard.actors.yarn.yarn_messages import (
    NodeHeartbeat,
    NodeHeartbeatDue,
    NodeHeartbeatReply,
)
from callboard.scheduler.model import Millis


class IdleHeartbeats:
    """From one heartbeat of a node to its next: its interval, and the way there and back."""

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
