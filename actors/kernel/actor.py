"""What every actor is: a mailbox, an address, and the few things it may do.

It learns of the world by messages and acts on it by messages; a timer is a message to itself.
`receive` runs to its end between two supersteps; what it sends is delivered after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, get_args, get_type_hints

import msgspec

from callboard.scheduler.model import Millis

if TYPE_CHECKING:
    from callboard.actors.kernel.kernel import Kernel, QueuedMessage
    from callboard.actors.vocabulary.events import AnyEvent


NO_CAUSE = -1
"""What is caused by no event: it was due, or happens to the world from outside."""


class Message(msgspec.Struct, frozen=True, tag=True, array_like=True, gc=False):
    """The base of every message: frozen, tagged, made of plain data."""


class Actor:
    """One actor; a method `on_…` of a subclass answers messages of the type that it annotates."""

    __slots__ = (  # as in nodes and slots, of which there are tens of thousands
        "_kernel",
        "_sent",
        "address",
        "cause",
        "heard_from",
        "mailbox",
        "name",
        "retired",
        "wake",
    )

    answers: ClassVar[dict[type[msgspec.Struct], Callable[[Any, Any], None]]] = {}
    """The method that answers a message, by the message's type."""

    def __init_subclass__(cls) -> None:
        cls.answers = {}
        for name in filter(lambda name: name.startswith("on_"), dir(cls)):
            method = getattr(cls, name)
            message, *_ = get_type_hints(method).values()
            for each in get_args(message) or (message,):
                cls.answers |= dict.fromkeys(_with_subclasses(each), method)

    def __init__(self, address: int, name: str) -> None:
        self.address = address
        self.name = name
        self.mailbox: list[QueuedMessage] = []
        self.heard_from = 0
        self.cause = NO_CAUSE
        """The event that brought about what the actor does now."""
        self.retired = False
        self.wake: Callable[[bool], object]
        """Set by a driver under which it waits: for mail (True), or the end of the run (False)."""
        self._sent = 0
        self._kernel: Kernel

    def join(self, kernel: Kernel) -> None:
        """Called once by the kernel that admits the actor."""
        self._kernel = kernel

    @property
    def now_ms(self) -> Millis:
        return self._kernel.now_ms

    def receive(self, message: msgspec.Struct) -> None:
        assert type(message) in self.answers, f"{self.name} has no answer to {message!r}"
        self.answers[type(message)](self, message)

    def waits_for(self) -> str | None:
        """What this actor waits for, as a line for a person; None when it wants nothing."""
        return None

    def at_work(self) -> bool:
        """Whether the actor is in the middle of something that takes virtual time."""
        return False

    def send(self, to: int, message: msgspec.Struct, delay_ms: Millis = 0) -> None:
        """Send a message; without delay it arrives in the next round of this instant."""
        self._sent += 1
        if delay_ms:
            self._kernel.post(self.address, self._sent, to, message, delay_ms, self.cause)
        else:  # a third of all messages, each without a call of the kernel
            self._kernel.soon.append((self.address, self._sent, to, message, self.cause))

    def timer(self, message: msgspec.Struct, delay_ms: Millis) -> None:
        self._sent += 1
        self._kernel.post(self.address, self._sent, self.address, message, delay_ms, self.cause)

    def timer_behind(self, peer: int, message: msgspec.Struct, at_ms: Millis) -> None:
        """Send a message to oneself, to arrive right behind what `peer` may send for `at_ms`."""
        self._sent += 1
        self._kernel.post_behind(peer, self._sent, self.address, message, at_ms, self.cause)

    def run_on(self, peer: int, message: msgspec.Struct, at_ms: Millis) -> bool:
        """Take the timer of `timer_behind` as having come, if nothing else can happen up to then:
        whether it is `at_ms` now.
        """
        count = self._sent + 1
        if not self._kernel.run_on(peer, count, self.address, message, at_ms, self.cause):
            return False
        self._sent = count
        return True

    def note(self, event: AnyEvent) -> int:
        """Tell the journal what happened; the event's number there."""
        kernel = self._kernel
        kernel.notes.append(event)
        kernel.noted += 1
        return kernel.noted

    def spawn(self, actor: Actor) -> None:
        self._kernel.admit(actor)

    def retire(self) -> None:
        """Leave the run when this message has been answered; the rest of the mail is dropped."""
        self.retired = True
        self.mailbox.clear()
        self._kernel.dismiss(self)

    def stop(self, reason: str) -> None:
        self._kernel.stop(reason)


def _with_subclasses(message: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    yield message
    for each in message.__subclasses__():
        yield from _with_subclasses(each)
