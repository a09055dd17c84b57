"""The master's thinking time: heartbeats are answered one after the other, each after a while.

Sparrow and Omega are answers to central schedulers that are too busy.  Hadoop's took well under a
millisecond a heartbeat, so this is off unless a scenario says `cluster.heartbeat.thinking_ms`.
"""

from callboard.actors.books.voice import Voice
from callboard.actors.central.heartbeat_messages import Heartbeat, HeartbeatThoughtOver
from callboard.scheduler.model import Millis, NodeId


class HeartbeatQueue:
    """Heartbeats in the order in which they came; the first is the one that is thought about.

    A node has one place in the queue.  What it sends again while its heartbeat waits takes that
    heartbeat's place: else a master that is slower than a node's patience would never catch up.
    """

    def __init__(self, thinking_ms: Millis, voice: Voice) -> None:
        self.thinking_ms = thinking_ms
        self._voice = voice
        self._waiting: dict[NodeId, tuple[int, Heartbeat]] = {}

    def put(self, heartbeat: Heartbeat, cause: int) -> None:
        """One has come, by that event."""
        is_idle = not self._waiting
        self._waiting[heartbeat.node] = cause, heartbeat
        if is_idle:
            self._begin_thinking()

    def thought_over(self) -> Heartbeat:
        """The one that may be answered now; the next is begun with."""
        _, done = self._waiting.pop(self._first_waiting_node)
        if self._waiting:
            self._begin_thinking()
        return done

    @property
    def _first_waiting_node(self) -> NodeId:
        return next(iter(self._waiting))

    def _begin_thinking(self) -> None:
        voice, (cause, _) = self._voice, self._waiting[self._first_waiting_node]
        voice.send(voice.address, HeartbeatThoughtOver(), cause, self.thinking_ms)
