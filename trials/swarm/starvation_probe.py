"""Which jobs may have to give way for which others, counted anew beside the master: clocks,
deficits and the number of victims of `kill`, `suspend` and `global` (docs/preemption.md, "By
entitlements").

Shares are the order's own word; what follows from them is worked out here, without a line of
`scheduler/preemption/`.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from math import floor
from typing import NamedTuple

from callboard.actors.architecture import Architecture
from callboard.actors.books.ledger import Ledger
from callboard.actors.central.heartbeat_messages import Preempt
from callboard.actors.central.master import Master
from callboard.actors.kernel.kernel import Kernel
from callboard.actors.kernel.probes import Probe
from callboard.actors.onlooker import Onlooker
from callboard.actors.vocabulary import events as ev
from callboard.scheduler.entitlements import Entitlement, EntitlingOrder
from callboard.scheduler.model import KINDS, AttemptId, JobId, Millis, SlotKind
from callboard.scheduler.policy import PreemptionRule
from callboard.scheduler.preemption.global_preemption import GlobalPreemption
from callboard.scheduler.preemption.kill import KillPreemption, SuspendPreemption
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.reasons import Claimant, JobClaimant, Reason


class Clocks:
    """The last look at which each claimant did not starve, for either share."""

    def __init__(self) -> None:
        self._fed_ms: dict[tuple[Claimant, bool], Millis] = {}

    def look(self, claims: Sequence[Entitlement], now_ms: Millis) -> None:
        before, self._fed_ms = self._fed_ms, {}
        for claim in claims:
            for of_min in (True, False):
                due = claim.min_share if of_min else floor(claim.share / 2)
                starves = claim.running < min(due, claim.demand)
                who = (claim.claimant, of_min)
                self._fed_ms[who] = before.get(who, now_ms) if starves else now_ms

    def starved_s(self, claim: Entitlement, *, of_min: bool, now_ms: Millis) -> Fraction:
        return Fraction(now_ms - self._fed_ms[claim.claimant, of_min], 1000)


class Wanted(NamedTuple):
    """How many attempts must give way at this check, and how many there are above the shares that
    may.
    """

    slots: int
    able: int


class StarvationProbe(Onlooker, Probe):
    """Raises AssertionError in the master when others, or more or fewer, give way than should."""

    looks_at = Preempt

    def __init__(self) -> None:
        self._rule: PreemptionRule | None = None
        self._ledger: Ledger | None = None
        self._clocks: Sequence[Clocks] = ()
        self._checked_ms: Millis = 0
        self._wanted: Mapping[SlotKind, Wanted] = {}
        self._kind_of: Mapping[AttemptId, SlotKind] = {}
        self._alive: Sequence[tuple[JobId, SlotKind, AttemptId]] = ()
        self._spares = False

    def begin(self, kernel: Kernel[ev.AnyEvent], architecture: Architecture) -> None:
        for address in architecture.schedulers():
            kernel.probe(address, self)

    def before_message(self, actor: Master, message: Preempt) -> None:
        """Work out what should happen now."""
        rule, order, ledger = actor.policy.preemption, actor.policy.order, actor.ledger
        self._wanted = {}
        if message.policy != actor._policies:
            return  # it stands still, or another policy wanted to be asked
        if not isinstance(order, EntitlingOrder):
            return
        if not isinstance(rule, KillPreemption | SuspendPreemption | GlobalPreemption):
            return
        if rule is not self._rule or ledger is not self._ledger:
            self._rule, self._ledger, self._checked_ms = rule, ledger, 0
            self._clocks = [Clocks() for _ in KINDS]
        self._spares = isinstance(order, Ranking) and any(map(order.spared_attempts, KINDS))
        self._kind_of = {each.attempt: each.kind for each in ledger.attempts()}
        self._alive = [
            (each.job, each.kind, each.attempt)
            for each in ledger.attempts()
            if not (each.killing or each.suspending) and each.holds_slot
        ]
        claims = [order.entitlements(kind, ledger, "pool") for kind in KINDS]
        for kind in KINDS:
            waiting = claims[kind] if ledger.pending(kind) else ()
            self._clocks[kind].look(waiting, ledger.now_ms)
        if ledger.now_ms - self._checked_ms >= max(1, round(1000 * rule.params.interval_s)):
            self._checked_ms = ledger.now_ms
            self._wanted = {kind: self._count(rule, kind, claims[kind], ledger) for kind in KINDS}

    def _count(
        self,
        rule: KillPreemption | SuspendPreemption | GlobalPreemption,
        kind: SlotKind,
        claims: Sequence[Entitlement],
        ledger: Ledger,
    ) -> Wanted:
        holding = [a for a in ledger.attempts() if a.kind is kind and a.holds_slot]
        alive = [a for a in holding if not (a.killing or a.suspending)]
        slots = sum(self._lacks(rule, kind, claim, ledger) for claim in claims)
        able = 0
        for claim in claims:
            running = sum(each.job in claim.jobs for each in alive)
            able += max(running - floor(claim.share), 0)
        wanted = slots - (len(holding) - len(alive))
        if not isinstance(rule, GlobalPreemption) and rule.params.most_per_check is not None:
            wanted = min(wanted, rule.params.most_per_check)
        return Wanted(wanted, able)

    def _lacks(
        self,
        rule: KillPreemption | SuspendPreemption | GlobalPreemption,
        kind: SlotKind,
        claim: Entitlement,
        ledger: Ledger,
    ) -> int:
        """The slots that a claimant is owed by now, and could use."""
        if not ledger.pending(kind):
            return 0
        own_s, params = claim.min_share_timeout_s, rule.params
        min_s = params.min_share_timeout_s if own_s is None else own_s
        clocks, now_ms = self._clocks[kind], ledger.now_ms
        owed = claim.running
        if clocks.starved_s(claim, of_min=True, now_ms=now_ms) > min_s:
            owed = max(owed, min(claim.min_share, claim.demand))
        if clocks.starved_s(claim, of_min=False, now_ms=now_ms) > params.fair_share_timeout_s:
            owed = max(owed, min(floor(claim.share), claim.demand))
        jobs = [ledger.job(job) for job in claim.jobs]
        usable = sum(job.pending(kind) - job.suspended(kind) for job in jobs)
        return max(min(owed - claim.running, usable), 0)

    def after_message(self, actor: Master, message: Preempt, noted: Sequence[ev.AnyEvent]) -> None:  # noqa: ARG002
        """Compare."""
        for each in noted:
            if isinstance(each, ev.KillOrdered | ev.SuspendOrdered):
                _see_that_it_helps(each, actor.ledger)
        if self._rule is None or actor.policy.preemption is not self._rule:
            return
        for kind in KINDS:
            taken = sum(
                isinstance(each, ev.KillOrdered | ev.SuspendOrdered)
                and each.why.reason is Reason.STARVATION
                and self._kind_of[each.attempt] is kind
                for each in noted
            )
            slots, able = self._wanted.get(kind, Wanted(0, 0))
            told = f"{taken} attempts give way, {slots} slots are owed, {able} are above the shares"
            assert taken <= max(slots, 0), told
            if isinstance(self._rule, KillPreemption) and not self._spares:
                assert taken == max(min(slots, able), 0), told
        if isinstance(self._rule, KillPreemption) and not self._spares:
            self._see_that_the_newest_go(noted)

    def _see_that_the_newest_go(self, noted: Sequence[ev.AnyEvent]) -> None:
        """Of each job's attempts of a kind."""
        orders = (each for each in noted if isinstance(each, ev.KillOrdered))
        gone = {each.attempt for each in orders if each.why.reason is Reason.STARVATION}
        oldest = {(job, kind): n for job, kind, n in reversed(self._alive) if n in gone}
        for job, kind, number in self._alive:
            newer = number > oldest.get((job, kind), number)
            assert number in gone or not newer, f"attempt {number} stays, and an older one goes"


def _see_that_it_helps(order: ev.KillOrdered | ev.SuspendOrdered, ledger: Ledger) -> None:
    """Where a slot is taken for a job further ahead, a task of the job may run."""
    who, victim = order.why.beneficiary, ledger.attempt(order.attempt)
    if order.why.part != RankPreemption.name or victim is None or not isinstance(who, JobClaimant):
        return
    job, kind, node = ledger.job(who.job), victim.kind, victim.node
    may = job.nearest(kind, node) is not None or job.resumable(kind, node) is not None
    assert may, f"attempt {order.attempt} gives way on node {node}, where job {who.job} cannot run"
