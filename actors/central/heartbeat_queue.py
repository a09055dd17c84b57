"""The master's thinking time: heartbeats are answered one after the other, each after a while.

Sparrow and Omega are answers to central schedulers that are too busy.  Hadoop's took well under a
millisecond a heartbeat, so this is off unless a scenario says `cluster.heartbeat.thinking_ms`.
"""

from collections import deque

from callboard.actors.books.voice import Voice
from callboard.actors.central.heartbeat_messages import Heartbeat, HeartbeatThoughtOver
from callboard.scheduler.model import Millis


class HeartbeatQueue:
    """Heartbeats in the order in which they came; the first is the one that is thought about."""

    def __init__(self, thinking_ms: Millis, voice: Voice) -> None:
        self.thinking_ms = thinking_ms
        self._voice = voice
        self._waiting: deque[tuple[int, Heartbeat]] = deque()

    def put(self, heartbeat: Heartbeat, cause: int) -> None:
        """One has come, by that event."""
        self._waiting.append((cause, heartbeat))
        if len(self._waiting) == 1:
            self._think()

    def thought_over(self) -> Heartbeat:
        """The one that may be answered now; the next is begun with."""
        _, done = self._waiting.popleft()
        if self._waiting:
            self._think()
        return done

    def _think(self) -> None:
        voice, (cause, _) = self._voice, self._waiting[0]
        voice.send(voice.address, HeartbeatThoughtOver(), cause, self.thinking_ms)
