"""LATE, Longest Approximate Time to End: speculate on what ends last, on a node that is not slow.

Zaharia, Konwinski, Joseph, Katz and Stoica, *Improving MapReduce Performance in Heterogeneous
Environments* (OSDI 2008; `by="percentile"`), and Hadoop 0.21, which took it over in another form
(`by="std"`).  docs/speculation.md says which tasks and nodes are slow, and what is the cap.

Chosen where the sources are silent or do not fit:

- Rates are of the job's tasks of the kind, ended ones (1 / time) and running ones of which a
  heartbeat has told.  Without the ended ones a job's last task would have none to be slower than.
- A percentile is by nearest rank: the ceil(n · q / 100)th smallest of n.  Slow is *below* it.
- The paper's node progress is the sum over tasks done and running on the node; here of the kind,
  since the run began, over the nodes that have run any.  A node that has run none is not slow.
- 0.21 compares a node's mean with the mean and standard deviation (the population's) of the nodes'
  means, of maps and of reduces, and is slow by either.
- Time is taken up to the node's last heartbeat.  0.21 lets the one task's rate sink until now; then
  of equal tasks the one heard of longest ago would look slow.
- Where a task's input lies does not matter.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Literal

from msgspec import Meta

from callboard.scheduler.estimation import RunningMean
from callboard.scheduler.facts import Closed
from callboard.scheduler.model import KINDS, JobId, Millis, NodeId, SlotKind
from callboard.scheduler.part_params import PartParams, Portion, Timeout
from callboard.scheduler.reasons import AttemptPace, Reason
from callboard.scheduler.speculation import stragglers
from callboard.scheduler.speculation.stragglers import RunningByJob, Straggler
from callboard.scheduler.view import AttemptView, ClusterView

RATE_UNIT = 10**12
"""Rates are whole numbers: this much for a task done in 1 ms."""

MIN_SPEC_CAP = 10
"""Hadoop 0.21 lets every job have this many speculative attempts (MIN_SPEC_CAP)."""

MIN_SLOTS_CAP = Fraction(1, 100)
"""And as many as this share of the slots (MIN_SLOTS_CAP)."""


class Late(stragglers.StragglerRule):
    """Speculate on the slow task with the longest time left."""

    name = "late"
    summary = "copy the slow task that will end last, on a node that is not slow"

    class Params(PartParams, frozen=True, kw_only=True):
        """Which tasks and nodes are slow, and how many attempts are speculative."""

        by: Literal["percentile", "std"] = "percentile"
        """By percentiles, as the paper, or by standard deviations, as Hadoop 0.21."""
        slow_task: Annotated[float, Meta(ge=0, le=100)] | None = None
        """A percentile (unset: 25), or a number of standard deviations (unset: 1)."""
        slow_node: Annotated[float, Meta(ge=0, le=100)] | None = None
        """The same of nodes."""
        cap: Portion = 0.1
        """The most speculative attempts: a share of the slots, or of a job's running tasks."""
        lag_s: Timeout = 60.0
        """How long an attempt must have run."""

    def __init__(self, params: Params | None = None) -> None:
        super().__init__()
        self.params = params or Late.Params()
        default = 25.0 if self.params.by == "percentile" else 1.0
        task, node = self.params.slow_task, self.params.slow_node
        self._slow_task = Fraction(repr(default if task is None else task))
        self._slow_node = Fraction(repr(default if node is None else node))
        self._cap = Fraction(repr(self.params.cap))
        self._ended: tuple[dict[JobId, list[int]], ...] = ({}, {})  # rates
        self._done: tuple[dict[NodeId, int], ...] = ({}, {})
        self._times: tuple[dict[JobId, NodeTimes], ...] = ({}, {})
        self._slow_nodes: list[set[NodeId]] = [set(), set()]

    def learn_end(self, closed: Closed) -> None:
        if not closed.succeeded:
            return
        job, kind, node = closed.job, closed.kind, closed.node
        self._ended[kind].setdefault(job, []).append(round(RATE_UNIT / max(closed.ran_ms, 1)))
        if self.params.by == "std":
            self._times[kind].setdefault(job, NodeTimes()).add(node, closed.ran_ms)
        else:
            self._done[kind][node] = self._done[kind].get(node, 0) + RATE_UNIT

    def forget_job(self, job: JobId) -> None:
        for kind in KINDS:
            self._ended[kind].pop(job, None)
            self._times[kind].pop(job, None)

    def find(self, kind: SlotKind, running: RunningByJob, view: ClusterView) -> list[Straggler]:
        found: list[Straggler] = []
        since_ms = view.now_ms - 1000 * self.params.lag_s
        for job, attempts in running.items():
            old = [each for each in attempts if each.launched_ms <= since_ms]
            open_ = [each for each in old if each.alone and not each.killing]
            if open_:
                slow = self._slow_attempts(open_, attempts, self._ended[kind].get(job, []))
                found += [_straggler_of_attempt(each) for each in slow]
        if found and self.params.by == "percentile":
            self._judge_nodes(kind, running)
        return stragglers.neediest_first(found)

    def has_reached_cap(self, job: JobId, kind: SlotKind, view: ClusterView) -> bool:
        if self.params.by == "percentile":
            return self.speculative[kind].total() >= self._cap * view.slots(kind)
        speculative = self.speculative[kind][job]
        if speculative < MIN_SPEC_CAP or speculative < MIN_SLOTS_CAP * view.slots(kind):
            return False
        return speculative >= self._cap * (view.job(job).running(kind) - speculative)

    def suits(self, straggler: Straggler, kind: SlotKind, node: NodeId, view: ClusterView) -> bool:  # noqa: ARG002
        if self.params.by == "percentile":
            return node not in self._slow_nodes[kind]
        return not any(
            times[straggler.job].is_slow(node, self._slow_node)
            for times in self._times
            if straggler.job in times
        )

    def _slow_attempts(
        self, open_: list[AttemptView], attempts: list[AttemptView], ended: list[int]
    ) -> list[AttemptView]:
        rates = [progress_rate(each) for each in attempts if each.ran_ms] + ended
        told = [each for each in open_ if each.ran_ms]
        if self.params.by == "percentile":
            limit = percentile(rates, self._slow_task) if rates else 0
            return [each for each in told if progress_rate(each) < limit]
        spread = ExactDeviation(rates)
        return [each for each in told if spread.is_mean_above(progress_rate(each), self._slow_task)]

    def _judge_nodes(self, kind: SlotKind, running: dict[JobId, list[AttemptView]]) -> None:
        totals = dict(self._done[kind])
        for attempts in running.values():
            for each in attempts:
                totals[each.node] = totals.get(each.node, 0) + round(each.progress * RATE_UNIT)
        limit = percentile(list(totals.values()), self._slow_node)
        self._slow_nodes[kind] = {node for node in totals if totals[node] < limit}


class ExactDeviation:
    """The mean and the standard deviation of whole numbers, compared with exactly."""

    def __init__(self, numbers: Sequence[int] = ()) -> None:
        self.count = len(numbers)
        self.total = sum(numbers)
        self.squares = sum(number * number for number in numbers)

    def swap(self, old: int | None, new: int) -> None:
        """Put a number in, in the place of another if there is one."""
        if old is not None:
            self.count -= 1
            self.total -= old
            self.squares -= old * old
        self.count += 1
        self.total += new
        self.squares += new * new

    def is_mean_above(self, number: int, deviations: Fraction) -> bool:
        return self._gap_exceeds(self.total - self.count * number, deviations)

    def is_mean_below(self, number: int, deviations: Fraction) -> bool:
        return self._gap_exceeds(self.count * number - self.total, deviations)

    def _gap_exceeds(self, gap: int, deviations: Fraction) -> bool:
        variance = self.count * self.squares - self.total * self.total  # times count²
        return gap > 0 and gap * gap > deviations * deviations * variance


class NodeTimes:
    """How long a job's ended tasks of a kind took on each node."""

    def __init__(self) -> None:
        self._nodes: dict[NodeId, RunningMean] = {}
        self._means = ExactDeviation()

    def add(self, node: NodeId, ms: Millis) -> None:
        before = self._node_mean(node)
        self._nodes.setdefault(node, RunningMean()).add(ms)
        after = self._node_mean(node)
        assert after is not None
        self._means.swap(before, after)

    def is_slow(self, node: NodeId, deviations: Fraction) -> bool:
        """Whether tasks take too long there; not where none has ended."""
        mean = self._node_mean(node)
        return mean is not None and self._means.is_mean_below(mean, deviations)

    def _node_mean(self, node: NodeId) -> int | None:
        """In thousandths of a millisecond."""
        mean = self._nodes.get(node)
        return None if mean is None else 1000 * mean.total // mean.count


def progress_rate(attempt: AttemptView) -> int:
    """Progress over the time it took."""
    return round(attempt.progress * RATE_UNIT / attempt.ran_ms)


def percentile(numbers: list[int], q: Fraction) -> int:
    """The ceil(n · q / 100)th smallest of n numbers; the smallest for q = 0."""
    numbers = sorted(numbers)
    return numbers[max(-(-len(numbers) * q.numerator // (100 * q.denominator)), 1) - 1]


def _straggler_of_attempt(attempt: AttemptView) -> Straggler:
    what = (attempt.attempt, attempt.job, attempt.node, stragglers.time_left_ms(attempt))
    pace = AttemptPace(attempt.ran_ms, attempt.progress)
    return Straggler(*what, Reason.LONGEST_LEFT, pace)
