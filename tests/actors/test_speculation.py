"""Two attempts of one task: the first success wins, the other is killed, and the job sees one."""

import pytest

from callboard.actors.books.ledger import Ledger
from callboard.actors.config import Cluster, Heartbeats, NodeGroup, Tasks
from callboard.actors.injector import ScheduledFault
from callboard.actors.network import HEALTHY, LinkConditions
from callboard.actors.vocabulary.events import (
    AttemptClosed,
    AttemptEnded,
    JobFinished,
    KillOrdered,
    NodeFacts,
    Outcome,
)
from callboard.actors.vocabulary.faults import Disturb
from callboard.scheduler.facts import Closed
from callboard.scheduler.model import MAPS, SlotKind
from callboard.scheduler.orders.size_based.hfsp import Hfsp
from callboard.scheduler.orders.size_based.training import TrainingPhase
from callboard.scheduler.policy import Policy
from callboard.scheduler.registry.parts import make_policy
from tests.support.accounts import summary_of_run
from tests.support.ledger_check import check_sums
from tests.support.preempt import KillNewest
from tests.support.speculate import SpeculateNewest
from tests.support.submissions import submit_maps
from tests.support.world import IN_STEP, PlayedRun, job, play

MAP, REDUCE = SlotKind.MAP, SlotKind.REDUCE


def slow_and_fast(
    map_slots: int = 1, reduce_slots: int = 0, speed: float = 0.1, fast: float = 1.0
) -> Cluster:
    """Node 0 is slow, node 1 is not; heartbeats of both come to the master at 1 + 3002 k."""
    return Cluster(
        nodes=1,
        racks=1,
        map_slots=map_slots,
        reduce_slots=reduce_slots,
        speed=speed,
        heartbeat=IN_STEP,
        group=(NodeGroup(nodes=1, speed=fast),),
    )


def outcomes(run: PlayedRun) -> dict[int, tuple[int, Outcome]]:
    """When each attempt was booked, and as what."""
    return {e.attempt: (e.at_ms, e.outcome) for e in run.all(AttemptClosed)}


def speculating(copies: int = 1, order: str = "fifo", **how: object) -> Policy:
    rule = SpeculateNewest(copies, **how)  # type: ignore[arg-type]
    return Policy(make_policy(order).order, speculation=rule)


def test_the_first_success_wins_and_the_loser_is_killed_with_its_nodes_next_reply() -> None:
    """The map runs on node 0 from 2, for 100 s; node 1 is offered a speculative attempt with its
    heartbeat of 3003, the first after the instant of the launch.  It takes 10 s from 3004 and is
    booked at 15011; the job is done in that very instant.  A second job keeps the run going: node 0
    hears of the kill with the reply to its heartbeat of 18013 and says so at 21015.
    """
    jobs = [job(0, maps=1, map_ms=10_000), job(1, maps=1, map_ms=1000, submit_ms=40_000)]
    run = play(jobs, speculating(), cluster=slow_and_fast())
    first, second = run.launches()[:2]
    assert (first.node, first.at_ms, first.number, first.original) == (0, 1, 0, 0)
    assert (second.node, second.at_ms, second.number) == (1, 3003, 1)
    assert second.original == first.attempt
    assert run.all(JobFinished)[0].at_ms == 15_011
    assert [(e.at_ms, e.attempt, e.why.rank) for e in run.all(KillOrdered)] == [(15_011, 1, 0)]
    ends = {e.attempt: (e.at_ms, e.outcome) for e in run.all(AttemptEnded)}
    assert ends[1] == (18_014, Outcome.KILLED)
    assert outcomes(run)[1] == (21_015, Outcome.KILLED)
    assert outcomes(run)[2] == (15_011, Outcome.SUCCEEDED)


@pytest.mark.parametrize("map_ms", [4000, 7000, 10_000, 20_000])
def test_s4_no_copy_of_a_task_whose_fourth_failure_has_just_been_booked(map_ms: int) -> None:
    """The map fails wherever it runs, and is copied whenever it may be.  The heartbeat that tells
    of the fourth failure asks for work too, while the other attempt runs: Hadoop's task has failed
    (TaskInProgress.isFailed), though the job says so only a round later.
    """
    jobs = [job(0, maps=1, map_ms=map_ms, poisoned=((0,), ()))]
    run = play(jobs, speculating(copies=10), cluster=slow_and_fast(speed=0.3))
    failed = [e.at_ms for e in run.all(AttemptClosed) if e.outcome is Outcome.FAILED]
    assert run.all(JobFinished)[0].at_ms == failed[3]
    assert max(e.at_ms for e in run.launches()) < failed[3]
    assert any(e.original for e in run.launches())


def test_a_losers_time_is_wasted_and_speculative_attempts_are_counted() -> None:
    jobs = [job(0, maps=1, map_ms=10_000), job(1, maps=1, map_ms=1000, submit_ms=40_000)]
    cluster = slow_and_fast()
    run = play(jobs, speculating(), cluster=cluster)
    summary = summary_of_run(run, cluster)
    assert (summary.speculation.speculative_attempts, summary.speculation.won) == (1, 1)
    assert summary.slot_ms.map.wasted == 18_014 - 2
    assert summary.slot_ms.map.adds_up
    assert summary.attempts.launched == summary.tasks.maps + 1


def test_a_second_success_in_the_same_round_is_booked_as_killed() -> None:
    """9.6 s from 2 and, on the faster node, 8 s from 3004: heartbeats of 12009 tell both."""
    jobs = [job(0, maps=1, map_ms=9600), job(1, maps=1, map_ms=1000, submit_ms=40_000)]
    run = play(jobs, speculating(), cluster=slow_and_fast(speed=1.0, fast=1.2))
    ended = {e.attempt: (e.at_ms, e.outcome) for e in run.all(AttemptEnded)}
    assert (ended[1], ended[2]) == ((9602, Outcome.SUCCEEDED), (11_004, Outcome.SUCCEEDED))
    assert outcomes(run)[1] == (12_009, Outcome.SUCCEEDED)
    assert outcomes(run)[2] == (12_009, Outcome.KILLED)
    assert run.all(KillOrdered) == []


@pytest.mark.parametrize("map_ms", range(8000, 13_000, 500))
def test_whenever_the_two_end_the_task_is_done_once(map_ms: int) -> None:
    """A loser may end well before it hears of the kill; it is booked as killed all the same."""
    cluster = slow_and_fast(speed=0.8)
    jobs = [job(0, maps=1, map_ms=map_ms), job(1, maps=1, map_ms=1000, submit_ms=50_000)]
    run = play(jobs, speculating(), cluster=cluster)
    assert len(run.launches()) == 3
    good = [a for a, (_, outcome) in outcomes(run).items() if outcome is Outcome.SUCCEEDED]
    assert len(good) == 2
    assert len(outcomes(run)) == 3
    assert not any(each.attempts for each in run.master.ledger.jobs())


def test_a_killed_original_leaves_its_task_to_the_speculative_attempt() -> None:
    """Preemption takes the newest, then what is left: as long as one runs, nothing is pending."""
    policy = speculating()
    policy.preemption = KillNewest(every_ms=7000, times=1)
    run = play([job(0, maps=1, map_ms=10_000)], policy, cluster=slow_and_fast())
    assert [e.attempt for e in run.all(KillOrdered)] == [2]
    assert len(run.launches()) == 2  # the second was killed, the original went on
    assert outcomes(run)[1][1] is Outcome.SUCCEEDED


def test_when_both_are_killed_the_task_runs_again_once() -> None:
    policy = speculating()
    policy.preemption = KillNewest(every_ms=7000, times=3)
    run = play([job(0, maps=1, map_ms=60_000)], policy, cluster=slow_and_fast())
    launches = run.launches()
    assert [e.number for e in launches] == list(range(len(launches)))
    assert launches[2].original == 0
    assert len(run.all(JobFinished)) == 1


def test_a_restart_kills_the_original_at_once() -> None:
    """Node 1 begins the map again at 3003; node 0 hears of it with its heartbeat of 6005."""
    run = play([job(0, maps=1, map_ms=10_000)], speculating(restart=True), cluster=slow_and_fast())
    assert [(e.at_ms, e.attempt) for e in run.all(KillOrdered)] == [(3003, 1)]
    assert outcomes(run) == {1: (9007, Outcome.KILLED), 2: (15_011, Outcome.SUCCEEDED)}


def test_a_reduce_in_its_shuffle_may_be_copied() -> None:
    """The speculative attempt fetches what the original fetched, and the job ends once."""
    jobs = [job(0, maps=4, map_ms=9000, reduces=1, shuffle_ms=2000, reduce_ms=20_000)]
    cluster = slow_and_fast(map_slots=1, reduce_slots=1, speed=0.3)
    run = play(jobs, speculating(only=REDUCE), cluster=cluster)
    reduces = run.launches(REDUCE)
    assert [bool(e.original) for e in reduces] == [False, True]
    assert len(run.all(JobFinished)) == 1


def test_a_job_waits_for_its_losers_and_speculation_never_makes_it_end_late() -> None:
    """Until the loser is closed the policy sees the job; then it leaves and nothing is left."""
    jobs = [job(0, maps=1, map_ms=10_000), job(1, maps=1, map_ms=1000, submit_ms=40_000)]
    early = play(jobs, speculating(), cluster=slow_and_fast(), until_ms=20_000)
    assert [e.job for e in early.master.ledger.jobs()] == [0]
    late = play(jobs, speculating(), cluster=slow_and_fast(), until_ms=22_000)
    assert [e.job for e in late.master.ledger.jobs()] == []


def test_a_heartbeat_may_come_twice_while_a_task_has_two_attempts() -> None:
    """S8 compares the books, in which the two name each other."""
    twice = Disturb(0, LinkConditions(twice=1.0, delay_ms=100), HEALTHY)
    jobs = [job(0, maps=1, map_ms=10_000), job(1, maps=1, map_ms=1000, submit_ms=40_000)]
    script = [ScheduledFault(0, twice)]
    run = play(jobs, speculating(), cluster=slow_and_fast(), script=script)
    assert [bool(e.original) for e in run.launches(MAP)] == [False, True, False]


def test_the_books_refuse_a_third_attempt() -> None:
    ledger = Ledger(racks=1, heartbeat_ms=3000)
    nodes = [ledger.members.join_node(NodeFacts(n, 0, 2, 0, 1.0)) for n in range(3)]
    first = ledger.launch_task(submit_maps(ledger, 0, homes=[0]), MAPS, nodes[0])
    ledger.copy_attempt(first, nodes[1])
    check_sums(ledger)
    with pytest.raises(AssertionError, match="S4"):
        ledger.copy_attempt(first, nodes[2])


def test_bad_luck_is_an_attempts_own_and_the_same_under_every_policy() -> None:
    """Share 0.5, factor 4: about half of the maps take 40 s, the same ones whoever decides."""
    tasks = Tasks(straggler_share=0.5, straggler_factor=4, rack_factor=1, off_rack_factor=1)
    cluster = Cluster(nodes=10, racks=1, heartbeat=IN_STEP)
    took = []
    for order in ("fifo", "fair"):
        run = play([job(n, maps=50) for n in range(4)], order, cluster=cluster, tasks=tasks)
        what = {e.attempt: (e.job, e.task) for e in run.launches()}
        took.append({what[e.attempt]: e.at_ms - e.started_ms for e in run.all(AttemptEnded)})
    assert took[0] == took[1]
    assert set(took[0].values()) == {10_000, 40_000}
    assert 70 < sum(ms == 40_000 for ms in took[0].values()) < 130


def test_a_retry_draws_its_luck_again() -> None:
    """Every map is killed once; about half of those that straggled do not do so again."""
    tasks = Tasks(straggler_share=0.5, straggler_factor=4)
    policy = make_policy("fifo")
    policy.preemption = KillNewest(every_ms=3000, times=40)
    cluster = Cluster(nodes=1, racks=1, map_slots=1, reduce_slots=0, heartbeat=IN_STEP)
    run = play([job(0, maps=30, map_ms=10_000)], policy, cluster=cluster, tasks=tasks)
    retried = {e.attempt for e in run.launches() if e.number}
    good = {a for a, (_, outcome) in outcomes(run).items() if outcome is Outcome.SUCCEEDED}
    lengths = {e.at_ms - e.started_ms for e in run.all(AttemptEnded) if e.attempt in retried & good}
    assert lengths == {10_000, 40_000}


def test_a_copied_training_task_is_measured_once() -> None:
    """HFSP: whichever attempt ends well measures the task; the other one adds nothing."""
    for winner, loser in ((1, 9), (9, 1)):
        phase = TrainingPhase(tasks=10, wanted=2)
        assert phase.note_launch(1)
        assert phase.note_launch(2)
        phase.note_copy(1, 9)
        phase.note_end(Closed(0, MAPS, winner, 0, True, 5000))
        phase.note_end(Closed(0, MAPS, loser, 1, False, 7000))
        seen = [(phase.is_trained, phase.tasks_to_launch)]
        phase.note_end(Closed(0, MAPS, 2, 0, True, 7000))
        seen.append((phase.is_trained, phase.tasks_to_launch))
        assert seen == [(False, 0), (True, 0)]
        assert phase.mean_ms() == 6000


def test_a_training_task_is_replaced_only_when_no_attempt_of_it_runs() -> None:
    phase = TrainingPhase(tasks=10, wanted=1)
    phase.note_launch(1)
    phase.note_copy(1, 9)
    wanting = []
    for attempt in (1, 9):
        phase.note_end(Closed(0, MAPS, attempt, 0, False))
        wanting.append(phase.tasks_to_launch)
    assert wanting == [0, 1]


def test_hfsp_speculates_and_keeps_its_training_slots_free() -> None:
    order = Hfsp(Hfsp.Params(t=2))
    policy = Policy(order, speculation=SpeculateNewest(20))
    cluster = Cluster(nodes=4, racks=1, heartbeat=Heartbeats(phase_grid_ms=1000))
    jobs = [job(n, maps=5, map_ms=9000, submit_ms=4000 * n) for n in range(4)]
    jobs.append(job(4, maps=1, map_ms=1000, submit_ms=200_000))
    run = play(jobs, policy, cluster=cluster)
    assert any(e.original for e in run.launches())
    assert len(order.training_slots[MAP]) == 0


def test_a_losers_end_makes_nothing_run_again_while_the_job_goes_on() -> None:
    """The job still has a reduce to run when its map's loser is booked."""
    jobs = [job(0, maps=1, map_ms=10_000, reduces=1, reduce_ms=60_000)]
    cluster = slow_and_fast(map_slots=1, reduce_slots=1)
    run = play(jobs, speculating(only=MAP), cluster=cluster)
    assert outcomes(run)[1][1] is Outcome.KILLED
    assert len(run.launches(MAP)) == 2
    assert len(run.launches(REDUCE)) == 1
