"""The kernel: a virtual clock, and one total order of everything that happens (`docs/design.md`).

Messages are delivered in the order of their keys, (instant, round, sender, the sender's own count):
the kernel's own order, never Trio's or a hash's. All of one (instant, round) are a superstep: each
actor that got some handles them in key order, and what it sends without delay belongs to the next
round. So no actor sees what another does in the same round; drivers run them by address, which
numbers their events.

Two messages of one superstep to one actor from different senders are a tie, which `tie_order`
permutes. A message carries the number of the event that brought it about, its sender's
`Actor.cause`, which the receiver has while it answers. The digest, a hash of every delivered
message in order, names a run.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from hashlib import blake2b
from operator import attrgetter
from typing import Generic

import msgspec

from callboard.actors.kernel.actor import Actor, EventT
from callboard.actors.kernel.idle_rounds import IdleRounds
from callboard.actors.kernel.message import QueuedMessage
from callboard.actors.kernel.probes import Probe
from callboard.scheduler.model import Millis

ROUNDS_MAX = 10_000  # more at one instant are two actors answering each other for ever
STALL_TIMEOUT_MS = 2 * 3600 * 1000  # Hadoop's rules wait minutes; slower heartbeats ask for more
_BEHIND = 1 << 62
_SHOWN_MAX = 200  # characters of a message, in an error
_HASH_EVERY = 1024
_RUN_ON_MAX = 256  # timers within a superstep, so that those who watch a run get their turn


class KernelError(Exception):
    """A run could not go on."""


class ActorFailed(KernelError):
    """An actor raised an exception; it is this error's cause."""

    def __init__(self, actor: Actor, message: object, at_ms: Millis, error: BaseException) -> None:
        what = f"{type(error).__name__}: {error}"
        super().__init__(
            f"{actor.name} failed at {at_ms} ms: {what}\n  on {_shortened_message(message)}"
        )
        self.at_ms = at_ms


class Stalled(KernelError):
    """Nothing is left to happen, or nothing but heartbeats, while something still waits."""

    def __init__(self, at_ms: Millis, waiting: list[str], why: str) -> None:
        shown = "".join(f"\n  {line}" for line in waiting[:20])
        more = f"\n  and {len(waiting) - 20} more" if len(waiting) > 20 else ""
        lacking = "; no actor says what for" if not waiting else ""
        super().__init__(f"the run is stuck at {at_ms} ms: {why}{lacking}{shown}{more}")
        self.at_ms = at_ms


class Kernel(Generic[EventT]):
    """The clock and the queue of one run.

    `sink` gets every noted event, in order; `until_ms` ends the run after the last superstep up to
    it; `tie_order` is a seed. A run is stuck when no event was noted for `stall_timeout_ms` and no
    actor is at work; where `is_progress` is set, also when, however busy, it has had none for
    `progress_timeout_ms` since `progress_ms`, which an actor may set to when the next can come.

    Between supersteps `watch` is called every thousand or so, and `settled` after each, when its
    events have been told. Neither may touch the run; what `settled` raises ends it.
    """

    def __init__(
        self,
        *,
        sink: Callable[[EventT], None] | None = None,
        until_ms: Millis | None = None,
        tie_order: int | None = None,
    ) -> None:
        self.now_ms: Millis = 0
        self.round = 0
        self.messages = 0
        self.ties = 0
        self.dead_letters = 0
        self.reason: str | None = None
        self.actors: dict[int, Actor[EventT]] = {}
        self.soon: list[QueuedMessage] = []
        """The messages of the next round of this instant."""
        self.notes: list[EventT] = []
        """The events of this superstep."""
        self.noted = 0
        """How many events there have been, not counting the journal's first: the last's number."""
        self.on_admit: Callable[[Actor[EventT]], None] | None = None
        self.watch: Callable[[], None] | None = None
        self.settled: Callable[[], None] | None = None
        self.stall_timeout_ms = STALL_TIMEOUT_MS
        self.is_progress: Callable[[EventT], bool] | None = None
        self.progress_timeout_ms = STALL_TIMEOUT_MS
        self.progress_ms: Millis = 0
        self.idle_rounds: IdleRounds | None = None
        """What may be left out after a whole `stall_timeout_ms` without an event."""
        self._sink = sink
        self._until_ms = until_ms
        self._alone = False  # whether a single message is being answered
        self._run_on = 0
        self._tie_order = tie_order
        self._calendar: dict[Millis, list[QueuedMessage]] = {}
        self._instants: list[Millis] = []
        self._noted_ms: Millis = 0
        self._unchecked_to_ms: Millis = -1
        """Up to here no limit of the run and no stall has to be looked for."""
        self._hash = blake2b(digest_size=16)
        self._unhashed: list[tuple[Millis, int, list[QueuedMessage]]] = []
        self._encode = msgspec.msgpack.Encoder().encode

    # What actors ask of the kernel, through their base class.

    def admit_actor(self, actor: Actor[EventT]) -> None:
        assert actor.address not in self.actors, f"{actor.name} is already here"
        self.actors[actor.address] = actor
        actor.join(self)
        if self.on_admit is not None:
            self.on_admit(actor)

    def dismiss_actor(self, actor: Actor[EventT]) -> None:
        """Let an actor leave; what is sent to it from now on is a dead letter."""
        del self.actors[actor.address]

    def post(
        self, sender: int, count: int, to: int, message: msgspec.Struct, delay: int, cause: int
    ) -> None:
        """Send `message` so that it arrives in `delay` ms; 0 is the next round of this instant."""
        if delay == 0:
            self.soon.append((sender, count, to, message, cause))
            return
        assert delay > 0, f"{message!r} would arrive {-delay} ms before it is sent"
        at = self.now_ms + delay
        bucket = self._calendar.get(at)
        if bucket is None:
            self._calendar[at] = [(sender, count, to, message, cause)]
            heapq.heappush(self._instants, at)
        else:
            bucket.append((sender, count, to, message, cause))

    def post_behind(
        self, peer: int, count: int, to: int, message: msgspec.Struct, at: int, cause: int
    ) -> None:
        """Have `message` arrive at `at`, right behind anything of `peer`'s in that superstep."""
        self.post(peer, _BEHIND + count, to, message, at - self.now_ms, cause)

    def run_on(
        self, peer: int, count: int, to: int, message: msgspec.Struct, at: int, cause: int
    ) -> bool:
        """Let the clock run on to a timer of the actor that is answered now, if nothing else at all
        can happen up to then; whether it has.  It counts as sent by `post_behind` and delivered,
        but costs neither the queue nor a superstep.
        """
        if not self._alone or self.soon or self.reason is not None or self._run_on >= _RUN_ON_MAX:
            return False
        if self._instants and self._instants[0] <= at:
            return False
        if self._until_ms is not None and at > self._until_ms:
            return False
        if self.notes or at - self._noted_ms > self.stall_timeout_ms:
            return False  # events are told, and a stall is noticed, between supersteps
        if self.is_progress is not None and at - self.progress_ms > self.progress_timeout_ms:
            return False
        self.now_ms, self.round = at, 0
        self.messages += 1
        self._run_on += 1
        self._unhashed.append((at, 0, [(peer, _BEHIND + count, to, message, cause)]))
        return True

    def end_run(self, reason: str) -> None:
        """End the run after this superstep."""
        self.reason = reason

    # Who looks on.

    def probe(self, address: int, probe: Probe) -> None:
        """Let `probe` look on while the actor at `address` answers its messages."""
        actor = self.actors[address]
        actor.answers = probe.probed_answers(actor)

    # What a driver asks.

    def advance(self) -> Sequence[Actor[EventT]] | None:
        """Deliver the next superstep: the actors that got mail, to be emptied; None at the end."""
        if self.notes:
            self._publish_notes()
        if self.settled is not None:
            self.settled()
        if self.reason is not None:
            return None
        if len(self._unhashed) >= _HASH_EVERY:
            self._hash_deliveries()  # before the next batch joins: that one is not in order yet
            if self.watch is not None:
                self.watch()
        batch = self.soon
        if batch:
            self.soon = []
            self.round += 1
            if self.round > ROUNDS_MAX:
                raise self._too_many_rounds(batch)
        else:
            instants = self._instants
            if (not instants or instants[0] > self._unchecked_to_ms) and not self._may_go_on():
                return None
            # Most supersteps begin an instant, so that this is not a call.
            self.now_ms = at = heapq.heappop(instants)
            self.round = 0
            batch = self._calendar.pop(at)
        self._unhashed.append((self.now_ms, self.round, batch))
        if len(batch) > 1:
            self._alone = False
            return self._deliver_round(batch)
        self._alone = True
        self._run_on = 0
        self.messages += 1
        letter = batch[0]
        actor = self.actors.get(letter[2])
        if actor is None:
            self.dead_letters += 1
            return ()
        actor.mailbox.append(letter)
        return (actor,)

    def digest(self) -> str:
        """The name of the run so far: 32 hexadecimal digits."""
        self._hash_deliveries()
        return self._hash.hexdigest()

    def _too_many_rounds(self, batch: list[QueuedMessage]) -> KernelError:
        return KernelError(
            f"{ROUNDS_MAX} rounds at {self.now_ms} ms; the last messages: {batch[:3]!r}"
        )

    def _may_go_on(self) -> bool:
        """Whether the next instant is within the run's limit; raises Stalled if it is too late.
        Notes up to which instant this need not be asked again: the times that it goes by only grow.
        """
        if not self._instants:
            raise Stalled(self.now_ms, self._waits_of_actors(), "nothing is left to happen")
        at = self._instants[0]
        if self._until_ms is not None and at > self._until_ms:
            self.now_ms = self._until_ms
            self.reason = "until"
            return False
        if at - self._noted_ms > self.stall_timeout_ms:
            self._check_stall(at)
            self._noted_ms = at = self._leap_idle_rounds(at)
        if self.is_progress is not None and at - self.progress_ms > self.progress_timeout_ms:
            hours = self.progress_timeout_ms / 3_600_000
            why = f"no attempt has succeeded or failed for {hours:.3g} hours, though all is calm"
            raise Stalled(self.now_ms, self._waits_of_actors(), why)
        limits = [self._noted_ms + self.stall_timeout_ms]
        if self._until_ms is not None:
            limits.append(self._until_ms)
        if self.is_progress is not None:
            limits.append(self.progress_ms + self.progress_timeout_ms)
        self._unchecked_to_ms = min(limits)
        return True

    def _deliver_round(self, batch: list[QueuedMessage]) -> list[Actor[EventT]]:
        """Deliver by key and count ties; the actors that got mail, by address."""
        self.messages += len(batch)
        if self._tie_order is None:
            batch.sort()  # by sender and count, which no two share
        else:
            seed = f"{self._tie_order}/{self.now_ms}/{self.round}/".encode()
            batch.sort(key=lambda entry: (_tie_break_key(seed, entry[0]), entry[0], entry[1]))
        due: list[Actor[EventT]] = []
        actors = self.actors
        for letter in batch:
            actor = actors.get(letter[2])
            if actor is None:
                self.dead_letters += 1
                continue
            mailbox = actor.mailbox
            if not mailbox:
                due.append(actor)
            elif actor.heard_from != letter[0]:
                self.ties += 1
            actor.heard_from = letter[0]
            mailbox.append(letter)
        if len(due) > 1:
            due.sort(key=_address)
        return due

    def _publish_notes(self) -> None:
        notes, self.notes = self.notes, []
        self._noted_ms = self.now_ms
        if self.is_progress is not None and any(map(self.is_progress, notes)):
            self.progress_ms = max(self.progress_ms, self.now_ms)
        sink = self._sink
        if sink is not None:
            for event in notes:
                sink(event)

    def _hash_deliveries(self) -> None:
        """Hash what has been delivered, without the head of the list: as if one by one."""
        batches = self._unhashed
        encoded = memoryview(self._encode(batches))
        self._hash.update(encoded[1 if len(batches) < 16 else 3 :])
        batches.clear()

    def _waits_of_actors(self) -> list[str]:
        waits = (actor.waiting_reason() for actor in self.actors.values())
        return [wait for wait in waits if wait is not None]

    def _leap_idle_rounds(self, at: Millis) -> Millis:
        """Leave out the whole rounds before the next other message, if all is idle at the instant
        that comes next; which comes next then.
        """
        rounds = self.idle_rounds
        if rounds is None or not rounds.is_idle():
            return at
        calendar = self._calendar
        others = [
            instant
            for instant, letters in calendar.items()
            if not all(rounds.belongs(message) for _, _, _, message, _ in letters)
        ]
        if not others:
            return at
        end = min(others)
        left = (end if self._until_ms is None else min(end, self._until_ms)) - at
        later_ms = left // rounds.period_ms * rounds.period_ms
        if later_ms <= 0:
            return at
        due = {each: calendar.pop(each) for each in [*calendar] if each < end}
        for instant, letters in due.items():
            calendar.setdefault(instant + later_ms, []).extend(letters)
        self._instants[:] = sorted(calendar)
        return self._instants[0]

    def _check_stall(self, at: Millis) -> None:
        """Stop a run in which messages go round and round but nothing is done."""
        if any(actor.at_work() for actor in self.actors.values()):
            self._noted_ms = at
            return
        why = f"nothing but heartbeats for {self.stall_timeout_ms / 3_600_000:g} hours"
        raise Stalled(self.now_ms, self._waits_of_actors(), why)


def _shortened_message(message: object) -> str:
    """A message; a job's carries its maps' places, thousands of bytes of them."""
    text = repr(message)
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}…"


_address = attrgetter("address")


def _tie_break_key(seed: bytes, sender: int) -> bytes:
    return blake2b(seed + sender.to_bytes(8, "little"), digest_size=8).digest()
