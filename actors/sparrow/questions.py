"""Nodes' questions for tasks, those of an instant answered together."""

from callboard.actors.books.voice import Voice
from callboard.actors.kernel.message import NO_CAUSE
from callboard.actors.sparrow.probe_messages import AnswersDue, GetTask


class Questions:
    """What a scheduler is asked.  All nodes that ask at an instant are heard before any of them is
    answered, and they are answered in the order in which they were drawn, which is random.
    """

    def __init__(self, voice: Voice) -> None:
        self._voice = voice
        self._heard: list[tuple[GetTask, int]] = []

    def hear(self, ask: GetTask, cause: int) -> None:
        """Keep it until all of this instant have come."""
        if not self._heard:
            self._voice.send(self._voice.address, AnswersDue(), NO_CAUSE)
        self._heard.append((ask, cause))

    def due(self) -> list[tuple[GetTask, int]]:
        """Those of this instant with their causes, in the order in which they are answered."""
        heard, self._heard = self._heard, []
        return sorted(heard, key=lambda each: each[0].place)
