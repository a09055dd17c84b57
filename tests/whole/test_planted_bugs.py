"""Rules that a recording cannot break are broken here by a bug in the master, a job, or a policy.

The bugs are those of the list in the field's own tests: a forgotten reply number, a lost count, a
victim below its share, a wait that never ends.
"""

from collections.abc import Iterator, Sequence

import msgspec
import pytest

from callboard.actors.books.job_tasks import BookedJob
from callboard.actors.books.ledger import Ledger
from callboard.actors.books.members import BookedNode
from callboard.actors.config import Cluster
from callboard.actors.injector import ScheduledFault
from callboard.actors.job import Job
from callboard.actors.job_spec import JobSpec
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.faults import Crash, Disturb
from callboard.actors.vocabulary.messages import FetchOutputs, OutputsLost
from callboard.journal.checks.findings import Violation
from callboard.journal.figures.metrics import Metrics
from callboard.journal.figures.summary import Little
from callboard.scheduler.decisions import Suspend
from callboard.scheduler.locality import Delay, DelayParams
from callboard.scheduler.model import Locality, SlotKind, Stage
from callboard.scheduler.orders.fair.fair import Fair
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.keyed import SortKey
from callboard.scheduler.policy import NoPreemption, Order, Policy, PreemptionRule, QueuedJob
from callboard.scheduler.preemption.kill import KillPreemption
from callboard.scheduler.preemption.victims import possible_victims
from callboard.scheduler.reasons import Reason, Why
from callboard.scheduler.view import AttemptView, ClusterView, JobView, Offer
from tests.fairness.bugs import (
    Fickle,
    Impatient,
    a_lost_task_stays_lost,
    reply_numbers_are_forgotten,
)
from tests.support.outbox import replace_answer
from tests.support.world import IN_STEP, job, play

HASTY = KillPreemption.Params(interval_s=1.0, min_share_timeout_s=1.0, fair_share_timeout_s=2.0)
QUICK = msgspec.structs.replace(IN_STEP, expiry_ms=9000)
FOUR = Cluster(nodes=1, racks=1, map_slots=4, heartbeat=IN_STEP)
TWO = Cluster(nodes=2, racks=1, map_slots=1, reduce_slots=1, heartbeat=QUICK)
RIVALS = [job(0, maps=12, map_ms=60_000), job(1, maps=8, map_ms=60_000, submit_ms=4000)]
MANY = [job(n, maps=4, map_ms=4000, submit_ms=n) for n in range(6)]


def broken(
    jobs: Sequence[JobSpec],
    policy: str | Policy = "fifo",
    cluster: Cluster = FOUR,
    script: Sequence[ScheduledFault] = (),
) -> Violation:
    """The rule that the run breaks."""
    with pytest.raises(Violation) as found:
        play(jobs, policy, cluster=cluster, script=script, recount=False)
    return found.value


# S5: a job that does not tell its reduces that an output is gone.


def test_s5_obsolete_outputs_are_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(self: Job, lost: OutputsLost) -> None:
        let_go: list[FetchOutputs] = []
        self._let_go, let_go = let_go, self._let_go
        rightly(self, lost)
        self._fetching += let_go

    rightly = Job.on_outputs_lost
    replace_answer(monkeypatch, OutputsLost, forgetful, Job)
    jobs = [
        job(0, maps=2, map_ms=5000, reduces=1, shuffle_ms=60_000),
        job(1, maps=2, map_ms=500_000, submit_ms=1),
    ]
    # Node 1 dies when the reduce on node 0 has fetched from it already.
    script = [ScheduledFault(20_000, Crash(1))]
    assert broken(jobs, cluster=TWO, script=script).rule == "S5"


# S6: counts that go wrong.


@pytest.mark.parametrize("bug", ["a lost task stays lost", "a done map is done twice"])
def test_s6_the_books_do_not_add_up(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    submit = Ledger.launch_task

    def takes_none(self: Ledger, job: BookedJob, stage: Stage, member: BookedNode) -> object:
        entry = submit(self, job, stage, member)
        job.tasks[stage].left += 1
        return entry

    if bug == "a lost task stays lost":
        a_lost_task_stays_lost(monkeypatch)
    else:
        monkeypatch.setattr(Ledger, "launch_task", takes_none)
    script = [ScheduledFault(4000, Crash(1))]
    jobs = [job(0, maps=3, map_ms=30_000, reduces=1)]
    assert broken(jobs, cluster=TWO, script=script).rule == "S6"


# S8: a reply number that is forgotten.


def test_s8_a_heartbeat_that_comes_twice_launches_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    heartbeats = msgspec.structs.replace(IN_STEP, tasks_per_heartbeat="one")
    cluster = Cluster(nodes=1, racks=1, map_slots=4, heartbeat=heartbeats)
    script = [ScheduledFault(0, Disturb(0, LinkConditions(twice=1.0, delay_ms=100), HEALTHY))]
    jobs = [job(0, maps=9, map_ms=60_000)]
    assert play(jobs, cluster=cluster, script=script).events
    reply_numbers_are_forgotten(monkeypatch)
    assert broken(jobs, cluster=cluster, script=script).rule == "S8"


# S10: figures that are wrong.


def test_s10_a_job_is_counted_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Metrics, "little", lambda _: Little(area=2, responses=1, unfinished=0))
    assert broken(MANY).rule == "S10"


# S11: a policy that does not hang on the run alone.


class Whimsical(Fifo):
    """Serves the last job first every other time that it is made."""

    made = 0

    def __init__(self) -> None:
        super().__init__()
        Whimsical.made += 1
        self._turned = Whimsical.made % 2 == 0

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        key = super().key(job, kind)
        return (-job.job, *key) if self._turned else (job.job, *key)


def test_s11_a_second_run_has_another_digest() -> None:
    digests = {play(MANY, Policy(Whimsical()), cluster=FOUR).kernel.digest() for _ in range(2)}
    assert len(digests) == 2


# S13: preemption that takes too much, or from the wrong ones.


class Greedy(KillPreemption):
    """Takes the newest, whoever has them."""

    def selected(self, kind: SlotKind, view: ClusterView) -> Iterator[tuple[AttemptView, Why]]:
        deficits = self.watch.deficits(kind, view)
        alive, leaving = possible_victims(kind, view)
        wanted = self.factor * sum(deficit.slots for deficit in deficits) - leaving
        for attempt in self.choice(alive)[: max(wanted, 0)]:
            yield attempt, Why(Reason.OWN, self.name, 1)

    factor = 1

    def choice(self, alive: Sequence[AttemptView]) -> Sequence[AttemptView]:
        return alive


class TooMany(Greedy):
    """Takes two for each that is lacking."""

    factor = 2


def test_s13_more_victims_than_slots_are_lacking() -> None:
    found = broken(RIVALS, Policy(Fair(), preemption=TooMany(HASTY)))
    assert found.rule == "S13"
    assert "slots are lacking" in found.explanation


def test_s13_a_victim_below_its_share() -> None:
    """Three jobs on six slots: the third starves, and the newest are those of the second."""
    jobs = [
        job(0, maps=4, map_ms=90_000),
        job(1, maps=2, map_ms=90_000, submit_ms=1),
        job(2, maps=9, map_ms=90_000, submit_ms=4000),
    ]
    cluster = msgspec.structs.replace(FOUR, map_slots=6)
    found = broken(jobs, Policy(Fair(), preemption=Greedy(HASTY)), cluster)
    assert found.rule == "S13"
    assert "is left with" in found.explanation


def test_s13_somebody_gives_way_though_nobody_preempts() -> None:
    class Sly(NoPreemption):
        """Says that it waits."""

        interval_ms = 5000

        def victims(self, view: ClusterView) -> Iterator[Suspend]:  # type: ignore[override]
            for attempt in view.attempts():
                yield Suspend(attempt.attempt, Why(Reason.OWN, "sly", 1))

    assert broken(RIVALS, Policy(Fifo(), preemption=Sly())).rule == "S13"


# S14: waits that do not begin, or never end.


class Stubborn(Delay):
    """Waits for ever."""

    def permits(
        self,
        job: JobView,  # noqa: ARG002
        level: Locality,
        offer: Offer,  # noqa: ARG002
        view: ClusterView,  # noqa: ARG002
    ) -> bool:
        return level is Locality.NODE


@pytest.mark.parametrize("rule", [Impatient, Stubborn])
def test_s14_a_wait_is_not_kept(rule: type[Delay]) -> None:
    cluster = Cluster(nodes=12, racks=3, map_slots=1, replication=1, heartbeat=IN_STEP)
    jobs = [job(n, maps=6, map_ms=5000, submit_ms=n) for n in range(12)]
    policy = Policy(Fair(), rule(DelayParams(node=2, rack=2)))
    assert broken(jobs, policy, cluster).rule == "S14"


# S15: queues in no order.


class Doubling(Fifo):
    """Names the first one twice."""

    def queue(self, kind: SlotKind, offer: Offer, view: ClusterView) -> Iterator[QueuedJob]:
        queue = list(super().queue(kind, offer, view))
        return iter(queue[:1] + queue)


class Incomparable(Fifo):
    """Compares by sets, none of which is before another."""

    def key(self, job: JobView, kind: SlotKind) -> SortKey:
        return (frozenset({job.job}), *super().key(job, kind))


@pytest.mark.parametrize("order", [Fickle, Doubling, Incomparable])
def test_s15_a_queue_is_in_no_strict_order(order: type[Order]) -> None:
    assert broken(MANY, Policy(order())).rule == "S15"


@pytest.mark.parametrize("rule", [KillPreemption(HASTY), NoPreemption()])
def test_the_same_run_without_a_bug_breaks_none(rule: PreemptionRule) -> None:
    assert play(RIVALS, Policy(Fair(), preemption=rule), cluster=FOUR, until_ms=30_000).events
