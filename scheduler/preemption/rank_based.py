"""Preemptive: jobs further ahead in the queue take the slots of jobs further back.

HFSP, III-E: "jobs with higher priority should be granted the resources allocated to jobs with lower
priorities", by killing (preemptive-repeat, as queueing theory says) or, its future work, by
suspending (preemptive-resume).  For every order that serves by rank (`scheduler.ranking`); no
ping-pong comes of it (docs/preemption.md).

Every `interval_s` the pending tasks are gone through from the front.  Slots that are free, or are
being given up already, are theirs first.  For each task left over, one attempt gives way: of the
last job that stands further back and runs any on a node where a task of the first may run, its
**youngest** ("old tasks are the most likely ones to finish first; killing young tasks wastes less
work").  **Training** goes before: while HFSP has training slots left, training tasks take the slot
of any job, further ahead too, and keep theirs until they are measured.  For a suspended task an
attempt on its own node must give way.

A victim's reason says for which job it gives way; its rank is its place among the check's victims,
its score the place of its own job, counted from the front.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from functools import partial
from math import inf
from typing import Literal

from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.entitlements import EntitlingOrder
from callboard.scheduler.guarantees import NO_PING_PONG
from callboard.scheduler.model import KINDS, JobId, NodeId, SlotKind
from callboard.scheduler.part_params import PartParams, Positive
from callboard.scheduler.policy import MisfitError, Order, Policy, PreemptionRule
from callboard.scheduler.preemption import suspend_limits as limits
from callboard.scheduler.preemption.victims import possible_victims
from callboard.scheduler.ranking import Ranking
from callboard.scheduler.reasons import JobClaimant, Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView

VictimTest = Callable[[AttemptView], bool]
"""Whether an attempt can be a victim."""


class RankPreemption(PreemptionRule):
    """Kill or suspend the youngest attempts of the job furthest back, for jobs further ahead."""

    name = "preemptive"
    summary = "take slots for jobs further ahead: the youngest attempts of the job furthest back"

    class Params(PartParams, frozen=True, kw_only=True):
        """How a victim gives way, and what becomes of suspended attempts."""

        how: Literal["kill", "suspend"] = "kill"
        """Whether victims are killed or suspended."""
        interval_s: Positive = 1.0
        """Seconds between checks."""
        limit: limits.AttemptLimit = 2
        """How many suspended attempts a node holds at most."""
        over: limits.WhenFull = "wait"
        """What becomes of a victim on a full node: it is spared (`wait`), or killed."""
        kill_after_s: limits.KillAfter = float("inf")
        """An attempt suspended for longer is killed."""

    def __init__(self, params: Params | None = None) -> None:
        self.params = params or RankPreemption.Params()
        self.interval_ms = max(1, round(self.params.interval_s * 1000))
        limit, over = self.params.limit, self.params.over
        if self.params.how == "kill":
            limit, over = 0, "kill"
        self._limits = limits.SuspendLimits(limit, over, self.params.kill_after_s)
        self._order: Ranking | None = None

    @property
    def may_kill(self) -> bool:
        """Whether it may kill: victims, those for which a node is too full, or what has been
        suspended for long.
        """
        given = self.params
        return given.how == "kill" or given.over == "kill" or given.kill_after_s < inf

    def bind(self, policy: Policy) -> None:
        order = policy.order
        if not isinstance(order, Ranking):
            raise MisfitError(
                f"`{self.name}` takes slots for jobs further ahead, and {_why_unranked(order)}"
            )
        self._order = order
        self.guarantees = NO_PING_PONG if policy.order.steady else ()

    def victims(self, view: ClusterView) -> Iterator[Kill | Suspend]:
        yield from self._limits.overdue_kills(self.name, view)
        for kind in KINDS:
            if view.pending(kind):
                assert self._order is not None, "the rule is not part of a policy"
                yield from self._victims_of_kind(kind, view, self._order)

    def _victims_of_kind(
        self, kind: SlotKind, view: ClusterView, order: Ranking
    ) -> Iterator[Kill | Suspend]:
        check = _Check(kind, view, order)
        for rank, (attempt, reason, job) in enumerate(
            check.victims(self._limits.allows_victim), start=1
        ):
            place = float(check.place[attempt.job])
            why = Why(reason, self.name, rank, place, JobClaimant(job))
            yield self._limits.kill_or_suspend(attempt, why)


class _Check:
    """One check of one kind of slot: which jobs want some, and which attempts give way."""

    def __init__(self, kind: SlotKind, view: ClusterView, order: Ranking) -> None:
        self._kind = kind
        self._view = view
        self._urgent = dict(order.urgent_tasks(kind, view))
        tiers = order.tiers(kind, view)
        self.place = {job: n for n, tier in enumerate(tiers, start=1) for job in tier}
        alive, leaving = possible_victims(kind, view)
        spared = order.spared_attempts(kind)
        open_ = [a for a in alive if a.job in self.place and a.attempt not in spared]
        # The last job's first; of one tier the youngest first, as `possible_victims` has them.
        self._open = sorted(open_, key=lambda a: -self.place[a.job])
        self._supply = view.slots(kind) - view.running(kind) + leaving
        self._held: defaultdict[JobId, list[NodeId]] = defaultdict(list)
        self._leaving: Counter[NodeId] = Counter()
        for attempt in view.attempts():
            if attempt.kind is not kind:
                continue
            if attempt.suspended_ms is None:
                self._leaving[attempt.node] += attempt.killing or attempt.suspending
            elif not attempt.killing:
                self._held[attempt.job].append(attempt.node)

    def victims(self, allows: VictimTest) -> Iterator[tuple[AttemptView, Reason, JobId]]:
        for job, tasks in self._urgent.items():
            for _ in range(self._tasks_without_slot(tasks)):
                victim = self._take_first(partial(self._is_victim_for_urgent, job, allows))
                if victim is None:
                    break
                yield victim, Reason.TRAINING_TASK, job
        for job, place in self.place.items():
            behind = partial(self._is_behind, place, allows)
            for node in self._held[job]:
                if not self._take_slot_on(node):
                    victim = self._take_first(lambda a, n=node, b=behind: a.node == n and b(a))  # type: ignore[misc]
                    if victim is not None:
                        yield victim, Reason.OUTRANKED_ON_NODE, job
            for _ in range(self._tasks_without_slot(self._tasks_to_launch(job))):
                victim = self._take_first(partial(self._is_useful_to, job, behind))
                if victim is None:
                    break
                yield victim, Reason.OUTRANKED, job
            if not self._open or self.place[self._open[0].job] <= place:
                return

    def _is_behind(self, place: int, allows: VictimTest, attempt: AttemptView) -> bool:
        return self.place[attempt.job] > place and allows(attempt)

    def _is_victim_for_urgent(self, job: JobId, allows: VictimTest, attempt: AttemptView) -> bool:
        return attempt.job != job and allows(attempt) and self._may_launch(job, attempt.node)

    def _is_useful_to(self, job: JobId, behind: VictimTest, attempt: AttemptView) -> bool:
        return behind(attempt) and self._may_launch(job, attempt.node)

    def _may_launch(self, job: JobId, node: NodeId) -> bool:
        """Whether the job could use a slot of the node: what failed there may not return, and the
        victim would have its slot back, and lose it again.
        """
        return self._view.job(job).nearest(self._kind, node) is not None

    def _tasks_to_launch(self, job: JobId) -> int:
        """How many tasks of the job wait for any slot, besides urgent ones."""
        seen = self._view.job(job)
        waiting = seen.pending(self._kind) - seen.suspended(self._kind)
        return max(waiting - self._urgent.get(job, 0), 0)

    def _tasks_without_slot(self, tasks: int) -> int:
        """How many of `tasks` tasks find no slot that is free or about to be."""
        found = min(tasks, max(self._supply, 0))
        self._supply -= found
        return tasks - found

    def _take_slot_on(self, number: NodeId) -> bool:
        """Whether one more suspended attempt finds a slot, free or about to be, on its node."""
        node = self._view.node(number)
        assert node is not None
        free = node.slots(self._kind) - node.running(self._kind) + self._leaving[number]
        if free <= 0:
            return False
        self._leaving[number] -= 1
        self._supply -= 1
        return True

    def _take_first(self, fits: VictimTest) -> AttemptView | None:
        for n, attempt in enumerate(self._open):
            if fits(attempt):
                return self._open.pop(n)
        return None


def _why_unranked(order: Order) -> str:
    """Why an order that is no `Ranking` cannot be asked who is further ahead."""
    if isinstance(order, EntitlingOrder):
        why = "jobs share: a job that lost a slot would stand ahead; use `kill` or `suspend`"
        return f"under `{order.name}` {why}"
    why = (
        f"the order `{order.name}` does not say in what ranks jobs stand; take one that does, such"
        " as `hfsp`, or `kill` with `fair`"
    )
    if type(order).__module__.startswith("callboard."):
        return why
    return f"{why}; if serving a job never moves it back, derive it from `RankedOrder`"
