"""What can only be seen beside the master: repeated heartbeats, victims, queues (S8, S13, S15)."""

import pickle
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from math import floor
from types import FunctionType
from typing import Any

import msgspec

from callboard.actors.master.entries import OfferEntry
from callboard.actors.master.ledger import Ledger
from callboard.actors.master.master import Master
from callboard.actors.vocabulary import events as ev
from callboard.actors.vocabulary.messages import Heartbeat, Preempt
from callboard.journal.checks.rule import Handlers, Rule, Setup
from callboard.journal.tell.reason_words import claimant_name
from callboard.scheduler import policy as policies
from callboard.scheduler.facts import Fact, Rejected
from callboard.scheduler.model import KINDS, AttemptId, JobId, NodeId, TaskKind
from callboard.scheduler.orders.keyed import KeyedOrder
from callboard.scheduler.preemption.kill import NewestAboveShare


class MasterProbe:
    """Looks on while the master handles a message of the type `looks_at`, and changes nothing."""

    looks_at: type[msgspec.Struct] = msgspec.Struct

    def before(self, master: "InstrumentedMaster", message: msgspec.Struct) -> None:
        """The message has come."""

    def after(
        self, master: "InstrumentedMaster", message: msgspec.Struct, noted: Sequence[ev.AnyEvent]
    ) -> None:
        """It has been handled; `noted` is what the journal was told."""


class InstrumentedMaster(Master):
    """The master with probes beside it."""

    def __init__(self, *args: Any, probes: Sequence[MasterProbe] = ()) -> None:
        super().__init__(*args)
        self._probes = list(probes)
        self._probes_of: dict[type[msgspec.Struct], Sequence[MasterProbe]] = {}
        self._noted: list[ev.AnyEvent] = []
        self.rejected: list[Rejected] = []
        """The policy's decisions that did not fit the books."""

    @property
    def policy(self) -> policies.Policy:
        return self._policy

    @property
    def paused(self) -> bool:
        return self._paused

    def add_probes(self, probes: Sequence[MasterProbe]) -> None:
        """Have these look on too."""
        self._probes += probes
        self._probes_of.clear()

    def receive(self, message: msgspec.Struct) -> None:
        probes = self._probes_of.get(type(message))
        if probes is None:
            probes = [each for each in self._probes if isinstance(message, each.looks_at)]
            self._probes_of[type(message)] = probes
        for probe in probes:
            probe.before(self, message)
        # After a pause it receives a whole backlog while it handles one message.
        outer, self._noted = self._noted, []
        super().receive(message)
        noted, self._noted = self._noted, outer
        for probe in probes:
            probe.after(self, message, noted)

    def tell(self, fact: Fact) -> None:
        if isinstance(fact, Rejected):
            self.rejected.append(fact)
        super().tell(fact)

    def note(self, event: ev.AnyEvent) -> int:
        self._noted.append(event)
        return super().note(event)


class IdempotentHeartbeats(Rule, MasterProbe):
    """S8.  A heartbeat is known by its node, the node's life and the reply that it answers.  For
    the first repeated ones, and then for one of every `FULL_COPIES`, the books are copied and
    compared whole; for the others their sums, and what the node was last told.
    """

    id = "S8"
    says = "a heartbeat that comes again leaves the master's books as they are"
    idle = "no heartbeat came twice"
    looks_at = Heartbeat

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._latest: dict[NodeId, tuple[int, int]] = {}
        self._ledger: Ledger | None = None
        self._books: object = None

    def before(self, master: InstrumentedMaster, message: msgspec.Struct) -> None:
        """Keep the books if the heartbeat has come before."""
        self._books = None
        if isinstance(message, Heartbeat) and not master.paused:
            self._remember(master.ledger, message)

    def _remember(self, ledger: Ledger, heartbeat: Heartbeat) -> None:
        if ledger is not self._ledger:  # a restarted master knows of no heartbeats
            self._ledger = ledger
            self._latest.clear()
        node, this = heartbeat.node, (heartbeat.life, heartbeat.response)
        if node in self._latest and this <= self._latest[node]:
            self._books = self._seen(ledger, node)
        else:
            self._latest[node] = this

    def after(
        self, master: InstrumentedMaster, message: msgspec.Struct, noted: Sequence[ev.AnyEvent]
    ) -> None:
        if self._books is None or master.paused or not isinstance(message, Heartbeat):
            return
        books = self._seen(master.ledger, message.node)
        self.times += 1
        if noted or books != self._books:
            node = f"life {message.life} of node-{message.node}"
            what = f"heartbeat {message.response} of {node} came again"
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
"""Of how many repeated heartbeats the first ones, and later one, have the books copied whole."""


def _copied(ledger: Ledger) -> bytes:
    """All of the books but the clock."""
    copied = BytesIO()
    _Copier(copied).dump({name: part for name, part in vars(ledger).items() if name != "now_ms"})
    return copied.getvalue()


class _Copier(pickle.Pickler):
    """Pickles data; a function, which holds none, by its name.  Of a Struct the fields come behind
    it, as those of other objects do: entries of the books know each other in circles.
    """

    def reducer_override(self, obj: object) -> Any:
        if isinstance(obj, FunctionType):
            return str, (obj.__qualname__,)
        if isinstance(obj, msgspec.Struct):
            return str, (type(obj).__qualname__,), msgspec.structs.astuple(obj)
        return NotImplemented


class PreemptionLimits(Rule, MasterProbe):
    """S13.  Where preemption goes by entitlements (`kill`, `suspend`): at most as many victims as
    slots are lacking, less those that give way already, and no claimant that loses one is left
    with less than its share rounded down.  Where there is no preemption an attempt gives way only
    to another of its task.
    """

    id = "S13"
    says = "preemption takes no more than is lacking, and leaves each claimant its share"
    idle = "nothing was preempted by entitlements"
    looks_at = Preempt

    def handlers(self) -> Handlers:
        return {ev.KillOrdered: self._ordered, ev.SuspendOrdered: self._ordered}

    def _rule(self) -> policies.PreemptionRule | None:
        """The rule in force; of one that limits another, which it calls `rule`, that other."""
        rule = None if self.setup.policy is None else self.setup.policy.preemption
        inner = getattr(rule, "rule", None)
        return inner if isinstance(inner, policies.PreemptionRule) else rule

    def _ordered(self, event: ev.KillOrdered | ev.SuspendOrdered) -> None:
        if isinstance(self._rule(), policies.NoPreemption) and event.at_ms > self.setup.switched_ms:
            self.times += 1
            if not event.why.reason.is_the_masters:
                raise self.broken(event, "there is no preemption in this run")

    def after(
        self, master: InstrumentedMaster, message: msgspec.Struct, noted: Sequence[ev.AnyEvent]
    ) -> None:
        """A check for preemption is over; it does not change entitlements and deficits."""
        if not isinstance(message, Preempt) or master.paused:
            return
        rule, ledger = self._rule(), master.ledger
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
        lacking = sum(deficit.slots for deficit in rule.watch.deficits(kind, ledger))
        if len(leaving) > lacking:
            given = f"{len(victims)} victims, {len(leaving) - len(victims)} that give way already"
            self.found = self.broken(event, f"{given}, and {lacking} slots are lacking")
            return
        alive = Counter(a.job for a in slots if not (a.killing or a.suspending))
        lost: set[JobId] = {a.job for a in leaving if a.attempt in victims}
        for claim in rule.watch.entitlements(kind, ledger):
            left = sum(alive[job] for job in claim.jobs)
            if left < floor(claim.share) and not lost.isdisjoint(claim.jobs):
                told = f"{claimant_name(claim.claimant)} is left with {left} slots"
                self.found = self.broken(event, f"{told} and due {float(claim.share):g}")


LEAST_LAUNCHES = 4
"""The launches between two looks at the queues, if they were not longer than that."""

JOBS_COMPARED = 6
"""How many jobs at the head of a queue are compared each with each."""


class StrictQueues(Rule, MasterProbe):
    """S15.  A queue asked for twice is the same, names no job twice and none with nothing to run;
    and where jobs stand by keys, of any two one stands before the other.
    """

    id = "S15"
    says = "jobs stand in one strict order"
    idle = "no queue was looked at"
    looks_at = Heartbeat

    def begin(self, setup: Setup) -> None:
        super().begin(setup)
        self._due: AttemptId = LEAST_LAUNCHES

    def after(
        self,
        master: InstrumentedMaster,
        message: msgspec.Struct,
        noted: Sequence[ev.AnyEvent],  # noqa: ARG002
    ) -> None:
        """Look at the queues after a heartbeat now and then."""
        if not isinstance(message, Heartbeat) or master.paused:
            return
        ledger, policy = master.ledger, self.setup.policy
        entry = ledger.node(message.node)
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
