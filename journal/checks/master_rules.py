"""What can only be seen beside the master: repeated heartbeats, victims, queues (S8, S13, S15)."""

import pickle
from collections import Counter
from collections.abc import Sequence
from io import BytesIO
from math import floor
from types import FunctionType
from typing import Any

import msgspec

from callboard.actors.architecture import CENTRAL
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedOffer
from callboard.actors.central.heartbeat_messages import Heartbeat, Preempt
from callboard.actors.central.master import Master
from callboard.actors.kernel.probes import Probe
from callboard.actors.vocabulary import events as ev
from callboard.journal.checks.rule import Handlers, Rule, RunFacts
from callboard.journal.tell.reason_words import claimant_name
from callboard.scheduler import policy as policies
from callboard.scheduler.model import KINDS, AttemptId, JobId, NodeId, SlotKind
from callboard.scheduler.orders.keyed import KeyedOrder
from callboard.scheduler.preemption.kill import NewestAboveShare


class IdempotentHeartbeats(Rule, Probe):
    """S8.  A heartbeat is known by its node, the node's life and the reply that it answers.  For
    the first repeated ones, and then for one of every `FULL_COPIES`, the books are copied and
    compared whole; for the others their sums, and what the node was last told.
    """

    id = "S8"
    architectures = (CENTRAL,)
    says = "a heartbeat that comes again leaves the master's books as they are"
    idle = "no heartbeat came twice"
    looks_at = Heartbeat

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._latest: dict[NodeId, tuple[int, int]] = {}
        self._ledger: Ledger | None = None
        self._books: object = None

    def before_message(self, actor: Master, message: Heartbeat) -> None:
        """Keep the books if the heartbeat has come before."""
        self._books = None
        self._keep_books_if_repeated(actor.ledger, message)

    def _keep_books_if_repeated(self, ledger: Ledger, heartbeat: Heartbeat) -> None:
        if ledger is not self._ledger:  # a restarted master knows of no heartbeats
            self._ledger = ledger
            self._latest.clear()
        node, this = heartbeat.node, (heartbeat.life, heartbeat.response)
        if node in self._latest and this <= self._latest[node]:
            self._books = self._books_to_compare(ledger)
        else:
            self._latest[node] = this

    def after_message(
        self, actor: Master, message: Heartbeat, noted: Sequence[ev.AnyEvent]
    ) -> None:
        if self._books is None:
            return
        books = self._books_to_compare(actor.ledger)
        self.times += 1
        if noted or books != self._books:
            node = f"life {message.life} of node-{message.node}"
            what = f"heartbeat {message.response} of {node} came again"
            told = noted[0] if noted else None
            self.found = self.violation(told, f"{what}, and the master's books changed")

    def _books_to_compare(self, ledger: Ledger) -> object:
        """What is compared: equal twice in a row where nothing has changed."""
        if self.times < FULL_COPIES or self.times % FULL_COPIES == 0:
            return _pickled_books(ledger)
        counts = (
            ledger.slots,
            ledger.running,
            ledger.pending,
            ledger.unfinished,
            ledger.tasks_counted_for_padding,
        )
        return ledger.nodes, [count(kind) for count in counts for kind in KINDS]


FULL_COPIES = 64
"""Of how many repeated heartbeats the first ones, and later one, have the books copied whole."""


def _pickled_books(ledger: Ledger) -> bytes:
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


class PreemptionLimits(Rule, Probe):
    """S13.  Where preemption goes by entitlements (`kill`, `suspend`): at most as many victims as
    slots are lacking, less those that give way already, and no claimant that loses one is left
    with less than its share rounded down.  Where there is no preemption an attempt gives way only
    to another of its task.
    """

    id = "S13"
    architectures = (CENTRAL,)
    says = "preemption takes no more than is lacking, and leaves each claimant its share"
    idle = "nothing was preempted by entitlements"
    looks_at = Preempt

    def handlers(self) -> Handlers:
        return {
            ev.KillOrdered: self._check_order_without_preemption,
            ev.SuspendOrdered: self._check_order_without_preemption,
        }

    def _preemption_rule(self) -> policies.PreemptionRule | None:
        """The rule in force; of one that limits another, which it calls `rule`, that other."""
        rule = None if self.run_facts.policy is None else self.run_facts.policy.preemption
        inner = getattr(rule, "rule", None)
        return inner if isinstance(inner, policies.PreemptionRule) else rule

    def _check_order_without_preemption(self, event: ev.KillOrdered | ev.SuspendOrdered) -> None:
        if (
            isinstance(self._preemption_rule(), policies.NoPreemption)
            and event.at_ms > self.run_facts.switched_ms
        ):
            self.times += 1
            if not event.why.reason.is_the_masters:
                raise self.violation(event, "there is no preemption in this run")

    def after_message(self, actor: Master, message: Preempt, noted: Sequence[ev.AnyEvent]) -> None:  # noqa: ARG002
        """A check for preemption is over; it does not change entitlements and deficits."""
        rule, ledger = self._preemption_rule(), actor.ledger
        if not isinstance(rule, NewestAboveShare):
            return
        orders = [each for each in noted if isinstance(each, ev.KillOrdered | ev.SuspendOrdered)]
        victims: dict[AttemptId, ev.AnyEvent] = {}
        for order in orders:
            entry = ledger.attempt(order.attempt)
            if entry is not None and entry.holds_slot:  # else its time was over
                victims[order.attempt] = order
        for kind in KINDS:
            mine = [n for n in victims if (e := ledger.attempt(n)) is not None and e.kind is kind]
            if mine:
                self.times += 1
                self._check_victims(rule, kind, ledger, mine, victims[mine[-1]])

    def _check_victims(
        self,
        rule: NewestAboveShare,
        kind: SlotKind,
        ledger: Ledger,
        victims: Sequence[AttemptId],
        event: ev.AnyEvent,
    ) -> None:
        slots = [a for a in ledger.attempts() if a.kind is kind and a.holds_slot]
        leaving = [a for a in slots if a.killing or a.suspending]
        lacking = sum(deficit.slots for deficit in rule.watch.deficits(kind, ledger))
        if len(leaving) > lacking:
            given = f"{len(victims)} victims, {len(leaving) - len(victims)} that give way already"
            self.found = self.violation(event, f"{given}, and {lacking} slots are lacking")
            return
        alive = Counter(a.job for a in slots if not (a.killing or a.suspending))
        lost: set[JobId] = {a.job for a in leaving if a.attempt in victims}
        for claim in rule.watch.entitlements(kind, ledger):
            left = sum(alive[job] for job in claim.jobs)
            if left < floor(claim.share) and not lost.isdisjoint(claim.jobs):
                told = f"{claimant_name(claim.claimant)} is left with {left} slots"
                self.found = self.violation(event, f"{told} and due {float(claim.share):g}")


LEAST_LAUNCHES = 4
"""The launches between two looks at the queues, if they were not longer than that."""

JOBS_COMPARED = 6
"""How many jobs at the head of a queue are compared each with each."""


class StrictQueues(Rule, Probe):
    """S15.  A queue asked for twice is the same, names no job twice and none with nothing to run;
    and where jobs stand by keys, of any two one stands before the other, and each is that of now.
    """

    id = "S15"
    architectures = (CENTRAL,)
    says = "jobs stand in one strict order"
    idle = "no queue was looked at"
    looks_at = Heartbeat

    def begin(self, run_facts: RunFacts) -> None:
        super().begin(run_facts)
        self._due: AttemptId = LEAST_LAUNCHES

    def after_message(
        self,
        actor: Master,
        message: Heartbeat,
        noted: Sequence[ev.AnyEvent],  # noqa: ARG002
    ) -> None:
        """Look at the queues after a heartbeat now and then."""
        ledger, policy = actor.ledger, self.run_facts.policy
        entry = ledger.node(message.node)
        if self.run_state.last_attempts.get(0, 0) < self._due or policy is None or entry is None:
            return
        order = policy.order
        longest = 0
        for kind in KINDS:
            if not ledger.pending(kind):
                continue
            offer = BookedOffer(entry)
            queue, again = (list(order.queue(kind, offer, ledger)) for _ in range(2))
            longest = max(longest, len(queue))
            self.times += 1
            self._check_queue(ledger, order, kind, queue, again)
        self._due = self.run_state.last_attempts[0] + max(LEAST_LAUNCHES, longest)

    def _check_queue(
        self,
        ledger: Ledger,
        order: policies.Order,
        kind: SlotKind,
        queue: Sequence[policies.QueuedJob],
        again: Sequence[policies.QueuedJob],
    ) -> None:
        jobs = [ranked.job.job for ranked in queue]
        what = f"the queue of `{order.name}` for {kind.name.lower()} slots"
        if jobs != [ranked.job.job for ranked in again]:
            self.found = self.violation(None, f"{what} is another each time", jobs)
        elif len(set(jobs)) < len(jobs):
            self.found = self.violation(None, f"{what} names a job twice", jobs)
        elif any(not ranked.job.pending(kind) for ranked in queue):
            self.found = self.violation(None, f"{what} names a job with nothing to run", jobs)
        elif isinstance(order, KeyedOrder):
            self._check_queue_keys(ledger, order, kind, what, jobs)

    def _check_queue_keys(
        self, ledger: Ledger, order: KeyedOrder, kind: SlotKind, what: str, jobs: Sequence[JobId]
    ) -> None:
        looked_at = jobs[:JOBS_COMPARED] if order.keys_lag else jobs
        keys = {job: order.key(ledger.job(job), kind) for job in looked_at}
        heads = [(*keys[job], job) for job in jobs[:JOBS_COMPARED]]
        for place, one in enumerate(heads):
            for other in heads[place + 1 :]:
                if (one < other) == (other < one):
                    told = f"neither of {one} and {other} stands before the other"
                    self.found = self.violation(None, f"{what}: {told}")
        for job, key in () if order.keys_lag else keys.items():
            kept = order.kept_key(job, kind)
            if kept != key:
                told = (
                    f"has job {job} by {kept}, and its key is {key} by now: what may change without"
                    " a fact about the job itself is told by `place`, and all"
                    " else by `super().observe(fact, view)` in an `observe` of one's own"
                )
                self.found = self.violation(None, f"{what} {told}")
