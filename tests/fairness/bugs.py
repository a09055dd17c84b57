"""A planted bug for each property: broken policies, and patches of the world they live in."""

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import partial
from math import ceil
from typing import Any

import msgspec
import pytest

from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.central.heartbeat_messages import Heartbeat
from callboard.actors.central.heartbeats import MasterHeartbeats, Talk
from callboard.actors.job import Job
from callboard.actors.vocabulary.events import (
    AnyEvent,
    AttemptClosed,
    AttemptEnded,
    AttemptLaunched,
    AttemptStarted,
    FaultStruck,
    JobFinished,
    Outcome,
    SchedulingAttempted,
)
from callboard.actors.vocabulary.faults import Crash
from callboard.actors.vocabulary.messages import FetchOutputs, OutputsLost
from callboard.actors.worker.durations import Durations
from callboard.experiments.run.plugins import load_policy
from callboard.fairness.experiment import Experiment
from callboard.fairness.search import PolicyUnderTest
from callboard.journal.checks.checker import Checker
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.slot_time import SlotTime
from callboard.journal.figures.summary import Little
from callboard.scheduler import ideal
from callboard.scheduler.decisions import Kill
from callboard.scheduler.entitlements import ClaimantKind, Entitlement, job_entitlement
from callboard.scheduler.estimation import Oracle
from callboard.scheduler.locality import Delay, DelayParams
from callboard.scheduler.model import MAPS, Locality, SlotKind, Stage, TaskIndex
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.keyed import SortKey
from callboard.scheduler.orders.size_based.virtual_time import FspFifo, Psbs
from callboard.scheduler.policy import Order, Policy, QueuedJob
from callboard.scheduler.preemption.kill import KillPreemption
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.preemption.starvation import Deficit, StarvationClocks, StarvationWatch
from callboard.scheduler.reasons import JobClaimant, Note, Reason, ShareKind, Why
from callboard.scheduler.registry.parts import PartSettings
from callboard.scheduler.view import AttemptView, ClusterView, JobView, Offer
from tests.support.outbox import replace_answer

Patch = pytest.MonkeyPatch
Plant = Callable[[Patch], PolicyUnderTest]


def policy(make: Callable[[], Policy | Order]) -> Plant:
    """A broken policy; `bug` is its spelling."""

    def make_policy(text: str, settings: PartSettings) -> Policy:
        if text != "bug":
            return load_policy(text, settings)
        made = make()
        return made if isinstance(made, Policy) else Policy(made)

    return lambda _patch: partial(Experiment, policy="bug", make_policy=make_policy)


def world(patch: Callable[[Patch], None], spelling: str = "fifo") -> Plant:
    """A policy that ships, in a world that is broken."""

    def plant(monkeypatch: Patch) -> PolicyUnderTest:
        patch(monkeypatch)
        return partial(Experiment, policy=spelling)

    return plant


def falsified(change: Callable[[AnyEvent], Sequence[AnyEvent]]) -> Callable[[Patch], None]:
    """A world that tells other events than those that happened."""

    def patch(monkeypatch: Patch) -> None:
        rightly = Checker.observe

        def wrongly(self: Checker, event: AnyEvent) -> None:
            for told in change(event):
                rightly(self, told)

        monkeypatch.setattr(Checker, "observe", wrongly)

    return patch


# Broken orders.


class Forgetful(Fifo):
    """Forgets every second job."""

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        return (each for each in super().queue(kind, offer, view) if each.job.job % 2 == 0)


class Whimsical(Fifo):
    """Serves the last job first every other time that it is made."""

    made = itertools.count()

    def __init__(self) -> None:
        super().__init__()
        self._sign = 1 if next(Whimsical.made) % 2 else -1

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (self._sign * job.job, *super().key(job, kind))


class Fickle(Fifo):
    """Turns its queue round each time."""

    turned = False

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        self.turned = not self.turned
        queue = list(super().queue(kind, offer, view))
        return iter(queue[::-1] if self.turned else queue)


class Lazy(Fifo):
    """Runs one task at a time, however many slots there are."""

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        return 0 if view.running(kind) else super().quota(kind, offer, view)


class Stingy(Fifo):
    """Gives one task a heartbeat."""

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        return 0 if offer.given(kind) else super().quota(kind, offer, view)


class Shy(Fifo):
    """Uses one slot only where there are many nodes."""

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        most = super().quota(kind, offer, view)
        return most if view.nodes < 2 or not view.running(kind) else 0


class LastFirst(Fifo):
    """Last come, first served."""

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        priority, submitted_ms = super().key(job, kind)
        return (priority, -submitted_ms, -job.job)


class MostFirst(Fifo):
    """Most running first, where fewest was meant."""

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (-job.running(kind), *super().key(job, kind))

    def quota(self, kind: SlotKind, offer: Offer, view: ClusterView) -> int:  # noqa: ARG002
        return offer.free(kind)


class ByName(Fifo):
    """Goes by the length of users' names."""

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (len(job.user) % 2, *super().key(job, kind))


class ByTheClock(Fifo):
    """Goes by the second of the minute at which a job came."""

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (job.submitted_ms % 7000, *super().key(job, kind))


class Prophet(Fifo):
    """Knows how many jobs there will be, and turns the queue round if they are many."""

    wants_oracle = True

    def __init__(self) -> None:
        super().__init__()
        self._sign = 1

    def set_oracle(self, oracle: Oracle) -> None:
        with suppress(LookupError):
            for job in itertools.count(1):
                oracle.size_ms(job, MAPS)
                self._sign = -self._sign

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (self._sign * job.job, *super().key(job, kind))


class Ageless(FspFifo):
    """FSP whose virtual time stands all but still: ageing was forgotten."""

    ageing = Fraction(1, 1000)


class Uneven(Psbs):
    """PSBS that gives every second job another weight."""

    def weight(self, job: JobView) -> int:
        return 16 if job.job % 2 else 4


# Broken shares.


class _Claiming(Fifo):
    """Says what jobs are due in a way of its own."""

    def due(self, demands: Sequence[int], slots: int) -> list[Fraction]:
        raise NotImplementedError

    def entitlements(
        self,
        kind: SlotKind,
        view: ClusterView,
        each: ClaimantKind,  # noqa: ARG002
    ) -> list[Entitlement]:
        jobs = [job for job in view.jobs() if job.pending(kind)]
        shares = self.due([job.pending(kind) for job in jobs], view.slots(kind))
        return [job_entitlement(job, kind, share) for job, share in zip(jobs, shares, strict=True)]


class RoundsUp(Fair):
    """Fair shares, rounded up."""

    def entitlements(
        self,
        kind: SlotKind,
        view: ClusterView,
        each: ClaimantKind,
    ) -> list[Entitlement]:
        return [
            msgspec.structs.replace(claim, share=Fraction(ceil(claim.share)))
            for claim in super().entitlements(kind, view, each)
        ]


class Proportional(_Claiming):
    """Slots by demand."""

    def due(self, demands: Sequence[int], slots: int) -> list[Fraction]:
        most = min(slots, sum(demands))
        return [Fraction(most * demand, sum(demands)) for demand in demands]


class Quota(_Claiming):
    """Whole slots to each, and the rest to the one in the middle."""

    def due(self, demands: Sequence[int], slots: int) -> list[Fraction]:
        each = [Fraction(slots // len(demands))] * len(demands)
        each[len(demands) // 2] += slots % len(demands)
        return each


# Broken preemption.


class _Choosing(KillPreemption):
    """Takes attempts by a choice of its own."""

    def to_kill(self, kind: SlotKind, view: ClusterView, lacking: int) -> Sequence[AttemptView]:
        raise NotImplementedError

    def selected(self, kind: SlotKind, view: ClusterView) -> Iterator[tuple[AttemptView, Why]]:
        lacking = sum(deficit.slots for deficit in self.watch.deficits(kind, view))
        for rank, attempt in enumerate(self.to_kill(kind, view, lacking), start=1):
            yield attempt, Why(Reason.OWN, self.name, rank)


class OldestFirst(_Choosing):
    """Takes the oldest attempts."""

    def to_kill(self, kind: SlotKind, view: ClusterView, lacking: int) -> Sequence[AttemptView]:
        running = [each for each in view.attempts() if each.kind is kind]
        if any(each.killing for each in running):
            return ()
        due = {job: claim for claim in self.watch.entitlements(kind, view) for job in claim.jobs}
        rich = [each for each in running if due[each.job].running > due[each.job].share]
        return rich[:lacking]


class Greedy(_Choosing):
    """Takes the newest of any job, two for each that is lacking."""

    def to_kill(self, kind: SlotKind, view: ClusterView, lacking: int) -> Sequence[AttemptView]:
        running = [each for each in view.attempts() if each.kind is kind and not each.killing]
        return running[::-1][: 2 * lacking]


class NoTimeouts(StarvationWatch):
    def deficits(self, kind: SlotKind, view: ClusterView) -> list[Deficit]:
        claims = self.entitlements(kind, view) if view.pending(kind) else ()
        lacking = ((c, min(int(c.share), c.demand) - c.running) for c in claims)
        return [Deficit(claim, slots, ShareKind.FAIR) for claim, slots in lacking if slots > 0]


class Hasty(KillPreemption):
    """Does not wait for the timeout."""

    def __init__(self) -> None:
        super().__init__()
        self.watch = NoTimeouts(15.0, 30.0, 60.0)


class Toothless(_Choosing):
    """Finds out which claimants starve, and does nothing."""

    def to_kill(self, kind: SlotKind, view: ClusterView, lacking: int) -> Sequence[AttemptView]:  # noqa: ARG002
        return ()


class Moody(RankPreemption):
    """Kills all that runs, once, every third time that it is made."""

    made = itertools.count()

    def __init__(self) -> None:
        super().__init__(RankPreemption.Params(interval_s=20))
        self._kills = next(Moody.made) % 3 == 2

    def victims(self, view: ClusterView) -> Iterator[Kill]:
        running = list(view.attempts())
        if self._kills and len(running) > 1:
            self._kills = False
            why = Why(Reason.OUTRANKED, self.name, 1, 0.0, JobClaimant(running[0].job))
            yield from (Kill(each.attempt, why) for each in running)


class Impatient(Delay):
    """Lets everybody run everywhere."""

    def permits(self, *_: object) -> bool:
        return True


def killing(kind: type[KillPreemption]) -> Plant:
    return policy(lambda: Policy(Fair(), preemption=kind()))


# Broken worlds.


def never_without_waiting(monkeypatch: Patch) -> None:
    """A wait of 0 is one."""

    def permits(_self: Delay, _job: JobView, level: Locality, *_: object) -> bool:
        return level is Locality.NODE

    def refusal(_self: Delay, _job: JobView, level: Locality, *_: object) -> Note | None:
        return None if level is Locality.NODE else Note("never")

    monkeypatch.setattr(Delay, "permits", permits)
    monkeypatch.setattr(Delay, "refusal", refusal)


def no_infinity(monkeypatch: Patch) -> None:
    """An infinite timeout is none."""
    rightly = StarvationClocks.__init__

    def wrongly(self: StarvationClocks, min_s: float, fair_s: float) -> None:
        rightly(self, *(0.0 if timeout == float("inf") else timeout for timeout in (min_s, fair_s)))

    monkeypatch.setattr(StarvationClocks, "__init__", wrongly)


def pools_count(monkeypatch: Patch) -> None:
    """A node's slots are cut by the number of pools, empty ones too."""
    rightly = Fair.quota

    def quota(self: Fair, kind: SlotKind, offer: Offer, view: ClusterView) -> int:
        most = rightly(self, kind, offer, view)
        return 0 if len(self.root.pools) % 2 and view.running(kind) else most

    monkeypatch.setattr(Fair, "quota", quota)


def twice_as_fast(monkeypatch: Patch) -> None:
    """Maps take half of what they say."""
    rightly = Durations.of_map
    monkeypatch.setattr(Durations, "of_map", lambda *args: -(-rightly(*args) // 2))


def outputs_are_not_told(monkeypatch: Patch) -> None:
    """Reduces do not hear that an output is obsolete."""
    rightly = Job.on_outputs_lost

    def forgetful(self: Job, lost: OutputsLost) -> None:
        let_go: list[FetchOutputs] = []
        self._let_go, let_go = let_go, self._let_go
        rightly(self, lost)
        self._fetching += let_go

    replace_answer(monkeypatch, OutputsLost, forgetful, Job)


def a_lost_task_stays_lost(monkeypatch: Patch) -> None:
    rightly = BookedJob.give_back

    def stays_lost(self: BookedJob, stage: Stage, task: TaskIndex, cause: int) -> None:
        rightly(self, stage, task, cause)
        self.lost[stage] += 1

    monkeypatch.setattr(BookedJob, "give_back", stays_lost)


def reply_numbers_are_forgotten(monkeypatch: Patch) -> None:
    """The master takes every heartbeat for a new one."""
    rightly = MasterHeartbeats.answer_if_repeated

    def repeats(self: MasterHeartbeats, talk: Talk, heartbeat: Heartbeat) -> bool:
        new = msgspec.structs.replace(heartbeat, response=talk.reply.response)
        return rightly(self, talk, new)

    monkeypatch.setattr(MasterHeartbeats, "answer_if_repeated", repeats)


def later_where_things_happen(monkeypatch: Patch) -> None:
    """Reduces wait for all maps if there is a timeline."""
    rightly = Job.__init__

    def wrongly(self: Job, *what: Any, hosts_asked: bool, slowstart: float, **more: Any) -> None:
        slowstart = 1.0 if hosts_asked else slowstart
        rightly(self, *what, hosts_asked=hosts_asked, slowstart=slowstart, **more)

    monkeypatch.setattr(Job, "__init__", wrongly)


def slow_ideal(monkeypatch: Patch) -> None:
    """The ideal machine is slower under all but FIFO."""
    rightly = ideal.exact

    def wrongly(discipline: str, *args: object, **more: object) -> object:
        if discipline != "fifo":
            more["speed"] = Fraction(1, 2)
        return rightly(discipline, *args, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(ideal, "exact", wrongly)


def little_is_wrong(monkeypatch: Patch) -> None:
    monkeypatch.setattr(Metrics, "little", lambda _: Little(area=2, responses=1, unfinished=0))


def a_millisecond_is_lost(monkeypatch: Patch) -> None:
    rightly = Metrics.slot_time

    def wrongly(*args: object) -> SlotTime:
        account = rightly(*args)  # type: ignore[arg-type]
        return msgspec.structs.replace(account, useful=account.useful - 1)

    monkeypatch.setattr(Metrics, "slot_time", wrongly)


def in_slot_0(event: AnyEvent) -> Sequence[AnyEvent]:
    if isinstance(event, AttemptStarted):
        return (msgspec.structs.replace(event, slot=0),)
    return (event,)


def done_when_begun(event: AnyEvent) -> Sequence[AnyEvent]:
    """A job says that it has succeeded when its first task is launched."""
    if isinstance(event, AttemptLaunched) and event.task == event.kind == event.number == 0:
        return (event, JobFinished(event.at_ms, event.job, Outcome.SUCCEEDED, event.at_ms))
    return (event,)


def booked_twice(event: AnyEvent) -> Sequence[AnyEvent]:
    return (event, event) if isinstance(event, AttemptClosed) else (event,)


def all_first_attempts(event: AnyEvent) -> Sequence[AnyEvent]:
    if isinstance(event, AttemptLaunched):
        return (msgspec.structs.replace(event, number=0),)
    return (event,)


def ended_in_silence(event: AnyEvent) -> Sequence[AnyEvent]:
    return () if isinstance(event, AttemptEnded) else (event,)


def another_node_crashes(event: AnyEvent) -> Sequence[AnyEvent]:
    if isinstance(event, FaultStruck) and isinstance(event.fault, Crash):
        return (msgspec.structs.replace(event, fault=Crash(max(event.fault.node - 1, 0))),)
    return (event,)


def nothing_was_claimed(event: AnyEvent) -> Sequence[AnyEvent]:
    if isinstance(event, SchedulingAttempted):
        return (msgspec.structs.replace(event, committed=()),)
    return (event,)


BUGS: dict[str, Plant] = {
    "finishes": policy(Forgetful),
    "reproducible": policy(Whimsical),
    "slots": world(falsified(in_slot_0)),
    "successes": world(falsified(done_when_begun)),
    "lifecycles": world(falsified(booked_twice)),
    "attempts": world(falsified(all_first_attempts)),
    "shuffles": world(outputs_are_not_told),
    "counts": world(a_lost_task_stays_lost),
    "causes": world(falsified(ended_in_silence)),
    "repeats": world(reply_numbers_are_forgotten),
    "strict-order": policy(Fickle),
    "slot-time": world(a_millisecond_is_lost),
    "little": world(little_is_wrong),
    "dead-nodes": world(falsified(another_node_crashes)),
    "own-rules": world(falsified(nothing_was_claimed), "omega"),
    "delay-wait": policy(lambda: Policy(Fair(), Impatient(DelayParams(node=2, rack=2)))),
    "work-conserving": policy(Lazy),
    "makespan": policy(Lazy),
    "lower-bound": world(twice_as_fast),
    "first-come": policy(LastFirst),
    "max-min": policy(MostFirst),
    "weighted-max-min": lambda _: partial(Experiment, policy="ps"),
    "sharing-incentive": policy(MostFirst),
    "envy-free": policy(MostFirst),
    "max-min-shares": lambda _: partial(Experiment, policy="fifo"),
    "pareto": policy(RoundsUp),
    "population-monotone": policy(Quota),
    "resource-monotone": policy(Quota),
    "truthful": policy(Proportional),
    "unsplittable": lambda _: partial(Experiment, policy="fair"),
    "ideal-work": world(slow_ideal, "srpt"),
    "ideal-dominance": lambda _: partial(Experiment, policy="las"),
    "ideal-mean": lambda _: partial(Experiment, policy="ps"),
    "smaller-only": lambda _: partial(Experiment, policy="srpt"),
    "blind": lambda _: partial(Experiment, policy="psjf"),
    "dominance": policy(Ageless),
    "shortest-first": lambda _: partial(Experiment, policy="fifo"),
    "bounded-preemption": killing(Greedy),
    "newest-first": killing(OldestFirst),
    "fair-share-timeout": killing(Toothless),
    "min-share-timeout": killing(Toothless),
    "patient": killing(Hasty),
    "victim-once": lambda _: partial(Experiment, policy="srpt+preemptive"),
    "no-ping-pong": lambda _: partial(Experiment, policy="psbs+preemptive"),
    "victims-and-ties": policy(lambda: Policy(Fifo(), preemption=Moody())),
    "causality": policy(Prophet),
    "rename": policy(ByName),
    "scale": policy(ByTheClock),
    "lone-job": policy(Stingy),
    "more-nodes": policy(Shy),
    "idle-node": world(later_where_things_happen),
    "cut-proof": lambda _: partial(Experiment, policy="fair"),
    "no-delay": world(never_without_waiting),
    "no-timeout": world(no_infinity, "fair"),
    "empty-pool": world(pools_count, "fair"),
    "psbs-is-fsp": policy(Uneven),
}
"""By the name of the property that catches it."""
