"""What only somebody beside the master sees: repeated beats, checks of preemption, queues (S8,
S13, S15).
"""

import pickle
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from math import floor
from types import FunctionType
from typing import Any, Protocol

import msgspec

from callboard.actors.master.entries import OfferEntry
from callboard.actors.master.ledger import Ledger
from callboard.actors.master.master import Master
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.messages import Heartbeat, Preempt
from callboard.journal.checks.rule import Handlers, Rule
from callboard.journal.checks.task_book import TaskBook
from callboard.journal.run_state import RunState
from callboard.journal.tell.names import claimant_name
from callboard.scheduler import policy as policies
from callboard.scheduler.model import KINDS, AttemptId, JobId, NodeId, TaskKind
from callboard.scheduler.orders.keyed import KeyedOrder
from callboard.scheduler.preemption.kill import NewestAboveShare


class MasterProbe(Protocol):
    """Somebody who stands beside the master and changes nothing."""

    def before(self, master: "InstrumentedMaster", message: msgspec.Struct) -> None:
        """The master has got a message."""

    def after(
        self, master: "InstrumentedMaster", message: msgspec.Struct, noted: Sequence[ev.AnyEvent]
    ) -> None:
        """It has answered it, and told the journal this."""


class InstrumentedMaster(Master):
    """The master with probes beside it."""

    def __init__(self, *args: Any, probes: Sequence[MasterProbe] = ()) -> None:
        super().__init__(*args)
        self.probes = list(probes)
        self._noted: list[ev.AnyEvent] = []

    @property
    def policy(self) -> policies.Policy:
        return self._policy

    @property
    def paused(self) -> bool:
        """Whether it stands still, and answers nothing."""
        return self._paused

    def receive(self, message: msgspec.Struct) -> None:
        for probe in self.probes:
            probe.before(self, message)
        # After a pause it receives a whole backlog while it answers one message.
        outer, self._noted = self._noted, []
        super().receive(message)
        noted, self._noted = self._noted, outer
        for probe in self.probes:
            probe.after(self, message, noted)

    def note(self, event: ev.AnyEvent) -> int:
        self._noted.append(event)
        return super().note(event)


class IdempotentHeartbeats(Rule):
    """S8.  A beat is told by its node, the node's life and the reply that it answers.  The books
    are copied and compared whole for the first beats that come again, and then for one of so many;
    for the others their sums and what the node was last told are compared.
    """

    id = "S8"
    says = "a heartbeat that comes again leaves the master's books as they are"
    idle = "no beat came twice"

    def __init__(self, run_state: RunState, tasks: TaskBook) -> None:
        super().__init__(run_state, tasks)
        self._latest: dict[NodeId, tuple[int, int]] = {}
        self._ledger: Ledger | None = None
        self._books: object = None

    def before(self, ledger: Ledger, beat: Heartbeat) -> None:
        """Keep the books if the beat has come before."""
        if ledger is not self._ledger:  # a master that began anew knows of no beats
            self._ledger = ledger
            self._latest.clear()
        latest, this = self._latest.get(beat.node), (beat.life, beat.response)
        self._books = None
        if latest is not None and this <= latest:
            self._books = self._seen(ledger, beat.node)
        else:
            self._latest[beat.node] = this

    def after(self, ledger: Ledger, beat: Heartbeat, noted: Sequence[ev.AnyEvent]) -> None:
        """Compare."""
        if self._books is None:
            return
        books = self._seen(ledger, beat.node)
        self.times += 1
        if noted or books != self._books:
            what = f"beat {beat.response} of life {beat.life} of node-{beat.node} came again"
            told = noted[0] if noted else None
            self.found = self.broken(told, f"{what}, and the master's books changed")

    def _seen(self, ledger: Ledger, node: NodeId) -> object:
        """What is compared: equal twice in a row where nothing has changed."""
        if self.times < FULL_COPIES or self.times % FULL_COPIES == 0:
            return _copied(ledger)
        entry = ledger.node(node)
        told = None if entry is None else (entry.life, entry.reply, *entry.kills, *entry.suspends)
        counts = (ledger.slots, ledger.running, ledger.pending, ledger.unfinished, ledger.padded)
        return told, ledger.nodes, [count(kind) for count in counts for kind in KINDS]


FULL_COPIES = 64
"""For so many repeated beats, and for one of so many from then on, the books are copied whole."""


def _copied(ledger: Ledger) -> bytes:
    """All that is in the books but the clock."""
    copied = BytesIO()
    _Copier(copied).dump({name: part for name, part in vars(ledger).items() if name != "now_ms"})
    return copied.getvalue()


class _Copier(pickle.Pickler):
    """What pickles data and goes by the name of a function, which holds none."""

    def reducer_override(self, obj: object) -> Any:
        if isinstance(obj, FunctionType):
            return str, (obj.__qualname__,)
        return NotImplemented


class PreemptionLimits(Rule):
    """S13.  Where the rule of preemption goes by claims (`kill`, `suspend`): as many victims as
    slots are lacking at most, less those that give way already, and no claimant who loses one
    is left with less than its share rounded down.  Where there is no preemption nobody gives way
    but to an attempt of the same task.
    """

    id = "S13"
    says = "preemption takes no more than is lacking, and leaves everybody its share"
    idle = "nobody was preempted by claims"

    def handlers(self) -> Handlers:
        return {ev.KillOrdered: self._ordered, ev.SuspendOrdered: self._ordered}

    def _rule(self) -> policies.PreemptionRule | None:
        """The rule in force; one that limits another, and calls it `rule`, is looked through."""
        rule = None if self.setup.policy is None else self.setup.policy.preemption
        inner = getattr(rule, "rule", None)
        return inner if isinstance(inner, policies.PreemptionRule) else rule

    def _ordered(self, event: ev.KillOrdered | ev.SuspendOrdered) -> None:
        if isinstance(self._rule(), policies.NoPreemption) and event.at_ms > self.setup.switched_ms:
            self.times += 1
            if not event.why.reason.is_the_masters:
                raise self.broken(event, "there is no preemption in this run")

    def after(self, ledger: Ledger, noted: Sequence[ev.AnyEvent]) -> None:
        """Look at a check; the claims and deficits do not change by it."""
        rule = self._rule()
        if not isinstance(rule, NewestAboveShare):
            return
        orders = [each for each in noted if isinstance(each, ev.KillOrdered | ev.SuspendOrdered)]
        victims: dict[AttemptId, ev.AnyEvent] = {}
        for order in orders:
            entry = ledger.attempt(order.attempt)
            if entry is not None and entry.suspended_ms is None:  # else its time was over
                victims[order.attempt] = order
        for kind in KINDS:
            mine = [n for n in victims if (e := ledger.attempt(n)) is not None and e.kind is kind]
            if mine:
                self.times += 1
                self._weigh(rule, kind, ledger, mine, victims[mine[-1]])

    def _weigh(
        self,
        rule: NewestAboveShare,
        kind: TaskKind,
        ledger: Ledger,
        victims: Sequence[AttemptId],
        event: ev.AnyEvent,
    ) -> None:
        slots = [a for a in ledger.attempts() if a.kind is kind and a.suspended_ms is None]
        leaving = [a for a in slots if a.killing or a.suspending]
        lacking = sum(deficit.slots for deficit in rule.deficits(kind, ledger))
        if len(leaving) > lacking:
            given = f"{len(victims)} victims, {len(leaving) - len(victims)} on their way out"
            self.found = self.broken(event, f"{given}, and {lacking} slots are lacking")
            return
        alive = Counter(a.job for a in slots if not (a.killing or a.suspending))
        lost: set[JobId] = {a.job for a in leaving if a.attempt in victims}
        for claim in rule.entitlements(kind, ledger):
            left = sum(alive[job] for job in claim.jobs)
            if left < floor(claim.share) and not lost.isdisjoint(claim.jobs):
                told = f"{claimant_name(claim.claimant)} is left with {left} slots"
                self.found = self.broken(event, f"{told} and due {float(claim.share):g}")


LEAST_LAUNCHES = 4
"""Queues are looked at after so many launches, or as many as they were long if that is more."""

JOBS_COMPARED = 6
"""So many jobs at the head of a queue are compared each with each."""


class StrictQueues(Rule):
    """S15.  A queue asked for twice is the same, names nobody twice and nobody who has nothing
    to run; and where jobs stand by keys, of any two one stands before the other.
    """

    id = "S15"
    says = "jobs stand in one strict order"
    idle = "no queue was looked at"

    def __init__(self, run_state: RunState, tasks: TaskBook) -> None:
        super().__init__(run_state, tasks)
        self._due: AttemptId = LEAST_LAUNCHES

    def after(self, ledger: Ledger, node: NodeId) -> None:
        """Look at the queues now and then."""
        entry, policy = ledger.node(node), self.setup.policy
        if self.run_state.last_attempt < self._due or policy is None or entry is None:
            return
        order = policy.order
        longest = 0
        for kind in KINDS:
            if not ledger.pending(kind):
                continue
            offer = OfferEntry(entry)
            queue, again = (list(order.queue(kind, offer, ledger)) for _ in range(2))
            longest = max(longest, len(queue))
            self.times += 1
            self._look(ledger, order, kind, queue, again)
        self._due = self.run_state.last_attempt + max(LEAST_LAUNCHES, longest)

    def _look(
        self,
        ledger: Ledger,
        order: policies.Order,
        kind: TaskKind,
        queue: Sequence[policies.QueuedJob],
        again: Sequence[policies.QueuedJob],
    ) -> None:
        jobs = [ranked.job.job for ranked in queue]
        what = f"the queue of `{order.name}` for {kind.name.lower()} slots"
        if jobs != [ranked.job.job for ranked in again]:
            self.found = self.broken(None, f"{what} is another each time", jobs)
        elif len(set(jobs)) < len(jobs):
            self.found = self.broken(None, f"{what} names a job twice", jobs)
        elif any(not ranked.job.pending(kind) for ranked in queue):
            self.found = self.broken(None, f"{what} names a job with nothing to run", jobs)
        elif isinstance(order, KeyedOrder):
            keys = [(*order.key(ledger.job(job), kind), job) for job in jobs[:JOBS_COMPARED]]
            for place, one in enumerate(keys):
                for other in keys[place + 1 :]:
                    if (one < other) == (other < one):
                        told = f"neither of {one} and {other} stands before the other"
                        self.found = self.broken(None, f"{what}: {told}")


class MasterRules:
    """The three of them as one witness."""

    def __init__(
        self, repeats: IdempotentHeartbeats, victims: PreemptionLimits, queues: StrictQueues
    ) -> None:
        self._repeats = repeats
        self._victims = victims
        self._queues = queues

    def before(self, master: InstrumentedMaster, message: msgspec.Struct) -> None:
        """A heartbeat may have come before."""
        if isinstance(message, Heartbeat) and not master.paused:
            self._repeats.before(master.ledger, message)

    def after(
        self, master: InstrumentedMaster, message: msgspec.Struct, noted: Sequence[ev.AnyEvent]
    ) -> None:
        """See what came of it."""
        if master.paused:
            return
        if isinstance(message, Heartbeat):
            self._repeats.after(master.ledger, message, noted)
            self._queues.after(master.ledger, message.node)
        elif isinstance(message, Preempt):
            self._victims.after(master.ledger, noted)
