"""What every actor is: a mailbox, an address, and the few things it may do.

It learns of the world by messages and acts on it by messages; a timer is a message to itself.
`receive` runs to its end between two supersteps; what it sends is delivered after it.  What it
sends and notes says by which event it was brought about: `cause`, that of the message which is
answered, is written where messages are delivered and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, get_args, get_type_hints

import msgspec
from typing_extensions import TypeVar

from callboard.actors.kernel.message import NO_CAUSE, QueuedMessage
from callboard.scheduler.model import Millis

if TYPE_CHECKING:
    from callboard.actors.kernel.kernel import Kernel

EventT = TypeVar("EventT", bound=msgspec.Struct, default=Any)
"""What actors note in the journal."""

Answer = Callable[[Any, Any], None]
"""A method of an actor's class that answers one type of message."""


class Answering:
    """What answers messages: a method `on_…` of a subclass those of the type that it annotates."""

    __slots__ = ()

    handlers: ClassVar[dict[type[msgspec.Struct], Answer]] = {}
    """The method that answers a message, by the message's type."""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        cls.handlers = {}
        for name in filter(lambda name: name.startswith("on_"), dir(cls)):
            method = getattr(cls, name)
            message, *_ = get_type_hints(method).values()
            for each in get_args(message) or (message,):
                cls.handlers |= dict.fromkeys(_with_subclasses(each), method)


class Actor(Answering, Generic[EventT]):
    """One actor, to be derived from."""

    __slots__ = (  # as in nodes and slots, of which there are tens of thousands
        "_kernel",
        "_sent",
        "address",
        "answers",
        "cause",
        "heard_from",
        "mailbox",
        "name",
        "retired",
        "wake",
    )

    def __init__(self, address: int, name: str) -> None:
        self.address = address
        self.name = name
        self.mailbox: list[QueuedMessage] = []
        self.heard_from = 0
        self.cause = NO_CAUSE
        """The event that brought about the message which is answered now."""
        self.answers = type(self).handlers
        """The `handlers`, with the probes that look on (`Kernel.probe`)."""
        self.retired = False
        self.wake: Callable[[bool], object]
        """Set by a driver under which it waits: for mail (True), or the end of the run (False)."""
        self._sent = 0
        self._kernel: Kernel[EventT]

    def join(self, kernel: Kernel[EventT]) -> None:
        """Called once by the kernel that admits the actor."""
        self._kernel = kernel

    @property
    def now_ms(self) -> Millis:
        return self._kernel.now_ms

    def receive(self, message: msgspec.Struct) -> None:
        assert type(message) in self.answers, f"{self.name} has no answer to {message!r}"
        self.answers[type(message)](self, message)

    def receive_held_back(self, mail: Iterable[tuple[int, msgspec.Struct]]) -> None:
        """Answer (cause, message) pairs that were held back when they came."""
        for self.cause, message in mail:
            self.receive(message)

    def waiting_reason(self) -> str | None:
        """What this actor waits for, as a line for a person; None when it wants nothing."""
        return None

    def at_work(self) -> bool:
        """Whether the actor is in the middle of something that takes virtual time."""
        return False

    def send(self, to: int, message: msgspec.Struct, cause: int, delay_ms: Millis = 0) -> None:
        """Send a message; without delay it arrives in the next round of this instant."""
        self._sent += 1
        if delay_ms:
            self._kernel.post(self.address, self._sent, to, message, delay_ms, cause)
        else:  # a third of all messages, each without a call of the kernel
            self._kernel.soon.append((self.address, self._sent, to, message, cause))

    def timer(self, message: msgspec.Struct, delay_ms: Millis, cause: int) -> None:
        self._sent += 1
        self._kernel.post(self.address, self._sent, self.address, message, delay_ms, cause)

    def timer_behind(self, peer: int, message: msgspec.Struct, at_ms: Millis, cause: int) -> None:
        """Send a message to oneself, to arrive right behind what `peer` may send for `at_ms`."""
        self._sent += 1
        self._kernel.post_behind(peer, self._sent, self.address, message, at_ms, cause)

    def run_on(self, peer: int, message: msgspec.Struct, at_ms: Millis) -> bool:
        """Take the timer of `timer_behind` as having come, if nothing else can happen up to then:
        whether it is `at_ms` now.
        """
        count = self._sent + 1
        if not self._kernel.run_on(peer, count, self.address, message, at_ms, self.cause):
            return False
        self._sent = count
        return True

    def note(self, event: EventT) -> int:
        """Tell the journal what happened; the event's number there."""
        kernel = self._kernel
        kernel.notes.append(event)
        kernel.noted += 1
        return kernel.noted

    def spawn(self, actor: Actor[EventT]) -> None:
        self._kernel.admit_actor(actor)

    def retire(self) -> None:
        """Leave the run when this message has been answered; the rest of the mail is dropped."""
        self.retired = True
        self.mailbox.clear()
        self._kernel.dismiss_actor(self)

    def end_run(self, reason: str) -> None:
        self._kernel.end_run(reason)

    def expect_nothing_before(self, at_ms: Millis) -> None:
        """Say that nothing need come of the run before this moment: it is not stuck till then."""
        self._kernel.progress_ms = max(self._kernel.progress_ms, at_ms)


def _with_subclasses(message: type[msgspec.Struct]) -> Iterator[type[msgspec.Struct]]:
    yield message
    for each in message.__subclasses__():
        yield from _with_subclasses(each)
