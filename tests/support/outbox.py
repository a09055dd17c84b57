"""One actor without a world: deliver a message, and read what the actor did about it."""

from collections.abc import Callable
from typing import Any, NamedTuple

import msgspec
import pytest

from callboard.actors.kernel.actor import Actor
from callboard.actors.kernel.message import NO_CAUSE, QueuedMessage
from callboard.actors.vocabulary.events import AnyEvent
from callboard.scheduler.model import Millis


class Sent(NamedTuple):
    """A message that the actor sent; a timer is one to itself."""

    to: int
    message: msgspec.Struct
    delay_ms: Millis = 0


Effect = Sent | AnyEvent


class Outbox:
    """Stands where the kernel does: it takes down what an actor asks of it, in order."""

    def __init__(self, *actors: Actor) -> None:
        self.now_ms: Millis = 0
        self.progress_ms: Millis = 0
        self.reason: str | None = None
        self.effects: list[Effect] = []
        self.noted = 0
        self.notes, self.soon = _Notes(self), _Soon(self)
        for actor in actors:
            self.admit_actor(actor)
        self.effects.clear()

    def deliver(
        self, actor: Actor, message: msgspec.Struct, *, at_ms: Millis = 0, cause: int = NO_CAUSE
    ) -> list[Effect]:
        """What the actor does when it gets the message."""
        self.now_ms = max(self.now_ms, at_ms)
        actor.cause = cause
        actor.receive(message)
        effects, self.effects = self.effects, []
        return effects

    # What an actor asks of a kernel.

    def admit_actor(self, actor: Actor) -> None:
        actor.join(self)  # type: ignore[arg-type]

    def dismiss_actor(self, actor: Actor) -> None:
        """It leaves the run."""

    def end_run(self, reason: str) -> None:
        self.reason = reason

    def post(
        self, _from: int, _count: int, to: int, message: msgspec.Struct, delay: int, _cause: int
    ) -> None:
        self.effects.append(Sent(to, message, delay))

    def post_behind(
        self, _peer: int, _count: int, to: int, message: msgspec.Struct, at: int, _cause: int
    ) -> None:
        self.effects.append(Sent(to, message, at - self.now_ms))


class _Notes:
    """Where an actor puts its events."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def append(self, event: AnyEvent) -> None:
        self._outbox.effects.append(event)


class _Soon:
    """Where an actor puts what it sends without delay."""

    def __init__(self, outbox: Outbox) -> None:
        self._outbox = outbox

    def append(self, message: QueuedMessage) -> None:
        self._outbox.effects.append(Sent(message[2], message[3]))


def replace_answer(
    monkeypatch: pytest.MonkeyPatch,
    message: type[msgspec.Struct],
    answer: Callable[[Any, Any], None],
    *actors: type[Actor],
) -> None:
    """Have actors of these classes, each of which has its own table, answer a message otherwise."""
    for actor in actors:
        handlers: dict[Any, Any] = actor.handlers
        monkeypatch.setitem(handlers, message, answer)
