"""SRPT, PSJF, SJF, LAS and PS at slot level: the job with the least left, size, service or running
tasks.

Each is its single-machine discipline with slots for the machine (the simulator report, 2.3): no
task is interrupted, and with many small tasks it comes to the same.  Maps and reduces are ranked
apart, as in HFSP (III).  Keys are whole milliseconds and change only with the job's own facts.
"""

from callboard.scheduler.entitlements import ClaimantKind, Entitlements, demand_of, job_entitlement
from callboard.scheduler.estimation import PhaseMeans
from callboard.scheduler.facts import Fact, JobArrived, JobLeft, Launched
from callboard.scheduler.guarantees import EFFICIENT, EQUAL_SHARES, MONOTONE_SHARES
from callboard.scheduler.model import KINDS, MAP, JobId, Millis, SlotKind, stage_on
from callboard.scheduler.orders.fair.water_filling import compute_fair_shares
from callboard.scheduler.orders.keyed import RankedOrder, SortKey
from callboard.scheduler.orders.size_based.attained_service import RunningMaps
from callboard.scheduler.orders.size_based.size_source import SizeBased, SizeParams
from callboard.scheduler.orders.size_based.time_slices import SlicedOrder
from callboard.scheduler.view import ClusterView, JobView


class _BySize(SizeBased, RankedOrder):
    """An order by the estimated size of a phase, or by what is left of it."""

    guarantees: tuple[str, ...] = (*EFFICIENT, *MONOTONE_SHARES, "shortest-first")
    keys_lag = True

    def score(self, key: SortKey) -> float:
        return float(key[0] / 1000)


class Srpt(_BySize):
    """Shortest remaining processing time: smallest estimate of what is left."""

    name = "srpt"
    summary = "shortest remaining first: the job with the least work left is next"
    score_format = "{:,.1f} slot-s left"
    guarantees: tuple[str, ...] = (*_BySize.guarantees, "ideal-work", "ideal-mean")

    def __init__(self, params: SizeParams | None = None) -> None:
        super().__init__(params)
        self._running = RunningMaps()

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self._running.observe(fact, view.now_ms)
        super().observe(fact, view)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (self.sizes.left_ms(job, stage_on(kind)), job.submitted_ms)

    def standing_key(self, job: JobView, kind: SlotKind, view: ClusterView) -> SortKey:
        """A job that only runs, and whose true size is known, has less left with every moment."""
        left_ms, *rest = super().standing_key(job, kind, view)
        if self.params.size == "oracle" and kind is MAP and not job.pending(kind):
            left_ms = max(left_ms - self._running.ran_ms(job.job, view.now_ms), 0)
        return (left_ms, *rest)


class Psjf(_BySize):
    """Preemptive shortest job first: smallest estimate of the whole, whatever has begun."""

    name = "psjf"
    summary = "preemptive shortest job first, by its whole size: work done does not move it"
    score_format = "{:,.1f} slot-s in all"
    guarantees: tuple[str, ...] = (*_BySize.guarantees, "ideal-work", "smaller-only")

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (self.sizes.size_ms(job, stage_on(kind)), job.submitted_ms)


class Sjf(_BySize):
    """Shortest job first: the smallest estimate of the whole is begun, and each job that has begun
    goes on to its end.
    """

    name = "sjf"
    summary = "shortest job first, by its whole size, each job from its begin to its end"
    score_format = "{:,.1f} slot-s in all"
    guarantees: tuple[str, ...] = (*_BySize.guarantees, "ideal-work")

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        stage = stage_on(kind)
        begun = job.running(kind) or job.suspended(kind) or job.finished(stage)
        return (not begun, self.sizes.size_ms(job, stage), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[1] / 1000)


class Las(SlicedOrder):
    """Least attained service.

    A running attempt is charged, from its launch on, at the mean of the job's ended ones, or of all
    ended ones of the kind, put right when it ends: else a job would count as unserved, and take
    every slot, until its first task ends.  A suspended attempt stays charged.

    It has no entitlements: a job that got slots by killing would soon have been given the most, and
    the next check would take them back.  By suspending that is what it is about: at each check
    those go on that have had the least, running maps counted by how long they have run.
    """

    name = "las"
    summary = "least attained service: the job that has been given the least is next; no sizes"
    score_format = "{:,.1f} slot-s attained"
    guarantees: tuple[str, ...] = (*EFFICIENT, "ideal-work", "blind", "scale")

    def __init__(self) -> None:
        super().__init__()
        self._means = PhaseMeans()

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self._means.learn(fact)
        super().observe(fact, view)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        if self.slices:
            return self.turn_key(job, kind)
        return (self._attained_ms(job, kind), job.running(kind), job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[0] / 1000)

    def rank_now(self, job: JobId, kind: SlotKind, now_ms: Millis) -> float:
        return self.service.ms(job, kind, now_ms)

    def _attained_ms(self, job: JobView, kind: SlotKind) -> Millis:
        stage = stage_on(kind)
        own = self._means.own.get((job.job, stage))
        charged = job.running(kind) + job.suspended(kind)
        going = self._means.tasks_ms(job.job, stage, charged) or 0
        return (own.total if own else 0) + going


class Ps(SlicedOrder):
    """Processor sharing: the job that runs least is next; of equals, the one served longest ago.
    Else the earliest would keep their slots for ever (the slides on delay scheduling: sticky
    slots).

    Where tasks are suspended, at each check those go on that have had the least since they came,
    beside one that has always been served as its share was (start-time fair queueing: Goyal, Vin,
    Cheng 1996).
    """

    name = "ps"
    summary = "processor sharing: equal numbers of slots in turn, whatever the priority"
    score_format = "{:g} running"
    guarantees = (
        *EFFICIENT,
        *MONOTONE_SHARES,
        *EQUAL_SHARES,
        "ideal-work",
        "ideal-dominance",
        "blind",
    )

    def __init__(self) -> None:
        super().__init__()
        self._served: dict[tuple[JobId, SlotKind], int] = {}
        self._start_ms: dict[tuple[JobId, SlotKind], float] = {}

    def observe(self, fact: Fact, view: ClusterView) -> None:
        match fact:
            case Launched(job, attempt=attempt):
                self._served[job, fact.kind] = attempt
            case JobArrived(job) if self.slices:
                for each in KINDS:
                    self._start_ms[job, each] = self._least_ms(job, each, view.now_ms)
            case JobLeft(job):
                for each in KINDS:
                    self._served.pop((job, each), None)
                    self._start_ms.pop((job, each), None)
        super().observe(fact, view)

    def rank_now(self, job: JobId, kind: SlotKind, now_ms: Millis) -> float:
        return self._start_ms[job, kind] + self.service.ms(job, kind, now_ms)

    def _least_ms(self, job: JobId, kind: SlotKind, now_ms: Millis) -> float:
        """Where the others that it was told of are at least, so that who comes has no claims on the
        past.
        """
        others = (told for told, on in self._start_ms if on is kind and told != job)
        return min((self.rank_now(each, kind, now_ms) for each in others), default=0.0)

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        if self.slices:
            return self.turn_key(job, kind)
        served = self._served.get((job.job, kind), 0)
        return (job.running(kind), served, job.submitted_ms)

    def score(self, key: SortKey) -> float:
        return float(key[0])

    def entitlements(self, kind: SlotKind, view: ClusterView, each: ClaimantKind) -> Entitlements:  # noqa: ARG002
        jobs = [job for job in view.jobs() if demand_of(job, kind)]
        demands = [demand_of(job, kind) for job in jobs]
        shares = compute_fair_shares(demands, view.slots(kind))
        return [job_entitlement(job, kind, share) for job, share in zip(jobs, shares, strict=True)]
