"""Orders by virtual time: FSP+FIFO, FSP+PS and PSBS.

The job that would finish first if the cluster were shared goes first (FSP; `ageing`).  A job whose
virtual end has come while it really runs is **late**: its size was underestimated, or slots were
kept from it.  Late jobs go before all others, and the three orders differ in which is first among
them (the simulator report, 2.3): the one late first; or all in turn; or all in turn by weight,
PSBS, which has weights in the virtual cluster too.

A phase enters the virtual cluster when its tasks may first run, reduces at slowstart, with the size
believed then.  Online sizes are corrected once, when the phase's first task has completed: its age
is kept.  Never again: see HFSP on flapping (III-A).
"""

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

from callboard.scheduler.entitlements import (
    ClaimantKind,
    Entitlement,
    Entitlements,
    demand_of,
)
from callboard.scheduler.facts import (
    Closed,
    Fact,
    JobArrived,
    JobLeft,
    JobUpdated,
    Launched,
    Progressed,
    StageFact,
    TasksPending,
)
from callboard.scheduler.guarantees import DOMINATES_SHARING, MONOTONE, SMALL_JOBS_FIRST
from callboard.scheduler.model import KINDS, MAP, JobId, Millis, Priority, SlotKind, stage_on
from callboard.scheduler.orders.fair.water_filling import compute_fair_shares
from callboard.scheduler.orders.keyed import SortedQueue, SortKey
from callboard.scheduler.orders.size_based.ageing import PRIORITY_SPEEDS, SPEED_ONE, VirtualCluster
from callboard.scheduler.orders.size_based.size_source import SizeBased, SizeParams
from callboard.scheduler.policy import Order, QueuedJob
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.reasons import Grounds, JobClaimant, Reason
from callboard.scheduler.view import ClusterView, JobView, Offer

_OF_ONE_KIND = (StageFact, Progressed)

_LATE, _TINY = Grounds(Reason.LATE), Grounds(Reason.TINY)


@dataclass(slots=True, eq=False)
class VirtualPhase:
    """What a virtual-time order keeps of one phase of a job that has not left."""

    size_ms: float
    late_ms: Millis | None = None  # since when it has been late
    served: int = 0  # its last attempt
    pending: bool = False


class _Claim(NamedTuple):
    """What decides a job's entitlement within its tier."""

    job: JobId
    running: int
    demand: int
    weight: int


class _Entitled(NamedTuple):
    """What was last said about a kind of slot, and by what it was said."""

    slots: int
    tiers: list[list[_Claim]]
    entitlements: Entitlements


class VirtualTimeOrder(Order, Ranking):
    """An order by virtual time: one virtual cluster a kind of slot, and the late beside it."""

    score_format = "{:,.1f} slot-s of virtual size"
    by_finish: ClassVar[bool] = True
    late_share: ClassVar[bool] = False
    """Whether late jobs are served in turn."""

    ageing: Fraction = Fraction(1)
    guarantees: tuple[str, ...] = (*SMALL_JOBS_FIRST, *DOMINATES_SHARING)

    def __init__(self) -> None:
        super().__init__()
        make = VirtualCluster
        self.clusters = tuple(make(pace=self.ageing, by_finish=self.by_finish) for _ in KINDS)
        self._late: tuple[SortedQueue[JobId], ...] = (SortedQueue(), SortedQueue())
        self._phases: tuple[dict[JobId, VirtualPhase], dict[JobId, VirtualPhase]] = ({}, {})
        self._entitled: list[_Entitled | None] = [None, None]

    # What the disciplines differ in.

    @abstractmethod
    def initial_size_ms(self, job: JobView, kind: SlotKind) -> float:
        """The size with which a phase enters."""

    def late_key(self, job: JobView, kind: SlotKind, phase: VirtualPhase) -> SortKey:  # noqa: ARG002
        return (phase.late_ms, job.submitted_ms)

    def weight(self, job: JobView) -> int:  # noqa: ARG002
        return 1

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, JobLeft):  # first, since the view no longer has it
            for kind in KINDS:
                self.leave(fact.job, kind)
        kinds = (KINDS[fact.stage],) if isinstance(fact, _OF_ONE_KIND) else KINDS
        for kind in kinds:
            self.catch_up(kind, view)
            self.clusters[kind].resize(view.slots(kind), view.now_ms)
        match fact:
            case JobArrived(job):
                self.enter(job, MAP, view)
            case JobUpdated(job):
                for each in KINDS:
                    self._reweigh_job(job, each, view)
            case TasksPending(job):
                self.enter(job, kinds[0], view)
            case Launched(job, attempt=attempt):
                self._phases[kinds[0]][job].served = attempt
                self.place(job, kinds[0], view)
            case StageFact(job):
                self.place(job, kinds[0], view)

    def enter(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        """The phase's tasks may run: for the first time, or again."""
        seen = view.job(job)
        if job in self._phases[kind]:
            self.place(job, kind, view)
        elif tasks := seen.total(stage_on(kind)):
            size_ms = self.initial_size_ms(seen, kind)
            self._phases[kind][job] = VirtualPhase(size_ms)
            self.set_virtual_size(seen, kind, size_ms, tasks, view)

    def _reweigh_job(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        seen = view.job(job)
        rank = {"weight": self.weight(seen), "speed": self.speed(seen)}
        self.clusters[kind].reweigh(job, view.now_ms, **rank)
        self.place(job, kind, view)

    def leave(self, job: JobId, kind: SlotKind) -> None:
        """The job has really ended; what it had still to get virtually it gets."""
        self._phases[kind].pop(job, None)
        self._late[kind].drop(job)
        self.clusters[kind].set_waiting(job, False)

    def virtual_phase(self, job: JobId, kind: SlotKind) -> VirtualPhase | None:
        return self._phases[kind].get(job)

    def set_virtual_size(
        self, job: JobView, kind: SlotKind, size_ms: float, tasks: int, view: ClusterView
    ) -> None:
        phase = self._phases[kind][job.job]
        served = self.clusters[kind].serve_job(
            job.job,
            size_ms,
            tasks,
            view.now_ms,
            submitted_ms=job.submitted_ms,
            weight=self.weight(job),
            speed=self.speed(job),
        )
        if served:
            phase.late_ms = None
            self._late[kind].drop(job.job)
        elif phase.late_ms is None:
            phase.late_ms = view.now_ms
        self.place(job.job, kind, view)

    def speed(self, job: JobView) -> int:  # noqa: ARG002
        """How many quarters of the service it is given count for the job."""
        return SPEED_ONE

    def catch_up(self, kind: SlotKind, view: ClusterView) -> None:
        """Let virtual time come to now; when or how often does not matter."""
        for job, at_ms in self.clusters[kind].advance_to(view.now_ms):
            phase = self._phases[kind].get(job)
            if phase is not None:
                phase.late_ms = at_ms
                self.place(job, kind, view)

    def place(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        phase = self._phases[kind].get(job)
        if phase is None:
            return
        seen = view.job(job)
        phase.pending = seen.pending(kind) > 0
        self.clusters[kind].set_waiting(job, phase.pending)
        if phase.pending and phase.late_ms is not None:
            self._late[kind].put(job, self.late_key(seen, kind, phase))
        else:
            self._late[kind].drop(job)

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:  # noqa: ARG002
        """The late, then the others by virtual time; the score is virtual slot-seconds left."""
        self.catch_up(kind, view)
        for _, job in self._late[kind]:
            yield QueuedJob(view.job(job), 0.0, _LATE if self._phases[kind][job].size_ms else _TINY)
        for number, size_ms in self.clusters[kind].queue(view.now_ms):
            yield QueuedJob(view.job(number), size_ms / 1000)

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:  # noqa: ARG002
        """By the queue's own rank (HFSP's preemption, III-E), else a slot taken for one job would
        go to another, and be taken again; training entitles to nothing of its own.

        Asked every half second of a run of days, and mostly answered as before: the last answer is
        given again where ranks, demands and slots are the same.
        """
        slots, tiers = view.slots(kind), self._claims_by_tier(kind, view)
        known = self._entitled[kind]
        if known is None or (known.slots, known.tiers) != (slots, tiers):
            known = _Entitled(slots, tiers, _share_by_tier(slots, tiers))
            self._entitled[kind] = known
        return known.entitlements

    def _claims_by_tier(self, kind: SlotKind, view: ClusterView) -> list[list[_Claim]]:
        """What the jobs with demand bring forward, tier by tier."""
        tiers: list[list[_Claim]] = []
        for tier in self.tiers(kind, view):
            jobs = (view.job(number) for number in tier)
            found = [(job, job.running(kind), demand_of(job, kind)) for job in jobs]
            tiers.append([_Claim(j.job, ran, due, self.weight(j)) for j, ran, due in found if due])
        return tiers

    def tiers(self, kind: SlotKind, view: ClusterView) -> list[list[JobId]]:
        """The late, in one tier if they are served in turn, then the others by virtual time."""
        self.catch_up(kind, view)
        phases, late = self._phases[kind], list[tuple[SortKey, JobId]]()
        for job, phase in phases.items():
            if phase.late_ms is not None:
                late.append((self.late_key(view.job(job), kind, phase), job))
        late_jobs = [job for _, job in sorted(late)]
        first = [late_jobs] if self.late_share and late_jobs else [[job] for job in late_jobs]
        aged = (job for job, _ in self.clusters[kind].queue(view.now_ms, waiting=False))
        return first + [[job] for job in aged if job in phases]


def _share_by_tier(slots: int, tiers: Sequence[Sequence[_Claim]]) -> list[Entitlement]:
    """Each tier shares what those before it leave, by weight."""
    found: list[Entitlement] = []
    left = Fraction(slots)
    for tier in tiers:
        weights = [claim.weight for claim in tier]
        shares = compute_fair_shares([claim.demand for claim in tier], left, weights)
        for (job, running, demand, _), share in zip(tier, shares, strict=True):
            found.append(Entitlement(JobClaimant(job), (job,), running, demand, share))
            left -= share
    return found


class Fsp(SizeBased, VirtualTimeOrder):
    """The Fair Sojourn Protocol, by virtual end."""

    def __init__(self, params: SizeParams | None = None) -> None:
        super().__init__(params)
        if self.params.size == "online":
            # Where all tasks are taken for equally long. Else who alone can use another slot may
            # come to end before others, and be due what they were.
            self.guarantees = (*self.guarantees, *MONOTONE)

    def observe(self, fact: Fact, view: ClusterView) -> None:
        super().observe(fact, view)
        if isinstance(fact, Closed) and fact.succeeded and self.params.size == "online":
            self._correct_once(fact.job, fact.kind, view)

    def initial_size_ms(self, job: JobView, kind: SlotKind) -> float:
        return self.sizes.size_ms(job, stage_on(kind))

    def _correct_once(self, job: JobId, kind: SlotKind, view: ClusterView) -> None:
        """The first completed task of a phase says what its tasks are like."""
        phase, seen, stage = self.virtual_phase(job, kind), view.job(job), stage_on(kind)
        if phase is None or seen.finished(stage) != 1:
            return
        age_ms = phase.size_ms - self.clusters[kind].size_ms(job, view.now_ms)
        phase.size_ms = self.sizes.size_ms(seen, stage)
        left_ms = max(phase.size_ms - age_ms, 0.0)
        self.set_virtual_size(seen, kind, left_ms, seen.total(stage), view)


class FspFifo(Fsp):
    """Late jobs one by one, by when they became late: one that was much too small blocks all."""

    name = "fsp+fifo"
    summary = "fair sojourn: who would end first under sharing is next; the late one by one"


class FspPs(Fsp):
    """Late jobs in turn."""

    late_share = True
    name = "fsp+ps"
    summary = "fair sojourn: who would end first under sharing is next; the late in turn"

    def late_key(self, job: JobView, kind: SlotKind, phase: VirtualPhase) -> SortKey:
        return (job.running(kind), phase.served, job.submitted_ms)


class Psbs(Fsp):
    """Late jobs in turn by weight, and weights by priority in the virtual cluster."""

    late_share = True
    name = "psbs"
    summary = "practical size-based: fair sojourn with weights by priority, the late in turn"

    def weight(self, job: JobView) -> int:
        return PRIORITY_SPEEDS[job.priority]

    def late_key(self, job: JobView, kind: SlotKind, phase: VirtualPhase) -> SortKey:
        share = job.running(kind) * (PRIORITY_SPEEDS[Priority.VERY_HIGH] // self.weight(job))
        return (share, phase.served, job.submitted_ms)
