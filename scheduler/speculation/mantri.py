"""Mantri's restarts: begin a task again where a fresh attempt would more likely than not be done
sooner, and run it twice where that costs little.

Ananthanarayanan, Kandula, Greenberg, Stoica, Lu, Saha and Harris, *Reining in the Outliers in
Map-Reduce Clusters using Mantri* (OSDI 2010), the part on restarting outliers; docs/speculation.md
has its conditions on t_rem, the time a running attempt has left, and t_new, what a fresh attempt of
the task would take.  A duplicate that saves slot time is one with P(2 · t_new < t_rem) > `delta`.
Of several, the one that gains most is first: the most time left beyond the median of t_new.

t_rem is (time run) · (1 - progress) / progress, of a reduce both counted from the end of its
shuffle.  t_new is distributed as the times of the job's attempts of the kind, ended ones as they
took and running ones as they go on (the first to end are the shortest), and only of those off-rack
if there are `least` of them, since that is where a fresh attempt is likely to run.  There must be
`least` in all.  The paper compares t_rem with the expectation of t_new; the median is what "more
likely than not" says.  Δ, its period of progress reports, is the heartbeat interval.

The node that asks must not spoil it: on that very node, where attempts take so much longer or
shorter than usual in their jobs at their locality, a fresh attempt has to be done at least Δ sooner
with a probability above 1/2.

Open, against the paper: t_new knows neither how much input the task has nor a fresh reduce's
shuffle; a task has two attempts at a time, not three, so none is pruned; earlier attempts of any
kind, preempted ones too, count towards `gamma`; reduces are judged only when their shuffle is over;
the placement of reduces and the saving of outputs are not built.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from callboard.scheduler.decisions import Speculate
from callboard.scheduler.estimation import share_of_work_done, work_ms
from callboard.scheduler.facts import Closed, Fact, Launched
from callboard.scheduler.model import KINDS, AttemptId, JobId, Locality, Millis, NodeId, SlotKind
from callboard.scheduler.part_params import Count, NotNegative, PartParams, Portion
from callboard.scheduler.reasons import AttemptPace, Reason
from callboard.scheduler.speculation.stragglers import RunningByJob, Straggler, StragglerRule
from callboard.scheduler.view import AttemptView, ClusterView, Offer


class Mantri(StragglerRule):
    """Restart or duplicate what a fresh attempt would overtake."""

    name = "mantri"
    summary = "restart or duplicate a task that a fresh attempt would likely overtake"

    class Params(PartParams, frozen=True, kw_only=True):
        """The paper's δ, γ and ρ, with its defaults."""

        delta: Portion = 0.25
        """δ: how probable it must be that a fresh attempt takes less than half of the time left."""
        gamma: Count = 3
        """γ: how many attempts a task may have had before a restart."""
        rho: NotNegative = 3.0
        """ρ: how many times Δ sooner a duplicate must end where nothing waits."""
        least: Annotated[int, Meta(ge=1)] = 3
        """How many tasks must have ended to judge by.  Ours."""

    def __init__(self, params: Params | None = None) -> None:
        super().__init__()
        self.params = params or Mantri.Params()
        self._ended: tuple[dict[JobId, list[tuple[Locality, Millis]]], ...] = ({}, {})
        self._samples: tuple[dict[JobId, list[Millis]], ...] = ({}, {})  # sorted, of the last look
        self._usual: tuple[dict[JobId, dict[Locality, Millis]], ...] = ({}, {})
        self._levels: dict[AttemptId, Locality] = {}
        self._last: dict[AttemptId, tuple[Millis, Millis]] = {}  # the pace of each, at a look
        # By node: what attempts took or will take there, and what is usual in their jobs.
        self._paces: tuple[dict[NodeId, tuple[Millis, Millis]], ...] = ({}, {})
        self._going: tuple[dict[NodeId, tuple[Millis, Millis]], ...] = ({}, {})
        self._urgent: list[dict[AttemptId, Straggler]] = [{}, {}]

    def observe(self, fact: Fact, view: ClusterView) -> None:
        if isinstance(fact, Launched):
            self._levels[fact.attempt] = fact.level
        super().observe(fact, view)
        if isinstance(fact, Closed):
            self._urgent[fact.kind].pop(fact.attempt, None)
            self._levels.pop(fact.attempt, None)

    def learn_end(self, closed: Closed) -> None:
        kind, job = closed.kind, closed.job
        pace = self._last.pop(closed.attempt, None)
        if closed.succeeded:
            ended = self._ended[kind].setdefault(job, [])
            ended.append((self._levels[closed.attempt], work_ms(closed)))
            usual_ms = self._usual[kind].get(job, {}).get(self._levels[closed.attempt])
            pace = (work_ms(closed), usual_ms) if usual_ms is not None else None
        if pace is not None:
            took, usual = self._paces[kind].get(closed.node, (0, 0))
            self._paces[kind][closed.node] = (took + pace[0], usual + pace[1])

    def forget_job(self, job: JobId) -> None:
        for kind in KINDS:
            self._ended[kind].pop(job, None)
            self._samples[kind].pop(job, None)
            self._usual[kind].pop(job, None)

    def suits(self, straggler: Straggler, kind: SlotKind, node: NodeId, view: ClusterView) -> bool:
        pairs = [paces[node] for paces in (self._paces[kind], self._going[kind]) if node in paces]
        took, usual = (sum(each) for each in zip(*pairs, strict=True)) if pairs else (1, 1)
        limit_ms = (straggler.left_ms - view.heartbeat_ms) * usual / max(took, 1)
        return _share_below(self._samples[kind][straggler.job], limit_ms) > 1 / 2

    def urgent(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Speculate | None:
        if not view.pending(kind):
            return None
        for rank, straggler in enumerate(self._urgent[kind].values(), start=1):
            if self._may_copy(straggler, kind, offer, view):
                restart = straggler.reason is Reason.RESTART
                return Speculate(straggler.attempt, self.why(straggler, rank), restart)
        return None

    def find(self, kind: SlotKind, running: RunningByJob, view: ClusterView) -> list[Straggler]:
        spare: list[tuple[Millis, Straggler]] = []
        urgent: list[tuple[Millis, Straggler]] = []
        self._going[kind].clear()
        for job, attempts in running.items():
            times = self._samples[kind][job] = self._fresh_attempt_times(kind, job, attempts)
            if len(times) < self.params.least:
                continue
            for attempt in attempts:
                self._note_pace(attempt)
                if attempt.alone and not attempt.killing and _work_ms_and_share(attempt)[1] > 0:
                    self._judge_straggler(attempt, times, view.heartbeat_ms, spare, urgent)
        self._urgent[kind] = {each.attempt: each for each in _most_gain_first(urgent)}
        return _most_gain_first(spare)

    def _note_pace(self, attempt: AttemptView) -> None:
        """Note how a running attempt does on its node, against its job's usual at its level."""
        ms, done = _work_ms_and_share(attempt)
        if done > 0:
            usual_ms = self._usual[attempt.kind][attempt.job][self._levels[attempt.attempt]]
            took, usual = self._going[attempt.kind].get(attempt.node, (0, 0))
            paces = (took + round(ms / done), usual + usual_ms)
            self._going[attempt.kind][attempt.node] = paces
            self._last[attempt.attempt] = (round(ms / done), usual_ms)

    def _fresh_attempt_times(
        self, kind: SlotKind, job: JobId, attempts: Sequence[AttemptView]
    ) -> list[Millis]:
        """How long a fresh attempt may take: what each of the job's attempts took or will take."""
        known = list(self._ended[kind].get(job, ()))
        for each in attempts:
            ms, done = _work_ms_and_share(each)
            if done > 0:
                known.append((self._levels[each.attempt], round(ms / done)))
        by_level = {level: sorted(ms for each, ms in known if each is level) for level in Locality}
        self._usual[kind][job] = {level: _lower_median(ms) for level, ms in by_level.items() if ms}
        far = by_level[Locality.OFF_RACK]
        return sorted(far if len(far) >= self.params.least else [ms for _, ms in known])

    def _judge_straggler(
        self,
        attempt: AttemptView,
        times: list[Millis],
        delta_ms: Millis,
        spare: list[tuple[Millis, Straggler]],
        urgent: list[tuple[Millis, Straggler]],
    ) -> None:
        """Put the attempt among those worth a second one with slots to spare, and with none."""
        ms, done = _work_ms_and_share(attempt)
        rem_ms = round(ms * (1 - done) / done)
        fresh_ms = _lower_median(times)
        gain_ms = rem_ms - fresh_ms
        what = (attempt.attempt, attempt.job, attempt.node, rem_ms)
        pace = AttemptPace(ms, done, fresh_ms)
        if _share_below(times, rem_ms - self.params.rho * delta_ms) > 1 / 2:
            spare.append((gain_ms, Straggler(*what, Reason.DUPLICATE, pace)))
        if _share_below(times, rem_ms - delta_ms) > 1 / 2 and attempt.number < self.params.gamma:
            urgent.append((gain_ms, Straggler(*what, Reason.RESTART, pace)))
        elif _share_below(times, rem_ms / 2) > self.params.delta:
            urgent.append((gain_ms, Straggler(*what, Reason.DUPLICATE_SAVES_WORK, pace)))


def _work_ms_and_share(attempt: AttemptView) -> tuple[Millis, float]:
    return work_ms(attempt), share_of_work_done(attempt)


def _lower_median(times: list[Millis]) -> Millis:
    return times[(len(times) - 1) // 2]


def _share_below(times: list[Millis], limit_ms: float) -> float:
    return bisect_left(times, limit_ms) / len(times)


def _most_gain_first(found: list[tuple[Millis, Straggler]]) -> list[Straggler]:
    """Those that gain most first; ties by number."""
    return [each for _, each in sorted(found, key=lambda pair: (-pair[0], pair[1].attempt))]
