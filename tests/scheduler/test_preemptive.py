"""The rule `preemptive` against HFSP, III-E, case by case, worked by hand."""

from collections.abc import Callable, Mapping
from typing import Literal

import pytest

from callboard.journal.tell.reason_words import reason_in_words
from callboard.scheduler.decisions import Kill, Suspend
from callboard.scheduler.facts import (
    Closed,
    JobArrived,
    Progressed,
    Resumed,
    Suspended,
    TasksPending,
)
from callboard.scheduler.model import KINDS, MAPS, JobId
from callboard.scheduler.orders.fifo import Fifo
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.orders.size_based.single_server import Srpt
from callboard.scheduler.orders.size_based.size_source import SizeParams
from callboard.scheduler.policy import MisfitError, Order, Policy
from callboard.scheduler.preemption.rank_based import RankPreemption
from callboard.scheduler.registry.parts import make_policy
from callboard.scheduler.registry.shipped import ORDERS
from tests.scheduler.test_keyed import MapsLeft
from tests.support.machine import FixedOracle
from tests.support.view import (
    FakeAttempt,
    FakeCluster,
    FakeJob,
    FakeNode,
    close,
    heartbeats,
    preempted_until,
)

MAP, REDUCE = KINDS
S = 1000


class Stage:
    """A node of some slots under an order and the rule, and what the jobs' sizes are."""

    def __init__(self, order: Order, slots: int, sizes_s: Mapping[JobId, float]) -> None:
        self.policy = Policy(order, preemption=RankPreemption())
        if self.policy.wants_oracle:
            sizes = {job: round(S * size) for job, size in sizes_s.items()}
            self.policy.set_oracle(FixedOracle([], sizes))
        self.cluster = FakeCluster([FakeNode(0, (slots, 0))], [])

    def come(self, number: JobId, maps: int) -> None:
        """A job comes, and every free slot is filled."""
        self.cluster.add(FakeJob(number, [maps, 0], submitted_ms=self.cluster.now_ms), self.policy)
        heartbeats(self.policy, self.cluster)

    def victims(self, seconds: int = 1) -> list[int]:
        """Who is told to give way in the next that many seconds."""
        return [kill.attempt for kill in self.kills(seconds)]

    def kills(self, seconds: int = 1) -> list[Kill]:
        return preempted_until(self.policy, self.cluster, self.cluster.now_ms + seconds * S)

    def bury(self) -> list[JobId]:
        """The killed are gone; who gets their slots."""
        for number, attempt in list(self.cluster.attempts_.items()):
            if attempt.killing:
                close(self.policy, self.cluster, number, succeeded=False)
        return heartbeats(self.policy, self.cluster)

    def running(self) -> list[tuple[int, JobId]]:
        return [(a.attempt, a.job) for a in self.cluster.attempts_.values()]


def srpt() -> Srpt:
    return Srpt(SizeParams(size="oracle"))


def by_virtual_size() -> Hfsp:
    return Hfsp(Hfsp.Params(size="oracle"))


@pytest.mark.parametrize("order", [srpt, by_virtual_size])
def test_a_new_job_with_a_smaller_virtual_size_takes_the_youngest(order: type[Order]) -> None:
    """Newly submitted jobs: one map of the small job, one victim, the slot is the small job's;
    and then nobody is killed for anybody, though the large one has three maps pending.
    """
    stage = Stage(order(), 3, {0: 500, 1: 10})
    stage.come(0, 5)
    assert stage.victims() == []
    stage.come(1, 1)
    kills = stage.kills()
    assert [kill.attempt for kill in kills] == [3]
    assert reason_in_words(kills[0].why) == "preemptive, job-1 is further ahead"
    assert (kills[0].why.rank, kills[0].why.score) == (1, 2.0)
    assert stage.victims(5) == []  # the one that gives way already makes room for it
    assert stage.bury() == [1]
    assert stage.victims(60) == []


def test_a_larger_new_job_takes_nothing() -> None:
    stage = Stage(by_virtual_size(), 2, {0: 100, 1: 200})
    stage.come(0, 9)
    stage.come(1, 9)
    assert stage.victims(5) == []


def test_victims_are_the_youngest_of_the_job_furthest_back_then_of_the_next() -> None:
    """Job 1 (70 s) has attempts 1 and 4, job 2 (80 s) 2 and 3.  A job of 10 s with three maps takes
    3, then 2 (the last job's youngest first), then 4.
    """
    stage = Stage(by_virtual_size(), 4, {1: 70, 2: 80, 3: 10})
    stage.come(1, 1)
    stage.come(2, 2)
    stage.cluster.job(1).pending_[MAP] = 1
    stage.policy.observe(TasksPending(1, MAPS), stage.cluster)
    heartbeats(stage.policy, stage.cluster)
    assert stage.running() == [(1, 1), (2, 2), (3, 2), (4, 1)]
    stage.come(3, 3)
    assert stage.victims() == [3, 2, 4]
    assert stage.bury() == [3, 3, 3]


def test_a_free_slot_is_waited_for() -> None:
    """What a heartbeat will give anyway is not taken from anybody."""
    stage = Stage(by_virtual_size(), 2, {0: 100, 1: 10})
    stage.come(0, 1)
    stage.cluster._jobs[1] = FakeJob(1, [1, 0])
    stage.policy.observe(JobArrived(1), stage.cluster)
    assert stage.victims() == []


def trained(stage: Stage, attempts: list[int], task_s: int) -> None:
    """Training tasks tell at 60 s how far they are: as far as tasks of that length would be."""
    for attempt in attempts:
        fact = Progressed(stage.cluster.attempts_[attempt].job, MAPS, attempt, 60 / task_s, 60 * S)
        stage.policy.observe(fact, stage.cluster)


def training(slots: int) -> Stage:
    """Job 0 has been trained (two tasks of 100 s told) and holds every slot.  Its training tasks
    still run, so they hold two of the four training slots (releaseResource).
    """
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=4, s0=1000.0)), slots, {})
    stage.come(0, slots)
    trained(stage, [1, 2], 100)
    return stage


def test_training_tasks_take_slots_of_jobs_with_higher_priority() -> None:
    """Job 1's initial size, 1000 s, is beyond what job 0 has left; its two training tasks take two
    slots all the same, job 0's youngest.  No more than those; and its third map waits.
    """
    stage = training(4)
    stage.come(1, 3)
    kills = stage.kills()
    assert [kill.attempt for kill in kills] == [4, 3]
    assert {reason_in_words(kill.why) for kill in kills} == {"preemptive, job-1 is to train"}
    assert stage.bury() == [1, 1]
    assert stage.victims(5) == []


def test_training_tasks_give_way_to_nobody_until_they_are_measured() -> None:
    """Job 1 trains in both slots.  A job of one map (tiny, so of size 0) is ahead of it: none
    gives way.  Measured they lose their status, and the younger one does.
    """
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=2)), 2, {})
    stage.come(1, 3)
    stage.come(2, 1)
    assert stage.victims(3) == []
    trained(stage, [1], 100)
    assert stage.victims() == [1]  # 2 still trains
    assert stage.bury() == [2]


def test_a_measured_task_that_is_killed_need_not_be_measured_again() -> None:
    """Its time stands, its progress is lost: S_f = 100 · (3 − 2 + 1 + 0.4) when the other tells
    60 % of 100 s.
    """
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=2)), 2, {})
    stage.come(1, 3)
    trained(stage, [1], 100)
    stage.policy.observe(Closed(1, MAPS, 1, 0, False, 61 * S), stage.cluster)
    trained(stage, [2], 100)
    order = stage.policy.order
    assert isinstance(order, Hfsp)
    assert order.clusters[MAP].size_ms(1, 0) == 240 * S


def test_no_more_training_slots_than_t_are_taken_for() -> None:
    """Two jobs that come together have four training tasks, and two training slots are left."""
    stage = training(4)
    for number in (1, 2):
        stage.cluster.add(FakeJob(number, [3, 0], submitted_ms=number), stage.policy)
    assert len(stage.victims()) == 2


def test_a_final_size_moves_a_job_behind_another() -> None:
    """From S_i to S_f.  Job 1 enters at 5 s, ahead of job 0's 10 · 100 s, and takes its slots;
    its tasks turn out to be of 500 s, and job 0 takes them back.
    """
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=2, s0=5.0)), 2, {})
    stage.come(0, 10)
    trained(stage, [1, 2], 100)
    stage.come(1, 10)
    assert stage.victims() == [2, 1]
    assert stage.bury() == [1, 1]
    assert stage.victims(5) == []
    trained(stage, [3, 4], 500)
    assert stage.victims() == [4, 3]
    assert stage.bury() == [0, 0]


def test_ageing_moves_a_job_ahead() -> None:
    """Four slots, shared virtually: job 0 (100 s in one task) ages one slot, job 1 (120 s, four
    tasks) up to three: after 10 s virtual sizes are 90 and 90, after 11 s 89 and 87.
    """
    stage = Stage(by_virtual_size(), 4, {0: 100, 1: 120})
    stage.come(0, 1)
    stage.come(1, 4)
    assert stage.victims(9) == []
    stage.cluster.now_ms = 9 * S
    kills = stage.kills(3)
    assert [stage.cluster.attempts_[kill.attempt].job for kill in kills] == [0]
    assert stage.cluster.now_ms == 12 * S


def test_when_the_cluster_shrinks_lost_slots_are_granted_by_rank() -> None:
    """Job 1 (10 s) ran on a node that is gone, and takes the slot of job 2 on the other."""
    stage = Stage(by_virtual_size(), 1, {1: 10, 2: 50})
    stage.cluster._nodes.append(FakeNode(1, (1, 0)))
    stage.come(1, 1)
    stage.come(2, 1)
    assert stage.victims() == []
    gone = stage.cluster.attempts_.pop(1)
    stage.cluster._nodes.pop(gone.node)
    stage.cluster.job(1).running_[MAP] -= 1
    stage.policy.observe(Closed(1, MAPS, 1, gone.node, False), stage.cluster)
    stage.cluster.job(1).pending_[MAP] += 1
    stage.policy.observe(TasksPending(1, MAPS), stage.cluster)
    assert stage.victims() == [2]


def test_fifo_by_priority() -> None:
    """Priority, then submit time: for any order by rank."""
    stage = Stage(Fifo(), 2, {})
    stage.come(1, 3)
    heartbeats(stage.policy, stage.cluster)  # when nearly full, one map a heartbeat
    stage.come(0, 1)  # of the same instant, with the lower number
    assert stage.victims() == [2]


def test_late_jobs_that_share_take_nothing_from_each_other() -> None:
    """Believed to be of nothing, both are late at once; the one that runs nothing stands first in
    the queue, and would so for ever in turn.
    """
    stage = Stage(make_policy('fsp+ps(size="oracle")').order, 1, {0: 0, 1: 0})
    stage.come(0, 2)
    stage.come(1, 2)
    assert stage.victims(30) == []


def test_for_a_suspended_task_it_must_be_a_slot_of_its_node() -> None:
    """Job 1's attempt 9 is held by node 0: job 2's older attempt there gives way, once."""
    stage = Stage(by_virtual_size(), 1, {1: 10, 2: 50})
    stage.cluster._nodes.append(FakeNode(1, (1, 0)))
    stage.come(2, 2)
    stage.cluster.add(FakeJob(1, [1, 0], suspended_=1), stage.policy)
    stage.cluster.attempts_[9] = FakeAttempt(9, 1, MAP, 0, suspended_ms=0)
    kills = stage.kills(3)
    assert [(kill.attempt, reason_in_words(kill.why)) for kill in kills] == [
        (1, "preemptive, job-1 is further ahead and suspended there")
    ]


@pytest.mark.parametrize(
    ("held", "pending", "leaving", "victims"),
    [
        (1, 0, 1, 0),  # the slot that falls free there is its own
        (2, 0, 1, 1),  # and not the next one's too
        (2, 0, 2, 0),
        (1, 1, 1, 1),  # nor that of a task that could go anywhere
        (1, 1, 2, 0),
    ],
)
def test_what_leaves_a_node_is_for_the_suspended_there_once(
    held: int, pending: int, leaving: int, victims: int
) -> None:
    stage = Stage(by_virtual_size(), 3, {1: 10, 2: 50})
    stage.come(2, 5)
    for number in range(1, leaving + 1):
        stage.cluster.attempts_[number].killing = True
    stage.cluster.add(FakeJob(1, [held + pending, 0], suspended_=held), stage.policy)
    for number in range(10, 10 + held):
        stage.cluster.attempts_[number] = FakeAttempt(number, 1, MAP, 0, suspended_ms=0)
    assert len(stage.victims()) == victims


def test_a_slot_that_leaves_supplies_one_job() -> None:
    """Jobs 1 and 2 are ahead of job 3, with a task each; one of its three slots falls free."""
    stage = Stage(by_virtual_size(), 3, {1: 10, 2: 20, 3: 500})
    stage.come(3, 5)
    stage.cluster.attempts_[1].killing = True
    for number in (1, 2):
        stage.cluster.add(FakeJob(number, [1, 0]), stage.policy)
    kills = stage.kills()
    assert [(kill.attempt, reason_in_words(kill.why)) for kill in kills] == [
        (3, "preemptive, job-2 is further ahead")
    ]


def test_training_tasks_are_not_taken_for_once_more_by_rank() -> None:
    """Job 1, at 1 s, is ahead of job 0 too: two of its three tasks are to train, one is not."""
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=4, s0=1.0)), 6, {})
    stage.come(0, 6)
    trained(stage, [1, 2], 100)
    stage.come(1, 3)
    assert [reason_in_words(kill.why) for kill in stage.kills()] == [
        "preemptive, job-1 is to train",
        "preemptive, job-1 is to train",
        "preemptive, job-1 is further ahead",
    ]


def test_late_jobs_one_by_one_take_from_each_other() -> None:
    """Under FSP+FIFO who was late first is further ahead, and gets a lost task's slot back."""
    stage = Stage(make_policy('fsp+fifo(size="oracle")').order, 2, {0: 0, 1: 0})
    stage.come(0, 1)
    stage.cluster.now_ms = S
    stage.come(1, 1)
    stage.cluster.job(0).pending_[MAP] = 1
    stage.policy.observe(TasksPending(0, MAPS), stage.cluster)
    assert stage.victims() == [2]


@pytest.mark.parametrize(
    ("over", "orders"), [("wait", [(Suspend, 4)]), ("kill", [(Suspend, 4), (Kill, 3)])]
)
@pytest.mark.parametrize("order", [by_virtual_size, lambda: Hfsp(Hfsp.Params(t=2, T=4, s0=1000.0))])
def test_no_more_than_limit_are_suspended_on_a_node(
    order: Callable[[], Order],
    over: Literal["wait", "kill"],
    orders: list[tuple[type[Suspend | Kill], int]],
) -> None:
    """For a job further ahead, and for training tasks: the second victim is killed, or is none."""
    stage = Stage(order(), 4, {0: 500, 1: 10})
    rule = RankPreemption(
        RankPreemption.Params(how="suspend", limit=1, over=over, kill_after_s=30.0)
    )
    stage.policy = Policy(stage.policy.order, preemption=rule)
    stage.come(0, 4)
    if not stage.policy.wants_oracle:
        trained(stage, [1, 2], 100)
    stage.come(1, 2)
    victims = list(stage.policy.preempt(stage.cluster))
    assert [(type(victim), victim.attempt) for victim in victims] == orders


def test_what_is_suspended_for_too_long_is_killed() -> None:
    stage = Stage(by_virtual_size(), 1, {0: 500})
    rule = RankPreemption(RankPreemption.Params(how="suspend", kill_after_s=30.0))
    stage.policy = Policy(stage.policy.order, preemption=rule)
    stage.come(0, 1)
    stage.cluster.attempts_[1].suspended_ms = 0
    stage.cluster.now_ms = 31 * S
    (kill,) = stage.policy.preempt(stage.cluster)
    assert reason_in_words(kill.why) == "preemptive, suspended for 31 s"


@pytest.mark.parametrize(("interval_s", "tick_ms"), [(0.0001, 1), (1.0, 1000), (2.5, 2500)])
def test_it_looks_every_interval(interval_s: float, tick_ms: int) -> None:
    assert RankPreemption(RankPreemption.Params(interval_s=interval_s)).interval_ms == tick_ms


def test_a_training_task_that_goes_on_takes_a_training_slot_if_one_is_left() -> None:
    """T = 1: the second took it meanwhile.  And who is none to learn from never takes one."""
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=1)), 3, {})
    stage.come(1, 3)
    order = stage.policy.order
    assert isinstance(order, Hfsp)
    assert len(order.training_slots[MAP]) == 1
    stage.policy.observe(Resumed(1, MAPS, 2, 0), stage.cluster)
    assert len(order.training_slots[MAP]) == 1
    stage.policy.observe(Suspended(1, MAPS, 1, 0), stage.cluster)
    stage.policy.observe(Resumed(1, MAPS, 3, 0), stage.cluster)
    assert len(order.training_slots[MAP]) == 0
    stage.policy.observe(Resumed(1, MAPS, 1, 0), stage.cluster)
    assert len(order.training_slots[MAP]) == 1
    close(stage.policy, stage.cluster, 1, succeeded=True)
    assert len(order.training_slots[MAP]) == 0


@pytest.mark.parametrize(
    ("maps", "suspended", "slots", "urgent"),
    [(3, 0, 4, [(1, 2)]), (3, 2, 4, [(1, 1)]), (3, 3, 4, []), (3, 0, 1, [(1, 1)]), (3, 0, 0, [])],
)
def test_urgent_are_the_training_tasks_that_could_be_launched_now(
    maps: int, suspended: int, slots: int, urgent: list[tuple[JobId, int]]
) -> None:
    """At most two of the job, those that could go anywhere, and as training slots are left."""
    order = Hfsp(Hfsp.Params(t=2, T=slots))
    stage = Stage(order, 0, {})
    stage.cluster.add(FakeJob(1, [maps, 0], suspended_=suspended), stage.policy)
    assert order.urgent_tasks(MAP, stage.cluster) == urgent


def test_a_suspended_training_task_holds_no_training_slot() -> None:
    stage = Stage(Hfsp(Hfsp.Params(t=2, T=2)), 2, {})
    stage.come(1, 3)
    order = stage.policy.order
    assert isinstance(order, Hfsp)
    assert len(order.training_slots[MAP]) == 2
    stage.policy.observe(Suspended(1, MAPS, 1, 0), stage.cluster)
    assert len(order.training_slots[MAP]) == 1
    stage.policy.observe(Resumed(1, MAPS, 1, 0), stage.cluster)
    assert len(order.training_slots[MAP]) == 2


@pytest.mark.parametrize(
    ("order", "why"),
    [
        ("fair", "jobs share"),
        ("ps", "a job whose task is killed would be first again"),
        ("las", "a job whose task is killed would be first again"),
    ],
)
def test_orders_that_share_are_refused(order: str, why: str) -> None:
    """By its suspending they may take turns (`tests/whole/test_one_slot.py`)."""
    with pytest.raises(MisfitError, match=f"under `{order}` {why}"):
        Policy(ORDERS[order](), preemption=RankPreemption())


def test_an_order_that_says_nothing_of_ranks_is_told_how_to() -> None:
    """Neither that its jobs share, nor to take a rule that asks for shares: it has none."""
    with pytest.raises(MisfitError, match=r"does not say in what ranks .* from `RankedOrder`"):
        Policy(MapsLeft(), preemption=RankPreemption())


@pytest.mark.parametrize("bad", [{"interval_s": 0.0}, {"limit": 0}, {"kill_after_s": 0.0}])
def test_bad_parameters_are_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="expected a"):
        RankPreemption.Params(**bad)  # type: ignore[arg-type]


@pytest.mark.parametrize("rule", ["preemptive", "kill", "suspend"])
def test_that_nothing_goes_round_is_promised_where_no_job_overtakes_another(rule: str) -> None:
    lasting = {"victim-once", "no-ping-pong", "victims-and-ties"}
    assert lasting <= {*make_policy(f"fifo+{rule}").preemption.guarantees}
    assert not lasting & {*make_policy(f"psbs+{rule}").preemption.guarantees}
