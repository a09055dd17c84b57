"""How a scheduler and a node stay in contact over a link that loses, delays or repeats messages.

What is said in a contact is heard once and in order, as over TCP: each message has a number, is
sent again until the other side says that it has heard it, and is dropped when it comes twice.  A
contact has *sessions*, which the scheduler numbers: one ends when a scheduler gives the node up or
ends itself, and nothing that was said in it is heard any more.  The node's *life* is counted too:
one that has started again after a crash knows nothing of what was said before.

As long as a node has had no fault that could stop it or its messages (`MAY_SILENCE`) each message
would be heard at once, so both sides leave numbers and confirmations out.
"""

from collections import deque
from typing import Protocol

import msgspec
from msgspec.structs import replace

from callboard.actors.kernel.message import NO_CAUSE, Message
from callboard.actors.network import Link
from callboard.actors.vocabulary import faults
from callboard.scheduler.model import Millis

MAY_SILENCE = (faults.Crash, faults.PauseNode, faults.Disturb)
"""Faults from which on a node's contacts are watched."""

AGAIN_MS: Millis = 200
"""So long beyond a round trip a side waits before it says something again: TCP's least (RFC 6298
has a second, Linux 200 ms).  Each further time it waits twice as long,"""

_TIMES_COUNTED = 4
"""up to that many times."""


class Framed(Message, frozen=True):
    """Something said in a contact, or, with the number 0, only that `heard` have been heard.

    `life` is the node's, as far as the sender knows; `asks` wants to be confirmed in any case.
    """

    sender: int
    life: int
    session: int
    number: int
    heard: int
    cause: int
    asks: bool = False
    said: msgspec.Struct | None = None


class SayAgain(Message, frozen=True):
    """One side to itself: if nothing was heard since, say again what `peer` has not confirmed."""

    peer: int
    turn: int


class Speaker(Protocol):
    """What a contact asks of the actor whose side it is."""

    address: int

    def send(self, to: int, message: msgspec.Struct, cause: int, delay_ms: Millis = 0) -> None: ...
    def timer(self, message: msgspec.Struct, delay_ms: Millis, cause: int) -> None: ...


class Contact:
    """One side of it, which speaks to the address `peer` over `link`."""

    def __init__(self, speaker: Speaker, peer: int, link: Link, latency_ms: Millis) -> None:
        self.link = link
        self.life = 0
        self.session = 0
        self._speaker = speaker
        self._peer = peer
        self._wait_ms = AGAIN_MS + 2 * latency_ms
        self._turn = 0
        self._reset_frames(NO_CAUSE)

    def _reset_frames(self, cause: int) -> None:
        self._cause = cause
        self._said = 0
        self._unconfirmed: deque[Framed] = deque()
        self._heard = 0
        self._early: dict[int, Framed] = {}
        self._times = 0
        self._turn += 1

    def begin_session(self, life: int, session: int, cause: int) -> None:
        """Begin another session; `cause` ended the one before."""
        self.life, self.session = life, session
        self._reset_frames(cause)

    @property
    def is_confirmed(self) -> bool:
        """Whether all that was said has been heard."""
        return not self._unconfirmed

    def say(self, message: msgspec.Struct | None, cause: int) -> None:
        """Have it heard, as soon as the link lets it; None: only that this side is there."""
        self._said += 1
        frame = self._new_frame(self._said, cause, said=message)
        self._unconfirmed.append(frame)
        self._send_frame(frame)
        if len(self._unconfirmed) == 1:
            self._await_confirmation()

    def ping(self) -> None:
        """Have the other side say, once, that it is there."""
        self._send_frame(self._new_frame(0, self._cause, asks=True))

    def confirm_heard(self) -> None:
        """Say what has been heard, in which life and session."""
        self._send_frame(self._new_frame(0, self._cause))

    def hear(self, frame: Framed) -> list[Framed]:
        """A frame of this session has come: all that is heard by that, in order."""
        if self._unconfirmed and self._unconfirmed[0].number <= frame.heard:
            while self._unconfirmed and self._unconfirmed[0].number <= frame.heard:
                self._unconfirmed.popleft()
            self._times = 0
            self._await_confirmation()
        if frame.number > self._heard:
            self._early[frame.number] = frame
        due: list[Framed] = []
        while self._heard + 1 in self._early:
            self._heard += 1
            due.append(self._early.pop(self._heard))
        if frame.number or frame.asks:
            self.confirm_heard()
        return due

    def say_again(self, again: SayAgain) -> None:
        """Nothing was confirmed for a while."""
        if again.turn == self._turn and self._unconfirmed:
            for frame in self._unconfirmed:
                self._send_frame(replace(frame, heard=self._heard))
            self._times = min(self._times + 1, _TIMES_COUNTED)
            self._await_confirmation()

    def _await_confirmation(self) -> None:
        self._turn += 1
        if self._unconfirmed:
            wait_ms = self._wait_ms << self._times
            self._speaker.timer(SayAgain(self._peer, self._turn), wait_ms, NO_CAUSE)

    def _new_frame(
        self, number: int, cause: int, *, asks: bool = False, said: msgspec.Struct | None = None
    ) -> Framed:
        who = (self._speaker.address, self.life, self.session)
        return Framed(*who, number, self._heard, cause, asks, said)

    def _send_frame(self, frame: Framed) -> None:
        for delay_ms, each in self.link.draw_deliveries(frame):
            assert isinstance(each, Framed), "a contact's link carries nothing else"
            self._speaker.send(self._peer, each, each.cause, delay_ms)
