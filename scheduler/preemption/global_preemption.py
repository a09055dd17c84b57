"""Global preemption (GP): the newest tasks of all jobs give way, and long jobs are spared.

Cheng, Zhang, Boutaba: *Mitigating the negative impact of preemption on heterogeneous MapReduce
workloads*, §V and Algorithm 1.  Every `interval_s` as many slots as the starving claimants lack are
taken from the most recently launched tasks of all running jobs, over their share or not, since
these lose least by it.

The exception is for long jobs that starve others.  The overflowing tasks of a long job (those
beyond its share, newest first) are killed if (1) it occupies more than its share, (2) more than `p`
of the slots were occupied for more than `t` of a period, (3) the tasks waiting were more than
n_task, and unless one job makes up more than `dominance` of the queue.  After the first such period
`first_cut` of them are killed, after the second in a row and each that follows all (the paper: 3
minutes, 50 %, "after 2 periods (6 minutes)").  What is cut counts towards the slots that are
lacking.  `cuts = "always"` cuts even where nobody starves in the sense of `kill`, since what the
conditions say is that long jobs starve others; `"starving"` waits, until the next period ends, for
a claimant that lacks slots, since Algorithm 1 is called for a number of tasks.  The paper can be
read either way, and saw one cut in all its experiments.

n_task comes from the wanted mean normalised performance π: the queue must stay below L · (1 − π) of
the L jobs in the system, so below (1 − π) / π times what is being served: for π = 0.5 "the number
of slots available for non-production jobs", which is what is multiplied here.

The paper leaves open, and here it is chosen:

- *which jobs are production jobs*: those of the pool `production` (none if that is empty) and the
  pools in it; their tasks are never killed;
- *where k comes from* (the paper: any preempting scheduler): the deficits of the rule `kill`;
- *whether a starving job's own new tasks may be killed*: no, that would gain nothing;
- *what a long job is* ("see [9]"): one with a running task older than `long_s`, by default 200 s,
  where the two modes of its Table I meet at Facebook;
- *slots available for non-production jobs*: those that no production job occupies at the time;
- *periods*: one after the other from the start; (3), too, must hold for more than `t` of one.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from math import ceil
from typing import Annotated, Literal

from msgspec import Meta

from callboard.scheduler import decisions
from callboard.scheduler.facts import Fact, JobLeft, JobUpdated, StageFact
from callboard.scheduler.model import KINDS, JobId, Millis, SlotKind
from callboard.scheduler.part_params import PartParams, Portion, Positive, Timeout
from callboard.scheduler.policy import Policy, PreemptionRule
from callboard.scheduler.preemption.starvation import Deficit, StarvationWatch, starvation_grounds
from callboard.scheduler.preemption.victims import Excess, possible_victims
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView


class GlobalPreemption(PreemptionRule):
    """Kill the newest attempts of all jobs, and of long jobs only when they starve others."""

    name = "global"
    summary = "kill the newest attempts of all jobs; long jobs only when they starve the others"

    class Params(PartParams, frozen=True, kw_only=True):
        """The paper's parameters under its names; shares are of 1."""

        production: str = "production"
        """The pool (and those in it) that is never preempted; none if empty."""
        interval_s: Positive = 10.0
        """Seconds between checks; the paper's experiments had 20."""
        min_share_timeout_s: Timeout = 30.0
        """How long a claimant is left below its min share; `inf` turns it off.  Hadoop's own
        default is infinite.
        """
        fair_share_timeout_s: Timeout = 60.0
        """How long a claimant is left below half of its fair share; `inf` turns it off.  Hadoop's
        own default is infinite.
        """
        t: Portion = 0.8
        """The share of a period for which it must be busy."""
        p: Portion = 0.9
        """The share of the slots above which it is busy."""
        period_s: Positive = 180.0
        """How long a period is: the paper's 3 minutes."""
        pi: Annotated[float, Meta(gt=0, le=1)] = 0.5
        """π: the queue is long above (1 − π) / π times the slots that production does not occupy.
        """
        first_cut: Portion = 0.5
        """The part of a long job's overflow that is killed after the first busy period; then all.
        """
        dominance: Portion = 0.9
        """No cut if one job makes up more of the queue than this."""
        long_s: Timeout = 200.0
        """A job is long if it has a running task older than this.  Chosen."""
        cuts: Literal["always", "starving"] = "always"
        """Long jobs are cut after any busy period, or only where a claimant lacks slots."""

    def __init__(self, params: Params | None = None) -> None:
        self.params = params or GlobalPreemption.Params()
        self.watch = StarvationWatch(
            self.params.interval_s,
            self.params.min_share_timeout_s,
            self.params.fair_share_timeout_s,
        )
        self.interval_ms = self.watch.interval_ms
        period_ms = max(1, round(self.params.period_s * 1000))
        self._windows = tuple(UtilisationWindow(period_ms, self.params.t) for _ in KINDS)
        self._due = [False for _ in KINDS]
        self._production_runs = [0 for _ in KINDS]
        self._runs_of: tuple[dict[JobId, int], ...] = tuple({} for _ in KINDS)

    def bind(self, policy: Policy) -> None:
        self.watch.bind(self.name, policy)

    def observe(self, fact: Fact, view: ClusterView) -> None:
        self.watch.news = True
        if isinstance(fact, StageFact | JobUpdated | JobLeft):
            self._count_production(fact, view)
        for kind in KINDS:
            self._note_load(kind, view)

    def victims(self, view: ClusterView) -> Iterator[decisions.Kill]:
        if self.watch.look(view):
            for kind in KINDS:
                yield from self._victims_of_kind(kind, view)

    def _victims_of_kind(self, kind: SlotKind, view: ClusterView) -> list[decisions.Kill]:
        self._note_load(kind, view)
        deficits = self.watch.deficits(kind, view)
        due = self._is_due(kind, starving=bool(deficits))
        if not deficits and not due:
            return []
        alive, dying = possible_victims(kind, view)
        trains = self.watch.spared_attempts(kind)
        alive = [
            a for a in alive if not self._in_production(a.job, view) and a.attempt not in trains
        ]
        cut = self._kills_beyond_shares(kind, view, alive) if due else []
        wanted = sum(deficit.slots for deficit in deficits) - dying - len(cut)
        if wanted <= 0:
            return cut
        spared = {job for deficit in deficits for job in deficit.entitlement.jobs}
        gone = {kill.attempt for kill in cut}
        open_ = [a for a in alive if a.job not in spared and a.attempt not in gone]
        return [*cut, *self._newest_kills(open_[:wanted], deficits)]

    def _is_due(self, kind: SlotKind, *, starving: bool) -> bool:
        """Whether long jobs are to be cut now; that is said once for a busy period."""
        if self.params.cuts == "starving":
            self._due[kind] = self._due[kind] and self._windows[kind].streak > 0
            if not starving:
                return False
        due, self._due[kind] = self._due[kind], False
        return due

    def _newest_kills(
        self, attempts: Sequence[AttemptView], deficits: Sequence[Deficit]
    ) -> Iterator[decisions.Kill]:
        """The newest of all tasks; the score is the rank once more, since newness is all."""
        given_for = starvation_grounds(deficits)
        for rank, each in enumerate(attempts, start=1):
            why = Why(Reason.STARVATION, self.name, rank, float(rank), *given_for)
            yield decisions.Kill(each.attempt, why)

    def _kills_beyond_shares(
        self, kind: SlotKind, view: ClusterView, alive: Sequence[AttemptView]
    ) -> list[decisions.Kill]:
        """The tasks of long jobs beyond their shares, half of them or all."""
        pending = view.pending(kind)
        largest = max((job.pending(kind) for job in view.jobs()), default=0)
        if largest > self.params.dominance * pending:
            return []
        excess = Excess(self.watch.entitlements(kind, view, "job"), alive)
        part = self.params.first_cut if self._windows[kind].streak == 1 else 1.0
        long_ms = 1000 * self.params.long_s
        long = {a.job for a in alive if view.now_ms - a.launched_ms > long_ms}
        left = Counter({job: ceil(part * excess.attempts_to_lose(job)) for job in long})
        cut: list[decisions.Kill] = []
        for attempt in alive:
            if left[attempt.job] > 0:
                left[attempt.job] -= 1
                above = float(excess.attempts_to_lose(attempt.job))
                excess.lose_attempt(attempt.job)
                why = Why(Reason.LONG_JOB, self.name, len(cut) + 1, above)
                cut.append(decisions.Kill(attempt.attempt, why))
        return cut

    def _note_load(self, kind: SlotKind, view: ClusterView) -> None:
        slots = view.slots(kind)
        free_of_production = slots - self._production_runs[kind]
        n_task = (1 - self.params.pi) / self.params.pi * free_of_production
        full = view.running(kind) > self.params.p * slots
        queued = view.pending(kind) > n_task
        if self._windows[kind].note_load(view.now_ms, full=full, queued=queued):
            self._due[kind] = True

    def _count_production(self, fact: StageFact | JobUpdated | JobLeft, view: ClusterView) -> None:
        """Count anew what the job runs: it may have changed its pool."""
        counts = not isinstance(fact, JobLeft) and self._in_production(fact.job, view)
        for kind in KINDS:
            runs = view.job(fact.job).running(kind) if counts else 0
            self._production_runs[kind] += runs - self._runs_of[kind].pop(fact.job, 0)
            if runs:
                self._runs_of[kind][fact.job] = runs

    def _in_production(self, job: JobId, view: ClusterView) -> bool:
        name, pool = self.params.production, view.job(job).pool
        return bool(name) and f"{pool}/".startswith(f"{name}/")


class UtilisationWindow:
    """How many periods in a row, from time 0, were busy with a long queue; exact to the
    millisecond.
    """

    def __init__(self, period_ms: Millis, time_share: float) -> None:
        self.streak = 0
        self._period_ms = period_ms
        self._time_share = time_share
        self._ends_ms = period_ms
        self._now_ms: Millis = 0
        self._full_ms: Millis = 0
        self._queued_ms: Millis = 0
        self._full = False
        self._queued = False

    def note_load(self, now_ms: Millis, *, full: bool, queued: bool) -> bool:
        """Note the present; whether a period has ended since that `streak` counts."""
        ended = False
        if now_ms >= self._ends_ms:
            ended = self._end_periods(now_ms)
        self._count_time_until(now_ms)
        self._full, self._queued = full, queued
        return ended

    def _end_periods(self, now_ms: Millis) -> bool:
        """End the period that has begun and all that came after it; whether the last was busy."""
        self._count_time_until(self._ends_ms)
        busy = self._is_busy()
        self.streak = self.streak + 1 if busy else 0
        self._full_ms = self._queued_ms = 0
        more = (now_ms - self._ends_ms) // self._period_ms
        if more:  # nothing has changed in them
            self._count_time_until(self._ends_ms + self._period_ms)
            busy = self._is_busy()
            self.streak = self.streak + more if busy else 0
            self._full_ms = self._queued_ms = 0
            self._now_ms = self._ends_ms + more * self._period_ms
        self._ends_ms += (1 + more) * self._period_ms
        return busy

    def _is_busy(self) -> bool:
        limit_ms = self._time_share * self._period_ms
        return self._full_ms > limit_ms and self._queued_ms > limit_ms

    def _count_time_until(self, now_ms: Millis) -> None:
        passed = now_ms - self._now_ms
        self._full_ms += passed * self._full
        self._queued_ms += passed * self._queued
        self._now_ms = now_ms
